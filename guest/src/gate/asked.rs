//! What was asked of a run beforehand: the exit codes that are success, and what else must hold.
//!
//! It does not look at what came of it; it tells whether a later run asked for as much.

use serde_json::Value;

use super::entry::{Expectation, Run};
use super::expected::codes;
use crate::expect::Kind;

/// What was asked of a run.
#[derive(Debug)]
pub(super) struct Asked {
    /// The exit codes that are success: those that every list of them names; 0 without a list.
    codes: Vec<i64>,
    others: Vec<(String, Value)>,
}

impl Asked {
    /// Reads what was asked of a run from its record.
    pub(super) fn of(run: &Run) -> Self {
        let expectations = run.expectations.as_deref().unwrap_or_default();
        let (of_code, others): (Vec<&Expectation>, Vec<&Expectation>) = expectations
            .iter()
            .partition(|one| one.kind.as_deref() == Some(Kind::ExitCode.as_str()));
        let lists = of_code.iter().map(|one| codes(one.expected.as_ref()));
        let both = |left: Vec<i64>, right: Vec<i64>| {
            let named = left.into_iter().filter(|code| right.contains(code));
            named.collect()
        };
        let others = others.iter().map(|one| {
            let expected = one.expected.clone().unwrap_or_default();
            (one.kind.clone().unwrap_or_default(), expected)
        });
        Self {
            codes: lists.reduce(both).unwrap_or_else(|| vec![0]),
            others: others.collect(),
        }
    }

    /// Whether no other exit code is success here than was for `earlier`.
    pub(super) fn covers_codes(&self, earlier: &Self) -> bool {
        self.codes.iter().all(|code| earlier.codes.contains(code))
    }

    /// Whether everything else that had to hold for `earlier` has to here, word for word or more
    /// strictly.
    pub(super) fn covers_others(&self, earlier: &Self) -> bool {
        earlier.others.iter().all(|(kind, expected)| {
            let mut same = self.others.iter().filter(|(own, _)| own == kind);
            same.any(|(_, own)| own == expected || is_stricter(kind, own, expected))
        })
    }
}

/// Whether a number is asked for that can only be harder to meet.
fn is_stricter(kind: &str, own: &Value, expected: &Value) -> bool {
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_f64);
    if kind == Kind::MinCount.as_str() {
        let more = number(own, "count").zip(number(expected, "count"));
        own.get("pattern") == expected.get("pattern") && more.is_some_and(|(own, old)| own >= old)
    } else if kind == Kind::Within.as_str() {
        let less = own.as_f64().zip(expected.as_f64());
        less.is_some_and(|(own, old)| own <= old)
    } else {
        false
    }
}
