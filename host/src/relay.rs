//! Where a run's output is worked on: on the thread that reads it, and on one of its own from
//! there on where there is much of it, so that reading and working do not wait for each other.
//!
//! It keeps the order of what it is given, and holds little of it.

use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::component::CallError;
use crate::ending::Source;
use crate::recording::Recording;

/// From so many bytes on, a thread is worth its start.
const MUCH: usize = 1 << 20;
/// How many bytes may wait, unless they come at once: a few reads, which a core's cache holds.
const ROOM: usize = 512 * 1024;
/// How much stack the thread has, whatever `RUST_MIN_STACK` says: a component may use half a
/// mebibyte of it.
const STACK: usize = 2 << 20;

/// The recording of one run, and what waits for it.
pub(crate) struct Relay<'a> {
    recording: Mutex<Recording<'a>>,
    batch: Mutex<Batch>,
    changed: Condvar,
}

/// What waits, in order.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
    /// Nothing more comes.
    closed: bool,
    /// Nobody works any more.
    abandoned: bool,
}

/// Tells the one who brings that a worker has died, however it died.
struct Obituary<'r, 'a>(&'r Relay<'a>);

#[derive(Clone, Copy)]
enum Piece {
    /// So many bytes of a stream.
    Bytes(Source, usize),
    End(Source),
}

/// The one who brings what is to be worked on.
pub(crate) struct Feeder<'scope, 'env, 'a> {
    relay: &'scope Relay<'a>,
    scope: &'scope Scope<'scope, 'env>,
    seen: usize,
    worker: Option<ScopedJoinHandle<'scope, ()>>,
}

impl<'a> Relay<'a> {
    pub(crate) fn new(recording: Recording<'a>) -> Self {
        Self {
            recording: Mutex::new(recording),
            batch: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Ends the recording, and returns why it ended early, if it did.
    pub(crate) fn finish(self) -> Option<CallError> {
        let recording = self.recording.into_inner();
        recording.unwrap_or_else(PoisonError::into_inner).finish()
    }

    fn recording(&self) -> MutexGuard<'_, Recording<'a>> {
        lock(&self.recording)
    }

    /// Waits until there is room for so many bytes.
    fn room_for(&self, count: usize) -> MutexGuard<'_, Batch> {
        let is_full = |batch: &mut Batch| {
            !batch.abandoned && !batch.bytes.is_empty() && batch.bytes.len() + count > ROOM
        };
        let waited = self.changed.wait_while(lock(&self.batch), is_full);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on what comes until there will be no more.
    fn work(&self) {
        self.each_batch(|batch| batch.empty_into(&mut self.recording()));
    }

    fn each_batch(&self, mut work: impl FnMut(&mut Batch)) {
        let _obituary = Obituary(self);
        let mut taken = Batch::default();
        loop {
            let nothing = |batch: &mut Batch| batch.pieces.is_empty() && !batch.closed;
            let waited = self.changed.wait_while(lock(&self.batch), nothing);
            let mut batch = waited.unwrap_or_else(PoisonError::into_inner);
            if batch.pieces.is_empty() {
                return;
            }
            mem::swap(&mut taken.bytes, &mut batch.bytes);
            mem::swap(&mut taken.pieces, &mut batch.pieces);
            drop(batch);
            self.changed.notify_all();
            work(&mut taken);
        }
    }
}

impl Drop for Obituary<'_, '_> {
    fn drop(&mut self) {
        lock(&self.0.batch).abandoned = true;
        self.0.changed.notify_all();
    }
}

impl Batch {
    fn add(&mut self, source: Source, bytes: &[u8]) {
        if self.abandoned {
            return;
        }
        self.bytes.extend_from_slice(bytes);
        match self.pieces.last_mut() {
            Some(Piece::Bytes(last, count)) if *last == source => *count += bytes.len(),
            Some(Piece::Bytes(..) | Piece::End(_)) | None => {
                self.pieces.push(Piece::Bytes(source, bytes.len()));
            }
        }
    }

    fn empty_into(&mut self, recording: &mut Recording<'_>) {
        let mut rest = self.bytes.as_slice();
        for piece in &self.pieces {
            match *piece {
                Piece::Bytes(source, count) => {
                    let (bytes, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
                    recording.bytes(source, bytes);
                    rest = after;
                }
                Piece::End(source) => recording.end(source),
            }
        }
        self.bytes.clear();
        self.pieces.clear();
    }
}

impl<'scope, 'env, 'a: 'scope> Feeder<'scope, 'env, 'a> {
    pub(crate) fn new(relay: &'scope Relay<'a>, scope: &'scope Scope<'scope, 'env>) -> Self {
        Self {
            relay,
            scope,
            seen: 0,
            worker: None,
        }
    }

    /// Brings the next bytes of a stream; never none.
    pub(crate) fn bytes(&mut self, source: Source, bytes: &[u8]) {
        if !self.has_worker(bytes.len()) {
            self.relay.recording().bytes(source, bytes);
            return;
        }
        self.relay.room_for(bytes.len()).add(source, bytes);
        self.relay.changed.notify_all();
    }

    /// Says that the end of a stream was seen.
    pub(crate) fn end(&mut self, source: Source) {
        if self.worker.is_none() {
            self.relay.recording().end(source);
            return;
        }
        lock(&self.relay.batch).pieces.push(Piece::End(source));
        self.relay.changed.notify_all();
    }

    /// Returns the newest line of what was worked on.
    pub(crate) fn newest_line(&self) -> String {
        self.relay.recording().newest_line()
    }

    /// Counts the bytes, and has a worker come when there are many. Where the system refuses a
    /// thread, the work is done here.
    fn has_worker(&mut self, count: usize) -> bool {
        let before = self.seen;
        self.seen = before.saturating_add(count);
        if before < MUCH && self.seen >= MUCH {
            let relay = self.relay;
            let builder = Builder::new().stack_size(STACK);
            let worker = builder.spawn_scoped(self.scope, || relay.work());
            self.worker = worker.ok();
        }
        self.worker.is_some()
    }
}

impl Drop for Feeder<'_, '_, '_> {
    /// Waits until everything was worked on.
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            lock(&self.relay.batch).closed = true;
            self.relay.changed.notify_all();
            if worker.join().is_err() {
                self.relay.recording().give_up();
            }
        }
    }
}

