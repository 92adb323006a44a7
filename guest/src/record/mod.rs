//! The life of a record before it is sealed: request → intent → body.
//!
//! Everything that comes in is redacted before it is shortened, and shortened before it is
//! built. It gives no record its place in the store. The format is specified in `RECORD.md`.

mod argv;
pub(crate) mod base64;
mod body;
mod captured;
mod end;
mod ending;
mod expectation;
mod failed;
mod inputs;
mod intent;
mod kept;
mod notice;
pub mod schema;
mod scrub;

use serde::Deserialize;

use crate::capture::Captured;
use crate::document;
use crate::fault::{Fault, FaultCode};
use crate::gate::Explore;
use crate::policy::Policy;

pub use captured::captured_json;
pub use notice::note_drop;
pub(crate) use scrub::project_name;

/// Builds the intent of a run from a request: what will be started, redacted, before it is.
///
/// # Errors
/// `invalid-json` with the path of the key; `invalid-policy` where the policy forbids such a run.
pub fn intend(policy: &Policy, request_json: &str) -> Result<String, Fault> {
    let intent = intent::Intent::from_request(&policy.redaction, request_json)?;
    if intent.exploration && policy.gate.explore == Explore::Forbid {
        let message = "the policy forbids runs that only explore (`gate.explore`)";
        return Err(Fault::new(FaultCode::InvalidPolicy, message));
    }
    document::write("intent", &intent)
}

/// Builds the body of a record from the intent, what was captured, and how the run ended.
///
/// # Errors
/// `invalid-json` with the path of the key; `unsupported-schema`.
pub fn build(
    policy: &Policy,
    intent_json: &str,
    captured: Captured,
    ending_json: &str,
) -> Result<String, Fault> {
    let intent = intent::Intent::read(intent_json)?;
    let ending = ending::Ending::read(ending_json)?;
    let body = body::Body::of_run(&policy.redaction, intent, captured, ending);
    document::write("record", &body)
}

/// Builds the body for a run whose runner died: outcome `runner-died`, no exit code.
///
/// # Errors
/// `invalid-json` with the path of the key; `unsupported-schema`.
pub fn recover(intent_json: &str) -> Result<String, Fault> {
    let intent = intent::Intent::read(intent_json)?;
    document::write("record", &body::Body::of_dead_runner(intent))
}

/// Which of the two unsealed documents a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// What [`intend`] made.
    Intent,
    /// What [`build`], [`recover`] or [`note_drop`] made, or the fallback.
    Body,
}

/// Whose document it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The `command_id` that it carries.
    pub command_id: String,
    /// What it is.
    pub kind: DocumentKind,
}

/// Says whose a document is, so that a store can tell a finished run from an open one.
///
/// # Errors
/// `invalid-json`; `unsupported-schema`.
pub fn identify(text: &str) -> Result<Identity, Fault> {
    #[derive(Deserialize)]
    struct Head {
        command_id: String,
        kind: String,
    }
    let value = document::parse("document", text)?;
    schema::Schema::of_document("document", &value)?;
    let head: Head = document::fit("document", &value, FaultCode::InvalidJson)?;
    let kind = match head.kind.as_str() {
        "intent" => DocumentKind::Intent,
        "run" | "drop" | "fallback" => DocumentKind::Body,
        _ => {
            let message = "document: `kind`: expected `intent`, `run`, `drop` or `fallback`";
            return Err(Fault::new(FaultCode::InvalidJson, message));
        }
    };
    if head.command_id.is_empty() {
        let message = "document: `command_id`: expected an id, found an empty text";
        return Err(Fault::new(FaultCode::InvalidJson, message));
    }
    Ok(Identity {
        command_id: head.command_id,
        kind,
    })
}

#[cfg(test)]
mod place_tests;
#[cfg(test)]
mod tests;
