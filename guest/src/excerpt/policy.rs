//! The limits of an excerpt, as a policy or one run gives them.
//!
//! It does not apply them.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::fault::{Fault, FaultCode};

const MAX_BYTES: RangeInclusive<usize> = 512..=65_536;
const LINE_BYTES: RangeInclusive<usize> = 80..=4_096;
const LINES: RangeInclusive<usize> = 0..=10_000;

/// The `excerpt` object of `feedback.json`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExcerptPolicy {
    /// Bytes of text for both streams together, 512 to 65,536.
    pub max_bytes: usize,
    /// Lines kept from the start. Where this or `tail_lines` is set, nothing is picked between.
    pub head_lines: Option<usize>,
    /// Lines kept from the end.
    pub tail_lines: Option<usize>,
    /// The longest line that is kept whole, in bytes, 80 to 4,096.
    pub line_bytes: usize,
}

impl Default for ExcerptPolicy {
    fn default() -> Self {
        Self {
            max_bytes: 4096,
            head_lines: None,
            tail_lines: None,
            line_bytes: 400,
        }
    }
}

impl ExcerptPolicy {
    /// Checks that every number is in its range.
    ///
    /// # Errors
    /// `invalid-policy`, naming the first key that is not.
    pub fn check(&self) -> Result<(), Fault> {
        within("excerpt.max_bytes", self.max_bytes, &MAX_BYTES)?;
        within("excerpt.line_bytes", self.line_bytes, &LINE_BYTES)?;
        within("excerpt.head_lines", self.head_lines.unwrap_or(0), &LINES)?;
        within("excerpt.tail_lines", self.tail_lines.unwrap_or(0), &LINES)
    }

    /// Returns whether only the first and the last lines are kept.
    pub(super) fn is_plain(&self) -> bool {
        self.head_lines.is_some() || self.tail_lines.is_some()
    }

    /// Returns how many lines are kept from the start.
    pub(super) fn head(&self) -> usize {
        self.head_lines.unwrap_or(3)
    }

    /// Returns how many lines are kept from the end, at least.
    pub(super) fn tail(&self) -> usize {
        self.tail_lines.unwrap_or(5)
    }
}

/// What one run asks for instead of the policy's limits.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct CaptureOptions {
    /// Replaces the policy's `max_bytes`.
    pub max_bytes: Option<usize>,
    /// Replaces the policy's `head_lines`.
    pub head_lines: Option<usize>,
    /// Replaces the policy's `tail_lines`.
    pub tail_lines: Option<usize>,
}

impl CaptureOptions {
    /// Returns `policy` with what this run asks for.
    ///
    /// # Errors
    /// `invalid-policy` when a number is out of its range.
    pub fn apply(&self, policy: &ExcerptPolicy) -> Result<ExcerptPolicy, Fault> {
        within(
            "max_bytes",
            self.max_bytes.unwrap_or(*MAX_BYTES.start()),
            &MAX_BYTES,
        )?;
        within("head_lines", self.head_lines.unwrap_or(0), &LINES)?;
        within("tail_lines", self.tail_lines.unwrap_or(0), &LINES)?;
        Ok(ExcerptPolicy {
            max_bytes: self.max_bytes.unwrap_or(policy.max_bytes),
            head_lines: self.head_lines.or(policy.head_lines),
            tail_lines: self.tail_lines.or(policy.tail_lines),
            line_bytes: policy.line_bytes,
        })
    }
}

fn within(key: &str, value: usize, range: &RangeInclusive<usize>) -> Result<(), Fault> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Fault::new(
        FaultCode::InvalidPolicy,
        format!(
            "`{key}` is {value}, expected {} to {}",
            range.start(),
            range.end()
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_object_is_the_default() {
        let policy: ExcerptPolicy = serde_json::from_str("{}").unwrap();
        assert_eq!(policy, ExcerptPolicy::default());
        policy.check().unwrap();
    }

    #[test]
    fn a_number_out_of_range_is_named_with_its_range() {
        let policy: ExcerptPolicy = serde_json::from_str(r#"{"max_bytes":511}"#).unwrap();
        let fault = policy.check().unwrap_err();
        assert_eq!(fault.code, FaultCode::InvalidPolicy);
        assert_eq!(
            fault.message,
            "`excerpt.max_bytes` is 511, expected 512 to 65536"
        );
        assert!(serde_json::from_str::<ExcerptPolicy>(r#"{"max_byte":600}"#).is_err());
    }

    #[test]
    fn options_replace_only_what_they_name() {
        let policy = ExcerptPolicy {
            tail_lines: Some(9),
            ..ExcerptPolicy::default()
        };
        let options: CaptureOptions = serde_json::from_str(r#"{"max_bytes":8192}"#).unwrap();
        let applied = options.apply(&policy).unwrap();
        assert_eq!((applied.max_bytes, applied.tail_lines), (8192, Some(9)));
        let options = CaptureOptions {
            tail_lines: Some(10_001),
            ..CaptureOptions::default()
        };
        assert_eq!(
            options.apply(&policy).unwrap_err().message,
            "`tail_lines` is 10001, expected 0 to 10000"
        );
    }
}
