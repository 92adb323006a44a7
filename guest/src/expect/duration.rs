//! Reads how long a command may take: milliseconds, or a duration as people write it.
//!
//! It measures nothing.

use serde_json::Value;

use crate::policy::duration_millis;

/// Returns the milliseconds, at least one.
pub(super) fn millis(expected: &Value) -> Result<u64, String> {
    let millis = match expected {
        Value::String(text) => duration_millis(text),
        Value::Number(number) => number.as_u64(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    millis.filter(|millis| *millis > 0).ok_or_else(|| {
        "expected milliseconds, or a duration such as \"90s\" of at most \"30d\"".to_owned()
    })
}
