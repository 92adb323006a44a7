//! One instance of the component, with its policy, for one run or one question.
//!
//! After a trap the instance is given up: every later call answers with the same trap.

use std::fmt;

use wasmtime::Store;
use wasmtime::component::ResourceAny;

use super::bindings::exports::feedback::policy::records;
use super::bindings::exports::feedback::policy::types::Source as WitSource;
use super::bindings::{Audited, Fault, PolicyComponent, Sighting, Verdict};
use super::limits::{Limiter, Trap};
use super::load::{Component, LoadError};
use crate::ending::Source;

pub use super::bindings::exports::feedback::policy::records::{Checked, DocumentKind, Identity};

/// Why a call has no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    /// The component refused the input; it stays usable.
    #[error("{}", .0.message)]
    Refused(Fault),
    /// The component stopped; nothing that it had is kept.
    #[error("the component stopped in `{call}`: {trap}")]
    Stopped {
        /// The call that it stopped in.
        call: &'static str,
        /// Why.
        trap: Trap,
    },
    /// There is no instance to ask.
    #[error("{0}")]
    Unavailable(String),
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The component cannot be used.
    #[error(transparent)]
    Component(#[from] LoadError),
    /// The policy is not accepted.
    #[error(transparent)]
    Policy(CallError),
    /// The component's answer is not what the contract says.
    #[error("the component's settings cannot be read: {0}")]
    Settings(String),
}

/// An instance with a checked policy.
pub struct Session {
    store: Store<Limiter>,
    instance: PolicyComponent,
    policy: ResourceAny,
    /// The first trap: nothing works after it.
    stopped: Option<CallError>,
}

/// Both streams of a run, while they are read. Used with the session that started it.
#[derive(Debug)]
pub struct Capture(ResourceAny);

/// A text that is redacted while it streams. Used with the session that started it.
#[derive(Debug)]
pub struct Filter(ResourceAny);

/// An audit of a text that streams by. Used with the session that started it.
#[derive(Debug)]
pub struct Audit(ResourceAny);

/// A verdict in the making. Used with the session that started it.
#[derive(Debug)]
pub struct Review(ResourceAny);

/// The runs of a store as stories. Used with the session that started it.
#[derive(Debug)]
pub struct History(ResourceAny);

/// Makes one call unless the instance has stopped, and gives the instance up where it stops now.
macro_rules! call {
    ($session:expr, $name:literal, |$store:ident, $instance:ident| $call:expr) => {{
        if let Some(stopped) = &$session.stopped {
            return Err(stopped.clone());
        }
        let ($store, $instance) = (&mut $session.store, &$session.instance);
        $call.map_err(|error| {
            let stopped = CallError::Stopped {
                call: $name,
                trap: Trap::of(&error),
            };
            $session.stopped = Some(stopped.clone());
            stopped
        })
    }};
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("stopped", &self.stopped)
            .finish_non_exhaustive()
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "what a call uses up must not be used again"
)]
impl Session {
    /// Makes a fresh instance and has it check `policy` (the text of `feedback.json`, or the empty
    /// text). `environment` is what the command will get, as a JSON object; the component decides
    /// which of its values are secret.
    ///
    /// # Errors
    /// Where there is no instance, or the policy is not accepted.
    pub fn open(
        component: &Component,
        policy: &str,
        environment: &str,
    ) -> Result<Self, PolicyError> {
        let (mut store, instance) = component.instantiate()?;
        let stopped = |error: wasmtime::Error| {
            PolicyError::Policy(CallError::Stopped {
                call: "policy.parse",
                trap: Trap::of(&error),
            })
        };
        let policy = instance
            .feedback_policy_policies()
            .policy()
            .call_parse(&mut store, policy, environment)
            .map_err(stopped)?
            .map_err(|fault| PolicyError::Policy(CallError::Refused(fault)))?;
        Ok(Self {
            store,
            instance,
            policy,
            stopped: None,
        })
    }

    /// Returns the settings that only a host can carry out, as JSON.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn settings(&mut self) -> Result<String, CallError> {
        let policy = self.policy;
        call!(self, "policy.settings", |store, instance| {
            instance
                .feedback_policy_policies()
                .policy()
                .call_settings(store, policy)
        })
        .map(|document| document.json)
    }

    /// Returns the policy in force, the defaults filled in, as JSON.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn effective(&mut self) -> Result<String, CallError> {
        let policy = self.policy;
        call!(self, "policy.effective", |store, instance| {
            instance
                .feedback_policy_policies()
                .policy()
                .call_effective(store, policy)
        })
        .map(|document| document.json)
    }

    /// Returns the JSON Schema of a policy.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn schema(&mut self) -> Result<String, CallError> {
        call!(self, "schema", |store, instance| {
            instance.feedback_policy_policies().call_schema(store)
        })
        .map(|document| document.json)
    }

    /// Says what must be declared before a run, as JSON.
    ///
    /// # Errors
    /// Where what was asked for is not accepted, or the component stops.
    pub fn plan(&mut self, request: &str) -> Result<String, CallError> {
        let policy = self.policy;
        call!(self, "policy.plan", |store, instance| {
            instance
                .feedback_policy_policies()
                .policy()
                .call_plan(store, policy, request)
        })?
        .map(|document| document.json)
        .map_err(CallError::Refused)
    }

    /// Returns the redaction rules in force, as JSON.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn rules(&mut self) -> Result<String, CallError> {
        let policy = self.policy;
        call!(self, "policy.rules", |store, instance| {
            instance
                .feedback_policy_policies()
                .policy()
                .call_rules(store, policy)
        })
        .map(|document| document.json)
    }

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

    /// Starts the capture of a run.
    ///
    /// # Errors
    /// Where an option is not accepted, or the component stops.
    pub fn start_capture(&mut self, options: &str) -> Result<Capture, CallError> {
        let policy = self.policy;
        call!(self, "capture.start", |store, instance| {
            instance
                .feedback_policy_captures()
                .capture()
                .call_start(store, policy, options)
        })?
        .map(Capture)
        .map_err(CallError::Refused)
    }

    /// Takes the next bytes of a stream.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn push(
        &mut self,
        capture: &Capture,
        source: Source,
        bytes: &[u8],
    ) -> Result<(), CallError> {
        call!(self, "capture.push", |store, instance| {
            instance.feedback_policy_captures().capture().call_push(
                store,
                capture.0,
                wit(source),
                bytes,
            )
        })
    }

    /// Says that the end of a stream was seen.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn end(&mut self, capture: &Capture, source: Source) -> Result<(), CallError> {
        call!(self, "capture.end", |store, instance| {
            instance
                .feedback_policy_captures()
                .capture()
                .call_end(store, capture.0, wit(source))
        })
    }

    /// Returns the newest complete line of either stream, redacted.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn newest_line(&mut self, capture: &Capture) -> Result<String, CallError> {
        call!(self, "capture.newest-line", |store, instance| {
            instance
                .feedback_policy_captures()
                .capture()
                .call_newest_line(store, capture.0)
        })
    }

    /// Ends a capture that no record is built from.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn finish_capture(&mut self, capture: Capture) -> Result<String, CallError> {
        call!(self, "capture.finish", |store, instance| {
            instance
                .feedback_policy_captures()
                .capture()
                .call_finish(store, capture.0)
        })?
        .map(|document| document.json)
        .map_err(CallError::Refused)
    }

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
    pub fn check(&mut self, line: &str) -> Result<records::Checked, CallError> {
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

fn wit(source: Source) -> WitSource {
    match source {
        Source::Stdout => WitSource::Stdout,
        Source::Stderr => WitSource::Stderr,
    }
}
