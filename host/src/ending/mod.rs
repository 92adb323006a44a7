//! How a run ended: its outcome and the facts beside it, as the component reads them.
//!
//! It decides nothing: whether an ending is a success is the component's to say.

mod outcome;

use std::time::Duration;

use serde::Serialize;

use crate::signal;

pub use outcome::{Limit, NotStartedCause, Outcome, Then};

/// Everything the host knows about how a run ended. Serialises to the `ending` document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ending {
    /// How it ended.
    pub outcome: Outcome,
    /// Wall-clock milliseconds from the start to the end of the process that was started.
    pub duration_ms: u64,
    /// The host's own sentence, only where the command was not started.
    pub error: Option<String>,
    /// What was read from descriptor 1.
    pub stdout: StreamFacts,
    /// What was read from descriptor 2.
    pub stderr: StreamFacts,
    /// What the command used; absent where nothing ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Processes that outlived the command.
    pub leftovers: Vec<Leftover>,
    /// The stages of the pipeline that ran last, in order, and before them those that failed unseen
    /// in earlier ones; empty for a plain command.
    pub stages: Vec<Stage>,
    /// The first signal that asked the runner to stop, whenever it came: also after the command
    /// had exited, when it no longer changes the outcome. Not part of the document.
    #[serde(skip)]
    pub interrupted: Option<i32>,
}

/// Which of the two output streams of a command some bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Descriptor 1 of the command.
    Stdout,
    /// Descriptor 2 of the command.
    Stderr,
}

/// What the host knows about one stream and the component cannot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StreamFacts {
    /// When the last byte came, in milliseconds from the start.
    pub last_byte_ms: Option<u64>,
    /// Bytes that were read.
    #[serde(skip)]
    pub bytes: u64,
    /// Whether the end of the stream was seen.
    #[serde(skip)]
    pub end_seen: bool,
}

/// What the command and the descendants that it waited for used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Peak memory of the largest single process. Absent where it was not above what a new
    /// process inherits from the runner, because then the system's number speaks of the runner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rss_bytes: Option<u64>,
    /// CPU time in user mode.
    pub user_ms: u64,
    /// CPU time in the kernel.
    pub system_ms: u64,
}

/// A process that outlived the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Leftover {
    /// Its process id.
    pub pid: i32,
    /// Its name as the system shows it.
    pub name: String,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a leftover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It was ended.
    Killed,
    /// It was left running, as asked.
    Kept,
    /// It could not be ended in time.
    Survived,
}

/// One stage of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// The text of the stage; null where the script is more than one pipeline.
    pub command: Option<String>,
    /// The status that bash reports, which is 128 + n where signal n ended the stage; null beside
    /// a `signal`, and where bash exited with success without a report.
    pub exit_code: Option<i32>,
    /// 13 (SIGPIPE) where a stage before the last has status 141: bash reports nothing clearer.
    pub signal: Option<i32>,
}

/// Why a command was not started: the outcome and the sentence that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotStarted {
    /// What was in the way.
    pub cause: NotStartedCause,
    /// The error number, where the system gave one.
    pub errno: Option<i32>,
    /// A lowercase fragment with the object in backticks.
    pub error: String,
}

impl NotStarted {
    /// Builds a refusal.
    pub fn new(cause: NotStartedCause, errno: Option<i32>, error: impl Into<String>) -> Self {
        Self {
            cause,
            errno,
            error: error.into(),
        }
    }
}

impl Ending {
    /// Returns the ending of a command that could not be started.
    #[must_use]
    pub fn not_started(refusal: NotStarted, took: Duration) -> Self {
        let errno = refusal.errno.map(signal::errno_name);
        let outcome = Outcome::NotStarted {
            cause: refusal.cause,
            errno,
        };
        Self {
            error: Some(refusal.error),
            ..Self::without_process(outcome, took)
        }
    }

    /// Returns the ending of a run that was cancelled by `signal` before anything was started.
    #[must_use]
    pub fn cancelled_before_start(signal: i32, took: Duration) -> Self {
        let name = signal::name(signal);
        let outcome = Outcome::Cancelled {
            signal,
            name,
            escalated: false,
            then: None,
        };
        Self {
            interrupted: Some(signal),
            ..Self::without_process(outcome, took)
        }
    }

    /// Returns the exit code, which only a process that exited by itself has.
    #[must_use]
    pub fn exit_code(&self) -> Option<u8> {
        self.outcome.exit_code()
    }

    /// Returns the `ending` document.
    #[must_use]
    pub fn to_json(&self) -> String {
        // There is nothing in it that could fail to serialise; an empty document is refused.
        serde_json::to_string(self).unwrap_or_default()
    }

    fn without_process(outcome: Outcome, took: Duration) -> Self {
        // No stream was ever open, so nothing of it was missed.
        let nothing = StreamFacts {
            end_seen: true,
            ..StreamFacts::default()
        };
        Self {
            outcome,
            duration_ms: millis(took),
            error: None,
            stdout: nothing,
            stderr: nothing,
            usage: None,
            leftovers: Vec::new(),
            stages: Vec::new(),
            interrupted: None,
        }
    }
}

/// Returns whole milliseconds; a time that does not fit is the largest one.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(outcome: &Outcome) -> String {
        serde_json::to_string(outcome).unwrap()
    }

    #[test]
    fn outcomes_serialise_with_the_names_of_the_specification() {
        assert_eq!(
            json(&Outcome::Exited { code: 3 }),
            r#"{"kind":"exited","code":3}"#
        );
        let killed = Outcome::Signaled {
            signal: 40,
            name: None,
            core_dumped: false,
            hint: None,
        };
        assert_eq!(
            json(&killed),
            r#"{"kind":"signaled","signal":40,"core_dumped":false}"#
        );
        let late = Outcome::TimedOut {
            limit: Limit::Silence,
            after_ms: 7,
            escalated: true,
            then: Some(Then::ExitCode(0)),
        };
        assert_eq!(
            json(&late),
            r#"{"kind":"timed-out","limit":"silence","after_ms":7,"escalated":true,"then":{"exit_code":0}}"#
        );
        let missing = Outcome::NotStarted {
            cause: NotStartedCause::IsADirectory,
            errno: Some("EACCES".into()),
        };
        assert_eq!(
            json(&missing),
            r#"{"kind":"not-started","cause":"is-a-directory","errno":"EACCES"}"#
        );
    }

    #[test]
    fn a_run_that_never_started_has_no_exit_code_and_no_usage() {
        let refusal = NotStarted::new(
            NotStartedCause::ProgramNotFound,
            Some(2),
            "program not found: `x`",
        );
        let ending = Ending::not_started(refusal, Duration::from_millis(4));
        assert_eq!(ending.exit_code(), None);
        assert_eq!(
            serde_json::to_string(&ending).unwrap(),
            concat!(
                r#"{"outcome":{"kind":"not-started","cause":"program-not-found","errno":"ENOENT"},"#,
                r#""duration_ms":4,"error":"program not found: `x`","stdout":{"last_byte_ms":null},"#,
                r#""stderr":{"last_byte_ms":null},"leftovers":[],"stages":[]}"#
            )
        );
    }
}
