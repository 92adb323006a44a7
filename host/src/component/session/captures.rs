//! The calls of the interface `captures`: what is kept of a run's streams.

use wasmtime::component::ResourceAny;

use super::super::bindings::exports::feedback::policy::types::Source as WitSource;
use super::super::limits::Trap;
use super::{CallError, Session};
use crate::ending::Source;

pub use super::super::bindings::exports::feedback::policy::captures::Passage;

/// Both streams of a run, while they are read. Used with the session that started it.
#[derive(Debug)]
pub struct Capture(pub(super) ResourceAny);

#[expect(
    clippy::needless_pass_by_value,
    reason = "what a call uses up must not be used again"
)]
impl Session {
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

    /// Takes the next bytes of a stream, and returns the redacted text that became certain.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn push_through(
        &mut self,
        capture: &Capture,
        source: Source,
        bytes: &[u8],
    ) -> Result<Passage, CallError> {
        call!(self, "capture.push-through", |store, instance| {
            instance
                .feedback_policy_captures()
                .capture()
                .call_push_through(store, capture.0, wit(source), bytes)
        })
    }

    /// Ends the text of a stream, and returns what was held back of it.
    ///
    /// # Errors
    /// Where the component stops.
    pub fn flush(&mut self, capture: &Capture, source: Source) -> Result<Passage, CallError> {
        call!(self, "capture.flush", |store, instance| {
            instance
                .feedback_policy_captures()
                .capture()
                .call_flush(store, capture.0, wit(source))
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
}

fn wit(source: Source) -> WitSource {
    match source {
        Source::Stdout => WitSource::Stdout,
        Source::Stderr => WitSource::Stderr,
    }
}
