//! The calls of the interface `records`: intent, body, line, and back.

use super::super::limits::Trap;
use super::{CallError, Capture, Session};

pub use super::super::bindings::exports::feedback::policy::records::{
    Checked, DocumentKind, Identity,
};

#[expect(
    clippy::needless_pass_by_value,
    reason = "what a call uses up must not be used again"
)]
impl Session {
    /// Builds the intent of a run.
    ///
    /// # Errors
    /// Where the request is not accepted, or the component stops.
    pub fn intend(&mut self, request: &str) -> Result<String, CallError> {
        let policy = self.policy;
        call!(self, "intend", |store, instance| {
            instance
                .feedback_policy_records()
                .call_intend(store, policy, request)
        })?
        .map(|document| document.json)
        .map_err(CallError::Refused)
    }

    /// Builds the body of a record.
    ///
    /// # Errors
    /// Where a document is not accepted, or the component stops.
    pub fn build(
        &mut self,
        intent: &str,
        capture: Capture,
        ending: &str,
    ) -> Result<String, CallError> {
        let policy = self.policy;
        call!(self, "build", |store, instance| {
            instance
                .feedback_policy_records()
                .call_build(store, policy, intent, capture.0, ending)
        })?
        .map(|document| document.json)
        .map_err(CallError::Refused)
    }

    /// Builds the body for a run whose runner died.
    ///
    /// # Errors
    /// Where the intent is not accepted, or the component stops.
    pub fn recover(&mut self, intent: &str) -> Result<String, CallError> {
        call!(self, "recover", |store, instance| {
            instance
                .feedback_policy_records()
                .call_recover(store, intent)
        })?
        .map(|document| document.json)
        .map_err(CallError::Refused)
    }

    /// Builds the body of the notice that rotation dropped a file.
    ///
    /// # Errors
    /// Where the facts are not accepted, or the component stops.
    pub fn note_drop(&mut self, facts: &str) -> Result<String, CallError> {
        call!(self, "note-drop", |store, instance| {
            instance
                .feedback_policy_records()
                .call_note_drop(store, facts)
        })?
        .map(|document| document.json)
        .map_err(CallError::Refused)
    }

    /// Gives a body its place in the store.
    ///
    /// # Errors
    /// Where the body is not accepted, or the component stops.
    pub fn seal(&mut self, body: &str, seq: u64, prev: &str) -> Result<String, CallError> {
        call!(self, "seal", |store, instance| {
            instance
                .feedback_policy_records()
                .call_seal(store, body, seq, prev)
        })?
        .map(|sealed| sealed.line)
        .map_err(CallError::Refused)
    }

    /// Checks one line of a store.
    ///
    /// # Errors
    /// Where the line is damaged, or the component stops.
    pub fn check(&mut self, line: &str) -> Result<Checked, CallError> {
        call!(self, "check", |store, instance| {
            instance.feedback_policy_records().call_check(store, line)
        })?
        .map_err(CallError::Refused)
    }

    /// Says whose a document is.
    ///
    /// # Errors
    /// Where it is no document of a run, or the component stops.
    pub fn identify(&mut self, document: &str) -> Result<Identity, CallError> {
        call!(self, "identify", |store, instance| {
            instance
                .feedback_policy_records()
                .call_identify(store, document)
        })?
        .map_err(CallError::Refused)
    }
}
