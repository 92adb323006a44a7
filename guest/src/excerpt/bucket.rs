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
    first: Vec<Rc<Candidate>>,
    last: VecDeque<Rc<Candidate>>,
}

impl Bucket {
    /// Adds the next candidate; at most `limit` are held at each end.
    pub(super) fn add(&mut self, candidate: Candidate, limit: usize) {
        let candidate = Rc::new(candidate);
        if self.first.len() < limit
            && Self::spare(self.first.iter().rev(), candidate.look).is_none()
        {
            self.first.push(Rc::clone(&candidate));
        }
        let length = self.last.len();
        if let Some(at) = Self::spare(self.last.iter(), candidate.look) {
            self.last.remove(at);
        } else if length >= limit {
            self.last.pop_front();
        }
        self.last.push_back(candidate);
    }

    /// Returns which of the candidates has to go so that one that looks like this can come: the
    /// one that reads the same, or the first one where there are enough alike.
    fn spare<'a>(candidates: impl Iterator<Item = &'a Rc<Candidate>>, look: Look) -> Option<usize> {
        let mut first = None;
        let mut alike = 0;
        for (at, other) in candidates.enumerate() {
            if other.look.template != look.template {
                continue;
            }
            if other.look.text == look.text {
                return Some(at);
            }
            first.get_or_insert(at);
            alike += 1;
        }
        first.filter(|_| alike >= ALIKE)
    }

    /// Returns the candidates held from the start, oldest first.
    pub(super) fn oldest(&self) -> impl Iterator<Item = &Candidate> {
        self.first.iter().map(Rc::as_ref)
    }

    /// Returns the candidates held from the end, newest first.
    pub(super) fn newest(&self) -> impl Iterator<Item = &Candidate> {
        self.last.iter().rev().map(Rc::as_ref)
    }
}

impl Look {
    /// Looks at a line.
    pub(super) fn of(line: &str) -> Self {
        let mut look = Self {
            text: 0xcbf2_9ce4_8422_2325,
            template: 0xcbf2_9ce4_8422_2325,
        };
        let mut in_number = false;
        for byte in line.bytes() {
            look.text = mix(look.text, byte);
            let digit = byte.is_ascii_digit();
            if !(digit && in_number) {
                look.template = mix(look.template, if digit { b'0' } else { byte });
            }
            in_number = digit;
        }
        look
    }
}

fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}
