//! The closed set of ways in which a run can end.
//!
//! It says nothing of what a run printed, used or left behind.

use std::fmt;

use serde::Serialize;

use crate::signal;

/// The ways a run can end. The set is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(
    tag = "kind",
    rename_all = "kebab-case",
    rename_all_fields = "snake_case"
)]
pub enum Outcome {
    /// The process exited by itself.
    Exited {
        /// Its code.
        code: u8,
    },
    /// A signal that the runner did not send ended the process.
    Signaled {
        /// The number of the signal.
        signal: i32,
        /// Its name; absent for signals without one.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'static str>,
        /// Whether the system says that it dumped core.
        core_dumped: bool,
        /// A probable cause, only with evidence.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
    /// A limit passed while the process was running.
    TimedOut {
        /// Which limit.
        limit: Limit,
        /// The limit in milliseconds.
        after_ms: u64,
        /// Whether SIGKILL was needed.
        escalated: bool,
        /// How the process ended afterwards; null where it could not be ended.
        then: Option<Then>,
    },
    /// The runner was asked to stop.
    Cancelled {
        /// The signal that the runner received.
        signal: i32,
        /// Its name; absent for signals without one.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'static str>,
        /// Whether SIGKILL was needed.
        escalated: bool,
        /// How the process ended afterwards; null where it never ran or could not be ended.
        then: Option<Then>,
    },
    /// The process could not be started.
    NotStarted {
        /// What was in the way.
        cause: NotStartedCause,
        /// The name of the error number, such as `ENOENT`.
        #[serde(skip_serializing_if = "Option::is_none")]
        errno: Option<String>,
    },
    /// The runner ended before the command did; or, in a living runner, another part of its
    /// process has collected the command's status, which is then lost.
    RunnerDied,
}

impl Outcome {
    /// Returns the outcome's name in a record.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Exited { .. } => "exited",
            Self::Signaled { .. } => "signaled",
            Self::TimedOut { .. } => "timed-out",
            Self::Cancelled { .. } => "cancelled",
            Self::NotStarted { .. } => "not-started",
            Self::RunnerDied => "runner-died",
        }
    }

    /// Returns the exit code, which only a process that exited by itself has.
    #[must_use]
    pub fn exit_code(&self) -> Option<u8> {
        match self {
            Self::Exited { code } => Some(*code),
            Self::Signaled { .. }
            | Self::TimedOut { .. }
            | Self::Cancelled { .. }
            | Self::NotStarted { .. }
            | Self::RunnerDied => None,
        }
    }
}

impl fmt::Display for Outcome {
    /// Writes a lowercase fragment, such as `exited 1` or `ended by SIGKILL`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { code } => write!(f, "exited {code}"),
            Self::Signaled { signal, .. } => write!(f, "ended by {}", signal::label(*signal)),
            Self::TimedOut {
                limit: Limit::Deadline,
                after_ms,
                ..
            } => {
                write!(f, "timed out after {after_ms} ms")
            }
            Self::TimedOut {
                limit: Limit::Silence,
                after_ms,
                ..
            } => {
                write!(f, "timed out after {after_ms} ms without output")
            }
            Self::Cancelled { signal, .. } => write!(f, "cancelled by {}", signal::label(*signal)),
            Self::NotStarted {
                errno: Some(errno), ..
            } => write!(f, "not started ({errno})"),
            Self::NotStarted { errno: None, .. } => f.write_str("not started"),
            Self::RunnerDied => f.write_str("the runner died"),
        }
    }
}

/// Which of the two time limits passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The time for the whole run.
    Deadline,
    /// The time without any output.
    Silence,
}

/// How a process ended after the runner had asked it to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// It exited with this code, which is not an exit code of the run.
    ExitCode(u8),
    /// This signal ended it.
    Signal(i32),
}

/// What was in the way of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotStartedCause {
    /// No such program.
    ProgramNotFound,
    /// The working directory does not exist or cannot be entered.
    CwdNotFound,
    /// The program names an interpreter or a loader that does not exist.
    InterpreterNotFound,
    /// The program may not be executed.
    NotExecutable,
    /// The program is a directory.
    IsADirectory,
    /// The file is in no format that the system executes.
    WrongFormat,
    /// Arguments and environment are too large.
    ArgumentListTooLong,
    /// An argument or an environment variable cannot be passed.
    InvalidArgument,
    /// The program file is open for writing.
    TextFileBusy,
    /// Processes, memory or descriptors ran out.
    ResourceLimit,
    /// Something else.
    Other,
}
