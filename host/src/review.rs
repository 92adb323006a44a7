//! The verdict over a store: reader → component → verdict.
//!
//! It hands over what the store holds, and decides nothing.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use crate::component::{CallError, Component, PolicyError, Session, Verdict};
use crate::inputs::{Inputs, InputsError};
use crate::project::Project;
use crate::reader::{Entry, PendingState, Reader, Scope};
use crate::scribe::ComponentScribe;
use crate::store::{StoreError, verify_opened};

/// Why there is no verdict. That is never a pass.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The component or the policy cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The component does not accept where evidence begins: the time is none. All else that it is
    /// told at the start is known to be as it wants it.
    #[error("{0}")]
    Since(CallError),
    /// The component stopped.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where evidence begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Since {
    /// With the oldest record.
    #[default]
    Beginning,
    /// With the record of this id.
    Record(String),
    /// With the runs that began at this RFC 3339 time or later.
    Time(String),
}

/// A verdict, and how much it covers.
#[derive(Debug)]
pub struct Reviewed {
    /// The answer.
    pub verdict: Verdict,
    /// What it does not rest on, as the component counts it: a JSON object of numbers.
    pub scope: Map<String, Value>,
    /// How many records rotation has dropped. Nobody can judge them any more.
    pub rotated_out: u64,
}

/// Judges everything that the project's store holds.
///
/// # Errors
/// Where the store cannot be read or the component cannot answer.
pub fn review(component: &Component, project: &Project) -> Result<Verdict, ReviewError> {
    Ok(review_since(component, project, &Since::Beginning)?.verdict)
}

/// Judges what the project's store holds from somewhere on. All of it is checked for damage.
///
/// # Errors
/// Where the store cannot be read or the component cannot answer.
pub fn review_since(
    component: &Component,
    project: &Project,
    since: &Since,
) -> Result<Reviewed, ReviewError> {
    let mut scribe = ComponentScribe::new(component.clone());
    let file = &project.record_file;
    let reader = Reader::open(file, Scope::All)?;
    // One opening for both: a line that comes in between must not be judged unchecked.
    let verification = verify_opened(&reader, file, &mut scribe);
    let damage: Vec<String> = verification
        .damages
        .iter()
        .map(|damage| {
            let file = damage.file.display();
            match damage.line {
                0 => format!("`{file}`: {}", damage.what),
                line => format!("`{file}` line {line}: {}", damage.what),
            }
        })
        .collect();
    let open_runs: Vec<Value> = verification
        .open_runs
        .iter()
        .map(|run| serde_json::from_str(&run.intent).unwrap_or_default())
        .collect();
    let running: Vec<&str> = verification
        .open_runs
        .iter()
        .filter(|run| run.state == PendingState::Running)
        .map(|run| run.command_id.as_str())
        .collect();
    let first = verification.first_seq.unwrap_or(1);
    let mut facts = json!({
        "now": rfc3339(SystemTime::now()),
        "open_runs": open_runs,
        "running": running,
        "damage": damage,
        "folder": project.folder.to_string_lossy(),
        "since": match since {
            Since::Beginning => Value::Null,
            Since::Record(id) => json!({ "command_id": id }),
            Since::Time(time) => json!({ "time": time }),
        },
    });

    if let (Some(project), Some(keys)) = (project.owner_of_some(), facts.as_object_mut()) {
        keys.insert("project".to_owned(), json!(project));
    }
    let mut session = Session::open(component, &project.policy, "")?;
    let review =
        session
            .start_review(&facts.to_string())
            .map_err(|error| match (since, error) {
                (Since::Time(_), error @ CallError::Refused(_)) => ReviewError::Since(error),
                (Since::Time(_) | Since::Record(_) | Since::Beginning, error) => {
                    ReviewError::Call(error)
                }
            })?;
    for entry in reader.every_entry(&mut scribe) {
        match entry {
            Entry::Line { text, .. } => session.consider(&review, &text)?,
            // The verification has named it.
            Entry::Damaged { .. } => {}
        }
    }
    let needed = session.needed_inputs(&review)?;
    session.see_inputs(&review, &see(project, &needed)?)?;
    let scope = session.scope(&review)?;
    let scope = serde_json::from_str(&scope)
        .map_err(|error| CallError::Unavailable(format!("the scope: {error}")))?;
    Ok(Reviewed {
        verdict: session.conclude(review)?,
        scope,
        // Where something is damaged, records may be missing that no rotation has dropped.
        rotated_out: match damage.is_empty() {
            true => first.saturating_sub(1),
            false => 0,
        },
    })
}

/// Looks at the inputs that the component asks for. What cannot be seen is told as well.
fn see(project: &Project, needed: &str) -> Result<String, ReviewError> {
    let needed: Vec<Vec<String>> = serde_json::from_str(needed)
        .map_err(|error| CallError::Unavailable(format!("the needed inputs: {error}")))?;
    let place = Inputs::new(&project.folder, &project.record_file);
    let seen = needed.iter().map(|patterns| match place.look(patterns) {
        Ok(look) => {
            let sight = look.sight;
            let newest = sight
                .newest
                .iter()
                .map(|(path, at)| json!({ "path": path.to_string_lossy(), "at": rfc3339(*at) }));
            json!({
                "patterns": patterns,
                "digest": sight.digest,
                "files": sight.files,
                "newest": newest.collect::<Vec<_>>(),
            })
        }
        // That no file is left is known; of what cannot be read nothing is.
        Err(error @ InputsError::Nothing { .. }) => {
            json!({ "patterns": patterns, "files": 0, "error": error.to_string() })
        }
        Err(
            error @ (InputsError::Pattern { .. }
            | InputsError::Git { .. }
            | InputsError::Read { .. }),
        ) => json!({ "patterns": patterns, "error": error.to_string() }),
    });
    let sight = json!({
        "folder": project.folder.to_string_lossy(),
        "inputs": seen.collect::<Vec<_>>(),
    });
    Ok(sight.to_string())
}

/// Writes a time. What no record can bear as its time is the beginning of time.
fn rfc3339(time: SystemTime) -> String {
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let time = SystemTime::UNIX_EPOCH + since.min(LAST);
    humantime::format_rfc3339_millis(time).to_string()
}
