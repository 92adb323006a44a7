//! How a run ended: the closed set of outcomes.
//!
//! An exit code exists only inside [`Outcome::Exited`], so no record can carry one that the
//! command did not exit with. What the gate makes of an outcome is not decided here.

mod told;

use serde::{Deserialize, Serialize};

use told::Told;

/// How a run ended, with everything that is known of it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "Told")]
pub enum Outcome {
    /// The process that was started exited by itself.
    Exited {
        /// The code that it exited with.
        code: i32,
    },
    /// A signal ended the process that was started.
    Signaled {
        /// The number of the signal.
        signal: i32,
        /// Its name, where it has one.
        name: Option<String>,
        /// Whether a core was dumped.
        core_dumped: bool,
        /// Who sent it, only with evidence.
        hint: Option<String>,
    },
    /// A limit of time passed.
    TimedOut {
        /// Which limit.
        limit: Limit,
        /// The limit, in milliseconds.
        after_ms: u64,
        /// Whether SIGKILL was needed.
        escalated: bool,
        /// How the process ended afterwards.
        then: Option<Then>,
    },
    /// The runner was told to stop.
    Cancelled {
        /// The number of the signal that the runner received.
        signal: i32,
        /// Its name, where it has one.
        name: Option<String>,
        /// Whether SIGKILL was needed.
        escalated: bool,
        /// How the process ended afterwards.
        then: Option<Then>,
    },
    /// No process came to be.
    NotStarted {
        /// Why not.
        cause: Cause,
        /// The name of the system's error, for instance `ENOENT`.
        errno: Option<String>,
    },
    /// The runner died during the run, so nobody saw how it ended.
    RunnerDied,
}

/// Which limit of time passed.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The whole run took too long.
    #[default]
    Deadline,
    /// No output came for too long.
    Silence,
}

/// How a process ended after it was told to.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// It exited with this code, which is not an exit code of the run.
    ExitCode(i32),
    /// This signal ended it.
    Signal(i32),
}

/// Why a command could not be started.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// No such program.
    ProgramNotFound,
    /// No such working directory.
    CwdNotFound,
    /// The script names an interpreter that is not there.
    InterpreterNotFound,
    /// The file has no execute bit.
    NotExecutable,
    /// The path names a directory.
    IsADirectory,
    /// The file is in no format that can be executed.
    WrongFormat,
    /// The arguments and the environment are too large together.
    ArgumentListTooLong,
    /// A NUL in an argument or in the environment, or `=` in a name.
    InvalidArgument,
    /// The program is being written.
    TextFileBusy,
    /// No process, memory or descriptor is left.
    ResourceLimit,
    /// Something else, which the errno names.
    Other,
}

/// The name of an outcome, without its detail.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeKind {
    /// See [`Outcome::Exited`].
    Exited,
    /// See [`Outcome::Signaled`].
    Signaled,
    /// See [`Outcome::TimedOut`].
    TimedOut,
    /// See [`Outcome::Cancelled`].
    Cancelled,
    /// See [`Outcome::NotStarted`].
    NotStarted,
    /// See [`Outcome::RunnerDied`].
    RunnerDied,
}

impl OutcomeKind {
    /// Every outcome, in the order of the specification.
    pub const ALL: [Self; 6] = [
        Self::Exited,
        Self::Signaled,
        Self::TimedOut,
        Self::Cancelled,
        Self::NotStarted,
        Self::RunnerDied,
    ];

    /// Returns the name that stands in a record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exited => "exited",
            Self::Signaled => "signaled",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::NotStarted => "not-started",
            Self::RunnerDied => "runner-died",
        }
    }

    /// Returns the outcome of this name, or `None` where no outcome has it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl Outcome {
    /// Returns which of the six it is.
    #[must_use]
    pub const fn kind(&self) -> OutcomeKind {
        match self {
            Self::Exited { .. } => OutcomeKind::Exited,
            Self::Signaled { .. } => OutcomeKind::Signaled,
            Self::TimedOut { .. } => OutcomeKind::TimedOut,
            Self::Cancelled { .. } => OutcomeKind::Cancelled,
            Self::NotStarted { .. } => OutcomeKind::NotStarted,
            Self::RunnerDied => OutcomeKind::RunnerDied,
        }
    }

    /// Returns the code that the command itself exited with.
    #[must_use]
    pub const fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited { code } => Some(*code),
            Self::Signaled { .. }
            | Self::TimedOut { .. }
            | Self::Cancelled { .. }
            | Self::NotStarted { .. }
            | Self::RunnerDied => None,
        }
    }

    /// Returns the reason why there is no exit code; `None` exactly where there is one.
    /// `program` is the first argument, as it may be shown.
    #[must_use]
    pub fn sentence(&self, program: &str) -> Option<String> {
        match self {
            Self::Exited { .. } => None,
            Self::Signaled { signal, name, .. } => Some(match name {
                Some(name) => format!("killed by signal {signal} ({name})"),
                None => format!("killed by signal {signal}"),
            }),
            Self::TimedOut {
                limit, after_ms, ..
            } => Some(match limit {
                Limit::Deadline => format!("timed out after {}", Span(*after_ms)),
                Limit::Silence => format!("no output for {}", Span(*after_ms)),
            }),
            Self::Cancelled { signal, name, .. } => Some(match name {
                Some(name) => format!("cancelled by {name}"),
                None => format!("cancelled by signal {signal}"),
            }),
            Self::NotStarted { cause, errno } => Some(match errno {
                Some(errno) => format!("{}: `{program}` ({errno})", cause.words()),
                None => format!("{}: `{program}`", cause.words()),
            }),
            Self::RunnerDied => Some("the runner died during the run".to_owned()),
        }
    }
}

