//! The candidates of one grade: the first few and the last few, alike ones once.
//!
//! It does not decide which of them are kept.

use std::collections::VecDeque;
use std::rc::Rc;

use super::line::Line;

/// A line that may explain a failure, and the lines around it.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) line: Line,
    pub(super) before: Option<Line>,
    pub(super) after: Vec<Line>,
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
        let template = candidate.template;
        if self.first.len() < limit && !self.first.iter().any(|other| other.template == template) {
            self.first.push(Rc::clone(&candidate));
        }
        if let Some(at) = self
            .last
            .iter()
            .rposition(|other| other.template == template)
        {
            self.last.remove(at);
        }
        self.last.push_back(candidate);
        if self.last.len() > limit {
            self.last.pop_front();
        }
    }

    /// Returns the candidates: the first, the last, the second, the last but one, and so on.
    pub(super) fn in_turn(&self) -> impl Iterator<Item = &Rc<Candidate>> {
        let count = self.first.len().max(self.last.len());
        (0..count).flat_map(|turn| {
            let last = self.last.iter().rev().nth(turn);
            self.first.get(turn).into_iter().chain(last)
        })
    }
}

/// Returns a number that is the same for lines which differ only in their numbers.
pub(super) fn template(line: &str) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut in_number = false;
    for byte in line.bytes() {
        let digit = byte.is_ascii_digit();
        if digit && in_number {
            continue;
        }
        in_number = digit;
        let byte = if digit { b'0' } else { byte };
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}
