//! What is said of a run before it starts: its parent, what is expected, what it depends on, and
//! what came before.
//!
//! It starts nothing and stores nothing.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, PathBuf};
use std::time::SystemTime;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::{Request, RunError, Runner};
use crate::chain;
use crate::component::Session;
use crate::folder;
use crate::lookup;
use crate::plan::{Asked, Planned};
use crate::scribe::ComponentScribe;
use crate::supervise::{self, Command};

impl Runner {
    /// Returns the id of the parent, which may have been given in part, and the attempt's number.
    pub(super) fn attempt(
        &self,
        parent: Option<&str>,
        scribe: &mut ComponentScribe,
    ) -> Result<(Option<String>, u64), RunError> {
        let Some(id) = parent else {
            return Ok((None, 1));
        };
        let fail = |source| RunError::Parent {
            id: id.to_owned(),
            source,
        };
        let line = lookup::find(&self.project.record_file, id, scribe).map_err(fail)?;
        let record: Value = serde_json::from_str(&line).unwrap_or_default();
        let attempt = record.get("attempt").and_then(Value::as_u64).unwrap_or(1);
        let whole = record.get("command_id").and_then(Value::as_str);
        Ok((
            Some(whole.unwrap_or(id).to_owned()),
            attempt.saturating_add(1),
        ))
    }

    /// Asks what must be declared beforehand, and looks at the inputs.
    pub(super) fn plan(
        &self,
        request: &Request,
        session: &mut Session,
    ) -> Result<Planned, RunError> {
        let command = supervise::shown_argv(&request.command);
        let asked = Asked {
            command: command
                .iter()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            cwd: &working_directory(&request.command)?,
            expect: if request.expect.is_null() {
                json!([])
            } else {
                request.expect.clone()
            },
            inputs: &request.inputs,
            exploration: request.exploration,
        };
        Ok(Planned::of(session, &self.project, &asked)?)
    }

    /// Returns the request as the component takes it.
    pub(super) fn describe(
        &self,
        request: &Request,
        command_id: &str,
        parent: Option<&str>,
        attempt: u64,
        planned: &Planned,
    ) -> Result<Value, RunError> {
        let cwd = working_directory(&request.command)?;
        let command: Vec<Value> = supervise::shown_argv(&request.command)
            .iter()
            .map(|argument| exact(argument.as_bytes()))
            .collect();
        Ok(json!({
            "command_id": command_id,
            "parent_command_id": parent,
            "attempt": attempt,
            "command": command,
            "cwd": exact(cwd.as_os_str().as_bytes()),
            "agent_note": request.note,
            "exploration": request.exploration,
            "project": self.project.owner(),
            "started_at": humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            "component": self.component.digest(),
            "policy": self.project.policy_digest(),
            "runner": env!("CARGO_PKG_VERSION"),
            "expect": planned.expect,
            "requirement": planned.requirement,
            "inputs": planned.before(&self.project),
        }))
    }

    /// Asks what came before, where that decides what this run retries or whether it may begin.
    pub(super) fn look_back(
        &self,
        request: &Request,
        described: &mut Value,
        session: &mut Session,
        scribe: &mut ComponentScribe,
    ) -> Result<(), RunError> {
        if !request.retry && self.project.settings.max_same_failures.is_none() {
            return Ok(());
        }
        set(described, "retry", json!(request.retry));
        let next = chain::next(session, &self.project, scribe, described)?;
        if let Some(refusal) = next.refusal {
            return Err(RunError::Forbidden(refusal));
        }
        set(described, "retry", Value::Null);
        set(
            described,
            "parent_command_id",
            json!(next.parent_command_id),
        );
        set(described, "attempt", json!(next.attempt));
        Ok(())
    }
}

/// Returns bytes as text where they are UTF-8, and otherwise also in a form that loses nothing.
fn exact(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(_) => {
            json!({ "text": String::from_utf8_lossy(bytes), "base64": BASE64_STANDARD.encode(bytes) })
        }
    }
}

fn set(described: &mut Value, key: &str, value: Value) {
    if let Some(keys) = described.as_object_mut() {
        keys.insert(key.to_owned(), value);
    }
}

/// Returns the directory that the command will run in. With `..` in it the same directory would have
/// many names, and whoever compares paths would take them for others.
fn working_directory(command: &Command) -> Result<PathBuf, RunError> {
    let here = folder::current().map_err(RunError::WorkingDirectory)?;
    let Some(cwd) = &command.cwd else {
        return Ok(here);
    };
    let asked = here.join(cwd);
    if asked.components().any(|part| part == Component::ParentDir) {
        return Ok(asked.canonicalize().unwrap_or(asked));
    }
    Ok(asked)
}
