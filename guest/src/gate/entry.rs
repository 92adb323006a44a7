//! Reads a line of the store as far as the gate needs it.
//!
//! It keeps no excerpt, and it has no opinion on what it read beyond whether it is a record.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde_json::{Map, Value};

use super::shown;
use super::verdict::{Reason, ReasonCode};
use crate::document;
use crate::fault::{Fault, FaultCode};
use crate::outcome::OutcomeKind;
use crate::record::schema::Schema;

const NO_RECORD: &str = "a line of the store is no record";

/// What a line of the store is.
pub(super) enum Entry {
    /// A run, or the fallback that stands in for its record.
    Run(Box<Run>),
    /// The notice that rotation dropped a file.
    Notice,
    /// A run that says of itself that it only explores.
    Exploration(Box<Run>),
    /// Nothing that can be judged.
    Unusable(Reason),
}

/// What the gate reads of a run. Absent and null are the same.
#[derive(Debug, Deserialize)]
pub(super) struct Run {
    #[serde(skip)]
    pub(super) fallback: bool,
    #[serde(default)]
    pub(super) command_id: String,
    pub(super) parent_command_id: Option<String>,
    pub(super) attempt: Option<u64>,
    pub(super) agent_note: Option<String>,
    pub(super) command: Option<Vec<String>>,
    pub(super) command_base64: Option<Vec<Option<String>>>,
    pub(super) cwd: Option<String>,
    pub(super) cwd_base64: Option<String>,
    pub(super) started_at: Option<String>,
    pub(super) duration_ms: Option<u64>,
    pub(super) outcome: Option<OutcomeKind>,
    pub(super) exit_code: Option<i64>,
    pub(super) signal: Option<i64>,
    pub(super) outcome_detail: Option<Map<String, Value>>,
    pub(super) error: Option<String>,
    pub(super) stdout_tail: Option<SomeText>,
    pub(super) stderr_tail: Option<SomeText>,
    pub(super) stages: Option<Vec<Stage>>,
    pub(super) expectations: Option<Vec<Expectation>>,
    pub(super) failure_signature: Option<String>,
    #[serde(default, deserialize_with = "flag")]
    pub(super) exploration: bool,
    pub(super) requirement: Option<Mark>,
    pub(super) inputs: Option<Inputs>,
    pub(super) clamped: Option<Map<String, Value>>,
    pub(super) component: Option<String>,
    pub(super) project: Option<String>,
}

/// One stage of a pipeline.
#[derive(Debug, Deserialize)]
pub(super) struct Stage {
    pub(super) command: Option<String>,
    pub(super) exit_code: Option<i64>,
    pub(super) signal: Option<i64>,
}

/// One expectation after the run.
#[derive(Debug, Deserialize)]
pub(super) struct Expectation {
    pub(super) kind: Option<String>,
    pub(super) expected: Option<Value>,
    pub(super) held: Option<bool>,
    pub(super) seen: Option<Value>,
}

/// The requirement that the run was started under.
#[derive(Debug, Deserialize)]
pub(super) struct Mark {
    pub(super) name: Option<String>,
    pub(super) digest: Option<String>,
}

/// The files that the run depends on.
#[derive(Debug, Deserialize)]
pub(super) struct Inputs {
    pub(super) patterns: Option<Vec<String>>,
    pub(super) folder: Option<String>,
    pub(super) files: Option<u64>,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) error: Option<String>,
    pub(super) changed: Option<Vec<Change>>,
    pub(super) changed_omitted: Option<u64>,
}

/// A file that changed while the command ran.
#[derive(Debug, Deserialize)]
pub(super) struct Change {
    pub(super) path: Option<String>,
    pub(super) how: Option<String>,
}

/// What every line has, whatever its schema.
#[derive(Deserialize)]
struct Head {
    schema_version: Option<String>,
    kind: Option<String>,
    command_id: Option<String>,
    outcome: Option<String>,
}

/// Reads a line. Any text has an answer.
pub(super) fn read(line: &str) -> Entry {
    match read_line(line) {
        Ok(entry) => entry,
        Err(reason) => Entry::Unusable(reason),
    }
}

