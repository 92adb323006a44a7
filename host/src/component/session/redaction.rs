//! The calls of the interface `redaction`: texts that are not a run's streams.

use wasmtime::component::ResourceAny;

use super::super::bindings::{Audited, Sighting};
use super::super::limits::Trap;
use super::{CallError, Session};

/// A text that is redacted while it streams. Used with the session that started it.
#[derive(Debug)]
pub struct Filter(ResourceAny);

/// An audit of a text that streams by. Used with the session that started it.
#[derive(Debug)]
pub struct Audit(ResourceAny);

#[expect(
    clippy::needless_pass_by_value,
    reason = "what a call uses up must not be used again"
)]
impl Session {
    /// Redacts a whole text.
    ///
    /// # Errors
    /// Where the component stops. Then the text must not be shown or written.
    pub fn redact(&mut self, text: &str) -> Result<String, CallError> {
        let policy = self.policy;
        call!(self, "redact", |store, instance| {
            instance
                .feedback_policy_redaction()
                .call_redact(store, policy, text)
        })
        .map(|redacted| redacted.text)
    }

    /// Starts to redact a text that arrives in pieces.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn start_filter(&mut self) -> Result<Filter, CallError> {
        let policy = self.policy;
        call!(self, "filter.start", |store, instance| {
            instance
                .feedback_policy_redaction()
                .filter()
                .call_start(store, policy)
        })
        .map(Filter)
    }

    /// Takes the next bytes and returns the redacted lines that are complete.
    ///
    /// # Errors
    /// Where the component stops. Then nothing more must be shown.
    pub fn filter(&mut self, filter: &Filter, bytes: &[u8]) -> Result<String, CallError> {
        call!(self, "filter.push", |store, instance| {
            instance
                .feedback_policy_redaction()
                .filter()
                .call_push(store, filter.0, bytes)
        })
    }

    /// Returns what the filter held back.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn finish_filter(&mut self, filter: Filter) -> Result<String, CallError> {
        call!(self, "filter.finish", |store, instance| {
            instance
                .feedback_policy_redaction()
                .filter()
                .call_finish(store, filter.0)
        })
        .map(|redacted| redacted.text)
    }

    /// Starts to audit a text that arrives in pieces; `key` makes the tags.
    ///
    /// # Errors
    /// Where the key is too long, or the component stops.
    pub fn start_audit(&mut self, key: &[u8]) -> Result<Audit, CallError> {
        let policy = self.policy;
        call!(self, "audit.start", |store, instance| {
            instance
                .feedback_policy_redaction()
                .audit()
                .call_start(store, policy, key)
        })?
        .map(Audit)
        .map_err(CallError::Refused)
    }

    /// Takes the next bytes and returns what was seen in the lines that are complete.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn audit(&mut self, audit: &Audit, bytes: &[u8]) -> Result<Vec<Sighting>, CallError> {
        call!(self, "audit.push", |store, instance| {
            instance
                .feedback_policy_redaction()
                .audit()
                .call_push(store, audit.0, bytes)
        })
    }

    /// Returns what was seen in the rest, and how much there was.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn finish_audit(&mut self, audit: Audit) -> Result<Audited, CallError> {
        call!(self, "audit.finish", |store, instance| {
            instance
                .feedback_policy_redaction()
                .audit()
                .call_finish(store, audit.0)
        })
    }
}
