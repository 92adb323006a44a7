//! The calls of the interface `gate`: may the agent go on, is the work done.

use wasmtime::component::ResourceAny;

use super::super::bindings::Verdict;
use super::super::limits::Trap;
use super::{CallError, Session};

/// A verdict in the making. Used with the session that started it.
#[derive(Debug)]
pub struct Review(ResourceAny);

#[expect(
    clippy::needless_pass_by_value,
    reason = "what a call uses up must not be used again"
)]
impl Session {
    /// Judges one record: may the agent go on after it?
    ///
    /// # Errors
    /// Where the component stops. That is never a pass.
    pub fn may_continue(&mut self, line: &str) -> Result<Verdict, CallError> {
        let policy = self.policy;
        call!(self, "may-continue", |store, instance| {
            instance
                .feedback_policy_gate()
                .call_may_continue(store, policy, line)
        })
    }

    /// Starts a verdict over many records.
    ///
    /// # Errors
    /// Where the facts are not accepted, or the component stops.
    pub fn start_review(&mut self, facts: &str) -> Result<Review, CallError> {
        let policy = self.policy;
        call!(self, "review.start", |store, instance| {
            instance
                .feedback_policy_gate()
                .review()
                .call_start(store, policy, facts)
        })?
        .map(Review)
        .map_err(CallError::Refused)
    }

    /// Takes the next line of the store, oldest first.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn consider(&mut self, review: &Review, line: &str) -> Result<(), CallError> {
        call!(self, "review.consider", |store, instance| {
            instance
                .feedback_policy_gate()
                .review()
                .call_consider(store, review.0, line)
        })
    }

    /// Returns which input patterns must be looked at before the conclusion, as JSON.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn needed_inputs(&mut self, review: &Review) -> Result<String, CallError> {
        call!(self, "review.needed-inputs", |store, instance| {
            instance
                .feedback_policy_gate()
                .review()
                .call_needed_inputs(store, review.0)
        })
        .map(|document| document.json)
    }

    /// Tells what was seen of the inputs.
    ///
    /// # Errors
    /// Where what was seen is not accepted, or the component stops.
    pub fn see_inputs(&mut self, review: &Review, sight: &str) -> Result<(), CallError> {
        call!(self, "review.see-inputs", |store, instance| {
            instance
                .feedback_policy_gate()
                .review()
                .call_see_inputs(store, review.0, sight)
        })?
        .map_err(CallError::Refused)
    }

    /// Returns what the conclusion will not rest on, as JSON.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn scope(&mut self, review: &Review) -> Result<String, CallError> {
        call!(self, "review.scope", |store, instance| {
            instance
                .feedback_policy_gate()
                .review()
                .call_scope(store, review.0)
        })
        .map(|document| document.json)
    }

    /// Decides.
    ///
    /// # Errors
    /// Where the component stops. That is never a pass.
    pub fn conclude(&mut self, review: Review) -> Result<Verdict, CallError> {
        call!(self, "review.conclude", |store, instance| {
            instance
                .feedback_policy_gate()
                .review()
                .call_conclude(store, review.0)
        })
    }
}
