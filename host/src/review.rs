//! The verdict over a store: reader → component → verdict.
//!
//! It hands over what the store holds, and decides nothing.

use std::time::SystemTime;

use serde_json::{Value, json};

use crate::component::{CallError, Component, PolicyError, Session, Verdict};
use crate::project::Project;
use crate::reader::{Entry, Reader, Scope};
use crate::scribe::ComponentScribe;
use crate::store::{StoreError, verify_opened};

/// Why there is no verdict. That is never a pass.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The component or the policy cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The component stopped.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Judges everything that the project's store holds.
///
/// # Errors
/// Where the store cannot be read or the component cannot answer.
pub fn review(component: &Component, project: &Project) -> Result<Verdict, ReviewError> {
    let mut scribe = ComponentScribe::new(component.clone());
    let file = &project.record_file;
    let reader = Reader::open(file, Scope::All)?;
    // One opening for both: a line that comes in between must not be judged unchecked.
    let verification = verify_opened(&reader, file, &mut scribe);
    let damage: Vec<String> = verification
        .damages
        .iter()
        .map(|damage| {
            format!(
                "`{}` line {}: {}",
                damage.file.display(),
                damage.line,
                damage.what
            )
        })
        .collect();
    let open_runs: Vec<Value> = verification
        .open_runs
        .iter()
        .map(|run| serde_json::from_str(&run.intent).unwrap_or_default())
        .collect();
    let facts = json!({
        "now": humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
        "open_runs": open_runs,
        "damage": damage,
    });

    let mut session = Session::open(component, &project.policy, "")?;
    let review = session.start_review(&facts.to_string())?;
    for entry in reader.entries(&mut scribe) {
        match entry {
            Entry::Line { text, .. } => session.consider(&review, &text)?,
            // The verification has named it.
            Entry::Damaged { .. } => {}
        }
    }
    Ok(session.conclude(review)?)
}
