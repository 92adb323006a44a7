//! A scribe for tests: the guest's own sealing, and bodies that hold just enough.
//!
//! It builds no real records. Who includes it has the store's module in scope as `api`.

use feedback_guest::fault::{Fault, FaultCode};
use feedback_guest::seal;
use serde_json::{Value, json};

use super::api::{Checked, DocumentKind, Identity, Scribe, ScribeError};

/// The scribe.
#[derive(Debug, Default)]
pub(crate) struct Native;

impl Scribe for Native {
    fn seal(&mut self, body: &str, seq: u64, prev: &str) -> Result<String, ScribeError> {
        seal::seal(body, seq, prev).map_err(error)
    }

    fn check(&mut self, line: &str) -> Result<Checked, ScribeError> {
        let checked = seal::check(line).map_err(error)?;
        Ok(Checked {
            command_id: checked.command_id,
            seq: checked.seq,
            prev: checked.prev,
            offset: checked.offset,
            length: checked.length,
        })
    }

    fn identify(&mut self, document: &str) -> Result<Identity, ScribeError> {
        let value = parse(document)?;
        let command_id = text(&value, "command_id")?;
        let kind = match text(&value, "kind")?.as_str() {
            "intent" => DocumentKind::Intent,
            _ => DocumentKind::Body,
        };
        Ok(Identity { command_id, kind })
    }

    fn recover(&mut self, intent: &str) -> Result<String, ScribeError> {
        let id = text(&parse(intent)?, "command_id")?;
        Ok(body(&id, "runner-died", 0))
    }

    fn note_drop(&mut self, facts: &str) -> Result<String, ScribeError> {
        let facts = parse(facts)?;
        if !facts["files"].is_u64() {
            return Err(ScribeError::Invalid {
                message: "`files` is no number".into(),
            });
        }
        Ok(json!({
            "schema_version": "1.0",
            "kind": "drop",
            "command_id": facts["command_id"],
            "at": facts["at"],
            "files": facts["files"],
            "first_seq": facts["first_seq"],
            "last_seq": facts["last_seq"],
        })
        .to_string())
    }
}

/// An intent.
pub(crate) fn intent(id: &str) -> String {
    json!({ "schema_version": "1.0", "kind": "intent", "command_id": id }).to_string()
}

/// A body with this outcome and this many bytes of filling.
pub(crate) fn body(id: &str, outcome: &str, fill: usize) -> String {
    json!({
        "schema_version": "1.0",
        "kind": "run",
        "command_id": id,
        "outcome": outcome,
        "fill": "x".repeat(fill),
    })
    .to_string()
}

fn parse(document: &str) -> Result<Value, ScribeError> {
    serde_json::from_str(document).map_err(|cause| ScribeError::Invalid {
        message: cause.to_string(),
    })
}

fn text(value: &Value, key: &str) -> Result<String, ScribeError> {
    match value.get(key).and_then(Value::as_str) {
        Some(text) => Ok(text.to_owned()),
        None => Err(ScribeError::Invalid {
            message: format!("`{key}` is missing"),
        }),
    }
}

fn error(fault: Fault) -> ScribeError {
    match fault.code {
        FaultCode::UnsupportedSchema => ScribeError::Unsupported {
            message: fault.message,
        },
        FaultCode::InvalidJson
        | FaultCode::InvalidPolicy
        | FaultCode::LimitExceeded
        | FaultCode::DamagedRecord => ScribeError::Invalid {
            message: fault.message,
        },
    }
}
