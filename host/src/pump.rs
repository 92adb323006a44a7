//! Reads both output streams of a command as they come and hands every byte on, in order per stream.
//!
//! It keeps nothing, interprets nothing, and never waits by itself.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use crate::ending::{Source, StreamFacts, millis};

/// Large enough that the cost of a read is its bytes, small enough to stay in a core's cache.
const BUFFER: usize = 256 * 1024;
/// As large as an unprivileged pipe can be, so that a command is seldom kept waiting.
const FULL_PIPE: usize = 1024 * 1024;

/// Takes what a run puts out, while it runs.
///
/// A sink that blocks holds up the run's own limits; it should do little per call.
pub trait Sink {
    /// Takes the next bytes of a stream; never none.
    fn bytes(&mut self, source: Source, bytes: &[u8]);

    /// Learns that the end of a stream was seen. Not called for a stream that was still open
    /// when reading stopped.
    fn end(&mut self, source: Source);

    /// Returns how often `tick` is wanted while the command runs; never, by default.
    fn tick_every(&self) -> Option<Duration> {
        None
    }

    /// Learns that the command is still running, this long after its start.
    fn tick(&mut self, elapsed: Duration) {
        let _ = elapsed;
    }
}

/// Both streams of one command.
#[derive(Debug)]
pub(crate) struct Pump {
    streams: [Stream; 2],
    buffer: Vec<u8>,
    started: Instant,
    last_byte: Instant,
}

#[derive(Debug)]
struct Stream {
    source: Source,
    pipe: Option<OwnedFd>,
    facts: StreamFacts,
}

impl Pump {
    pub(crate) fn new(stdout: OwnedFd, stderr: OwnedFd, started: Instant) -> Self {
        let stream = |source, pipe: OwnedFd| {
            prepare(&pipe);
            Stream {
                source,
                pipe: Some(pipe),
                facts: StreamFacts::default(),
            }
        };
        Self {
            streams: [
                stream(Source::Stdout, stdout),
                stream(Source::Stderr, stderr),
            ],
            buffer: vec![0; BUFFER],
            started,
            last_byte: started,
        }
    }

    /// The descriptors of the streams whose end has not been seen.
    pub(crate) fn open(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.streams
            .iter()
            .filter_map(|stream| stream.pipe.as_ref())
            .map(OwnedFd::as_fd)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.open().next().is_none()
    }

    /// When the last byte of either stream came; the start where none did.
    pub(crate) fn last_byte(&self) -> Instant {
        self.last_byte
    }

    /// Reads once from every stream that has something. Returns whether any had.
    pub(crate) fn read(&mut self, sink: &mut dyn Sink) -> bool {
        let mut any = false;
        for stream in &mut self.streams {
            let Some(pipe) = &stream.pipe else { continue };
            match rustix::io::read(pipe, &mut self.buffer) {
                Ok(0) => {
                    stream.pipe = None;
                    stream.facts.end_seen = true;
                    sink.end(stream.source);
                }
                Ok(count) => {
                    any = true;
                    self.last_byte = Instant::now();
                    stream.facts.bytes = stream
                        .facts
                        .bytes
                        .saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
                    stream.facts.last_byte_ms =
                        Some(millis(self.last_byte.duration_since(self.started)));
                    sink.bytes(stream.source, self.buffer.get(..count).unwrap_or_default());
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                // A stream that cannot be read is given up without its end having been seen.
                Err(_) => stream.pipe = None,
            }
        }
        any
    }

    /// Reads what the pipes hold by now, at most one full pipe each: no writer may prolong this.
    pub(crate) fn empty(&mut self, sink: &mut dyn Sink) {
        let rounds = FULL_PIPE / BUFFER;
        let _ = (0..rounds).take_while(|_| self.read(sink)).count();
    }

    /// Returns the numbers of stdout and of stderr.
    pub(crate) fn facts(&self) -> (StreamFacts, StreamFacts) {
        let [stdout, stderr] = &self.streams;
        (stdout.facts, stderr.facts)
    }
}

/// Only our end becomes non-blocking: the two ends of a pipe have separate flags.
fn prepare(pipe: &OwnedFd) {
    if let Ok(flags) = fcntl_getfl(pipe) {
        let _ = fcntl_setfl(pipe, flags | OFlags::NONBLOCK);
    }
    // The system may refuse a larger pipe where the user has many; the usual size works as well.
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, FULL_PIPE);
}
