//! The component as the store knows it: it seals, checks and identifies lines.

use crate::component::{CallError, Component, DocumentKind, Session};
use crate::store::{Checked, Identity, IdentityKind, Scribe, ScribeError};

/// Answers the store's questions with an instance of the component.
///
/// Instances are made when first needed; one that stops is replaced, so that a line that stops
/// the component costs that line and not the store.
pub struct ComponentScribe {
    component: Component,
    session: Option<Session>,
}

impl ComponentScribe {
    /// Returns a scribe that asks `component`.
    #[must_use]
    pub fn new(component: Component) -> Self {
        Self { component, session: None }
    }

    fn ask<T>(&mut self, question: impl FnOnce(&mut Session) -> Result<T, CallError>) -> Result<T, ScribeError> {
        let mut session = match self.session.take() {
            Some(session) => session,
            // What the store asks does not depend on the policy.
            None => Session::open(&self.component, "", "")
                .map_err(|error| ScribeError::Unavailable(error.to_string()))?,
        };
        match question(&mut session) {
            Ok(answer) => {
                self.session = Some(session);
                Ok(answer)
            }
            Err(CallError::Refused(fault)) => {
                self.session = Some(session);
                Err(ScribeError::Refused(fault.message))
            }
            Err(error @ (CallError::Stopped { .. } | CallError::Unavailable(_))) => {
                Err(ScribeError::Unavailable(error.to_string()))
            }
        }
    }
}

impl Scribe for ComponentScribe {
    fn seal(&mut self, body: &str, seq: u64, prev: &str) -> Result<String, ScribeError> {
        self.ask(|session| session.seal(body, seq, prev))
    }

    fn check(&mut self, line: &str) -> Result<Checked, ScribeError> {
        self.ask(|session| session.check(line)).map(|checked| Checked {
            command_id: checked.command_id,
            seq: checked.seq,
            prev: checked.prev,
            offset: checked.offset,
            length: checked.length,
        })
    }

    fn identify(&mut self, document: &str) -> Result<Identity, ScribeError> {
        self.ask(|session| session.identify(document)).map(|identity| Identity {
            command_id: identity.command_id,
            kind: match identity.kind {
                DocumentKind::Intent => IdentityKind::Intent,
                DocumentKind::Body => IdentityKind::Body,
            },
        })
    }

    fn recover(&mut self, intent: &str) -> Result<String, ScribeError> {
        self.ask(|session| session.recover(intent))
    }

    fn note_drop(&mut self, facts: &str) -> Result<String, ScribeError> {
        self.ask(|session| session.note_drop(facts))
    }
}
