//! Picks the lines of one stream that are kept, while the stream is read, in bounded memory.
//!
//! It takes redacted text and never looks back: what it holds depends on the policy alone.

use std::rc::Rc;

use memchr::{memchr, memrchr};

use super::bucket::{Bucket, Candidate, Look};
use super::choice::{AFTER, Held};
use super::grade::{EXPLAINED, HIGHEST, LOOKED_AT, grade, grade_of_what_may_matter};
use super::line::{Line, prefix};
use super::open::Open;
use super::policy::ExcerptPolicy;
use super::screen::{NextFound, Spans};
use super::search::telling;
use super::tail::Tail;
use crate::redact::{Sink, Telling};
use crate::sift::{Reader, Sifted};

/// Lines among which those that follow a candidate are looked for; blank ones do not count.
const AFTER_WITHIN: u64 = 14;
/// The most candidates of one grade that are held at each end of a stream.
const MOST_CANDIDATES: usize = 512;

/// An excerpt and its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// The kept lines and the markers, joined by newlines.
    pub text: String,
    /// All lines of the redacted text.
    pub lines: u64,
    /// Lines in the excerpt.
    pub lines_kept: u64,
    /// Lines that markers stand for.
    pub lines_omitted: u64,
    /// Bytes of the redacted text that are not in the excerpt.
    pub bytes_omitted: u64,
    /// Kept lines that were shortened.
    pub lines_clamped: u64,
}

/// Chooses what is kept of one stream.
#[derive(Debug)]
pub struct Picker {
    policy: ExcerptPolicy,
    lines: u64,
    /// All bytes of the redacted text, newlines included.
    bytes: u64,
    /// The last line had no newline.
    unended: bool,
    open: Open,
    /// The whole text, while it may still fit.
    whole: Option<String>,
    head: Vec<Line>,
    head_bytes: usize,
    tail: Tail,
    buckets: Vec<Bucket>,
    /// Candidates whose following lines have not all come yet, oldest first.
    waiting: Vec<(u8, Candidate)>,
}

/// Whether a line is worth grading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Matters {
    No,
    Yes,
    Unknown,
}

impl Picker {
    /// Starts at the beginning of a stream.
    #[must_use]
    pub fn new(policy: ExcerptPolicy) -> Self {
        let most = if policy.is_plain() {
            // The newest line is asked for even where no last lines are kept.
            policy.tail().max(1)
        } else {
            usize::MAX
        };
        // The last five lines may be clamped to less than they count for here.
        let budget = policy.max_bytes + 5 * policy.line_bytes;
        Self {
            tail: Tail::new(policy.tail().min(5), most, budget, policy.line_bytes),
            policy,
            lines: 0,
            bytes: 0,
            unended: false,
            open: Open::default(),
            whole: Some(String::new()),
            head: Vec::new(),
            head_bytes: 0,
            buckets: (0..=HIGHEST).map(|_| Bucket::default()).collect(),
            waiting: Vec::new(),
        }
    }

    /// Ends the stream: a line without a newline is a line.
    pub fn end(&mut self) {
        if self.open.bytes > 0 {
            self.end_open();
            self.unended = true;
            self.bytes -= 1;
        }
        self.settle(true);
    }

    /// Returns how many bytes the stream needs to go through whole.
    #[must_use]
    pub fn needs(&self) -> u64 {
        let newline = u64::from(!self.unended && self.lines > 0);
        self.bytes - newline
    }

    /// Returns how many lines have ended.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns the newest line that has ended, clamped.
    #[must_use]
    pub fn newest_line(&self) -> String {
        let mut text = String::new();
        if let Some(line) = self.tail.newest() {
            line.show(self.policy.line_bytes, &mut text);
        }
        text
    }

    /// Returns the excerpt in at most `share` bytes. To be called after [`Picker::end`].
    #[must_use]
    pub fn cut(self, share: usize) -> Cut {
        if usize::try_from(self.needs()).is_ok_and(|needs| needs <= share)
            && let Some(mut text) = self.whole
        {
            text.pop();
            return Cut {
                text,
                lines: self.lines,
                lines_kept: self.lines,
                ..Cut::default()
            };
        }
        self.lay_out(share)
    }

