//! What a run does after its leader has ended: reads what is left, deals with what outlived it.
//!
//! All of it takes a bounded time, whatever the descendants do.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use super::clock::later;
use super::leader::Status;
use super::run::{ROUND, Run};
use crate::ending::{Fate, Leftover, Stage};
use crate::spawn::{Command, stages};

/// How long what has been killed may take to close its pipes.
const LAST_DRAIN: Duration = Duration::from_millis(50);
/// How long a descendant may outlive the leader without being called a leftover.
const STRAGGLING: Duration = Duration::from_millis(50);

impl Run<'_> {
    /// After a limit or a cancellation: the rest of the tree has what is left of the grace, then
    /// it is killed; whatever the streams still hold is read.
    pub(super) fn end_tree(&mut self) -> Vec<Leftover> {
        while let Some(stopping) = &self.stopping {
            let now = Instant::now();
            if now >= stopping.kill_at || self.tree.members().is_empty() {
                break;
            }
            self.turn(Some(ROUND.min(stopping.kill_at - now)));
        }
        let leftovers = self.tree.kill_all();
        if let Some(stopping) = &mut self.stopping {
            stopping.escalated |= !leftovers.is_empty();
        }
        self.drain(LAST_DRAIN);
        leftovers
    }

    /// After the command has ended by itself: the streams are read for a fixed time, however
    /// busy they are kept, and what has outlived the command is named.
    pub(super) fn leave(&mut self) -> Vec<Leftover> {
        self.drain(self.limits.drain);
        let members = self.tree.settle(STRAGGLING.min(self.limits.drain));
        if self.limits.keep_background {
            let kept = |member: crate::tree::Member| Leftover {
                pid: member.pid,
                name: member.name,
                fate: Fate::Kept,
            };
            return members.into_iter().map(kept).collect();
        }
        self.tree.sweep(&members)
    }

    /// After the leader's status was lost: its group may be a stranger's, so only what is known by
    /// other signs is ended.
    pub(super) fn let_go(&mut self) -> Vec<Leftover> {
        self.tree.forget_leader();
        self.leave()
    }

    /// Reads until both ends have been seen, `time` is over, or the user wants to leave.
    fn drain(&mut self, time: Duration) {
        let limit = later(Instant::now(), time);
        while !self.pump.is_done() && self.interrupted.is_none_or(|_| self.stopping.is_some()) {
            let left = limit.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.turn(Some(left));
        }
        self.pump.empty(self.sink);
    }

    /// Returns the stages of the pipeline that ran last, and before them what failed unseen in
    /// earlier ones. A shell that exits with success and says nothing of its last stages has one
    /// of unknown end: silence is no success. A command alone hides nothing: that it failed and the
    /// shell did not is what the script says, as of the condition that ends a loop.
    pub(super) fn read_stages(&self, command: &Command, status: Option<Status>) -> Vec<Stage> {
        let Some(pipe) = &self.stages else {
            return Vec::new();
        };
        let script = command
            .argv
            .first()
            .map(|script| script.to_string_lossy())
            .unwrap_or_default();
        let (mut all, last) = stages(&script, &everything_in(pipe));
        let unknown = (status == Some(Status::Exited(0))).then_some(Stage {
            command: None,
            exit_code: None,
            signal: None,
        });
        let mut last = last.unwrap_or_else(|| unknown.into_iter().collect());
        if let ([Stage { exit_code, .. }], Some(Status::Exited(code))) = (&mut last[..], status) {
            *exit_code = exit_code.map(|_| code.into());
        }
        all.extend(last);
        all
    }
}

/// Returns what a pipe holds. The shell has exited, so its report is complete; another process
/// that holds the pipe must not make this wait, nor make it last.
fn everything_in(pipe: &OwnedFd) -> Vec<u8> {
    const MOST: usize = 1 << 20;
    let mut report = Vec::new();
    if rustix::io::ioctl_fionbio(pipe, true).is_err() {
        return report;
    }
    let mut part = [0; 4096];
    while report.len() < MOST
        && let Ok(count) = rustix::io::read(pipe, &mut part)
        && count > 0
    {
        report.extend_from_slice(part.get(..count).unwrap_or_default());
    }
    report
}
