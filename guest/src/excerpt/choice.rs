//! Chooses which lines of a long stream are kept: both ends, the lines that may explain a
//! failure, and what stands around them.
//!
//! It offers lines in order of worth; the layout takes them while they fit.

use std::collections::HashSet;
use std::ops::{Range, RangeBounds};

use super::bucket::{Bucket, Candidate, Look};
use super::form;
use super::grade::{EXPLAINED, HIGHEST, MARKED};
use super::layout::Layout;
use super::line::Line;
use super::policy::ExcerptPolicy;
use super::tail::Tail;

/// The shortest clamp, below which a line says nothing.
const SHORTEST_CLAMP: usize = 48;
/// The candidates that come first.
const FOREMOST: usize = 4;
/// The lines that stay with them.
const CLOSE: Range<usize> = 0..2;
/// The lines right after a candidate.
const NEAR: Range<usize> = 0..4;
/// The lines further down, as in the difference that a test prints.
const FAR: Range<usize> = 4..10;
/// How many lines after a candidate are worth holding.
pub(super) const AFTER: usize = FAR.end;

/// What was held of a stream.
#[derive(Debug)]
pub(super) struct Held<'a> {
    pub(super) policy: &'a ExcerptPolicy,
    pub(super) lines: u64,
    pub(super) head: &'a [Line],
    pub(super) tail: &'a Tail,
    /// The candidates by their grade.
    pub(super) buckets: &'a [Bucket],
}

