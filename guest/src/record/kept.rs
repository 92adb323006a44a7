//! What a host has kept of a stream beside the record: the facts, checked and redacted.
//!
//! The text itself is not seen here.

use serde::{Deserialize, Serialize};

use super::scrub::Scrubber;
use crate::fault::{Fault, FaultCode};

/// The longest path or error that is kept, in characters.
const TEXT_CHARS: usize = 300;

/// What was kept of both streams.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct KeptStreams {
    pub(super) stdout: Option<Kept>,
    pub(super) stderr: Option<Kept>,
}

/// What was kept of the redacted text of one stream.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kept {
    /// Relative to the folder of the record file; absent where there is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    bytes: u64,
    lines: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    bytes_omitted: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    lines_omitted: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl KeptStreams {
    /// Checks what the types cannot say.
    pub(super) fn check(&self) -> Result<(), Fault> {
        for (name, kept) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            let Some(kept) = kept else { continue };
            let is_digest = |digest: &String| {
                let hex = digest.strip_prefix("sha256:").unwrap_or_default();
                let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
                hex.len() == 64 && hex.bytes().all(lower)
            };
            if kept.file.is_some() != kept.sha256.as_ref().is_some_and(is_digest) {
                return Err(Fault::new(
                    FaultCode::InvalidJson,
                    format!(
                        "ending: `kept.{name}`: a file has a `sha256`, and only a file has one"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Returns the facts of stdout and of stderr with their texts redacted.
    pub(super) fn scrubbed(self, scrubber: &mut Scrubber<'_>) -> (Option<Kept>, Option<Kept>) {
        let mut scrub = |kept: Option<Kept>, key: &str| {
            kept.map(|kept| Kept {
                file: kept.file.map(|file| scrubber.name(key, &file, TEXT_CHARS)),
                error: kept
                    .error
                    .map(|error| scrubber.name(key, &error, TEXT_CHARS)),
                ..kept
            })
        };
        (
            scrub(self.stdout, "stdout.kept"),
            scrub(self.stderr, "stderr.kept"),
        )
    }
}
