//! What the runner itself did to end a run, and what that makes of the way in which it ended.
//!
//! A run that was asked to end is never a success, whatever its process did then.

use std::time::{Duration, Instant};

use super::leader::Status;
use super::oom::OomWatch;
use crate::ending::{Limit, Outcome, millis};
use crate::signal;

/// A request to the whole tree to end.
#[derive(Debug)]
pub(super) struct Stopping {
    pub(super) reason: Reason,
    /// When the tree is to be killed; once it is `escalated`, when that was done.
    pub(super) kill_at: Instant,
    pub(super) escalated: bool,
}

/// Why a run was asked to end.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reason {
    /// A limit of this length has passed.
    Limit(Limit, Duration),
    /// The runner has received this signal.
    Signal(i32),
}

impl Stopping {
    fn outcome(&self, status: Option<Status>) -> Outcome {
        let then = status.and_then(Status::then);
        let escalated = self.escalated;
        match self.reason {
            Reason::Limit(limit, after) => Outcome::TimedOut {
                limit,
                after_ms: millis(after),
                escalated,
                then,
            },
            Reason::Signal(signal) => Outcome::Cancelled {
                signal,
                name: signal::name(signal),
                escalated,
                then,
            },
        }
    }
}

/// Returns the outcome of a run whose leader ended with `status`, or could not be ended.
pub(super) fn outcome(
    stopping: Option<&Stopping>,
    status: Option<Status>,
    oom: &OomWatch,
) -> Outcome {
    match (stopping, status) {
        (Some(stopping), _) => stopping.outcome(status),
        (None, Some(Status::Exited(code))) => Outcome::Exited { code },
        (
            None,
            Some(Status::Signaled {
                signal,
                core_dumped,
            }),
        ) => Outcome::Signaled {
            signal,
            name: signal::name(signal),
            core_dumped,
            hint: (signal == libc::SIGKILL).then(|| oom.hint()).flatten(),
        },
        // Without a status there is no success. Only a stopping run gives its leader up.
        (None, Some(Status::Lost) | None) => Outcome::RunnerDied,
    }
}
