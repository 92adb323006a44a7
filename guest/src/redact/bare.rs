//! Bodies of private keys without a frame: lines are held back until it shows what they are.
//!
//! `tail -n +5 key.pem` leaves neither a beginning nor an end mark, and nothing in one line of 64
//! characters tells a key from other base64. Its lines together do: two or more, each exactly as
//! wide as armour is (64 characters, or 70 in OpenSSH's files), each random, each in the same
//! place of its line. So such lines are held back, at most 64 KiB, until one comes that is none.
//!
//! What is given up for it: the middle of a certificate or of a public key goes as well where
//! neither its beginning nor its end is in the output. What stays: base64 of any other width
//! (images and archives are wrapped at 76), one line alone, digests behind their name, a body
//! whose end mark names something public, what begins as a certificate, an image, an archive or
//! a program does, and more than 128 lines, since no key is that long. A key that begins as keys
//! do needs none of this: `armour` tells it by its first line.
//!
//! It decides nothing about a line that was not held back.

use memchr::memchr_iter;

use super::armour::{LONG, Run, begins_as_public, first_key, first_long, is_random, runs};
use super::block::Block;
use super::bytes::{at, before, part, text};
use super::key::{Edge, Key, has_mixture, is_gutter};

/// How wide the lines of armour are. Those of other widths are held back for the end mark that
/// may follow, and for the rest of a line that was wrapped.
const WIDTHS: [usize; 2] = [64, 70];
/// Longest line that is held back, in bytes.
const LINE_MAX: usize = 512;
/// Most full lines of one body; an RSA key of 16,384 bits has 150 in its longest form.
const FULL_MAX: usize = 128;

/// Lines that may be a key's.
#[derive(Debug, Default)]
pub(super) struct Held {
    lines: Vec<String>,
    shape: Option<Shape>,
}

/// What the held lines have in common.
#[derive(Clone, Debug)]
struct Shape {
    width: usize,
    /// Where the newest piece begins.
    start: usize,
    edge: Edge,
    /// Lines with a piece of full width.
    full: usize,
    /// How many characters of a line of armour were wrapped onto the next, or 0.
    wrapped: usize,
    /// How many of those there were.
    rests: usize,
    /// A shorter line was the last.
    has_short: bool,
    /// Lines of numbers and marks since the newest piece.
    gutters: usize,
    /// The first piece begins as something public does.
    is_public: bool,
}

/// What becomes of a line that is offered.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It is not held back, and nothing is.
    Ordinary,
    /// It is held back.
    Held,
    /// It is not held back; what is goes on with this state.
    Ended(Block),
}

impl Held {
    /// Says whether any line is held back.
    pub(super) const fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the lines that were held back, which are so no longer.
    pub(super) fn drain(&mut self) -> Vec<String> {
        self.shape = None;
        std::mem::take(&mut self.lines)
    }

    /// Takes the next line; `reading` is the line without what is not seen of it.
    pub(super) fn take(&mut self, line: &str, reading: &str) -> Verdict {
        let Some(shape) = &mut self.shape else {
            let Some(run) = candidate(reading) else {
                return Verdict::Ordinary;
            };
            self.shape = Some(Shape::new(reading, run));
            self.lines.push(line.to_owned());
            return Verdict::Held;
        };
        if shape.goes_on(reading) && line.len() <= LINE_MAX {
            self.lines.push(line.to_owned());
            return Verdict::Held;
        }
        Verdict::Ended(shape.judge(reading))
    }

    /// Returns the state with which the held lines go on where the text ends.
    pub(super) fn end(&self) -> Block {
        self.shape
            .as_ref()
            .map_or(Block::Closed, |shape| shape.judge(""))
    }
}

impl Shape {
    fn new(line: &str, run: Run) -> Self {
        Self {
            width: run.len(),
            start: run.start,
            edge: Edge::of(line, run.start, run.end),
            full: 1,
            wrapped: 0,
            rests: 0,
            has_short: false,
            gutters: 0,
            is_public: begins_as_public(text(line, run.start, run.end)),
        }
    }

    /// Says whether the line continues the body, and learns from it.
    fn goes_on(&mut self, line: &str) -> bool {
        let next = pieces(line).find(|run| self.is_next(line, *run));
        if let Some(run) = next {
            self.start = run.start;
            self.edge = Edge::of(line, run.start, run.end);
            self.full += 1;
            self.gutters = 0;
            return self.full <= FULL_MAX;
        }
        if is_gutter(line) && self.gutters < 2 {
            self.gutters += 1;
            return true;
        }
        if self.is_rest(line) {
            self.rests += 1;
            return true;
        }
        if !self.has_short && self.has_last_piece(line) {
            self.has_short = true;
            self.gutters = 0;
            return true;
        }
        false
    }

