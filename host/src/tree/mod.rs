//! The processes of a run beside its leader: finds them, signals them, and ends what is left.
//!
//! Off Linux it sees none, and only the leader's process group is reached. It never waits for the
//! leader, whose pid must stay taken until the group has been signalled.

mod census;
mod cgroup;
mod entry;

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::ending::{Fate, Leftover};
use crate::signal::timespec;

pub use census::Adoption;
use census::Census;
pub(crate) use census::Member;
pub(crate) use census::{enrol, pidfd, send};
pub(crate) use cgroup::{Cgroup, Memberships};

/// How long a leftover has for an orderly end before it is killed.
const COURTESY: Duration = Duration::from_millis(100);
/// How long killed processes have to disappear before they count as survivors. They are gone at
/// once, but for a machine that has no time for it, or much memory to free.
const DISAPPEARANCE: Duration = Duration::from_secs(2);
/// How often new members are looked for while old ones are waited for.
const ROUND: Duration = Duration::from_millis(20);

/// Everything that a run started.
#[derive(Debug)]
pub(crate) struct Tree {
    leader: Option<Pid>,
    census: Census,
    cgroup: Option<Cgroup>,
}

impl Tree {
    /// The tree of a leader that was put into `cgroup`, with its keeper if it has one.
    pub(crate) fn new(
        leader: Pid,
        keeper: Option<Pid>,
        run_id: &str,
        adoption: Adoption,
        cgroup: Option<Cgroup>,
    ) -> Self {
        Self {
            leader: Some(leader),
            census: Census::new(leader, keeper, run_id, adoption),
            cgroup,
        }
    }

    /// Trusts the leader's number no longer: somebody else has reaped it.
    pub(crate) fn forget_leader(&mut self) {
        self.leader = None;
        self.census.forget_leader();
    }

    /// Returns the living members without the leader.
    pub(crate) fn members(&self) -> Vec<Member> {
        let known = self.cgroup.as_ref().map(Cgroup::pids).unwrap_or_default();
        self.census.members(&known)
    }

    /// Asks the leader's group, and every member outside of it, to end; but what is asked of a run
    /// within this one is its own runner's to pass on, or that one would take it for a crash. What
    /// has stopped could not hear it, so it is continued.
    ///
    /// The leader must not have been reaped: until then no stranger can have its group's number.
    pub(crate) fn ask_to_end(&self, signal: Signal) {
        self.signal_group(signal);
        self.signal_group(Signal::CONT);
        for member in self.outside_of_the_group() {
            if !self.census.is_of_an_inner_run(&member) {
                member.signal(signal);
                member.signal(Signal::CONT);
            }
        }
    }

    /// Kills the leader's group, and every member outside of it; the same holds for the leader.
    pub(crate) fn kill_now(&self) {
        self.signal_group(Signal::KILL);
        self.kill_cgroup();
        for member in self.outside_of_the_group() {
            member.signal(Signal::KILL);
        }
    }

    fn outside_of_the_group(&self) -> impl Iterator<Item = Member> {
        let group = self.leader.map(Pid::as_raw_pid);
        let members = self.members().into_iter();
        members.filter(move |member| Some(member.group) != group)
    }

    /// Signals the leader's group alone.
    pub(crate) fn signal_group(&self, signal: Signal) {
        // A group without a living process is no error.
        let _ = self.leader.map(|leader| kill_process_group(leader, signal));
    }

    fn kill_cgroup(&self) {
        self.cgroup.iter().for_each(Cgroup::kill);
    }

    /// Returns the members that are still there after `patience`: some are about to end by
    /// themselves, such as a stage whose reader has just gone.
    pub(crate) fn settle(&self, patience: Duration) -> Vec<Member> {
        let members = self.members();
        if members.is_empty() {
            return members;
        }
        self.wait_until_empty(Instant::now() + patience)
    }

