//! Reads from `/proc` which processes belong to a run.
//!
//! A process belongs to it if it is in the leader's session or group, descends from one that is,
//! carries the run's mark in its environment, or, where this process adopts orphans, has become
//! its child. It is never older than the leader. This file only looks; it signals one process at
//! a time, and never the wrong one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, waitid};
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

use super::entry::{Entry, children, entries};
use crate::spawn::RUN_ID;

/// Whether the calling process takes over what a run leaves behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Adoption {
    /// For a process that has children of its own: a helper process stands between it and the
    /// command and adopts what the command leaves behind, so that none is lost. It is forked from
    /// the calling process, of which it keeps a copy-on-write image while the command runs; it is
    /// a child of the calling process, which may reap it. Off Linux the same as `None`.
    #[default]
    Helper,
    /// Nothing is adopted, no helper is started, and only the run's own leader is reaped. What
    /// leaves the session and clears its environment is found only where the run has a control
    /// group of its own.
    None,
    /// For a process that exists for its runs alone: orphans become its children, so that none is
    /// lost, and it stops together with a run that is paused.
    Subreaper,
}

/// The leaders of all the runs of this process and their marks: what belongs to one of them is
/// never taken for another's.
static LEADERS: Mutex<Leaders> = Mutex::new(Leaders::new());

#[derive(Debug)]
struct Leaders {
    marks: BTreeMap<i32, Vec<u8>>,
    /// How often a run has begun or ended.
    changes: u64,
}

impl Leaders {
    const fn new() -> Self {
        Self {
            marks: BTreeMap::new(),
            changes: 0,
        }
    }

    fn change(&mut self) -> &mut BTreeMap<i32, Vec<u8>> {
        self.changes = self.changes.wrapping_add(1);
        &mut self.marks
    }
}

/// Starts a child and enters it into the list in one step: while the list is held, no other run
/// can take the new process for an orphan, and signal or reap it.
pub(crate) fn enrol<T>(
    run_id: &str,
    spawn: impl FnOnce() -> io::Result<(Pid, T)>,
) -> io::Result<T> {
    let mut leaders = leaders();
    let (child, started) = spawn()?;
    leaders.change().insert(child.as_raw_pid(), mark(run_id));
    Ok(started)
}

fn mark(run_id: &str) -> Vec<u8> {
    format!("{RUN_ID}={run_id}").into_bytes()
}

fn leaders() -> MutexGuard<'static, Leaders> {
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the members of one run are told from all other processes.
#[derive(Debug)]
pub(crate) struct Census {
    /// Nobody's number once the leader is lost, and its number may be a stranger's.
    leader: i32,
    /// The child of this process: the leader or its keeper.
    child: i32,
    keeper: Option<i32>,
    started: u64,
    mark: Vec<u8>,
    adoption: Adoption,
}

const NOBODY: i32 = -1;

/// One process of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) pid: i32,
    pub(crate) group: i32,
    /// When it started, in the system's own unit; with the pid it names one process for good.
    pub(crate) started: u64,
    pub(crate) name: String,
}

impl Census {
    pub(crate) fn new(leader: Pid, keeper: Option<Pid>, run_id: &str, adoption: Adoption) -> Self {
        let leader = leader.as_raw_pid();
        let keeper = keeper.map(Pid::as_raw_pid);
        let started = Entry::read(leader).map_or(0, |entry| entry.started);
        Self {
            leader,
            child: keeper.unwrap_or(leader),
            keeper,
            started,
            mark: mark(run_id),
            adoption,
        }
    }

    /// Trusts the leader's number no longer.
    pub(crate) fn forget_leader(&mut self) {
        self.leader = NOBODY;
    }

    /// Returns the living members without the leader, oldest first; `known` are members whatever
    /// they look like.
    pub(crate) fn members(&self, known: &[i32]) -> Vec<Member> {
        let (members, is_sure) = self.look(known);
        if members.is_empty() && !is_sure {
            // A parent may have ended between the looks at its child and at itself. Then the
            // child has a new parent by now, which tells whose it is.
            return self.look(known).0;
        }
        members
    }

    /// Returns the members, and whether nobody else is there who could be one.
    fn look(&self, known: &[i32]) -> (Vec<Member>, bool) {
        // Asked before anybody is looked at: a run that begins and ends in between leaves no trace.
        let alone = self.alone();
        let others =
            entries().filter(|entry| entry.started >= self.started && entry.pid != self.leader);
        let (mut members, mut undecided): (Vec<_>, Vec<_>) = others
            .filter(Entry::is_alive)
            .partition(|entry| known.contains(&entry.pid) || self.is_member(entry, alone));
        let mut parents: BTreeSet<i32> = members.iter().map(|entry| entry.pid).collect();
        parents.insert(self.leader);
        // Children of members are members, and so are theirs.
        loop {
            let (found, rest): (Vec<_>, Vec<_>) = undecided
                .into_iter()
                .partition(|entry| parents.contains(&entry.parent));
            undecided = rest;
            if found.is_empty() {
                break;
            }
            parents.extend(found.iter().map(|entry| entry.pid));
            members.extend(found);
        }
        members.sort_by_key(|entry| (entry.started, entry.pid));
        (
            members.into_iter().map(Member::from).collect(),
            undecided.is_empty(),
        )
    }

