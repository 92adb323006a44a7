//! Between a running command, the relay where its output is worked on, and a person who watches.
//!
//! What a person sees has been redacted. What goes wrong here with the watching costs no record.

use std::time::Duration;

use crate::component::{Component, Filter, PolicyError, Session};
use crate::ending::Source;
use crate::relay::Feeder;
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

/// Hands what a command puts out to the relay, and what a person may see of it to the observer.
pub(crate) struct CaptureSink<'scope, 'env, 'a> {
    feeder: Feeder<'scope, 'env, 'a>,
    observer: &'a mut dyn Observer,
    stream: Option<Redacting>,
}

impl<'scope, 'env, 'a> CaptureSink<'scope, 'env, 'a> {
    pub(crate) fn new(
        feeder: Feeder<'scope, 'env, 'a>,
        observer: &'a mut dyn Observer,
        stream: Option<Redacting>,
    ) -> Self {
        Self {
            feeder,
            observer,
            stream,
        }
    }

    /// Gives the observer what was held back.
    pub(crate) fn finish(mut self) {
        self.flush(Source::Stdout);
        self.flush(Source::Stderr);
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

impl<'a: 'scope, 'scope> Sink for CaptureSink<'scope, '_, 'a> {
    fn bytes(&mut self, source: Source, bytes: &[u8]) {
        self.feeder.bytes(source, bytes);
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
        self.feeder.end(source);
        self.flush(source);
    }

    fn tick_every(&self) -> Option<Duration> {
        self.observer.tick_every()
    }

    fn tick(&mut self, elapsed: Duration) {
        let newest = self.feeder.newest_line();
        self.observer.tick(elapsed, &newest);
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