    fn lay_out(&self, share: usize) -> Cut {
        let held = Held {
            policy: &self.policy,
            lines: self.lines,
            head: &self.head,
            tail: &self.tail,
            buckets: &self.buckets,
        };
        let layout = held.lay_out(share);
        let rendered = layout.render();
        let unended = self.unended && layout.keeps_number(self.lines);
        let newlines = rendered.kept - u64::from(unended);
        Cut {
            lines: self.lines,
            lines_kept: rendered.kept,
            lines_omitted: self.lines - rendered.kept,
            bytes_omitted: self.bytes - rendered.bytes_kept - newlines,
            lines_clamped: rendered.clamped,
            text: rendered.text,
        }
    }

    /// Takes whole lines, each with its newline.
    fn lines_in(&mut self, lines: &str, mut found: NextFound<'_>) {
        if lines.is_empty() {
            return;
        }
        let is_plain = self.policy.is_plain();
        let mut is_quiet = self.is_quiet();
        let mut spans = Spans::new(lines);
        loop {
            let from = spans.start();
            let next = found.after(from).unwrap_or(usize::MAX);
            let mut passed = 0;
            let Some(span) = spans.next(if is_quiet { next } else { 0 }, &mut passed) else {
                self.count(passed, lines.len() - from);
                break;
            };
            self.count(passed, span.start - from);
            let matters = if is_plain {
                Matters::Unknown
            } else if next < span.end || span.opens(lines) {
                Matters::Yes
            } else {
                Matters::No
            };
            if matters == Matters::No && is_quiet {
                self.count(1, span.end + 1 - span.start);
                continue;
            }
            let line = lines.get(span.start..span.end).unwrap_or("");
            let bytes = u64::try_from(line.len()).unwrap_or(u64::MAX);
            let before = lines.get(..span.start).unwrap_or("");
            self.line(line, bytes, before, matters);
            is_quiet = self.is_quiet();
        }
        self.tail.push_all(lines, self.lines);
    }

    fn end_open(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.line(&open.text, open.bytes, "", Matters::Unknown);
        self.tail.push(Line::new(
            self.lines,
            &open.text,
            open.bytes,
            self.policy.line_bytes,
        ));
        self.open = open;
        self.open.clear();
    }

    /// Returns whether a line that does not matter is only counted, unless it is among the last.
    fn is_quiet(&self) -> bool {
        let is_past_head = self.whole.is_none() && self.head.len() >= self.policy.head();
        is_past_head && self.waiting.is_empty()
    }

    fn count(&mut self, lines: usize, bytes: usize) {
        self.lines += u64::try_from(lines).unwrap_or(u64::MAX);
        self.bytes += u64::try_from(bytes).unwrap_or(u64::MAX);
    }

    /// Takes the next line of `bytes` bytes, which starts with `text`; `before` are the lines before
    /// it that the tail does not have yet; where it is known whether it matters, this is not looked
    /// at again.
    fn line(&mut self, text: &str, bytes: u64, before: &str, matters: Matters) {
        self.lines += 1;
        self.bytes += bytes + 1;
        if self.whole.is_some() {
            self.add_to_whole(text, bytes);
        }
        if self.head.len() < self.policy.head() {
            self.add_to_head(text, bytes);
        }
        if self.policy.is_plain() {
            return;
        }
        if !self.waiting.is_empty() {
            self.follow(text, bytes);
        }
        let grade = match matters {
            Matters::No => 0,
            // More of the line was searched than is graded.
            Matters::Yes if text.len() <= LOOKED_AT => grade_of_what_may_matter(text),
            Matters::Yes | Matters::Unknown => grade(text),
        };
        if grade > 0 {
            self.add_candidate(grade, text, bytes, before);
        }
    }

    fn add_to_head(&mut self, text: &str, bytes: u64) {
        let limit = self.policy.line_bytes;
        if self.head.len() < 3 || self.head_bytes <= self.policy.max_bytes {
            let line = Line::new(self.lines, text, bytes, limit);
            self.head_bytes += line.shown_bytes(limit) + 1;
            self.head.push(line);
        }
    }

    fn add_to_whole(&mut self, text: &str, bytes: u64) {
        // One byte more than the budget: the last newline does not count.
        let fits = self.bytes <= u64::try_from(self.policy.max_bytes).unwrap_or(0) + 1
            && u64::try_from(text.len()).is_ok_and(|length| length == bytes);
        match &mut self.whole {
            Some(whole) if fits => {
                whole.push_str(text);
                whole.push('\n');
            }
            _ => self.whole = None,
        }
    }

