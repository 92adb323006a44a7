//! The keys of a record that its outcome decides.
//!
//! An exit code comes from the outcome alone; there is no other way into a record.

use serde::Serialize;

use crate::outcome::{Cause, Limit, Outcome, Then};

/// The keys that an outcome decides. Its fields are private: only an [`Outcome`] makes them.
#[derive(Debug, Serialize)]
pub(super) struct End {
    outcome: &'static str,
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome_detail: Option<Detail>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// What an outcome leaves open.
#[derive(Debug, Default, Serialize)]
struct Detail {
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errno: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    core_dumped: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    escalated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    then: Option<Then>,
}

impl End {
    /// Says how a run ended; `error` is the redacted sentence of the outcome.
    pub(super) fn new(outcome: Outcome, error: Option<String>) -> Self {
        let (kind, exit_code) = (outcome.kind(), outcome.exit_code());
        let signal = match &outcome {
            Outcome::Signaled { signal, .. } => Some(*signal),
            Outcome::Exited { .. }
            | Outcome::TimedOut { .. }
            | Outcome::Cancelled { .. }
            | Outcome::NotStarted { .. }
            | Outcome::RunnerDied => None,
        };
        Self {
            outcome: kind.as_str(),
            exit_code,
            signal,
            outcome_detail: Detail::of(outcome),
            error,
        }
    }
}

impl Detail {
    fn of(outcome: Outcome) -> Option<Self> {
        let none = Self::default();
        match outcome {
            Outcome::Exited { .. } | Outcome::RunnerDied => None,
            Outcome::Signaled {
                signal: _,
                name,
                core_dumped,
                hint,
            } => Some(Self {
                name,
                core_dumped: Some(core_dumped),
                hint,
                ..none
            }),
            Outcome::TimedOut {
                limit,
                after_ms,
                escalated,
                then,
            } => Some(Self {
                limit: Some(limit),
                after_ms: Some(after_ms),
                escalated: Some(escalated),
                then,
                ..none
            }),
            Outcome::Cancelled {
                signal,
                name,
                escalated,
                then,
            } => Some(Self {
                signal: Some(signal),
                name,
                escalated: Some(escalated),
                then,
                ..none
            }),
            Outcome::NotStarted { cause, errno } => Some(Self {
                cause: Some(cause),
                errno,
                ..none
            }),
        }
    }
}
