//! The newest lines of a stream, as many as an excerpt can hold.
//!
//! It copies only what can still be among the newest when a block of lines ends.

use std::collections::VecDeque;

use memchr::memrchr;

use super::line::Line;

/// The newest lines.
#[derive(Debug)]
pub(super) struct Tail {
    lines: VecDeque<Line>,
    bytes: usize,
    /// At least this many lines are held.
    least: usize,
    /// At most this many lines are held.
    most: usize,
    /// Above `least` lines, at most this many bytes are held.
    budget: usize,
    line_bytes: usize,
}

impl Tail {
    pub(super) fn new(least: usize, most: usize, budget: usize, line_bytes: usize) -> Self {
        Self {
            lines: VecDeque::new(),
            bytes: 0,
            least,
            most,
            budget,
            line_bytes,
        }
    }

    /// Takes the next line.
    pub(super) fn push(&mut self, line: Line) {
        self.bytes += self.cost(&line);
        self.lines.push_back(line);
        self.shrink();
    }

    /// Takes whole lines, the last of which has this number.
    pub(super) fn push_all(&mut self, lines: &str, last: u64) {
        let mut newest = Vec::new();
        let mut rest = lines.strip_suffix('\n').unwrap_or(lines);
        let mut number = last;
        let mut bytes = 0;
        while newest.len() < self.most && (newest.len() < self.least || bytes < self.budget) {
            let start = memrchr(b'\n', rest.as_bytes());
            let text = start.map_or(rest, |at| rest.get(at + 1..).unwrap_or(""));
            let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
            let line = Line::new(number, text, length, self.line_bytes);
            bytes += self.cost(&line);
            newest.push(line);
            let Some(at) = start else { break };
            rest = rest.get(..at).unwrap_or("");
            number -= 1;
        }
        for line in newest.into_iter().rev() {
            self.push(line);
        }
    }

    /// Returns the newest line.
    pub(super) fn newest(&self) -> Option<&Line> {
        self.lines.back()
    }

    /// Returns the lines held, newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().rev()
    }

    fn cost(&self, line: &Line) -> usize {
        line.shown_bytes(self.line_bytes) + 1
    }

    fn shrink(&mut self) {
        while let Some(oldest) = self.lines.front() {
            let cost = self.cost(oldest);
            let spare = self.lines.len() > self.most
                || (self.lines.len() > self.least
                    && self.bytes.saturating_sub(cost) >= self.budget);
            if !spare {
                break;
            }
            self.bytes -= cost;
            self.lines.pop_front();
        }
    }
}