/// Whoever holds one of these locks and dies leaves what was brought so far.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::component::{Component, Session};

    /// More than what one thread takes alone, with lines that an excerpt chooses among.
    fn output(name: &str) -> Vec<u8> {
        let line = |number| match number % 997 {
            0 => format!("error: {name} {number} failed\n"),
            _ => format!("{name} {number}\n"),
        };
        (0..150_000)
            .flat_map(|number| line(number).into_bytes())
            .collect()
    }

    /// Returns why a recording ended early, and what was captured, after `feed` was called.
    fn recorded(
        feed: impl for<'s> FnOnce(Feeder<'s, '_, '_>, &'s Scope<'s, '_>),
    ) -> (Option<CallError>, String) {
        let component = Component::built_in().unwrap();
        let mut session = Session::open(&component, "", "").unwrap();
        let capture = session.start_capture("").unwrap();
        let relay = Relay::new(Recording::new(&mut session, &capture, None));
        thread::scope(|scope| feed(Feeder::new(&relay, scope), scope));
        (relay.finish(), session.finish_capture(capture).unwrap())
    }

    /// Returns what is captured of what `bring` is used for; without a source it brings both ends.
    fn captured(bring: impl FnOnce(&mut dyn FnMut(Option<Source>, &[u8]))) -> String {
        let (stopped, captured) = recorded(|mut feeder, _| {
            bring(&mut |source, bytes| match source {
                Some(source) => feeder.bytes(source, bytes),
                None => {
                    feeder.end(Source::Stdout);
                    feeder.end(Source::Stderr);
                    assert!(!feeder.newest_line().is_empty());
                }
            });
        });
        assert!(stopped.is_none());
        captured
    }

    #[test]
    fn a_worker_that_dies_holds_nothing_up_and_is_told() {
        let (stopped, _) = recorded(|mut feeder, scope| {
            let relay = feeder.relay;
            let dying = || relay.each_batch(|_| panic!("as a fault of the engine would"));
            (feeder.seen, feeder.worker) = (MUCH, Some(scope.spawn(dying)));
            for _ in 0..10 {
                feeder.bytes(Source::Stdout, &[b'x'; ROOM]);
            }
            feeder.end(Source::Stdout);
        });
        assert!(matches!(stopped, Some(CallError::Unavailable(_))));
    }

    #[test]
    fn what_is_worked_on_apart_is_captured_as_it_is_at_once() {
        let (stdout, stderr) = (output("out"), output("err"));
        let whole = captured(|bring| {
            bring(Some(Source::Stdout), &stdout);
            bring(Some(Source::Stderr), &stderr);
            bring(None, &[]);
        });
        assert!(whole.contains("failed"), "{whole}");
        for (first, second) in [(256 * 1024, 1000), (4096, 100_000), (700_000, 3000)] {
            let pieces = captured(|bring| {
                let mut others = stderr.chunks(second);
                for piece in stdout.chunks(first) {
                    bring(Some(Source::Stdout), piece);
                    if let Some(piece) = others.next() {
                        bring(Some(Source::Stderr), piece);
                    }
                }
                others.for_each(|piece| bring(Some(Source::Stderr), piece));
                bring(None, &[]);
            });
            assert_eq!(pieces, whole, "in pieces of {first} and {second}");
        }
    }
}
