//! What is declared before a run, and its inputs before and after it.
//!
//! The component plans; this page carries out what only a host can.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::component::{CallError, Session};
use crate::inputs::{Inputs, InputsError, Look};
use crate::project::Project;

/// Why nothing could be declared.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The component does not accept what was asked for.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The inputs cannot be digested.
    #[error(transparent)]
    Inputs(#[from] InputsError),
    /// The component's answer is not what the contract says.
    #[error("the component's plan cannot be read: {0}")]
    Answer(serde_json::Error),
}

/// What was asked for by hand.
pub(crate) struct Asked<'a> {
    /// Argv as it will be executed, what is not UTF-8 as U+FFFD.
    pub(crate) command: Vec<String>,
    pub(crate) cwd: &'a Path,
    pub(crate) expect: Value,
    pub(crate) inputs: &'a [String],
    pub(crate) exploration: bool,
}

/// What is declared.
pub(crate) struct Planned {
    /// The requirement that the run meets, as the component names it, or null.
    pub(crate) requirement: Value,
    /// The expectations.
    pub(crate) expect: Value,
    inputs: Option<Watched>,
}

struct Watched {
    patterns: Vec<String>,
    place: Inputs,
    before: Look,
}

impl Planned {
    /// Asks the component, and digests the inputs before the run.
    pub(crate) fn of(
        session: &mut Session,
        project: &Project,
        asked: &Asked<'_>,
    ) -> Result<Self, PlanError> {
        #[derive(Deserialize)]
        struct Answer {
            requirement: Value,
            expect: Value,
            inputs: Vec<String>,
        }
        let cwd = asked.cwd.canonicalize();
        let request = json!({
            "command": asked.command,
            "cwd": cwd.as_deref().unwrap_or(asked.cwd).to_string_lossy(),
            "folder": project.folder.to_string_lossy(),
            "expect": asked.expect,
            "inputs": asked.inputs,
            "exploration": asked.exploration,
        });
        let answer = session.plan(&request.to_string())?;
        let answer: Answer = serde_json::from_str(&answer).map_err(PlanError::Answer)?;
        let inputs = if answer.inputs.is_empty() {
            None
        } else {
            let place = Inputs::new(&project.folder, &project.record_file);
            Some(Watched {
                before: place.look(&answer.inputs)?,
                patterns: answer.inputs,
                place,
            })
        };
        Ok(Self {
            requirement: answer.requirement,
            expect: answer.expect,
            inputs,
        })
    }

    /// Returns the `inputs` of the request, or null.
    pub(crate) fn before(&self, project: &Project) -> Value {
        self.inputs.as_ref().map_or(Value::Null, |inputs| {
            json!({
                "patterns": inputs.patterns,
                "folder": project.folder.to_string_lossy(),
                "files": inputs.before.sight.files,
                "before": inputs.before.sight.digest,
            })
        })
    }

    /// Looks at the inputs again, and returns the `inputs` of the ending, or null.
    pub(crate) fn after(&self) -> Value {
        self.inputs.as_ref().map_or(Value::Null, |inputs| {
            match inputs.place.look(&inputs.patterns) {
                Ok(after) => told(&inputs.before, &after),
                Err(error) => json!({ "error": error.to_string() }),
            }
        })
    }
}

/// The inputs after the run, and which of them are not as they were.
fn told(before: &Look, after: &Look) -> Value {
    if before.sight.digest == after.sight.digest {
        return json!({ "after": after.sight.digest });
    }
    let changes = before.changes_to(after);
    let named = changes.named.iter();
    let named =
        named.map(|(path, how)| json!({ "path": path.to_string_lossy(), "how": how.as_str() }));
    json!({
        "after": after.sight.digest,
        "changed": named.collect::<Vec<_>>(),
        "changed_omitted": changes.omitted,
    })
}
