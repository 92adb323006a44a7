//! The seam to what is kept of a command's two streams.
//!
//! It does not capture yet: it only names what a record is built from.

use serde::{Deserialize, Serialize};

use crate::fault::{Fault, FaultCode};
use crate::redact::Findings;

/// The `excerpt` object of `feedback.json`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct ExcerptPolicy {
    /// The bytes of text that both excerpts share.
    pub max_bytes: u32,
    /// Lines kept from the start.
    pub head_lines: Option<u32>,
    /// Lines kept from the end.
    pub tail_lines: Option<u32>,
    /// The bytes that are kept of one line.
    pub line_bytes: u32,
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
    /// Checks the ranges.
    ///
    /// # Errors
    /// `invalid-policy` that names the key.
    pub fn validate(&self) -> Result<(), Fault> {
        if (512..=65536).contains(&self.max_bytes) {
            Ok(())
        } else {
            let message = format!(
                "`excerpt.max_bytes`: expected 512 to 65536, found {}",
                self.max_bytes
            );
            Err(Fault::new(FaultCode::InvalidPolicy, message))
        }
    }
}

/// The numbers of one stream.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StreamNumbers {
    /// All bytes that were read.
    pub bytes: u64,
    /// All lines that were read.
    pub lines: u64,
    /// Whether the end of the stream was seen.
    pub end_seen: bool,
}

/// What is kept of one stream.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    /// The text, redacted and cut.
    pub text: String,
    /// What was read and what was left out.
    pub numbers: StreamNumbers,
    /// What was redacted.
    pub findings: Findings,
}

/// What is kept of both streams.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    /// File descriptor 1.
    pub stdout: Excerpt,
    /// File descriptor 2.
    pub stderr: Excerpt,
}
