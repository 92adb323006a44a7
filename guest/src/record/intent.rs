//! The intent: what will be started, as it may be kept, before it is.
//!
//! It knows nothing of how the run will end.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::argv::{self, RawText};
use super::expectation::{self, Expectation};
use super::inputs::{Before, Inputs, Mark};
use super::schema::{CURRENT, Schema};
use super::scrub::{Clamped, PROJECT_CHARS, Redactions, Scrubber};
use crate::document;
use crate::expect::Expectations;
use crate::fault::{Fault, FaultCode};
use crate::redact::Rules;
use crate::timestamp::Timestamp;

/// The longest digest or version, in characters.
const ORIGIN_CHARS: usize = 100;

/// What a host asks to be recorded.
#[derive(Debug, Deserialize)]
struct Request {
    command_id: String,
    #[serde(default)]
    parent_command_id: Option<String>,
    #[serde(default)]
    attempt: Option<u32>,
    command: Vec<RawText>,
    cwd: RawText,
    #[serde(default)]
    agent_note: Option<String>,
    started_at: String,
    #[serde(default)]
    component: Option<String>,
    #[serde(default)]
    policy: Option<String>,
    #[serde(default)]
    runner: Option<String>,
    #[serde(default)]
    expect: Option<Expectations>,
    #[serde(default)]
    exploration: Option<bool>,
    #[serde(default)]
    project: Option<String>,
    #[serde(default)]
    requirement: Option<Mark>,
    #[serde(default)]
    inputs: Option<Before>,
}

/// The start of a record, redacted and bounded.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Intent {
    schema_version: String,
    kind: String,
    pub(super) command_id: String,
    pub(super) parent_command_id: Option<String>,
    pub(super) attempt: u32,
    pub(super) command: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) command_base64: Option<Vec<Option<String>>>,
    pub(super) cwd: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cwd_base64: Option<String>,
    pub(super) agent_note: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) exploration: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<String>,
    pub(super) started_at: String,
    pub(super) component: String,
    pub(super) policy: String,
    pub(super) runner: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) expect: Vec<Expectation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) requirement: Option<Mark>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) inputs: Option<Inputs>,
    #[serde(default)]
    pub(super) redactions: Redactions,
    #[serde(default, skip_serializing_if = "Clamped::is_empty")]
    pub(super) clamped: Clamped,
}

impl Intent {
    /// Redacts and bounds a request.
    pub(super) fn from_request(rules: &Rc<Rules>, json: &str) -> Result<Self, Fault> {
        let request: Request = document::read("request", json)?;
        let mut redactions = Redactions::default();
        redactions.name_uncovered(rules);
        let mut scrubber = Scrubber::new(rules, redactions, Clamped::new());
        let command_id = id(&mut scrubber, "command_id", request.command_id)?;
        let parent = request.parent_command_id;
        let parent_command_id = parent
            .map(|parent| id(&mut scrubber, "parent_command_id", parent))
            .transpose()?;
        if Timestamp::parse(&request.started_at).is_none() {
            return Err(wrong("started_at", "expected an RFC 3339 time"));
        }
        let attempt = request.attempt.unwrap_or(1);
        if attempt == 0 {
            return Err(wrong("attempt", "attempts are counted from 1"));
        }
        let command = argv::command(&mut scrubber, request.command)?;
        let cwd = argv::cwd(&mut scrubber, request.cwd)?;
        let note = request.agent_note;
        let agent_note = note.map(|note| scrubber.line("agent_note", &note));
        let mut origin = |key: &str, text: Option<String>| {
            scrubber.name(key, &text.unwrap_or_default(), ORIGIN_CHARS)
        };
        let component = origin("component", request.component);
        let policy = origin("policy", request.policy);
        let runner = origin("runner", request.runner);
        let expect = expectation::scrub(&mut scrubber, &request.expect.unwrap_or_default())?;
        let exploration = request.exploration == Some(true);
        if exploration && !expect.is_empty() {
            let what = "a run that only explores is not judged, so nothing can be expected of it";
            return Err(wrong("exploration", what));
        }
        let project = request.project;
        let project = project.map(|folder| scrubber.name("project", &folder, PROJECT_CHARS));
        let requirement = request.requirement;
        let requirement = requirement
            .map(|mark| Mark::of_request(&mut scrubber, mark))
            .transpose()?;
        let inputs = request.inputs;
        let inputs = inputs
            .map(|inputs| Inputs::of_request(&mut scrubber, inputs))
            .transpose()?;
        Ok(Self {
            schema_version: CURRENT.to_owned(),
            kind: "intent".to_owned(),
            command_id,
            parent_command_id,
            attempt,
            command: command.text,
            command_base64: command.base64,
            cwd: cwd.text,
            cwd_base64: cwd.base64,
            agent_note,
            exploration,
            project,
            started_at: request.started_at,
            component,
            policy,
            runner,
            expect,
            requirement,
            inputs,
            redactions: scrubber.redactions,
            clamped: scrubber.clamped,
        })
    }

    /// Reads an intent back.
    pub(super) fn read(json: &str) -> Result<Self, Fault> {
        let value = document::parse("intent", json)?;
        Schema::of_document("intent", &value)?;
        let intent: Self = document::fit("intent", &value, FaultCode::InvalidJson)?;
        if intent.kind != "intent" {
            let message = "intent: `kind`: expected `intent`";
            return Err(Fault::new(FaultCode::InvalidJson, message));
        }
        Ok(intent)
    }
}

/// An id is kept as it is, so it must be one: nothing else may pass through unredacted.
fn id(scrubber: &mut Scrubber<'_>, key: &str, text: String) -> Result<String, Fault> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let shaped = (1..=64).contains(&text.len()) && text.bytes().all(plain);
    if shaped && !scrubber.redacted(key, &text).1 {
        Ok(text)
    } else {
        Err(wrong(key, "expected the id of a record"))
    }
}

fn wrong(key: &str, what: &str) -> Fault {
    Fault::new(FaultCode::InvalidJson, format!("request: `{key}`: {what}"))
}

/// For a key that is there only where it is true.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
pub(super) fn is_false(flag: &bool) -> bool {
    !*flag
}
