//! The calls of the interface `chains`: the runs of a store as stories.

use wasmtime::component::ResourceAny;

use super::super::limits::Trap;
use super::{CallError, Session};

/// The runs of a store as stories. Used with the session that started it.
#[derive(Debug)]
pub struct History(ResourceAny);

impl Session {
    /// Starts to take in the runs of a store as stories.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn start_history(&mut self) -> Result<History, CallError> {
        let policy = self.policy;
        call!(self, "history.start", |store, instance| {
            instance
                .feedback_policy_chains()
                .history()
                .call_start(store, policy)
        })?
        .map(History)
        .map_err(CallError::Refused)
    }

    /// Takes the next line of the store, oldest first.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn tell(&mut self, history: &History, line: &str) -> Result<(), CallError> {
        call!(self, "history.consider", |store, instance| {
            instance
                .feedback_policy_chains()
                .history()
                .call_consider(store, history.0, line)
        })
    }

    /// Asks what a run that is about to begin retries, and whether it may begin.
    ///
    /// # Errors
    /// Where the request is not accepted, or the component stops.
    pub fn next(&mut self, history: &History, request: &str) -> Result<String, CallError> {
        let policy = self.policy;
        call!(self, "history.next", |store, instance| {
            instance
                .feedback_policy_chains()
                .history()
                .call_next(store, history.0, policy, request)
        })?
        .map(|document| document.json)
        .map_err(CallError::Refused)
    }

    /// Returns the chain of a run, or the newest one for the empty text, as JSON.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn chain(&mut self, history: &History, id: &str) -> Result<String, CallError> {
        call!(self, "history.chain", |store, instance| {
            instance
                .feedback_policy_chains()
                .history()
                .call_chain(store, history.0, id)
        })
        .map(|document| document.json)
    }
}
