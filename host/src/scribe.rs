//! The component as the store knows it: it seals, checks and identifies lines.

use crate::component::{self, CallError, Component, FaultCode, Session};
use crate::store::{Checked, DocumentKind, Identity, Scribe, ScribeError};

/// Answers the store's questions with an instance of the component.
///
/// The instance is made when first needed; one that stops is replaced, so that a line that stops
/// the component costs that line and not the store.
#[derive(Debug)]
pub struct ComponentScribe {
    component: Component,
    session: Option<Session>,
}

impl ComponentScribe {
    /// Returns a scribe that asks `component`.
    #[must_use]
    pub fn new(component: Component) -> Self {
        Self {
            component,
            session: None,
        }
    }

    fn ask<T>(
        &mut self,
        question: impl FnOnce(&mut Session) -> Result<T, CallError>,
    ) -> Result<T, ScribeError> {
        let broken = |message: String| ScribeError::Broken { message };
        let mut session = match self.session.take() {
            Some(session) => session,
            // What the store asks does not depend on the policy.
            None => Session::open(&self.component, "", "").map_err(|error| broken(error.to_string()))?,
        };
        match question(&mut session) {
            Ok(answer) => {
                self.session = Some(session);
                Ok(answer)
            }
            Err(CallError::Refused(fault)) => {
                self.session = Some(session);
                let message = fault.message;
                Err(match fault.code {
                    FaultCode::UnsupportedSchema => ScribeError::Unsupported { message },
                    FaultCode::InvalidJson
                    | FaultCode::InvalidPolicy
                    | FaultCode::LimitExceeded
                    | FaultCode::DamagedRecord => ScribeError::Invalid { message },
                })
            }
            Err(error @ (CallError::Stopped { .. } | CallError::Unavailable(_))) => {
                Err(broken(error.to_string()))
            }
        }
    }
}

impl Scribe for ComponentScribe {
    fn seal(&mut self, body: &str, seq: u64, prev: &str) -> Result<String, ScribeError> {
        self.ask(|session| session.seal(body, seq, prev))
    }

    fn check(&mut self, line: &str) -> Result<Checked, ScribeError> {
        // On the platforms that the host runs on, every u32 is a usize.
        let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        self.ask(|session| session.check(line))
            .map(|checked| Checked {
                offset: size(checked.offset),
                length: size(checked.length),
                command_id: checked.command_id,
                seq: checked.seq,
                prev: checked.prev,
            })
    }

    fn identify(&mut self, document: &str) -> Result<Identity, ScribeError> {
        self.ask(|session| session.identify(document))
            .map(|identity| Identity {
                command_id: identity.command_id,
                kind: match identity.kind {
                    component::DocumentKind::Intent => DocumentKind::Intent,
                    component::DocumentKind::Body => DocumentKind::Body,
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
