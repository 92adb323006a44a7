//! The one record that the host writes itself, where the component could not build one.
//!
//! It holds no captured byte: only what the intent already says, redacted, and how the run
//! ended. The gate always refuses it.

use serde_json::{Map, Value, json};

use crate::component::CallError;
use crate::ending::Ending;

/// The keys that a record takes over from its intent.
const FROM_INTENT: [&str; 11] = [
    "schema_version",
    "command_id",
    "parent_command_id",
    "attempt",
    "command",
    "cwd",
    "agent_note",
    "started_at",
    "component",
    "policy",
    "runner",
];

/// Returns the body of the fallback record.
#[must_use]
pub fn body(intent: &str, ending: &Ending, cause: &CallError) -> String {
    let intent: Map<String, Value> = serde_json::from_str(intent).unwrap_or_default();
    let mut body = Map::new();
    for key in FROM_INTENT {
        body.insert(key.to_owned(), intent.get(key).cloned().unwrap_or_default());
    }
    body.extend([
        ("kind".to_owned(), json!("fallback")),
        ("duration_ms".to_owned(), json!(ending.duration_ms)),
        ("outcome".to_owned(), json!(ending.outcome.name())),
        ("exit_code".to_owned(), json!(ending.outcome.exit_code())),
        (
            "error".to_owned(),
            json!(format!("the record could not be built: {cause}")),
        ),
        ("stdout_tail".to_owned(), json!("")),
        ("stderr_tail".to_owned(), json!("")),
    ]);
    Value::Object(body).to_string()
}
