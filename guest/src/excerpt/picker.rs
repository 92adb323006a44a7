//! Picks the lines of one stream that are kept, while the stream is read, in bounded memory.
//!
//! It takes redacted text and never looks back: what it holds depends on the policy alone.

use memchr::{memchr, memchr_iter, memrchr};

use super::bucket::{Bucket, Candidate, template};
use super::grade::{EXPLAINED, HIGHEST, LOOKED_AT, grade};
use super::layout::Layout;
use super::line::{Line, prefix};
use super::policy::ExcerptPolicy;
use super::tail::Tail;
use crate::redact::Sink;

/// The shortest clamp, below which a line says nothing.
const SHORTEST_CLAMP: usize = 48;
/// Lines kept after a candidate, not counting blank ones.
const AFTER: usize = 2;
/// Lines among which they are looked for.
const AFTER_WITHIN: u64 = 4;

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
    tail: Tail,
    buckets: Vec<Bucket>,
    /// Candidates whose following lines have not all come yet, oldest first.
    waiting: Vec<(u8, Candidate)>,
}

/// The line that has not ended.
#[derive(Debug, Default)]
struct Open {
    text: String,
    bytes: u64,
}

impl Picker {
    /// Starts at the beginning of a stream.
    #[must_use]
    pub fn new(policy: ExcerptPolicy) -> Self {
        let most = if policy.is_plain() {
            policy.tail()
        } else {
            usize::MAX
        };
        Self {
            tail: Tail::new(policy.tail(), most, policy.max_bytes, policy.line_bytes),
            policy,
            lines: 0,
            bytes: 0,
            unended: false,
            open: Open::default(),
            whole: Some(String::new()),
            head: Vec::new(),
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
            if !self.unended {
                text.pop();
            }
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
        let mut layout = self.with_floor(share);
        let limit = self.policy.line_bytes;
        if self.policy.is_plain() {
            self.add_ends(&mut layout);
        } else {
            let for_tail = share / 5;
            for line in self.tail.newest_first() {
                if !layout.offer_within(line, limit, layout.used().min(share).max(for_tail)) {
                    break;
                }
            }
            self.add_candidates(&mut layout);
            for line in self.tail.newest_first() {
                if !layout.offer(line, limit) {
                    break;
                }
            }
            self.add_free(&mut layout);
        }
        let rendered = layout.render();
        let newlines =
            rendered.kept - u64::from(self.unended && rendered.kept > 0 && self.keeps_last());
        Cut {
            lines: self.lines,
            lines_kept: rendered.kept,
            lines_omitted: self.lines - rendered.kept,
            bytes_omitted: self.bytes - rendered.bytes_kept - newlines,
            lines_clamped: rendered.clamped,
            text: rendered.text,
        }
    }

    fn keeps_last(&self) -> bool {
        self.policy.tail() > 0
    }

    /// Keeps the first and the last lines, clamped as far as the share needs it.
    fn with_floor(&self, share: usize) -> Layout<'_> {
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
    fn add_ends<'a>(&'a self, layout: &mut Layout<'a>) {
        let limit = self.policy.line_bytes;
        let mut head = self.head.iter();
        let mut tail = self.tail.newest_first();
        loop {
            let fits =
                [tail.next(), head.next()].map(|line| line.map(|line| layout.offer(line, limit)));
            if fits.contains(&Some(false)) || fits == [None, None] {
                return;
            }
        }
    }

