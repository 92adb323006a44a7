//! The candidates of one grade: the first ones and the last ones, alike ones a few times.
//!
//! It does not decide which of them are kept.

use std::collections::VecDeque;
use std::rc::Rc;

use super::line::Line;

/// Candidates held that differ only in their numbers, at each end.
const ALIKE: usize = 6;

/// A line that may explain a failure, and the lines around it.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) line: Rc<Line>,
    pub(super) before: Option<Rc<Line>>,
    /// The lines after it, blank ones too.
    pub(super) after: Vec<Rc<Line>>,
    pub(super) look: Look,
}

impl Candidate {
    /// Returns the lines after it that are not blank.
    pub(super) fn follow_up(&self) -> impl Iterator<Item = &Line> {
        self.after
            .iter()
            .map(Rc::as_ref)
            .filter(|line| !line.is_blank())
    }
}

/// What tells a line from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// The same for lines that read the same.
    pub(super) text: u64,
    /// The same for lines that differ only in their numbers.
    pub(super) template: u64,
}

/// The candidates of one grade that can still be reached when the excerpt is laid out.
#[derive(Debug, Default)]
pub(super) struct Bucket {
    first: End,
    last: End,
}

/// The candidates at one end of a stream.
#[derive(Debug, Default)]
struct End {
    candidates: VecDeque<Rc<Candidate>>,
    /// Of each candidate, apart, since it is compared with every new one.
    looks: VecDeque<Look>,
}

impl Bucket {
    /// Adds the next candidate; at most `limit` are held at each end.
    pub(super) fn add(&mut self, candidate: Candidate, limit: usize) {
        let candidate = Rc::new(candidate);
        if self.first.looks.len() < limit && self.first.spare(candidate.look).is_none() {
            self.first.push(Rc::clone(&candidate));
        }
        if let Some(at) = self.last.spare(candidate.look) {
            self.last.remove(at);
        } else if self.last.looks.len() >= limit {
            self.last.remove(0);
        }
        self.last.push(candidate);
    }

    /// Returns the candidates held from the start, oldest first.
    pub(super) fn oldest(&self) -> impl Iterator<Item = &Candidate> {
        self.first.candidates.iter().map(Rc::as_ref)
    }

    /// Returns the candidates held from the end, newest first.
    pub(super) fn newest(&self) -> impl Iterator<Item = &Candidate> {
        self.last.candidates.iter().rev().map(Rc::as_ref)
    }
}

impl End {
    fn push(&mut self, candidate: Rc<Candidate>) {
        self.looks.push_back(candidate.look);
        self.candidates.push_back(candidate);
    }

    fn remove(&mut self, at: usize) {
        self.looks.remove(at);
        self.candidates.remove(at);
    }

    /// Returns which of the candidates has to go so that one that looks like this can come: the
    /// one that reads the same, or the first one where there are enough alike.
    fn spare(&self, look: Look) -> Option<usize> {
        let mut first = None;
        let mut alike = 0;
        for (at, other) in self.looks.iter().enumerate() {
            if other.template != look.template {
                continue;
            }
            if other.text == look.text {
                return Some(at);
            }
            first.get_or_insert(at);
            alike += 1;
        }
        first.filter(|_| alike >= ALIKE)
    }
}

impl Look {
    /// Looks at a line.
    pub(super) fn of(line: &str) -> Self {
        let text = hash(line.as_bytes());
        if !line.bytes().any(|byte| byte.is_ascii_digit()) {
            return Self {
                text,
                template: text,
            };
        }
        let mut template = Hasher::default();
        let mut in_number = false;
        for byte in line.bytes() {
            let is_digit = byte.is_ascii_digit();
            // Of a number only the first digit stays, and that is any.
            if !(is_digit && in_number) {
                template.add(if is_digit { b'0' } else { byte });
            }
            in_number = is_digit;
        }
        Self {
            text,
            template: template.finish(),
        }
    }
}

/// Tells texts apart that come byte by byte.
#[derive(Default)]
struct Hasher {
    hash: u64,
    word: u64,
    bytes: u64,
}

impl Hasher {
    fn add(&mut self, byte: u8) {
        self.word = (self.word << 8) | u64::from(byte);
        self.bytes += 1;
        if self.bytes.is_multiple_of(8) {
            self.hash = mix(self.hash, self.word);
        }
    }

    fn finish(&self) -> u64 {
        mix(mix(self.hash, self.word), self.bytes)
    }
}

/// Returns a number that differs where texts do, but for one chance in very many.
fn hash(text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    let mut last = [0; 8];
    for (to, byte) in last.iter_mut().zip(rest) {
        *to = *byte;
    }
    let start = u64::try_from(text.len()).unwrap_or(u64::MAX);
    words
        .iter()
        .chain(std::iter::once(&last))
        .fold(start, |hash, word| mix(hash, u64::from_le_bytes(*word)))
}

fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}