    fn add_candidate(&mut self, grade: u8, text: &str, bytes: u64, before: &str) {
        let limit = self.policy.line_bytes;
        let newest = before.strip_suffix('\n');
        let newest = newest.map(|lines| lines.rsplit_once('\n').map_or(lines, |(_, line)| line));
        let before = match newest {
            _ if grade < EXPLAINED => None,
            Some(before) => {
                let length = u64::try_from(before.len()).unwrap_or(u64::MAX);
                Some(Line::new(self.lines - 1, before, length, limit))
            }
            None => self.tail.newest().cloned(),
        };
        let candidate = Candidate {
            line: Rc::new(Line::new(self.lines, text, bytes, limit)),
            before: before.map(Rc::new),
            after: Vec::new(),
            look: Look::of(prefix(text, LOOKED_AT)),
        };
        self.waiting.push((grade, candidate));
        self.settle(false);
    }

    /// Gives a line to the candidates before it.
    fn follow(&mut self, text: &str, bytes: u64) {
        let line = Rc::new(Line::new(self.lines, text, bytes, self.policy.line_bytes));
        let explained = self
            .waiting
            .iter_mut()
            .filter(|(grade, _)| *grade >= EXPLAINED);
        for (_, candidate) in explained {
            candidate.after.push(Rc::clone(&line));
        }
        self.settle(false);
    }

    /// Files the candidates whose following lines have come, or all of them.
    fn settle(&mut self, all: bool) {
        let lines = self.lines;
        let ready = |(grade, candidate): &(u8, Candidate)| {
            all || *grade < EXPLAINED
                || candidate.follow_up().count() >= AFTER
                || lines >= candidate.line.number + AFTER_WITHIN
        };
        let count = self.waiting.iter().take_while(|entry| ready(entry)).count();
        let most = (self.policy.max_bytes / 16).min(MOST_CANDIDATES);
        for (grade, candidate) in self.waiting.drain(..count) {
            if let Some(bucket) = self.buckets.get_mut(usize::from(grade)) {
                bucket.add(candidate, most);
            }
        }
    }
}

impl Sink for Picker {
    fn text(&mut self, text: &str) {
        let Some((lines, open)) = self.end_open_in(text) else {
            return;
        };
        // One search for all of the lines; most of them have nothing in them.
        let mut sifted = Sifted::default();
        if !self.policy.is_plain() {
            telling().lines(lines.as_bytes(), &mut sifted);
        }
        let places = sifted.of(Reader::Excerpt);
        let found = NextFound::new(Telling { places, from: 0 }, 0);
        self.lines_in(lines, found);
        self.open.extend(open, self.policy.max_bytes);
    }

    fn sifted(&mut self, text: &str, telling: Telling<'_>) {
        let Some((lines, open)) = self.end_open_in(text) else {
            return;
        };
        let ended = text.len() - lines.len() - open.len();
        self.lines_in(lines, NextFound::new(telling, ended));
        self.open.extend(open, self.policy.max_bytes);
    }

    fn retract_line(&mut self) {
        self.open.clear();
    }
}

impl Picker {
    /// Ends the open line where the text does, and returns the whole lines behind it and the
    /// next open line; nothing where no line ends.
    fn end_open_in<'a>(&mut self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let Some(last) = memrchr(b'\n', text.as_bytes()) else {
            self.open.extend(text, self.policy.max_bytes);
            return None;
        };
        let (lines, open) = text.split_at_checked(last + 1).unwrap_or((text, ""));
        if self.open.bytes > 0
            && let Some(end) = memchr(b'\n', lines.as_bytes())
            && let Some((first, rest)) = lines.split_at_checked(end + 1)
        {
            self.open.extend(
                first.strip_suffix('\n').unwrap_or(first),
                self.policy.max_bytes,
            );
            self.end_open();
            return Some((rest, open));
        }
        Some((lines, open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_taken_back_counts_as_what_follows() {
        let mut picker = Picker::new(ExcerptPolicy::default());
        picker.text("one\nsecret: ");
        picker.text("half of it");
        picker.retract_line();
        picker.text("[redacted]\nlast");
        picker.retract_line();
        picker.end();
        assert_eq!(picker.newest_line(), "[redacted]");
        let cut = picker.cut(4096);
        assert_eq!(cut.text, "one\n[redacted]");
        assert_eq!((cut.lines, cut.lines_kept), (2, 2));
    }

    #[test]
    fn a_long_line_that_was_taken_back_leaves_the_rest_whole() {
        let mut picker = Picker::new(ExcerptPolicy::default());
        picker.text("one\n");
        picker.text(&"x".repeat(9000));
        picker.retract_line();
        picker.text("[redacted]\n");
        picker.end();
        assert_eq!(picker.cut(4096).text, "one\n[redacted]");
    }
}
