//! The verdict over a store: reader → component → verdict.
//!
//! It hands over what the store holds, and decides nothing.

use std::time::SystemTime;

use serde_json::json;

use crate::component::{CallError, Component, PolicyError, Session, Verdict};
use crate::project::Project;
use crate::reader::{Entry, Reader};
use crate::scribe::ComponentScribe;
use crate::store::StoreError;

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
    let reader = Reader::open(&project.record_file)?;
    let open_runs = reader.open_runs()?;
    let mut lines = Vec::new();
    let mut damage = Vec::new();
    for entry in reader.entries(&mut scribe) {
        match entry {
            Entry::Line { text, .. } => lines.push(text),
            Entry::Damaged(damaged) => damage.push(damaged.to_string()),
        }
    }

    let facts = json!({
        "now": humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
        "open_runs": open_runs,
        "damage": damage,
    });
    let mut session = Session::open(component, &project.policy, "")?;
    let review = session.start_review(&facts.to_string())?;
    for line in &lines {
        session.consider(&review, line)?;
    }
    Ok(session.conclude(review)?)
}
