//! What was captured, as it stands in a record, for a text that belongs to no run.

use serde::Serialize;

use super::scrub::Redactions;
use crate::capture::{Captured, StreamNumbers};
use crate::document;
use crate::fault::Fault;

/// The part of a record that the capture fills.
#[derive(Serialize)]
struct Part {
    stdout_tail: String,
    stderr_tail: String,
    stdout: StreamNumbers,
    stderr: StreamNumbers,
    redactions: Redactions,
}

/// Returns `{ "stdout_tail", "stderr_tail", "stdout", "stderr", "redactions" }`.
///
/// # Errors
/// Never in practice: every value has a JSON form.
pub fn captured_json(captured: Captured) -> Result<String, Fault> {
    let mut redactions = Redactions::default();
    redactions.add("stdout", &captured.stdout.findings);
    redactions.add("stderr", &captured.stderr.findings);
    let part = Part {
        stdout_tail: captured.stdout.text,
        stderr_tail: captured.stderr.text,
        stdout: captured.stdout.numbers,
        stderr: captured.stderr.numbers,
        redactions,
    };
    document::write("capture", &part)
}
