//! One run from the start of its process to its ending: a single loop over both streams, the
//! process and the signals, with limits that no output can push away.
//!
//! It starts nothing and interprets nothing.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Signal;

use super::clock::{Clock, later};
use super::leader::{Leader, Status};
use super::oom::OomWatch;
use super::stopping::{Reason, Stopping, outcome};
use super::{Adoption, Limits};
use crate::ending::{Ending, Fate, Leftover, Limit, millis};
use crate::keeper::Keeper;
use crate::pump::{Pump, Sink};
use crate::signal::{Control, PAUSE, RESUME, timespec};
use crate::spawn::{Command, Started};
use crate::tree::{Cgroup, Tree};

/// How often a system without a handle for processes is asked whether the leader has ended, and
/// how often descendants are looked for while they have time to end.
pub(super) const ROUND: Duration = Duration::from_millis(20);
/// How long the leader may take to vanish after SIGKILL before the run goes on without it. What
/// can be killed is gone at once, but for a machine that has no time for it, or much memory to free.
const VANISHING: Duration = Duration::from_secs(2);
/// How often the dead that a running command leaves to this process are collected.
const REAPING: Duration = Duration::from_millis(200);

/// A run whose process has been started.
pub(super) struct Run<'a> {
    pub(super) limits: &'a Limits,
    control: &'a mut Control,
    pub(super) sink: &'a mut dyn Sink,
    leader: Leader,
    pub(super) tree: Tree,
    pub(super) pump: Pump,
    pub(super) stages: Option<OwnedFd>,
    clock: Clock,
    next_tick: Option<Instant>,
    next_reaping: Option<Instant>,
    pub(super) stopping: Option<Stopping>,
    pub(super) interrupted: Option<i32>,
    exited: bool,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        started: Started,
        cgroup: Option<Cgroup>,
        run_id: &str,
        limits: &'a Limits,
        control: &'a mut Control,
        sink: &'a mut dyn Sink,
    ) -> Self {
        let now = started.at;
        let pid = started.leader;
        let keeper = started.keeper.as_ref().map(Keeper::pid);
        Self {
            limits,
            control,
            leader: Leader::new(pid, started.keeper, started.copied),
            tree: Tree::new(pid, keeper, run_id, limits.adoption, cgroup),
            pump: Pump::new(started.stdout, started.stderr, now),
            stages: started.stages,
            clock: Clock::new(now),
            next_tick: sink.tick_every().and_then(|every| now.checked_add(every)),
            next_reaping: match limits.adoption {
                Adoption::Subreaper => now.checked_add(REAPING),
                Adoption::Helper | Adoption::None => None,
            },
            sink,
            stopping: None,
            interrupted: None,
            exited: false,
        }
    }

    /// Runs to the end.
    pub(super) fn end(mut self, command: &Command, oom: &OomWatch) -> Ending {
        let status = self.until_leader_ends();
        let duration_ms = millis(self.clock.elapsed());
        self.exited = true;
        let mut leftovers = match status {
            Some(Status::Lost) => self.let_go(),
            _ if self.stopping.is_some() => self.end_tree(),
            _ => self.leave(),
        };
        let usage = self.leader.reap();
        if status.is_none() {
            let pid = self.leader.pid().as_raw_pid();
            leftovers.insert(
                0,
                Leftover {
                    pid,
                    name: "the command".to_owned(),
                    fate: Fate::Survived,
                },
            );
        }
        self.tree.reap_adopted();
        self.leader.dismiss_keeper();
        self.heed_signals();
        let (stdout, stderr) = self.pump.facts();
        Ending {
            outcome: outcome(self.stopping.as_ref(), status, oom),
            duration_ms,
            error: None,
            stdout,
            stderr,
            usage,
            leftovers,
            stages: self.read_stages(command, status),
            interrupted: self.interrupted,
        }
    }

    /// Reads and waits until the leader has ended; nothing if it cannot be ended.
    fn until_leader_ends(&mut self) -> Option<Status> {
        loop {
            // Asked before the limits: what has exited in time is never late.
            if let Some(status) = self.leader.peek() {
                return Some(status);
            }
            let now = Instant::now();
            self.enforce_limits(now);
            self.escalate(now);
            let vanished_by = self.stopping.as_ref().filter(|stopping| stopping.escalated);
            if vanished_by.is_some_and(|stopping| now >= stopping.kill_at + VANISHING) {
                return None;
            }
            self.tick(now);
            // By now, the signals to a large tree have taken their time.
            self.turn(self.next_event(Instant::now()));
        }
    }

    /// Waits for one event, reads, and heeds signals.
    pub(super) fn turn(&mut self, wait: Option<Duration>) {
        let timeout = wait.map(timespec);
        let mut fds: Vec<_> = self
            .pump
            .open()
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        if !self.exited {
            fds.extend(
                self.leader
                    .events()
                    .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)),
            );
        }
        let control = self
            .control
            .pipe()
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let has_control = control.is_some();
        fds.extend(control);
        // An interruption is a turn without an event.
        let ready = poll(&mut fds, timeout.as_ref()).unwrap_or(0);
        let signalled = has_control && fds.last().is_some_and(|fd| !fd.revents().is_empty());
        drop(fds);
        if ready > 0 {
            self.pump.read(self.sink);
        }
        if signalled {
            self.heed_signals();
        }
    }

    /// Returns how long nothing has to be done but to read.
    fn next_event(&self, now: Instant) -> Option<Duration> {
        let ending = self.stopping.as_ref().map(|stopping| {
            let next = if stopping.escalated {
                stopping.kill_at + VANISHING
            } else {
                stopping.kill_at
            };
            next.saturating_duration_since(now)
        });
        let limits = self
            .next_limit(now)
            .map(|(_, _, left)| left)
            .filter(|_| self.stopping.is_none());
        let chores = self.next_tick.into_iter().chain(self.next_reaping).min();
        let tick = chores.map(|chore| chore.saturating_duration_since(now));
        let poll = self.leader.events().next().is_none().then_some(ROUND);
        [ending, limits, tick, poll].into_iter().flatten().min()
    }

    fn next_limit(&self, now: Instant) -> Option<(Limit, Duration, Duration)> {
        self.clock
            .next_limit(self.limits, self.pump.last_byte(), now)
    }

    fn enforce_limits(&mut self, now: Instant) {
        if self.stopping.is_none()
            && let Some((limit, after, Duration::ZERO)) = self.next_limit(now)
        {
            self.stop(Reason::Limit(limit, after), Signal::TERM);
        }
    }

    /// Asks the whole tree to end.
    fn stop(&mut self, reason: Reason, signal: Signal) {
        self.resume();
        self.tree.ask_to_end(signal);
        self.stopping = Some(Stopping {
            reason,
            kill_at: later(Instant::now(), self.limits.grace),
            escalated: false,
        });
    }

    /// Kills the leader's group when the grace is over; the rest of the tree follows the leader.
    fn escalate(&mut self, now: Instant) {
        if let Some(stopping) = &mut self.stopping
            && !stopping.escalated
            && now >= stopping.kill_at
        {
            stopping.escalated = true;
            self.tree.kill_now();
            // The runner may have come to this late, or have been long about it.
            stopping.kill_at = Instant::now();
        }
    }

    fn heed_signals(&mut self) {
        for signal in self.control.arrived() {
            match signal {
                PAUSE => self.pause(),
                RESUME => self.resume(),
                _ => self.interrupt(signal),
            }
        }
    }

    fn interrupt(&mut self, number: i32) {
        self.interrupted.get_or_insert(number);
        match &mut self.stopping {
            // The second request, or the first while a limit is being enforced: no more grace.
            Some(stopping) => stopping.kill_at = stopping.kill_at.min(Instant::now()),
            // What has ended by itself before it could be told is not cancelled.
            None if self.exited || self.leader.peek().is_some() => {}
            None => {
                let signal = Signal::from_named_raw(number).unwrap_or(Signal::TERM);
                self.stop(Reason::Signal(number), signal);
            }
        }
    }

    /// SIGTSTP would be lost on a group that no shell looks after, so the group gets SIGSTOP.
    fn pause(&mut self) {
        if self.exited || self.stopping.is_some() || self.clock.is_paused() {
            return;
        }
        self.tree.signal_group(Signal::STOP);
        self.clock.pause();
        if self.limits.adoption == Adoption::Subreaper {
            let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::STOP);
        }
    }

    fn resume(&mut self) {
        if self.clock.resume() {
            self.tree.signal_group(Signal::CONT);
        }
    }

    fn tick(&mut self, now: Instant) {
        if self.next_tick.is_some_and(|tick| now >= tick) {
            self.sink.tick(self.clock.elapsed());
            self.next_tick = self
                .sink
                .tick_every()
                .and_then(|every| now.checked_add(every));
        }
        // A long run must not pile up the dead that it leaves to this process.
        if self.next_reaping.is_some_and(|reaping| now >= reaping) {
            self.tree.reap_adopted();
            self.next_reaping = now.checked_add(REAPING);
        }
    }
}
