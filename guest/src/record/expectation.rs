//! What was expected before a run, and whether it held.
//!
//! It does not look at the streams; what the capture was not told of could not be judged there,
//! and did not hold.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::scrub::{Clamped, Redactions, Scrubber};
use crate::document;
use crate::expect::{self, Expectations, Judgement, Observed};
use crate::fault::{Fault, FaultCode};
use crate::redact::Rules;

/// What all expectations of one run take in its record at most, in bytes of JSON.
const LIMIT: usize = 16 * 1024;

/// The longest text of one expectation, in characters.
const TEXT_CHARS: usize = 1_000;

/// One declared expectation, as it may be kept.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Expectation {
    kind: String,
    #[serde(default)]
    expected: Value,
}

/// An expectation after the run.
#[derive(Debug, Serialize)]
pub(super) struct Judged {
    kind: String,
    expected: Value,
    held: bool,
    seen: Value,
}

/// Redacts the texts of the expectations.
///
/// # Errors
/// `limit-exceeded` where they do not fit into a record: one that is left out could not fail.
pub(super) fn scrub(
    scrubber: &mut Scrubber<'_>,
    declared: &Expectations,
) -> Result<Vec<Expectation>, Fault> {
    let clean: Vec<Expectation> = declared
        .list()
        .iter()
        .map(|expectation| Expectation {
            kind: expectation.kind().as_str().to_owned(),
            expected: scrub_value(scrubber, expectation.expected()),
        })
        .collect();
    let length = document::write("request", &clean)?.len();
    if length <= LIMIT {
        return Ok(clean);
    }
    let message = format!("request: `expect`: {length} bytes, at most {LIMIT} are kept");
    Err(Fault::new(FaultCode::LimitExceeded, message))
}

fn scrub_value(scrubber: &mut Scrubber<'_>, value: Value) -> Value {
    match value {
        Value::String(text) => Value::from(scrubber.name("expectations", &text, TEXT_CHARS)),
        Value::Array(items) => {
            let items = items.into_iter();
            Value::Array(items.map(|item| scrub_value(scrubber, item)).collect())
        }
        Value::Object(entries) => {
            let clean = entries.into_iter().map(|(key, value)| {
                let key = scrubber.name("expectations", &key, TEXT_CHARS);
                (key, scrub_value(scrubber, value))
            });
            Value::Object(clean.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// What was found of what the capture was told to expect, and how the run ended.
pub(super) struct Evidence<'e> {
    pub(super) rules: &'e Rc<Rules>,
    pub(super) judged: Vec<Judgement>,
    pub(super) exit_code: Option<i32>,
    pub(super) duration_ms: Option<u64>,
}

/// Takes over what the capture judged, where it was told the same as the intent.
pub(super) fn judge(declared: Vec<Expectation>, evidence: &Evidence<'_>) -> Vec<Judged> {
    let mut judged = evidence.judged.iter();
    declared
        .into_iter()
        .map(|expectation| {
            let (held, seen) = judged
                .next()
                .filter(|judgement| is_of(evidence.rules, judgement, &expectation))
                .map_or_else(
                    || unwatched(&expectation, evidence),
                    |judgement| (judgement.held, judgement.seen.clone()),
                );
            Judged {
                kind: expectation.kind,
                expected: expectation.expected,
                held,
                seen,
            }
        })
        .collect()
}

/// What nobody judged did not hold.
pub(super) fn unjudged(declared: Vec<Expectation>) -> Vec<Judged> {
    declared
        .into_iter()
        .map(|expectation| Judged {
            kind: expectation.kind,
            expected: expectation.expected,
            held: false,
            seen: Value::Null,
        })
        .collect()
}

/// Whether every one of them held.
pub(super) fn all_held(judged: &[Judged]) -> bool {
    judged.iter().all(|judged| judged.held)
}

/// Whether the command was expected to exit with its code.
pub(super) fn names_the_code(judged: &[Judged]) -> bool {
    judged
        .iter()
        .any(|judged| judged.kind == "exit-code" && judged.held)
}

/// What did not hold, for the signature of the failure.
pub(super) fn unmet(judged: &[Judged]) -> Vec<String> {
    let unmet = judged.iter().filter(|judged| !judged.held);
    unmet
        .map(|judged| {
            let text = judged.seen.get("text").unwrap_or(&judged.seen);
            let (expected, text) = (document::shown(&judged.expected), document::shown(text));
            format!("{} {expected} {text}", judged.kind)
        })
        .collect()
}

fn is_of(rules: &Rc<Rules>, judgement: &Judgement, declared: &Expectation) -> bool {
    let mut scrubber = Scrubber::new(rules, Redactions::default(), Clamped::new());
    judgement.kind.as_str() == declared.kind
        && scrub_value(&mut scrubber, judgement.expected.clone()) == declared.expected
}

/// An expectation of which the capture was not told: what the ending alone can tell.
fn unwatched(declared: &Expectation, evidence: &Evidence<'_>) -> (bool, Value) {
    let list = json!([declared]);
    let read = document::fit::<Expectations>("intent", &list, FaultCode::InvalidJson);
    let observed = Observed {
        exit_code: evidence.exit_code,
        duration_ms: evidence.duration_ms,
        ..Observed::default()
    };
    let judged = read.map(|list| expect::judge(&list, &observed));
    match judged.unwrap_or_default().into_iter().next() {
        Some(judgement) => (judgement.held, judgement.seen),
        None => (false, Value::Null),
    }
}