impl Cause {
    fn words(self) -> &'static str {
        match self {
            Self::ProgramNotFound => "program not found",
            Self::CwdNotFound => "working directory not found for",
            Self::InterpreterNotFound => "interpreter not found for",
            Self::NotExecutable => "not executable",
            Self::IsADirectory => "is a directory",
            Self::WrongFormat => "not an executable format",
            Self::ArgumentListTooLong => "argument list too long for",
            Self::InvalidArgument => "invalid argument for",
            Self::TextFileBusy => "program is being written",
            Self::ResourceLimit => "no resources to start",
            Self::Other => "could not start",
        }
    }
}

/// A span of time as people read it.
struct Span(u64);

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (seconds, millis) = (self.0 / 1_000, self.0 % 1_000);
        if seconds == 0 {
            return write!(f, "{millis} ms");
        }
        if millis == 0 {
            return write!(f, "{seconds} s");
        }
        let fraction = format!("{millis:03}");
        write!(f, "{seconds}.{} s", fraction.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(json: &str) -> Option<String> {
        let outcome: Outcome = serde_json::from_str(json).unwrap();
        outcome.sentence("pytst")
    }

    #[test]
    fn every_outcome_but_exited_has_a_sentence() {
        for (json, wanted) in [
            (r#"{"kind":"exited","code":0}"#, None),
            (
                r#"{"kind":"signaled","signal":9,"name":"SIGKILL"}"#,
                Some("killed by signal 9 (SIGKILL)"),
            ),
            (
                r#"{"kind":"signaled","signal":35}"#,
                Some("killed by signal 35"),
            ),
            (
                r#"{"kind":"timed-out","limit":"deadline","after_ms":30000}"#,
                Some("timed out after 30 s"),
            ),
            (
                r#"{"kind":"timed-out","limit":"silence","after_ms":1500}"#,
                Some("no output for 1.5 s"),
            ),
            (
                r#"{"kind":"timed-out","after_ms":250}"#,
                Some("timed out after 250 ms"),
            ),
            (
                r#"{"kind":"cancelled","signal":2,"name":"SIGINT"}"#,
                Some("cancelled by SIGINT"),
            ),
            (
                r#"{"kind":"cancelled","signal":34}"#,
                Some("cancelled by signal 34"),
            ),
            (
                r#"{"kind":"not-started","cause":"program-not-found"}"#,
                Some("program not found: `pytst`"),
            ),
            (
                r#"{"kind":"not-started","cause":"other","errno":"EIO"}"#,
                Some("could not start: `pytst` (EIO)"),
            ),
            (
                r#"{"kind":"runner-died"}"#,
                Some("the runner died during the run"),
            ),
        ] {
            assert_eq!(sentence(json).as_deref(), wanted, "{json}");
        }
    }

    #[test]
    fn a_signal_is_never_an_exit_code() {
        let outcome = Outcome::Signaled {
            signal: 9,
            name: None,
            core_dumped: false,
            hint: None,
        };
        assert_eq!(outcome.exit_code(), None);
    }

    #[test]
    fn names_are_the_ones_that_json_uses() {
        for kind in OutcomeKind::ALL {
            assert_eq!(OutcomeKind::from_name(kind.as_str()), Some(kind));
            let name = serde_json::json!(kind.as_str());
            assert_eq!(serde_json::from_value::<OutcomeKind>(name).unwrap(), kind);
        }
        let outcome: Outcome = serde_json::from_str(r#"{"kind":"runner-died"}"#).unwrap();
        assert_eq!(outcome.kind(), OutcomeKind::RunnerDied);
        assert_eq!(OutcomeKind::from_name("Exited"), None);
    }
}
