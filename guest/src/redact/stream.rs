//! Redacts a stream in constant memory, whatever the pieces in which it comes.
//!
//! Blocks of ordinary lines are handed on without a copy. A line is held back until it is
//! complete; from 64 KiB on it is judged in windows, which are cut where nothing is open.

use std::rc::Rc;

use memchr::{memchr, memchr_iter, memrchr};

use super::Rules;
use super::ahead::Ahead;
use super::findings::{Findings, Ordinals};
use super::lines::{LINE, Lines};
use super::scan::Scanned;
use super::window::{WINDOW, cut_of};
use crate::sift::{Reader, Sifted};

/// How much of what was given already is looked at again, for what stands before a value.
const CONTEXT: usize = 256;
/// A window is full where a character of four bytes may not fit any more.
const FULL: usize = WINDOW - 3;

/// Takes redacted text. A newline in it ends a line; a line may come in several calls.
pub trait Sink {
    /// Takes the next piece of redacted text.
    fn text(&mut self, text: &str);
    /// Takes back the line that is still open: all of it so far was a secret's line.
    /// What follows up to the newline is given as usual.
    fn retract_line(&mut self);
    /// Takes whole lines, of which the first may end one that is open; `telling` holds a place in
    /// each of them that the excerpt wants to read.
    fn sifted(&mut self, text: &str, telling: Telling<'_>) {
        let _ = telling;
        self.text(text);
    }
}

/// Holds what was given. Of a line that is taken back, what a text before it has stays.
impl Sink for String {
    fn text(&mut self, text: &str) {
        self.push_str(text);
    }

    fn retract_line(&mut self) {
        let start = self.rfind('\n').map_or(0, |at| at + 1);
        self.truncate(start);
    }
}

/// Places in a text, in order.
#[derive(Clone, Copy, Debug)]
pub struct Telling<'a> {
    /// From the beginning of a larger text.
    pub(crate) places: &'a [usize],
    /// Where the text begins in that.
    pub(crate) from: usize,
}

/// Redacts one stream, line by line, with the state that spans lines (a key block).
#[derive(Debug)]
pub struct Redactor {
    rules: Rc<Rules>,
    lines: Lines,
    /// The unfinished line, from `CONTEXT` before what was not given yet.
    pending: String,
    /// How much of `pending` was given.
    given: usize,
    long: Long,
    /// What was found in the newest block, here for the room that it has.
    sifted: Sifted,
}

/// What became of the line that is judged in windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Long {
    /// The line is shorter than a window so far.
    #[default]
    No,
    /// Part of it was given.
    Given,
    /// A secret goes on until a blank or a quote.
    Swallowed,
    /// A rule took the line.
    Gone,
}

impl Redactor {
    /// Starts at the beginning of a stream.
    #[must_use]
    pub fn new(rules: Rc<Rules>) -> Self {
        Self {
            rules,
            lines: Lines::default(),
            pending: String::new(),
            given: 0,
            long: Long::No,
            sifted: Sifted::default(),
        }
    }

    /// Starts at the beginning of a text in which every line with an escape is looked at, and in
    /// which secrets have the numbers that they have already.
    pub(super) fn careful(rules: Rc<Rules>, ordinals: Ordinals) -> Self {
        Self {
            lines: Lines::careful(ordinals),
            ..Self::new(rules)
        }
    }

    /// Starts at the beginning of a stream from which controls were taken out, with a mark where
    /// that glued words together. The marks are read, and not given.
    #[must_use]
    pub fn with_seams(rules: Rc<Rules>) -> Self {
        Self {
            lines: Lines::with_seams(),
            ..Self::new(rules)
        }
    }