    /// Ends `members` and whatever else is found: politely, then with SIGKILL. Returns in bounded
    /// time what became of each.
    pub(crate) fn sweep(&self, members: &[Member]) -> Vec<Leftover> {
        // Where nobody was alive, nobody can have been started since.
        if members.is_empty() {
            return Vec::new();
        }
        let mut seen = Seen::default();
        seen.add(members);
        self.ask_to_end(Signal::TERM);
        seen.add(&self.wait_until_empty(Instant::now() + COURTESY));
        let survivors = self.kill(&mut seen);
        seen.leftovers(&survivors)
    }

    /// Kills every member there is, and names those that were there.
    pub(crate) fn kill_all(&self) -> Vec<Leftover> {
        let mut seen = Seen::default();
        let survivors = self.kill(&mut seen);
        seen.leftovers(&survivors)
    }

    /// Kills until nothing new appears: what is killed may have forked just before.
    fn kill(&self, seen: &mut Seen) -> Vec<Member> {
        let limit = Instant::now() + DISAPPEARANCE;
        loop {
            let members = self.members();
            seen.add(&members);
            if members.is_empty() || Instant::now() >= limit {
                return members;
            }
            self.signal_group(Signal::KILL);
            self.kill_cgroup();
            members
                .iter()
                .for_each(|member| member.signal(Signal::KILL));
            self.kill_orphans(limit);
            wait_for_any(&members, limit);
        }
    }

    /// Kills the orphans faster than they can pass themselves on to new processes.
    fn kill_orphans(&self, limit: Instant) {
        while Instant::now() < limit {
            let orphans = self.census.orphans();
            if orphans.is_empty() {
                return;
            }
            orphans
                .iter()
                .for_each(|orphan| orphan.signal(Signal::KILL));
        }
    }

    /// Returns who is left when `limit` has come, or nobody as soon as that is so.
    fn wait_until_empty(&self, limit: Instant) -> Vec<Member> {
        loop {
            let members = self.members();
            if members.is_empty() || Instant::now() >= limit {
                return members;
            }
            wait_for_any(&members, limit);
        }
    }

    /// Collects the dead that this process has adopted.
    pub(crate) fn reap_adopted(&self) {
        self.census.reap_adopted();
    }
}

/// Waits until one of the members ends, but no longer than one round.
fn wait_for_any(members: &[Member], limit: Instant) {
    let handles: Vec<OwnedFd> = members.iter().filter_map(Member::handle).collect();
    let mut fds: Vec<_> = handles
        .iter()
        .map(|fd| PollFd::new(fd, PollFlags::IN))
        .collect();
    let left = limit.saturating_duration_since(Instant::now()).min(ROUND);
    // An interruption only makes the round shorter.
    let _ = poll(&mut fds, Some(&timespec(left)));
}

/// How many are remembered of those that come and go while they are being ended.
const MOST_SEEN: usize = 4096;

/// Who has been seen, by pid and start time, since a pid alone can come twice.
#[derive(Default)]
struct Seen(BTreeMap<(i32, u64), String>);

impl Seen {
    fn add(&mut self, members: &[Member]) {
        let room = MOST_SEEN.saturating_sub(self.0.len());
        for member in members.iter().take(room) {
            self.0
                .entry((member.pid, member.started))
                .or_insert_with(|| member.name.clone());
        }
    }

    fn leftovers(mut self, survivors: &[Member]) -> Vec<Leftover> {
        for left in survivors {
            self.0.insert((left.pid, left.started), left.name.clone());
        }
        let fate = |pid, started| {
            let alive = survivors
                .iter()
                .any(|left| (left.pid, left.started) == (pid, started));
            if alive { Fate::Survived } else { Fate::Killed }
        };
        let named = self.0.into_iter();
        named
            .map(|((pid, started), name)| Leftover {
                pid,
                name,
                fate: fate(pid, started),
            })
            .collect()
    }
}
