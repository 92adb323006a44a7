//! One instance of the component, with its policy, for one run or one question.
//!
//! After a trap the instance is given up: every later call answers with the same trap.

use std::fmt;

use wasmtime::Store;
use wasmtime::component::ResourceAny;

use super::bindings::{Fault, PolicyComponent};
use super::limits::{Limiter, Trap};
use super::load::{Component, refill};
use super::load_error::LoadError;

// Makes one call unless the instance has stopped, and gives the instance up where it stops now.
// Stands before the modules that use it.
macro_rules! call {
    ($session:expr, $name:literal, |$store:ident, $instance:ident| $call:expr) => {{
        if let Some(stopped) = &$session.stopped {
            return Err(stopped.clone());
        }
        $session.refill();
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

mod captures;
mod chains;
mod gate;
mod records;
mod redaction;

pub use captures::{Capture, Passage};
pub use chains::History;
pub use gate::Review;
pub use records::{Checked, DocumentKind, Identity};
pub use redaction::{Audit, Filter};

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

impl PolicyError {
    /// Returns what is wrong with a policy whose file is named before: without the word `policy:`,
    /// which then stands there already.
    #[must_use]
    pub fn behind_path(&self) -> String {
        let said = self.to_string();
        let shorter = said.strip_prefix("policy: ").map(str::to_owned);
        shorter.unwrap_or(said)
    }
}

/// An instance with a checked policy.
pub struct Session {
    store: Store<Limiter>,
    instance: PolicyComponent,
    policy: ResourceAny,
    /// The steps of each call, where they are counted.
    step_limit: Option<u64>,
    steps_used: u64,
    /// The first trap: nothing works after it.
    stopped: Option<CallError>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("stopped", &self.stopped)
            .finish_non_exhaustive()
    }
}

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
            step_limit: component.step_limit(),
            steps_used: 0,
            stopped: None,
        })
    }

    /// Returns how much memory the instance has, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.store.data().memory()
    }

    /// Returns how many steps all calls took, or nothing where they are not counted.
    #[must_use]
    pub fn steps(&self) -> Option<u64> {
        self.step_limit
            .map(|limit| self.steps_used.saturating_add(self.taken(limit)))
    }

    fn taken(&self, limit: u64) -> u64 {
        limit.saturating_sub(self.store.get_fuel().unwrap_or(limit))
    }

    /// Gives the next call its steps.
    fn refill(&mut self) {
        if let Some(limit) = self.step_limit {
            self.steps_used = self.steps_used.saturating_add(self.taken(limit));
            refill(&mut self.store, limit);
        }
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
}