    /// Takes decoded text, gives what can be given to `sink`, and holds back the rest:
    /// an unfinished line up to 64 KiB, and always an open candidate.
    pub fn push(&mut self, text: &str, sink: &mut dyn Sink) {
        let mut text = text;
        if self.is_within_line() {
            let Some(end) = memchr(b'\n', text.as_bytes()) else {
                self.hold(text, sink);
                return;
            };
            let (head, rest) = text.split_at_checked(end).unwrap_or((text, ""));
            self.hold(head, sink);
            if !self.end_line(sink) {
                sink.text("\n");
            }
            self.lines.number += 1;
            text = rest.strip_prefix('\n').unwrap_or(rest);
        }
        let end = memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1);
        let (block, rest) = text.split_at_checked(end).unwrap_or(("", text));
        if !block.is_empty() {
            self.block(block, sink);
        }
        if !rest.is_empty() {
            self.hold(rest, sink);
        }
    }

    /// Gives what was held back.
    pub fn finish(&mut self, sink: &mut dyn Sink) {
        let is_open = self.is_within_line() && self.end_line(sink);
        if is_open {
            self.lines.number += 1;
        }
        self.give_held(!is_open, sink);
    }

    /// Gives the lines that are still held back.
    fn give_held(&mut self, is_ended: bool, sink: &mut dyn Sink) {
        let Self { rules, lines, .. } = self;
        let mut is_first = true;
        lines.give_held(|lines, line| {
            if !std::mem::take(&mut is_first) {
                sink.text("\n");
            }
            give_line(lines, rules, line, sink);
        });
        if is_ended && !is_first {
            sink.text("\n");
        }
    }

    /// Offers a complete line and says whether it is held back; gives what is so no longer.
    fn offer(&mut self, line: &str, sink: &mut dyn Sink) -> bool {
        let Self { rules, lines, .. } = self;
        lines.offer(line, |lines, line| {
            give_line(lines, rules, line, sink);
            sink.text("\n");
        })
    }

    /// Returns what was found so far.
    #[must_use]
    pub const fn findings(&self) -> &Findings {
        &self.lines.findings
    }

    /// Returns what was found.
    #[must_use]
    pub fn into_findings(self) -> Findings {
        self.lines.findings
    }

    /// Returns what was found, and the numbers of the secrets so far.
    pub(super) fn into_parts(self) -> (Findings, Ordinals) {
        (self.lines.findings, self.lines.ordinals)
    }

    const fn is_within_line(&self) -> bool {
        !self.pending.is_empty() || !matches!(self.long, Long::No)
    }

    /// Redacts complete lines.
    fn block(&mut self, block: &str, sink: &mut dyn Sink) {
        let mut sifted = std::mem::take(&mut self.sifted);
        self.rules.anchors().sift(block.as_bytes(), &mut sifted);
        self.sifted_block(block, &sifted, sink);
        self.sifted = sifted;
    }

    fn sifted_block(&mut self, block: &str, sifted: &Sifted, sink: &mut dyn Sink) {
        let bytes = block.as_bytes();
        let mut clean = Clean {
            block,
            from: 0,
            telling: sifted.of(Reader::Excerpt),
        };
        let mut counted = 0;
        let mut position = 0;
        let mut ahead = Ahead::new(sifted.of(Reader::Redaction));
        while position < bytes.len() {
            let is_chosen = !self.lines.is_waiting();
            let hit = match is_chosen {
                true => ahead.next(bytes, position),
                false => Some(position),
            };
            let Some(hit) = hit else {
                break;
            };
            let start = memrchr(b'\n', bytes.get(position..hit).unwrap_or_default())
                .map_or(position, |at| position + at + 1);
            let end = memchr(b'\n', bytes.get(hit..).unwrap_or_default())
                .map_or(bytes.len(), |at| hit + at);
            self.lines.number += count_lines(bytes, counted, start);
            counted = start;
            let line = block.get(start..end).unwrap_or_default();
            if line.len() >= FULL {
                clean.give(start, end, sink);
                self.hold(line, sink);
                self.end_line(sink);
            } else if self.offer(line, sink) {
                clean.give(start, end + 1, sink);
            } else if let Some(redacted) = self.lines.redacted(&self.rules, line, is_chosen) {
                clean.give(start, end, sink);
                sink.text(&redacted);
            }
            position = end + 1;
        }
        self.lines.number += count_lines(bytes, counted, bytes.len());
        clean.give(bytes.len(), bytes.len(), sink);
    }

    /// Adds to the unfinished line, and judges windows of it where it is long.
    fn hold(&mut self, text: &str, sink: &mut dyn Sink) {
        let mut text = text;
        while !text.is_empty() {
            match self.long {
                Long::Gone => {
                    self.keep_end(text);
                    return;
                }
                Long::Swallowed => {
                    let end = text
                        .find(|character: char| {
                            character.is_whitespace() || matches!(character, '"' | '\'' | '`')
                        })
                        .unwrap_or(text.len());
                    text = text.get(end..).unwrap_or_default();
                    if !text.is_empty() {
                        self.long = Long::Given;
                    }
                    continue;
                }
                Long::No | Long::Given => {}
            }
            // A window ends with the first character that fills it, in whatever pieces it comes.
            let room = FULL.saturating_sub(self.pending.len()).max(1);
            let (head, rest) = text
                .split_at_checked(text.ceil_char_boundary(room))
                .unwrap_or((text, ""));
            self.pending.push_str(head);
            text = rest;
            if self.pending.len() >= FULL {
                self.window(sink);
            }
        }
    }

    /// Keeps of a line that is gone what may belong to its end.
    fn keep_end(&mut self, text: &str) {
        self.pending.clear();
        if text.ends_with('\r') {
            self.pending.push('\r');
        }
    }

    /// Judges a full window of a long line and gives the part in which nothing is open.
    fn window(&mut self, sink: &mut dyn Sink) {
        self.give_held(true, sink);
        let window = std::mem::take(&mut self.pending);
        let scanned = match self.long {
            Long::No => self.lines.scanned_after(&self.rules, &window),
            Long::Given | Long::Swallowed | Long::Gone => {
                self.lines.scanned(&self.rules, &window, false)
            }
        };
        if self.take_line(&scanned, &window, self.long, sink) {
            self.keep_end(&window);
            return;
        }
        let cut = cut_of(&window, self.given, &scanned.marks);
        let redacted =
            self.lines
                .replaced(&self.rules, &window, self.given, cut.at, &scanned.marks);
        sink.text(&redacted);
        self.long = if cut.is_open {
            Long::Swallowed
        } else {
            Long::Given
        };
        let keep = window.floor_char_boundary(cut.at.saturating_sub(CONTEXT));
        self.given = cut.at - keep;
        self.pending = window.get(keep..).unwrap_or_default().to_owned();
        if cut.is_open {
            self.pending.clear();
            self.given = 0;
        }
    }

    /// Takes the whole line where a rule says so, with what was given of it.
    fn take_line(
        &mut self,
        scanned: &Scanned,
        window: &str,
        long: Long,
        sink: &mut dyn Sink,
    ) -> bool {
        let Some(rule) = scanned.whole else {
            return false;
        };
        if !matches!(long, Long::No) {
            sink.retract_line();
        }
        let id = self.rules.id(rule);
        self.lines
            .findings
            .add(self.lines.number + 1, id, window.len());
        sink.text(LINE);
        self.long = Long::Gone;
        self.given = 0;
        true
    }

    /// Ends the unfinished line and says whether it is held back.
    fn end_line(&mut self, sink: &mut dyn Sink) -> bool {
        let line = std::mem::take(&mut self.pending);
        let given = std::mem::take(&mut self.given);
        let long = std::mem::take(&mut self.long);
        if matches!(long, Long::No) && self.offer(&line, sink) {
            return true;
        }
        match long {
            Long::No => match self.lines.redacted(&self.rules, &line, false) {
                Some(redacted) => sink.text(&redacted),
                None => sink.text(&line),
            },
            Long::Given => {
                let scanned = self.lines.scanned(&self.rules, &line, false);
                if self.take_line(&scanned, &line, long, sink) {
                    give_end(&line, sink);
                } else {
                    let redacted =
                        self.lines
                            .replaced(&self.rules, &line, given, line.len(), &scanned.marks);
                    sink.text(&redacted);
                }
            }
            Long::Gone => give_end(&line, sink),
            Long::Swallowed => {}
        }
        self.long = Long::No;
        self.given = 0;
        false
    }
}

