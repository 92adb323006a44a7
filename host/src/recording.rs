//! What the component and the keeper take of a run's output.
//!
//! It remembers the first time the component stopped; what comes later is kept nowhere.

use crate::component::{CallError, Capture, Session};
use crate::ending::Source;
use crate::keep::Keeper;

/// Hands captured bytes to the component, and what passes through it to the keeper.
pub(crate) struct Recording<'a> {
    session: &'a mut Session,
    capture: &'a Capture,
    keeper: Option<&'a mut Keeper>,
    stopped: Option<CallError>,
}

impl<'a> Recording<'a> {
    pub(crate) fn new(
        session: &'a mut Session,
        capture: &'a Capture,
        keeper: Option<&'a mut Keeper>,
    ) -> Self {
        Self {
            session,
            capture,
            keeper,
            stopped: None,
        }
    }

    /// Takes the next bytes of a stream.
    pub(crate) fn bytes(&mut self, source: Source, bytes: &[u8]) {
        // After a trap the command runs on, but nothing of it can be kept.
        if self.stopped.is_none() {
            self.stopped = self.capture(source, bytes).err();
        }
    }

    /// Learns that the end of a stream was seen.
    pub(crate) fn end(&mut self, source: Source) {
        if self.stopped.is_none() {
            self.stopped = self.session.end(self.capture, source).err();
        }
    }

    /// Returns the newest complete line of either stream, redacted, or the empty text.
    pub(crate) fn newest_line(&mut self) -> String {
        if self.stopped.is_some() {
            return String::new();
        }
        match self.session.newest_line(self.capture) {
            Ok(newest) => newest,
            Err(stopped) => {
                self.stopped = Some(stopped);
                String::new()
            }
        }
    }

    /// Takes nothing more: some of what came was lost.
    pub(crate) fn give_up(&mut self) {
        let reason = "the thread that worked on the output died".to_owned();
        self.stopped.get_or_insert(CallError::Unavailable(reason));
    }

    /// Gives the keeper what was held back, and returns why the capture ended early, if it did.
    pub(crate) fn finish(mut self) -> Option<CallError> {
        self.keep_rest(Source::Stdout);
        self.keep_rest(Source::Stderr);
        self.stopped
    }

    fn capture(&mut self, source: Source, bytes: &[u8]) -> Result<(), CallError> {
        let Some(keeper) = &mut self.keeper else {
            return self.session.push(self.capture, source, bytes);
        };
        let passage = self.session.push_through(self.capture, source, bytes)?;
        keeper.take(source, &passage);
        Ok(())
    }

    fn keep_rest(&mut self, source: Source) {
        let Some(keeper) = self.keeper.as_mut().filter(|_| self.stopped.is_none()) else {
            return;
        };
        match self.session.flush(self.capture, source) {
            Ok(passage) => keeper.take(source, &passage),
            Err(stopped) => self.stopped = Some(stopped),
        }
    }
}
