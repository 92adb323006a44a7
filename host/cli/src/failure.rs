//! The exit statuses of the tool, all of them, and how a failure is told.
//!
//! | status | `feedback run` | every other command |
//! |---|---|---|
//! | 0 | the command exited 0, or with a code that `--expect-exit` names, and what was expected holds | done; for `gate`: pass; for `verify`: sound |
//! | 1 | the command's own | for `gate`: refuse; for `verify`: damaged; for `audit`: a record file holds something unredacted; for `policy --check`: not valid |
//! | 2 | the command's own | the question cannot be answered |
//! | 123 | the command ended as it should, and something that was expected does not hold | – |
//! | 124 | timed out | – |
//! | 125 | the runner failed, or the record is in doubt | – |
//! | 126 | the command cannot be executed | – |
//! | 127 | the command was not found | – |
//! | 128+n | ended by signal n, or cancelled by it | – |
//!
//! Where a `--shell` pipeline exits 0 although a stage failed, `run` exits with that stage's code.
//!
//! The record, not the status, tells a command's own 124 from a deadline.

use std::error::Error;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use feedback_host::ending::{NotStartedCause, Outcome, Stage};
use feedback_host::store::StoreError;

use crate::texts;

/// `gate`: the records show success.
pub(crate) const PASS: u8 = 0;
/// `gate`: the records do not show success. `audit`: a record file holds something unredacted.
pub(crate) const REFUSE: u8 = 1;
/// `verify`: the store is not as a store leaves it.
pub(crate) const DAMAGED: u8 = 1;
/// `policy --check`: the policy is not valid.
const INVALID: u8 = 1;
/// The question cannot be answered. Never a pass.
pub(crate) const UNDECIDED: u8 = 2;
/// `run`: the runner failed, or the record is in doubt.
pub(crate) const RUNNER: u8 = 125;

/// `run`: the command ended as it should, and something that was expected does not hold.
pub(crate) const UNMET: u8 = 123;

const TIMED_OUT: u8 = 124;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
const SIGNAL_BASE: u8 = 128;

/// A failure of the tool itself: one line that names the object and the remedy.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    status: u8,
}

impl Failure {
    /// A failure of `run`: nothing was started, or the record is in doubt.
    pub(crate) fn runner(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            status: RUNNER,
        }
    }

    /// A question that cannot be answered.
    pub(crate) fn undecided(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            status: UNDECIDED,
        }
    }

    /// An answer that is no: a policy that is not valid.
    pub(crate) fn invalid(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            status: INVALID,
        }
    }

    /// Returns what it says. It is not redacted.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Tells the failure on standard error and returns its status.
    pub(crate) fn report(&self) -> ExitCode {
        warn(&self.message);
        ExitCode::from(self.status)
    }
}

/// Tells something on standard error, on one line, redacted: it can hold what was typed.
pub(crate) fn warn(message: impl Display) {
    let line = texts::redacted(&message.to_string())
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    // Where even standard error is closed, the exit status still speaks.
    let _ = writeln!(std::io::stderr(), "feedback: {line}");
}

/// Prints an answer. A reader that went away is nobody's concern; an answer that could not be
/// written is none.
pub(crate) fn answer(text: &str) -> Result<(), Failure> {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::undecided(
            format!("the answer cannot be written: {error}"),
        )),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Returns an error with all its causes, outermost first.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        // A transparent error repeats its cause.
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    text
}

/// Returns a store's error with its causes and what to do about it.
pub(crate) fn of_store(error: &StoreError) -> String {
    format!("{}; {}", with_causes(error), error.remedy())
}

/// Returns the status with which `run` repeats how the command ended.
pub(crate) fn status_of(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Exited { code } => *code,
        Outcome::Signaled { signal, .. } | Outcome::Cancelled { signal, .. } => {
            signal_status(*signal)
        }
        Outcome::TimedOut { .. } => TIMED_OUT,
        Outcome::NotStarted { cause, .. } => match cause {
            NotStartedCause::ProgramNotFound | NotStartedCause::InterpreterNotFound => NOT_FOUND,
            NotStartedCause::NotExecutable
            | NotStartedCause::IsADirectory
            | NotStartedCause::WrongFormat
            | NotStartedCause::TextFileBusy
            | NotStartedCause::ArgumentListTooLong => NOT_EXECUTABLE,
            NotStartedCause::CwdNotFound
            | NotStartedCause::InvalidArgument
            | NotStartedCause::ResourceLimit
            | NotStartedCause::Other => RUNNER,
        },
        Outcome::RunnerDied => RUNNER,
    }
}

/// Returns the status of a pipeline that exited 0 although a stage failed: the code of the last
/// stage that has one, else that of SIGPIPE, else that of a record in doubt.
pub(crate) fn status_of_stages(stages: &[Stage]) -> u8 {
    let codes = stages.iter().rev().filter_map(|stage| stage.exit_code);
    let code = codes
        .filter(|code| *code != 0)
        .find_map(|code| u8::try_from(code).ok());
    let signal = stages.iter().rev().find_map(|stage| stage.signal);
    code.or(signal.map(signal_status)).unwrap_or(RUNNER)
}

/// Returns 128 + n.
pub(crate) fn signal_status(signal: i32) -> u8 {
    u8::try_from(signal)
        .ok()
        .and_then(|signal| SIGNAL_BASE.checked_add(signal))
        .unwrap_or(RUNNER)
}