fn read_line(line: &str) -> Result<Entry, Reason> {
    // What is wrong with the text of a stranger's line may show some of it, so that is not told.
    let no_object = |_| {
        let message = format!("{NO_RECORD}: it is no JSON object, or a key stands twice");
        Reason::new(ReasonCode::StoreDamaged, "", message)
    };
    let line = document::parse("line", line).map_err(no_object)?;
    let head = read_head(&line)?;
    match head.kind.as_deref() {
        Some("drop") => Ok(Entry::Notice),
        Some("run") => read_run(&line, &head, false).map(|run| {
            if run.exploration {
                Entry::Exploration(run)
            } else {
                Entry::Run(run)
            }
        }),
        Some("fallback") => read_run(&line, &head, true).map(Entry::Run),
        Some(_) | None => Err(unsupported(
            &head,
            "is of a kind that this component does not know",
        )),
    }
}

/// Reads an intent as far as it says which command was begun.
pub(super) fn read_intent(intent: &Value) -> Option<Run> {
    document::fit("intent", intent, FaultCode::InvalidJson).ok()
}

/// Reads of an intent what tells one command from another.
pub(super) fn begun(intent: &str) -> Result<Run, Fault> {
    let mut value = document::parse("intent", intent)?;
    let keys = ["command", "command_base64", "cwd", "cwd_base64", "clamped"];
    if let Some(entries) = value.as_object_mut() {
        entries.retain(|key, _| keys.contains(&key.as_str()));
    }
    document::fit("intent", &value, FaultCode::InvalidJson)
}

fn read_head(line: &Value) -> Result<Head, Reason> {
    let head: Head = fit("", line)?;
    let id = head.command_id.as_deref().unwrap_or_default();
    let version = head.schema_version.as_deref().and_then(Schema::parse);
    match version {
        Some(schema) if !schema.is_supported() => {
            let what = "was written under a schema that this component does not know";
            let message = format!("the record {} {what}", shown::named(id));
            Err(Reason::new(
                ReasonCode::UnsupportedSchema,
                &shown::id(id),
                message,
            ))
        }
        Some(_) if id.is_empty() => Err(missing("", "command_id")),
        Some(_) if head.kind.is_none() => Err(missing(id, "kind")),
        Some(_) => Ok(head),
        None => Err(missing(id, "schema_version")),
    }
}

fn read_run(line: &Value, head: &Head, fallback: bool) -> Result<Box<Run>, Reason> {
    let unknown = |name: &String| OutcomeKind::from_name(name).is_none();
    if head.outcome.as_ref().is_some_and(unknown) {
        return Err(unsupported(
            head,
            "has an outcome that this component does not know",
        ));
    }
    let run: Run = fit(head.command_id.as_deref().unwrap_or_default(), line)?;
    Ok(Box::new(Run { fallback, ..run }))
}

fn fit<T: DeserializeOwned>(id: &str, line: &Value) -> Result<T, Reason> {
    document::fit(NO_RECORD, line, FaultCode::DamagedRecord)
        .map_err(|fault| Reason::new(ReasonCode::StoreDamaged, &shown::id(id), fault.message))
}

fn unsupported(head: &Head, what: &str) -> Reason {
    let id = head.command_id.as_deref().unwrap_or_default();
    let message = format!("the record {} {what}", shown::named(id));
    Reason::new(ReasonCode::UnsupportedSchema, &shown::id(id), message)
}

fn missing(id: &str, key: &str) -> Reason {
    let message = format!("{NO_RECORD}: `{key}` is missing");
    Reason::new(ReasonCode::StoreDamaged, &shown::id(id), message)
}

/// A flag that is false where it is absent or null.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::<bool>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A text that nobody needs: it is there, and it is a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct SomeText;

impl<'de> Deserialize<'de> for SomeText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(SomeTextVisitor)
    }
}

struct SomeTextVisitor;

impl Visitor<'_> for SomeTextVisitor {
    type Value = SomeText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E>(self, _text: &str) -> Result<SomeText, E> {
        Ok(SomeText)
    }
}
