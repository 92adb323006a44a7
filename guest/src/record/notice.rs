//! The notice that rotation dropped a file.
//!
//! It is no run, so it has no outcome.

use serde::{Deserialize, Serialize};

use super::schema::CURRENT;
use crate::document;
use crate::fault::{Fault, FaultCode};
use crate::timestamp::Timestamp;

/// What a store knows of a drop.
#[derive(Debug, Deserialize)]
struct Facts {
    command_id: String,
    at: String,
    files: u64,
    #[serde(default)]
    first_seq: Option<u64>,
    #[serde(default)]
    last_seq: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Notice {
    schema_version: &'static str,
    kind: &'static str,
    command_id: String,
    at: String,
    files: u64,
    first_seq: Option<u64>,
    last_seq: Option<u64>,
}

/// Builds the body of the notice that rotation dropped a file.
///
/// # Errors
/// `invalid-json` with the path of the key.
pub fn note_drop(facts_json: &str) -> Result<String, Fault> {
    let facts: Facts = document::read("drop facts", facts_json)?;
    if facts.command_id.is_empty() {
        return Err(wrong("`command_id`: expected an id, found an empty text"));
    }
    if Timestamp::parse(&facts.at).is_none() {
        return Err(wrong("`at`: expected an RFC 3339 time"));
    }
    let notice = Notice {
        schema_version: CURRENT,
        kind: "drop",
        command_id: facts.command_id,
        at: facts.at,
        files: facts.files,
        first_seq: facts.first_seq,
        last_seq: facts.last_seq,
    };
    document::write("notice", &notice)
}

fn wrong(what: &str) -> Fault {
    Fault::new(FaultCode::InvalidJson, format!("drop facts: {what}"))
}
