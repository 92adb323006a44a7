//! What was expected before a run, and whether it held.
//!
//! It does not look at the streams; an expectation that nobody could judge did not hold.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::scrub::Scrubber;
use crate::document;
use crate::fault::{Fault, FaultCode};

/// What all expectations of one run take in its record at most, in bytes of JSON.
const LIMIT: usize = 16 * 1024;

/// The longest text of one expectation, in characters.
const TEXT_CHARS: usize = 1_000;

/// One declared expectation.
#[derive(Clone, Debug, Deserialize, Serialize)]
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
    declared: Vec<Expectation>,
) -> Result<Vec<Expectation>, Fault> {
    let clean: Vec<Expectation> = declared
        .into_iter()
        .map(|expectation| Expectation {
            kind: scrubber.name("expectations", &expectation.kind, TEXT_CHARS),
            expected: scrub_value(scrubber, expectation.expected),
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

/// Judges what the exit code alone can tell; what nobody judged did not hold.
pub(super) fn judge(declared: Vec<Expectation>, exit_code: Option<i32>) -> Vec<Judged> {
    declared
        .into_iter()
        .map(|expectation| {
            let by_code = expectation.kind == "exit-code";
            let held = by_code && exit_code.is_some_and(|code| names(&expectation.expected, code));
            Judged {
                seen: if by_code {
                    Value::from(exit_code)
                } else {
                    Value::Null
                },
                kind: expectation.kind,
                expected: expectation.expected,
                held,
            }
        })
        .collect()
}

/// Whether `expected`, a number or a list of numbers, names the code.
fn names(expected: &Value, code: i32) -> bool {
    let is_code = |value: &Value| value.as_i64() == Some(i64::from(code));
    is_code(expected)
        || expected
            .as_array()
            .is_some_and(|codes| codes.iter().any(is_code))
}
