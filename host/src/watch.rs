//! Between a running command, the component that captures its output, and a person who watches.
//!
//! What a person sees has been redacted. What goes wrong here with the watching costs no record.

use std::time::Duration;

use crate::component::{CallError, Capture, Component, Filter, PolicyError, Session};
use crate::ending::Source;
use crate::keep::Keeper;
use crate::supervise::Sink;

/// What a person may see while a command runs.
///
/// It is called within the loop that keeps the run's limits, so it must never wait.
pub trait Observer {
    /// Learns that this many bytes of a stream were read, with this many newlines among them; only
    /// where `tick` is wanted.
    fn read(&mut self, source: Source, bytes: usize, newlines: usize) {
        let _ = (source, bytes, newlines);
    }

    /// Returns how often `tick` is wanted while the command runs; never, by default.
    fn tick_every(&self) -> Option<Duration> {
        None
    }

    /// Learns that the command still runs, this long after its start; `newest` is the newest
    /// complete line of either stream, redacted, or the empty text.
    fn tick(&mut self, elapsed: Duration, newest: &str) {
        let _ = (elapsed, newest);
    }

    /// Says whether `text` is wanted for this stream; not, by default.
    fn wants_text(&self, source: Source) -> bool {
        let _ = source;
        false
    }

    /// Takes the next redacted lines of a stream; the last one may lack its newline.
    fn text(&mut self, source: Source, text: &str) {
        let _ = (source, text);
    }
}

/// An observer that shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Hands captured bytes to the component and remembers the first time it stopped.
pub(crate) struct CaptureSink<'a> {
    session: &'a mut Session,
    capture: &'a Capture,
    observer: &'a mut dyn Observer,
    stream: Option<Redacting>,
    keeper: Option<&'a mut Keeper>,
    stopped: Option<CallError>,
}

impl<'a> CaptureSink<'a> {
    pub(crate) fn new(
        session: &'a mut Session,
        capture: &'a Capture,
        observer: &'a mut dyn Observer,
        stream: Option<Redacting>,
        keeper: Option<&'a mut Keeper>,
    ) -> Self {
        Self {
            session,
            capture,
            observer,
            stream,
            keeper,
            stopped: None,
        }
    }

    /// Gives the observer and the keeper what was held back, and returns why the capture ended
    /// early, if it did.
    pub(crate) fn finish(mut self) -> Option<CallError> {
        self.keep_rest(Source::Stdout);
        self.keep_rest(Source::Stderr);
        self.flush(Source::Stdout);
        self.flush(Source::Stderr);
        self.stopped
    }

    /// Takes bytes into the capture, and what passes through to the keeper.
    fn capture(&mut self, source: Source, bytes: &[u8]) -> Result<(), CallError> {
        let Some(keeper) = &mut self.keeper else {
            return self.session.push(self.capture, source, bytes);
        };
        let passage = self.session.push_through(self.capture, source, bytes)?;
        keeper.take(source, &passage);
        Ok(())
    }

    /// Keeps what the capture has held back of a stream that is read to its end.
    fn keep_rest(&mut self, source: Source) {
        let Some(keeper) = self.keeper.as_mut().filter(|_| self.stopped.is_none()) else {
            return;
        };
        match self.session.flush(self.capture, source) {
            Ok(passage) => keeper.take(source, &passage),
            Err(stopped) => self.stopped = Some(stopped),
        }
    }

    fn flush(&mut self, source: Source) {
        let text = self
            .stream
            .as_mut()
            .and_then(|stream| stream.finish(source));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.observer.text(source, &text);
        }
    }
}

impl Sink for CaptureSink<'_> {
    fn bytes(&mut self, source: Source, bytes: &[u8]) {
        // After a trap the command runs on, but nothing of it can be kept.
        if self.stopped.is_none() {
            self.stopped = self.capture(source, bytes).err();
        }
        // Only a view that is redrawn shows numbers, and counting has a price.
        if self.observer.tick_every().is_some() {
            let newlines = bytes.iter().filter(|byte| **byte == b'\n').count();
            self.observer.read(source, bytes.len(), newlines);
        }
        let text = self
            .stream
            .as_mut()
            .and_then(|stream| stream.push(source, bytes));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.observer.text(source, &text);
        }
    }

    fn end(&mut self, source: Source) {
        if self.stopped.is_none() {
            self.stopped = self.session.end(self.capture, source).err();
        }
        self.flush(source);
    }

    fn tick_every(&self) -> Option<Duration> {
        self.observer.tick_every()
    }

    fn tick(&mut self, elapsed: Duration) {
        if self.stopped.is_some() {
            return self.observer.tick(elapsed, "");
        }
        match self.session.newest_line(self.capture) {
            Ok(newest) => self.observer.tick(elapsed, &newest),
            Err(stopped) => self.stopped = Some(stopped),
        }
    }
}

/// Redacts whole streams for a person, in an instance of its own: if that stops, the lines end
/// and the record does not suffer.
pub(crate) struct Redacting {
    session: Session,
    stdout: Option<Filter>,
    stderr: Option<Filter>,
}

impl Redacting {
    /// Returns the filters that the observer wants; nothing where it wants none.
    pub(crate) fn start(
        component: &Component,
        policy: &str,
        environment: &str,
        observer: &dyn Observer,
    ) -> Result<Option<Self>, PolicyError> {
        let [stdout, stderr] =
            [Source::Stdout, Source::Stderr].map(|source| observer.wants_text(source));
        if !stdout && !stderr {
            return Ok(None);
        }
        let mut session = Session::open(component, policy, environment)?;
        let mut filter = |wanted: bool| {
            let filter = wanted.then(|| session.start_filter()).transpose();
            filter.map_err(PolicyError::Policy)
        };
        let (stdout, stderr) = (filter(stdout)?, filter(stderr)?);
        Ok(Some(Self {
            session,
            stdout,
            stderr,
        }))
    }

    fn push(&mut self, source: Source, bytes: &[u8]) -> Option<String> {
        let filter = match source {
            Source::Stdout => self.stdout.as_ref(),
            Source::Stderr => self.stderr.as_ref(),
        };
        self.session.filter(filter?, bytes).ok()
    }

    fn finish(&mut self, source: Source) -> Option<String> {
        let filter = match source {
            Source::Stdout => self.stdout.take(),
            Source::Stderr => self.stderr.take(),
        };
        self.session.finish_filter(filter?).ok()
    }
}