    /// Returns the living orphans of the run, found without a look at any other process. None
    /// where nobody adopts them, or where they could be another run's.
    pub(crate) fn orphans(&self) -> Vec<Member> {
        let alone = self.alone();
        let adopter = match (self.adoption, self.keeper, alone) {
            (_, Some(keeper), _) => keeper,
            (Adoption::Subreaper, None, Some(_)) => getpid().as_raw_pid(),
            _ => return Vec::new(),
        };
        let orphans = children(adopter).into_iter().filter_map(Entry::read);
        let orphans: Vec<Member> = orphans
            .filter(|entry| entry.pid != self.leader && entry.parent == adopter && entry.is_alive())
            .map(Member::from)
            .collect();
        // A run that has begun meanwhile may have its command among them.
        let is_sure = self.keeper.is_some() || self.alone() == alone;
        if is_sure { orphans } else { Vec::new() }
    }

    /// Collects the dead that the runs of this process have left to it.
    pub(crate) fn reap_adopted(&self) {
        if self.adoption != Adoption::Subreaper {
            return;
        }
        // Held throughout, so that the child of a start that fails is left to whoever started it.
        let leaders = leaders();
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        while let Some(pid) = first_dead() {
            if !leaders.marks.contains_key(&pid.as_raw_pid()) {
                let _ = waitid(WaitId::Pid(pid), options);
                continue;
            }
            // It hides those that died after it.
            let others = children(getpid().as_raw_pid()).into_iter();
            for pid in others
                .filter(|pid| !leaders.marks.contains_key(pid))
                .filter_map(Pid::from_raw)
            {
                let _ = waitid(WaitId::Pid(pid), options);
            }
            break;
        }
    }

    fn is_member(&self, entry: &Entry, alone: Option<u64>) -> bool {
        if entry.session == self.leader || entry.group == self.leader {
            return true;
        }
        self.keeper == Some(entry.parent)
            || mark_of(entry.pid).is_some_and(|mark| mark == self.mark)
            || (self.adoption == Adoption::Subreaper && self.may_adopt(entry, alone))
    }

    /// Says whether a member is of a run within this one, whose runner will see to it.
    pub(crate) fn is_of_an_inner_run(&self, member: &Member) -> bool {
        mark_of(member.pid).is_some_and(|mark| mark != self.mark)
    }

    /// Says whether an orphan can only have come from this run: no other has been there since
    /// `alone` was asked for.
    fn may_adopt(&self, entry: &Entry, alone: Option<u64>) -> bool {
        // With several runs at once, one without a mark waits for the run that ends last.
        is_child(entry) && alone.is_some() && self.alone() == alone
    }

    /// Returns a number where there is no other run; it changes as soon as one begins.
    fn alone(&self) -> Option<u64> {
        let leaders = leaders();
        let mut children = leaders.marks.keys();
        children
            .all(|child| *child == self.child)
            .then_some(leaders.changes)
    }
}

/// Returns the mark that a process carries. One of another user does not show it.
fn mark_of(pid: i32) -> Option<Vec<u8>> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let is_mark = |variable: &&[u8]| {
        let value = variable.strip_prefix(RUN_ID.as_bytes());
        value.is_some_and(|value| value.starts_with(b"="))
    };
    variables.find(is_mark).map(<[u8]>::to_vec)
}

/// Returns a child of this process that has ended and is not reaped.
fn first_dead() -> Option<Pid> {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the structure is plain numbers that the call writes; the pid in it stays 0 where
    // nobody has ended.
    let pid = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let found = libc::waitid(libc::P_ALL, 0, &raw mut info, options);
        if found == 0 { info.si_pid() } else { 0 }
    };
    Pid::from_raw(pid)
}

fn is_child(entry: &Entry) -> bool {
    entry.parent == getpid().as_raw_pid()
}

impl Drop for Census {
    fn drop(&mut self) {
        leaders().change().remove(&self.child);
    }
}

impl From<Entry> for Member {
    fn from(entry: Entry) -> Self {
        Self {
            pid: entry.pid,
            group: entry.group,
            started: entry.started,
            name: entry.name,
        }
    }
}

impl Member {
    /// Returns a handle on the process, or nothing if it is gone.
    pub(crate) fn handle(&self) -> Option<OwnedFd> {
        let handle = pidfd(Pid::from_raw(self.pid)?)?;
        // The pid may have passed to another process before the handle was opened.
        self.is_there().then_some(handle)
    }

    fn is_there(&self) -> bool {
        Entry::read(self.pid).is_some_and(|entry| entry.started == self.started && entry.is_alive())
    }

    fn send_by_number(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = kill_process(pid, signal);
        }
    }

    /// Signals this process and no other that has got its pid since.
    pub(crate) fn signal(&self, signal: Signal) {
        match self.handle() {
            Some(handle) => send(&handle, signal),
            // Without handles, or without a descriptor for one, a moment's doubt remains.
            None if self.is_there() => self.send_by_number(signal),
            None => {}
        }
    }
}

/// Returns a handle on a process where the system has such a thing.
#[cfg(target_os = "linux")]
pub(crate) fn pidfd(pid: Pid) -> Option<OwnedFd> {
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

#[cfg(target_os = "linux")]
pub(crate) fn send(handle: &OwnedFd, signal: Signal) {
    // Not permitted or gone: both show when the members are counted again.
    let _ = pidfd_send_signal(handle, signal);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn pidfd(_pid: Pid) -> Option<OwnedFd> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn send(_handle: &OwnedFd, _signal: Signal) {}
