//! An outcome as the host tells it, before it is known that its keys belong together.
//!
//! A derived reader of a tagged enum would keep a copy of the whole document, and the code for
//! every type that it could turn out to be.

use serde::Deserialize;

use super::{Cause, Limit, Outcome, OutcomeKind, Then};

/// Every key that some outcome has.
#[derive(Deserialize)]
pub(super) struct Told {
    kind: OutcomeKind,
    code: Option<i32>,
    signal: Option<i32>,
    name: Option<String>,
    #[serde(default)]
    core_dumped: bool,
    hint: Option<String>,
    #[serde(default)]
    limit: Limit,
    after_ms: Option<u64>,
    #[serde(default)]
    escalated: bool,
    then: Option<Then>,
    cause: Option<Cause>,
    errno: Option<String>,
}

impl TryFrom<Told> for Outcome {
    type Error = String;

    fn try_from(told: Told) -> Result<Self, String> {
        let missing = |key: &str| format!("`{key}` is missing");
        match told.kind {
            OutcomeKind::Exited => Ok(Self::Exited {
                code: told.code.ok_or_else(|| missing("code"))?,
            }),
            OutcomeKind::Signaled => Ok(Self::Signaled {
                signal: told.signal.ok_or_else(|| missing("signal"))?,
                name: told.name,
                core_dumped: told.core_dumped,
                hint: told.hint,
            }),
            OutcomeKind::TimedOut => Ok(Self::TimedOut {
                limit: told.limit,
                after_ms: told.after_ms.ok_or_else(|| missing("after_ms"))?,
                escalated: told.escalated,
                then: told.then,
            }),
            OutcomeKind::Cancelled => Ok(Self::Cancelled {
                signal: told.signal.ok_or_else(|| missing("signal"))?,
                name: told.name,
                escalated: told.escalated,
                then: told.then,
            }),
            OutcomeKind::NotStarted => Ok(Self::NotStarted {
                cause: told.cause.ok_or_else(|| missing("cause"))?,
                errno: told.errno,
            }),
            OutcomeKind::RunnerDied => Ok(Self::RunnerDied),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_without_a_key_that_it_needs_is_refused() {
        for (kind, key) in [
            ("exited", "code"),
            ("signaled", "signal"),
            ("timed-out", "after_ms"),
            ("cancelled", "signal"),
            ("not-started", "cause"),
        ] {
            let json = format!(r#"{{"kind":"{kind}"}}"#);
            let refused = serde_json::from_str::<Outcome>(&json).unwrap_err();
            assert!(refused.to_string().contains(&format!("`{key}` is missing")));
        }
    }

    #[test]
    fn an_outcome_of_an_unknown_kind_is_refused() {
        assert!(serde_json::from_str::<Outcome>(r#"{"kind":"passed"}"#).is_err());
        assert!(serde_json::from_str::<Outcome>(r#"{"code":0}"#).is_err());
    }
}
