//! Chains of attempts: store → component → what a run retries, and how a chain went.
//!
//! It hands over what the store holds; which runs are the same, and which failed, it does not know.

use serde::Deserialize;
use serde_json::Value;

use crate::component::{CallError, Component, History, PolicyError, Session};
use crate::project::Project;
use crate::reader::{Entry, Reader, Scope};
use crate::scribe::ComponentScribe;
use crate::store::StoreError;

/// Why there is no chain.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// The component or the policy cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The component does not accept the request, or stopped.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The component's answer is not what the contract says.
    #[error("the component's answer cannot be read: {0}")]
    Answer(serde_json::Error),
}

/// A chain as the component tells it.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The attempts, oldest first; the keys are in `wit/chains.wit`. Empty where there is no such run.
    pub attempts: Vec<Value>,
    /// Places of the store that hold no record, and so may hold an attempt that is not shown.
    pub damaged: usize,
}

/// Returns the chain of the run with this whole id, or the newest one.
///
/// # Errors
/// Where the store cannot be read or the component cannot answer.
pub fn chain(
    component: &Component,
    project: &Project,
    reader: &Reader,
    id: Option<&str>,
) -> Result<Chain, ChainError> {
    #[derive(Deserialize)]
    struct Answer {
        chain: Vec<Value>,
    }
    let mut scribe = ComponentScribe::new(component.clone());
    let mut session = Session::open(component, &project.policy, "")?;
    let (history, damaged) = read(&mut session, reader, &mut scribe)?;
    let answer = session.chain(&history, id.unwrap_or_default())?;
    let answer: Answer = serde_json::from_str(&answer).map_err(ChainError::Answer)?;
    Ok(Chain {
        attempts: answer.chain,
        damaged,
    })
}

/// What a run that is about to begin retries, and why it may not begin.
#[derive(Debug, Deserialize)]
pub(crate) struct Next {
    pub(crate) parent_command_id: Option<String>,
    pub(crate) attempt: u64,
    pub(crate) refusal: Option<String>,
}

/// Asks the component about a run that is about to begin. `session` is that of the run.
pub(crate) fn next(
    session: &mut Session,
    project: &Project,
    scribe: &mut ComponentScribe,
    request: &Value,
) -> Result<Next, ChainError> {
    let reader = Reader::open(&project.record_file, Scope::All)?;
    let (history, _) = read(session, &reader, scribe)?;
    let answer = session.next(&history, &request.to_string())?;
    serde_json::from_str(&answer).map_err(ChainError::Answer)
}

fn read(
    session: &mut Session,
    reader: &Reader,
    scribe: &mut ComponentScribe,
) -> Result<(History, usize), CallError> {
    let history = session.start_history()?;
    let mut damaged: usize = 0;
    for entry in reader.entries(scribe) {
        match entry {
            Entry::Line { text, .. } => session.tell(&history, &text)?,
            Entry::Damaged { .. } => damaged = damaged.saturating_add(1),
        }
    }
    Ok((history, damaged))
}