/// Gives the carriage return that belongs to the end of a line that is gone.
fn give_end(line: &str, sink: &mut dyn Sink) {
    if line.ends_with('\r') {
        sink.text("\r");
    }
}

fn give_line(lines: &mut Lines, rules: &Rules, line: &str, sink: &mut dyn Sink) {
    match lines.redacted(rules, line, false) {
        Some(redacted) => sink.text(&redacted),
        None => sink.text(line),
    }
}

/// The part of a block that goes on as it is.
struct Clean<'a> {
    block: &'a str,
    /// Where what was not given yet begins.
    from: usize,
    /// What the excerpt wants to read in it.
    telling: &'a [usize],
}

impl Clean<'_> {
    /// Gives the text up to `until`, and goes on at `next`.
    fn give(&mut self, until: usize, next: usize, sink: &mut dyn Sink) {
        let before = |at: usize| self.telling.iter().take_while(|place| **place < at).count();
        let (passed, given) = (before(self.from), before(until));
        let places = self.telling.get(passed..given).unwrap_or_default();
        self.telling = self.telling.get(given..).unwrap_or_default();
        if let Some(text) = self.block.get(self.from..until)
            && !text.is_empty()
        {
            let from = self.from;
            sink.sifted(text, Telling { places, from });
        }
        self.from = next;
    }
}

fn count_lines(bytes: &[u8], from: usize, until: usize) -> u64 {
    let count = memchr_iter(b'\n', bytes.get(from..until).unwrap_or_default()).count();
    u64::try_from(count).unwrap_or(u64::MAX)
}