    fn add_candidates<'a>(&'a self, layout: &mut Layout<'a>) {
        let limit = self.policy.line_bytes;
        let mut seen = std::collections::HashSet::new();
        for (grade, bucket) in self.buckets.iter().enumerate().rev() {
            for candidate in bucket.in_turn() {
                if !seen.insert(candidate.template) {
                    continue;
                }
                if !layout.offer(&candidate.line, limit) {
                    continue;
                }
                if grade >= usize::from(EXPLAINED) {
                    for line in candidate.after.iter().chain(&candidate.before) {
                        layout.offer(line, limit);
                    }
                }
            }
        }
    }

    /// Adds lines that are shorter than the marker in their place.
    fn add_free<'a>(&'a self, layout: &mut Layout<'a>) {
        for candidate in self.buckets.iter().flat_map(Bucket::in_turn) {
            for line in candidate
                .before
                .iter()
                .chain([&candidate.line])
                .chain(&candidate.after)
            {
                layout.offer_free(line, self.policy.line_bytes);
            }
        }
        for line in self.tail.newest_first() {
            layout.offer_free(line, self.policy.line_bytes);
        }
    }

    /// Takes whole lines, each with its newline.
    fn lines_in(&mut self, lines: &str) {
        if lines.is_empty() {
            return;
        }
        let mut start = 0;
        let mut before: Option<&str> = None;
        for end in memchr_iter(b'\n', lines.as_bytes()) {
            let line = lines.get(start..end).unwrap_or("");
            let bytes = u64::try_from(line.len()).unwrap_or(u64::MAX);
            self.line(line, bytes, before);
            before = Some(line);
            start = end + 1;
        }
        self.tail.push_all(lines, self.lines);
    }

    fn end_open(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.line(&open.text, open.bytes, None);
        self.tail.push(Line::new(
            self.lines,
            &open.text,
            open.bytes,
            self.policy.line_bytes,
        ));
        self.open.text = open.text;
        self.open.text.clear();
    }

    /// Takes the next line of `bytes` bytes, which starts with `text`; `before` is the line before
    /// it, where the tail does not have it yet.
    fn line(&mut self, text: &str, bytes: u64, before: Option<&str>) {
        self.lines += 1;
        self.bytes += bytes + 1;
        if self.whole.is_some() {
            self.add_to_whole(text, bytes);
        }
        if self.head.len() < self.policy.head() && self.head_fits() {
            self.head
                .push(Line::new(self.lines, text, bytes, self.policy.line_bytes));
        }
        if self.policy.is_plain() {
            return;
        }
        if !self.waiting.is_empty() {
            self.follow(text, bytes);
        }
        let grade = grade(text);
        if grade > 0 {
            self.add_candidate(grade, text, bytes, before);
        }
    }

    fn head_fits(&self) -> bool {
        self.head.len() < 3 || self.bytes <= 16 * u64::try_from(self.policy.max_bytes).unwrap_or(0)
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

    fn add_candidate(&mut self, grade: u8, text: &str, bytes: u64, before: Option<&str>) {
        let limit = self.policy.line_bytes;
        let before = match before {
            Some(before) => {
                let length = u64::try_from(before.len()).unwrap_or(u64::MAX);
                Some(Line::new(self.lines - 1, before, length, limit))
            }
            None => self.tail.newest().cloned(),
        };
        let candidate = Candidate {
            line: Line::new(self.lines, text, bytes, limit),
            before: before.filter(|line| !is_blank(line.text())),
            after: Vec::new(),
            template: template(prefix(text, LOOKED_AT)),
        };
        self.waiting.push((grade, candidate));
        self.settle(false);
    }

    /// Gives a line to the candidates before it.
    fn follow(&mut self, text: &str, bytes: u64) {
        if !is_blank(text) {
            let line = Line::new(self.lines, text, bytes, self.policy.line_bytes);
            for (_, candidate) in &mut self.waiting {
                candidate.after.push(line.clone());
            }
        }
        self.settle(false);
    }

    /// Files the candidates whose following lines have come, or all of them.
    fn settle(&mut self, all: bool) {
        let lines = self.lines;
        let ready = |(grade, candidate): &(u8, Candidate)| {
            all || *grade < EXPLAINED
                || candidate.after.len() >= AFTER
                || lines >= candidate.line.number + AFTER_WITHIN
        };
        let count = self.waiting.iter().take_while(|entry| ready(entry)).count();
        let most = self.policy.max_bytes / 16;
        for (grade, candidate) in self.waiting.drain(..count) {
            if let Some(bucket) = self.buckets.get_mut(usize::from(grade)) {
                bucket.add(candidate, most);
            }
        }
    }
}

impl Sink for Picker {
    fn text(&mut self, text: &str) {
        let Some(last) = memrchr(b'\n', text.as_bytes()) else {
            self.open.extend(text, self.policy.max_bytes);
            return;
        };
        let (mut lines, open) = text.split_at_checked(last + 1).unwrap_or((text, ""));
        if self.open.bytes > 0
            && let Some(end) = memchr(b'\n', lines.as_bytes())
            && let Some((first, rest)) = lines.split_at_checked(end + 1)
        {
            self.open.extend(
                first.strip_suffix('\n').unwrap_or(first),
                self.policy.max_bytes,
            );
            self.end_open();
            lines = rest;
        }
        self.lines_in(lines);
        self.open.extend(open, self.policy.max_bytes);
    }

    fn retract_line(&mut self) {
        self.open.text.clear();
        self.open.bytes = 0;
    }
}

impl Open {
    fn extend(&mut self, text: &str, budget: usize) {
        // Enough to look at, and enough to go through whole.
        let room = (budget.max(LOOKED_AT) + 8).saturating_sub(self.text.len());
        // Once something was left out, nothing that follows is the continuation.
        if u64::try_from(self.text.len()).is_ok_and(|length| length == self.bytes) {
            self.text.push_str(prefix(text, room));
        }
        self.bytes += u64::try_from(text.len()).unwrap_or(u64::MAX);
    }
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}