impl<'a> Held<'a> {
    /// Lays the excerpt out in at most `share` bytes; only the floor, clamped as far as it can
    /// be, may take more.
    pub(super) fn lay_out(&self, share: usize) -> Layout<'a> {
        let mut layout = self.floor(share);
        if self.policy.is_plain() {
            self.add_ends(&mut layout);
            return layout;
        }
        // The newest lines have a fifth of the bytes for sure, and what nothing else needs.
        self.add_tail(&mut layout, share / 5);
        let mut seen = HashSet::new();
        let marked = self.graded(MARKED.., &mut seen);
        let strong = self.graded(EXPLAINED..MARKED, &mut seen);
        let weak = self.graded(1..EXPLAINED, &mut seen);
        self.add_candidates(&mut layout, &marked, &strong, share);
        // Weak lines are many and the newest ones likely: they share what is left.
        let half = layout.used().midpoint(share);
        self.add_tail(&mut layout, half);
        self.add_lines(&mut layout, &weak.distinct, share);
        self.add_tail(&mut layout, share);
        self.add_free(&mut layout, &marked.distinct);
        self.add_free(&mut layout, &strong.distinct);
        layout
    }

    /// Keeps the first and the last lines, clamped as far as the share needs it.
    fn floor(&self, share: usize) -> Layout<'a> {
        let mut limit = self.policy.line_bytes;
        loop {
            let mut layout = Layout::new(self.lines, share);
            let head = self.head.iter().take(self.policy.head().min(3));
            let tail = self.tail.newest_first().take(self.policy.tail().min(5));
            for line in head.chain(tail) {
                layout.keep(line, limit);
            }
            if layout.used() <= share / 4 * 3 || limit <= SHORTEST_CLAMP {
                return layout;
            }
            limit = (limit / 2).max(SHORTEST_CLAMP);
        }
    }

    /// Adds lines from both ends by turns, while they fit.
    fn add_ends(&self, layout: &mut Layout<'a>) {
        let share = layout.budget();
        let mut head = self.head.iter();
        let mut tail = self.tail.newest_first().take(self.policy.tail());
        loop {
            let mut offered = false;
            for line in tail.next().into_iter().chain(head.next()) {
                offered = true;
                if !self.offer(layout, line, share) {
                    return;
                }
            }
            if !offered {
                return;
            }
        }
    }

    fn add_tail(&self, layout: &mut Layout<'a>, budget: usize) {
        for line in self.tail.newest_first() {
            if !self.offer(layout, line, budget) {
                break;
            }
        }
    }

    fn add_candidates(
        &self,
        layout: &mut Layout<'a>,
        marked: &Graded<'a>,
        strong: &Graded<'a>,
        share: usize,
    ) {
        // The first cause and the last word come with what follows them, before any others.
        let foremost = marked.distinct.get(..FOREMOST).unwrap_or(&marked.distinct);
        self.add_lines(layout, foremost, share);
        self.add_context(layout, foremost, CLOSE, share);
        self.add_lines(layout, &marked.distinct, share);
        self.add_context(layout, &marked.distinct, NEAR, share);
        self.add_lines(layout, &strong.distinct, share);
        self.add_context(layout, &strong.distinct, NEAR, share);
        self.add_lines(layout, &marked.alike, share);
        self.add_context(layout, &marked.distinct, FAR, share);
        self.add_lines(layout, &strong.alike, share);
    }

    /// Returns the candidates with a grade in this range, the highest first.
    fn graded(&self, grades: impl RangeBounds<u8>, seen: &mut HashSet<u64>) -> Graded<'a> {
        let mut graded = Graded::default();
        let grades = (1..=HIGHEST).rev().filter(|grade| grades.contains(grade));
        for bucket in grades.filter_map(|grade| self.buckets.get(usize::from(grade))) {
            graded.take(bucket, seen);
        }
        graded
    }

    fn add_lines(&self, layout: &mut Layout<'a>, candidates: &[&'a Candidate], budget: usize) {
        for candidate in candidates {
            self.offer(layout, &candidate.line, budget);
        }
    }

    /// Adds the lines around the kept candidates: first one line for each, then the next for each.
    fn add_context(
        &self,
        layout: &mut Layout<'a>,
        candidates: &[&'a Candidate],
        distance: Range<usize>,
        budget: usize,
    ) {
        let mut told = HashSet::new();
        for step in distance {
            for candidate in candidates {
                if !layout.keeps(&candidate.line) {
                    continue;
                }
                let before = candidate
                    .before
                    .as_deref()
                    .filter(|line| step == 0 && !line.is_blank());
                let after = candidate.follow_up().nth(step);
                for line in after.into_iter().chain(before) {
                    // Further away, a line like one before it is not worth its bytes.
                    let new = told.insert(Look::of(line.text()).template);
                    if !form::is_calm(line.text().trim()) && (new || step < NEAR.end) {
                        self.offer(layout, line, budget);
                    }
                }
            }
        }
    }

    /// Adds lines around the candidates that are shorter than the marker in their place.
    fn add_free(&self, layout: &mut Layout<'a>, candidates: &[&'a Candidate]) {
        for candidate in candidates {
            for line in candidate.before.iter().chain(&candidate.after) {
                layout.offer_free(line, self.policy.line_bytes);
            }
        }
    }

    fn offer(&self, layout: &mut Layout<'a>, line: &'a Line, budget: usize) -> bool {
        layout.offer(line, self.policy.line_bytes, budget)
    }
}

/// The candidates of some grades, in the order in which they are offered.
#[derive(Debug, Default)]
struct Graded<'a> {
    /// No two that differ only in their numbers.
    distinct: Vec<&'a Candidate>,
    /// The others, no two that read the same.
    alike: Vec<&'a Candidate>,
}

impl<'a> Graded<'a> {
    /// Takes the candidates of a grade: the first, the last, the second, the last but one, and so
    /// on, so that the first cause and the last word both get in.
    fn take(&mut self, bucket: &'a Bucket, seen: &mut HashSet<u64>) {
        let mut oldest = bucket.oldest();
        let mut newest = bucket.newest();
        while self.take_distinct(&mut oldest, seen) | self.take_distinct(&mut newest, seen) {}
    }

    /// Takes candidates up to the next one that differs from all before it in more than numbers,
    /// and returns whether there was one.
    fn take_distinct(
        &mut self,
        candidates: &mut impl Iterator<Item = &'a Candidate>,
        seen: &mut HashSet<u64>,
    ) -> bool {
        for candidate in candidates {
            let new = seen.insert(candidate.look.template);
            let reads_new = seen.insert(candidate.look.text);
            if new {
                self.distinct.push(candidate);
                return true;
            }
            if reads_new {
                self.alike.push(candidate);
            }
        }
        false
    }
}
