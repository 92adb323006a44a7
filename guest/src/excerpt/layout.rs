//! Lays an excerpt out: which lines are kept within a share of the budget, in the order of the
//! stream, with a marker for every gap.
//!
//! It does not grade; it takes the lines in the order in which they are offered.

use std::collections::BTreeMap;

use super::line::{Line, marker, marker_bytes};

/// The kept lines of one stream while they are chosen.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    kept: BTreeMap<u64, (&'a Line, usize)>,
    lines: u64,
    /// Bytes of the kept lines and of the markers, each with its newline.
    used: usize,
    budget: usize,
}

impl<'a> Layout<'a> {
    /// Starts with nothing kept of `lines` lines.
    pub(super) fn new(lines: u64, budget: usize) -> Self {
        Self {
            kept: BTreeMap::new(),
            lines,
            used: gap_bytes(0, lines + 1),
            budget,
        }
    }

    /// Keeps a line, clamped at `limit`, whether it fits or not.
    pub(super) fn keep(&mut self, line: &'a Line, limit: usize) {
        if !self.kept.contains_key(&line.number) {
            self.used = self.used_with(line, limit);
            self.kept.insert(line.number, (line, limit));
        }
    }

    /// Keeps a line if the excerpt then has at most `budget` bytes, or if it is kept already, and
    /// returns whether it is.
    pub(super) fn offer(&mut self, line: &'a Line, limit: usize, budget: usize) -> bool {
        if self.keeps(line) {
            return true;
        }
        let used = self.used_with(line, limit);
        // The last newline is not part of the text.
        if used > budget.saturating_add(1) {
            return false;
        }
        self.used = used;
        self.kept.insert(line.number, (line, limit));
        true
    }

    /// Returns whether a line is kept.
    pub(super) fn keeps(&self, line: &Line) -> bool {
        self.kept.contains_key(&line.number)
    }

    /// Returns whether the line with this number is kept.
    pub(super) fn keeps_number(&self, number: u64) -> bool {
        self.kept.contains_key(&number)
    }

    /// Returns the bytes that the excerpt may have.
    pub(super) fn budget(&self) -> usize {
        self.budget
    }

    /// Returns the bytes used so far.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Keeps a line if that does not make the text longer, as where it is shorter than the marker
    /// that it replaces.
    pub(super) fn offer_free(&mut self, line: &'a Line, limit: usize) {
        if !self.kept.contains_key(&line.number) && self.used_with(line, limit) <= self.used {
            self.keep(line, limit);
        }
    }

    fn used_with(&self, line: &Line, limit: usize) -> usize {
        let number = line.number;
        let before = self
            .kept
            .range(..number)
            .next_back()
            .map_or(0, |(at, _)| *at);
        let after = self
            .kept
            .range(number + 1..)
            .next()
            .map_or(self.lines + 1, |(at, _)| *at);
        let without = self.used.saturating_sub(gap_bytes(before, after));
        without + gap_bytes(before, number) + gap_bytes(number, after) + line.shown_bytes(limit) + 1
    }

    /// Writes the excerpt.
    pub(super) fn render(&self) -> Rendered {
        let mut rendered = Rendered::default();
        let mut last = 0;
        for (number, (line, limit)) in &self.kept {
            rendered.gap(last, *number);
            rendered.separate();
            let left_out = line.show(*limit, &mut rendered.text);
            rendered.kept += 1;
            rendered.clamped += u64::from(left_out > 0);
            rendered.bytes_kept += line.bytes() - left_out;
            last = *number;
        }
        rendered.gap(last, self.lines + 1);
        rendered
    }
}

/// A written excerpt.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    pub(super) text: String,
    pub(super) kept: u64,
    pub(super) clamped: u64,
    /// Bytes of kept lines that are shown, without newlines.
    pub(super) bytes_kept: u64,
    started: bool,
}

impl Rendered {
    fn gap(&mut self, before: u64, after: u64) {
        let missing = missing(before, after);
        if missing > 0 {
            self.separate();
            self.text.push_str(&marker(missing, "lines"));
        }
    }

    fn separate(&mut self) {
        if self.started {
            self.text.push('\n');
        }
        self.started = true;
    }
}

fn missing(before: u64, after: u64) -> u64 {
    after.saturating_sub(before).saturating_sub(1)
}

fn gap_bytes(before: u64, after: u64) -> usize {
    match missing(before, after) {
        0 => 0,
        missing => marker_bytes(missing, "lines") + 1,
    }
}
