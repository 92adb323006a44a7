//! `--tee`: shows the redacted lines of a command on the terminal as they come.
//!
//! They are written by a thread of its own: a terminal that takes nothing costs lines here, and
//! says so at the end, but neither the limits of the run nor its record.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use feedback_host::ending::Source;
use feedback_host::run::Observer;

use crate::failure::warn;

/// How much text may wait for the terminal, in bytes.
const MOST_WAITING: usize = 4 << 20;
/// How long the run may be held up so that a terminal that is only slow misses nothing.
const PATIENCE: Duration = Duration::from_millis(20);

/// The lines of one command on their way to the terminal.
#[derive(Debug)]
pub(crate) struct Tee {
    stdout: bool,
    stderr: bool,
    /// The stream whose last line has no end yet.
    unfinished: Option<Source>,
    queue: Arc<Queue>,
    writer: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    texts: VecDeque<(Source, String)>,
    waiting: usize,
    lost: usize,
    /// Whether text was lost since there was room the last time.
    full: bool,
    closed: bool,
}

impl Tee {
    /// Returns a tee for each of the two outputs that is a terminal; nothing where none is.
    pub(crate) fn start() -> Option<Self> {
        let (stdout, stderr) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        if !stdout && !stderr {
            return None;
        }
        let queue = Arc::new(Queue::default());
        let given = Arc::clone(&queue);
        let writer = Builder::new().spawn(move || write_all(&given)).ok()?;
        Some(Self {
            stdout,
            stderr,
            unfinished: None,
            queue,
            writer: Some(writer),
        })
    }
}

impl Observer for Tee {
    fn wants_text(&self, source: Source) -> bool {
        match source {
            Source::Stdout => self.stdout,
            Source::Stderr => self.stderr,
        }
    }

    fn text(&mut self, source: Source, text: &str) {
        self.unfinished = (!text.ends_with('\n')).then_some(source);
        self.queue.put(source, text);
    }
}

impl Drop for Tee {
    /// Waits until everything has been written, and tells what could not be.
    fn drop(&mut self) {
        if let Some(source) = self.unfinished {
            self.queue.put(source, "\n");
        }
        self.queue.state().closed = true;
        self.queue.changed.notify_all();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        let lost = self.queue.state().lost;
        if lost > 0 {
            warn(format_args!(
                "{lost} bytes of the output were not shown, because the terminal did not take them in time"
            ));
        }
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a text, or loses it where there is still no room after a moment.
    fn put(&self, source: Source, text: &str) {
        let has_no_room = |state: &mut State| state.waiting >= MOST_WAITING;
        let mut state = self.state();
        if !state.full {
            let waited = self
                .changed
                .wait_timeout_while(state, PATIENCE, has_no_room);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.full = state.waiting >= MOST_WAITING;
        if state.full {
            state.lost = state.lost.saturating_add(text.len());
        } else {
            state.waiting = state.waiting.saturating_add(text.len());
            state.texts.push_back((source, text.to_owned()));
            self.changed.notify_all();
        }
    }

    /// Returns the next text, once there is one; nothing at the end.
    fn take(&self) -> Option<(Source, String)> {
        let is_idle = |state: &mut State| state.texts.is_empty() && !state.closed;
        let waited = self.changed.wait_while(self.state(), is_idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.texts.pop_front()
    }

    fn written(&self, text: &str) {
        let mut state = self.state();
        state.waiting = state.waiting.saturating_sub(text.len());
        self.changed.notify_all();
    }
}

fn write_all(queue: &Queue) {
    while let Some((source, text)) = queue.take() {
        // A terminal that has gone takes nothing, and nobody misses it.
        let _ = match source {
            Source::Stdout => write(&mut io::stdout().lock(), &text),
            Source::Stderr => write(&mut io::stderr().lock(), &text),
        };
        queue.written(&text);
    }
}

fn write(to: &mut dyn Write, text: &str) -> io::Result<()> {
    to.write_all(text.as_bytes())?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_takes_is_lost_in_bounded_time_and_counted() {
        let queue = Queue::default();
        let megabyte = "x".repeat(1 << 20);
        for _ in 0..6 {
            queue.put(Source::Stdout, &megabyte);
        }
        assert_eq!(queue.state().lost, 2 << 20);
        let (_, first) = queue.take().unwrap();
        queue.written(&first);
        queue.put(Source::Stdout, "there is room again");
        assert_eq!(queue.state().lost, 2 << 20);
    }

    #[test]
    fn everything_that_was_put_is_taken_in_order_before_the_end() {
        let queue = Queue::default();
        queue.put(Source::Stdout, "a");
        queue.put(Source::Stderr, "b");
        queue.state().closed = true;
        assert_eq!(queue.take(), Some((Source::Stdout, "a".to_owned())));
        assert_eq!(queue.take(), Some((Source::Stderr, "b".to_owned())));
        assert_eq!(queue.take(), None);
    }
}