    fn is_next(&self, line: &str, run: Run) -> bool {
        // The first line may stand behind the words that announce it.
        let is_placed = run.start.abs_diff(self.start) <= 1 || self.full == 1 && run.start == 0;
        run.len() == self.width
            && is_placed
            && !self.has_short
            && self.rests == if self.wrapped > 0 { self.full } else { 0 }
            && has_mixture(part(line.as_bytes(), run.start, run.end))
            && !is_named_digest(line, run.start)
    }

    /// Says whether the line is the rest of one that was wrapped at another width.
    fn is_rest(&mut self, line: &str) -> bool {
        if self.rests + 1 != self.full || WIDTHS.contains(&self.width) {
            return false;
        }
        let rest = runs(line)
            .find(|run| run.start.abs_diff(self.start) <= 1)
            .map(Run::len);
        let whole = rest.map(|rest| rest + self.width);
        if self.rests == 0 && whole.is_some_and(|whole| WIDTHS.contains(&whole)) {
            self.wrapped = rest.unwrap_or(0);
        }
        self.wrapped > 0 && rest == Some(self.wrapped)
    }

    fn has_last_piece(&self, line: &str) -> bool {
        runs(line).any(|run| {
            let starts = [
                run.start,
                run.start + usize::from(at(line.as_bytes(), run.start) == b'+'),
            ];
            (4..self.width).contains(&run.len())
                && has_mixture(part(line.as_bytes(), run.start, run.end))
                && starts.iter().any(|start| {
                    start.abs_diff(self.start) <= 1
                        && Edge::of(line, *start, run.end).before == self.edge.before
                })
        })
    }

    /// Returns what the lines are, now that `line` is none of them.
    fn judge(&self, line: &str) -> Block {
        let label = line.split_once("-----END ").map(|(_, label)| label);
        let is_key = match label {
            Some(label) => label.contains("PRIVATE KEY"),
            None => {
                let is_wide = WIDTHS.contains(&self.width) && (self.full >= 2 || self.has_short);
                !self.is_public && self.full <= FULL_MAX && (is_wide || self.rests >= 2)
            }
        };
        if is_key {
            return Block::Key(Key::before_body(self.width));
        }
        if self.full > FULL_MAX || self.is_public {
            return Block::Public { others: 0 };
        }
        Block::Closed
    }
}

/// Says whether a line may be held back, before it is read with care.
pub(super) fn may_be_bare(line: &str) -> bool {
    let bytes = line.as_bytes();
    // Preparing a search for the three bytes would cost more than it gains on one line.
    let is_sequence = |start: usize| part(bytes, start, start + 3) == b"MII";
    bytes.len() >= LONG
        && (first_long(bytes, 0).is_some() || memchr_iter(b'M', bytes).any(is_sequence))
}

/// Returns the piece of a line that may be one of a key's.
fn candidate(line: &str) -> Option<Run> {
    if !(LONG..=LINE_MAX).contains(&line.len()) {
        return None;
    }
    pieces(line).find(|run| {
        let piece = text(line, run.start, run.end);
        run.len() <= 80
            && (is_random(piece.as_bytes()) || begins_as_public(piece))
            && !is_named_digest(line, run.start)
            && !begins_as_key(piece)
    })
}

/// Says whether a piece is told by itself: it begins as a key does, or as armour in base64 does.
fn begins_as_key(run: &str) -> bool {
    run.starts_with("LS0tLS1CRUdJTi") || first_key(run).is_some()
}

/// Returns the long runs of a line, without the marks of a diff, which are
/// characters of base64 as well.
fn pieces(line: &str) -> impl Iterator<Item = Run> + '_ {
    let bytes = line.as_bytes();
    runs(line).filter_map(|run| {
        let marked = Run {
            start: run.start + usize::from(at(bytes, run.start) == b'+'),
            end: run.end - usize::from(before(bytes, run.end) == b'+' && run.len() > 65),
        };
        let usual = [run, marked]
            .into_iter()
            .find(|run| WIDTHS.contains(&run.len()));
        usual.or((run.len() >= LONG).then_some(run))
    })
}

/// Says whether what stands right before a piece makes it a digest or a part of a name.
fn is_named_digest(line: &str, start: usize) -> bool {
    let bytes = line.as_bytes();
    let glue = before(bytes, start);
    let is_glued = matches!(glue, b'-' | b'_' | b'.' | b'%' | b'@' | b'~')
        && start
            .checked_sub(1)
            .is_some_and(|at| before(bytes, at).is_ascii_alphanumeric());
    let named = text(
        line,
        line.floor_char_boundary(start.saturating_sub(24)),
        start,
    );
    let named = named.to_ascii_lowercase();
    is_glued
        || [
            "sha",
            "digest",
            "hash",
            "integrity",
            "checksum",
            "fingerprint",
        ]
        .iter()
        .any(|name| named.contains(name))
}
