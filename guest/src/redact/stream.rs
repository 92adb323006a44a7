//! Redacts a stream in constant memory, whatever the pieces in which it comes.
//!
//! Blocks of ordinary lines are handed on without a copy. A line is held back until it is
//! complete; from 64 KiB on it is judged in windows, which are cut where nothing is open.

use std::rc::Rc;

use memchr::{memchr, memchr_iter, memrchr};

use super::anchors::first_long_run;
use super::block::{Block, Step};
use super::findings::{Findings, Ordinals};
use super::hit::{Family, Hit, RuleRef};
use super::scan::{Mark, Scanned, fingerprint, is_chosen, key_line, scan};
use super::view::{is_dressed, undressed};
use super::{Mode, Rules};

/// How much of an unfinished line is held back, in bytes.
const WINDOW: usize = 64 * 1024;
/// How much at the end of a window may belong to something that is still open.
const OPEN: usize = 8 * 1024;
/// How much of what was given already is looked at again, for what stands before a value.
const CONTEXT: usize = 256;
/// What stands for a whole line.
const LINE: &str = "[REDACTED]";

/// Takes redacted text. A newline in it ends a line; a line may come in several calls.
pub trait Sink {
    /// Takes the next piece of redacted text.
    fn text(&mut self, text: &str);
    /// Takes back the line that is still open: all of it so far was a secret's line.
    /// What follows up to the newline is given as usual.
    fn retract_line(&mut self);
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
        }
    }

    /// Takes decoded text, gives what can be given to `sink`, and holds back the rest:
    /// an unfinished line up to 64 KiB, and always an open candidate.
    pub fn push(&mut self, text: &str, sink: &mut impl Sink) {
        let mut text = text;
        if self.is_within_line() {
            let Some(end) = memchr(b'\n', text.as_bytes()) else {
                self.hold(text, sink);
                return;
            };
            let (head, rest) = text.split_at_checked(end).unwrap_or((text, ""));
            self.hold(head, sink);
            self.end_line(sink);
            sink.text("\n");
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
    pub fn finish(&mut self, sink: &mut impl Sink) {
        if self.is_within_line() {
            self.end_line(sink);
        }
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

    const fn is_within_line(&self) -> bool {
        !self.pending.is_empty() || !matches!(self.long, Long::No)
    }

    /// Redacts complete lines.
    fn block(&mut self, block: &str, sink: &mut impl Sink) {
        let bytes = block.as_bytes();
        let mut clean = 0;
        let mut counted = 0;
        let mut position = 0;
        let mut ahead = Ahead::default();
        while position < bytes.len() {
            let Some(hit) = self.next_line_of_interest(bytes, position, &mut ahead) else {
                break;
            };
            let start = memrchr(b'\n', bytes.get(position..hit).unwrap_or_default())
                .map_or(position, |at| position + at + 1);
            let end = memchr(b'\n', bytes.get(hit..).unwrap_or_default())
                .map_or(bytes.len(), |at| hit + at);
            self.lines.number += count_lines(bytes, counted, start);
            counted = start;
            let line = block.get(start..end).unwrap_or_default();
            if line.len() >= WINDOW {
                give(block, clean, start, sink);
                self.hold(line, sink);
                self.end_line(sink);
                clean = end;
            } else if let Some(redacted) = self.lines.redacted(&self.rules, line) {
                give(block, clean, start, sink);
                sink.text(&redacted);
                clean = end;
            }
            position = end + 1;
        }
        self.lines.number += count_lines(bytes, counted, bytes.len());
        give(block, clean, bytes.len(), sink);
    }

    /// Returns a position in the next line that is to be looked at, from the line that begins at
    /// `position` on.
    fn next_line_of_interest(
        &self,
        bytes: &[u8],
        position: usize,
        ahead: &mut Ahead,
    ) -> Option<usize> {
        if self.lines.block.is_open() {
            return Some(position);
        }
        let anchor = ahead.anchor.at_or_after(position, || {
            self.rules
                .anchors
                .first_rare(bytes, position)
                .map(|end| end.saturating_sub(1).max(position))
        });
        let run = ahead
            .run
            .at_or_after(position, || first_long_run(bytes, position));
        match (anchor, run) {
            (Some(anchor), Some(run)) => Some(anchor.min(run)),
            (anchor, run) => anchor.or(run),
        }
    }

    /// Adds to the unfinished line, and judges windows of it where it is long.
    fn hold(&mut self, text: &str, sink: &mut impl Sink) {
        let mut text = text;
        while !text.is_empty() {
            match self.long {
                Long::Gone => return,
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
            let room = WINDOW.saturating_sub(self.pending.len()).max(4);
            let (head, rest) = text
                .split_at_checked(text.floor_char_boundary(room))
                .unwrap_or((text, ""));
            self.pending.push_str(head);
            text = rest;
            if self.pending.len() + 4 > WINDOW {
                self.window(sink);
            }
        }
    }

    /// Judges a full window of a long line and gives the part in which nothing is open.
    fn window(&mut self, sink: &mut impl Sink) {
        let window = std::mem::take(&mut self.pending);
        if matches!(self.long, Long::No)
            && let Some(redacted) = self.lines.key_body(&self.rules, &window)
        {
            sink.text(&redacted);
            self.long = Long::Gone;
            return;
        }
        let scanned = self.lines.scanned(&self.rules, &window);
        if self.take_line(&scanned, &window, sink) {
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
    fn take_line(&mut self, scanned: &Scanned, window: &str, sink: &mut impl Sink) -> bool {
        let Some(rule) = scanned.whole else {
            return false;
        };
        if !matches!(self.long, Long::No) {
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

    /// Ends the unfinished line.
    fn end_line(&mut self, sink: &mut impl Sink) {
        let line = std::mem::take(&mut self.pending);
        let given = std::mem::take(&mut self.given);
        match self.long {
            Long::No => match self.lines.redacted(&self.rules, &line) {
                Some(redacted) => sink.text(&redacted),
                None => sink.text(&line),
            },
            Long::Given => {
                let scanned = self.lines.scanned(&self.rules, &line);
                if !self.take_line(&scanned, &line, sink) {
                    let redacted =
                        self.lines
                            .replaced(&self.rules, &line, given, line.len(), &scanned.marks);
                    sink.text(&redacted);
                }
            }
            Long::Swallowed | Long::Gone => {}
        }
        self.long = Long::No;
        self.given = 0;
    }
}

fn give(block: &str, from: usize, until: usize, sink: &mut impl Sink) {
    if let Some(clean) = block.get(from..until)
        && !clean.is_empty()
    {
        sink.text(clean);
    }
}

fn count_lines(bytes: &[u8], from: usize, until: usize) -> u64 {
    let count = memchr_iter(b'\n', bytes.get(from..until).unwrap_or_default()).count();
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Where the next anchors of a block stand, so that each is searched once.
#[derive(Debug, Default)]
struct Ahead {
    anchor: Next,
    run: Next,
}

/// The next position of one search.
#[derive(Debug, Default)]
enum Next {
    #[default]
    Unknown,
    At(usize),
    Never,
}

impl Next {
    fn at_or_after(
        &mut self,
        position: usize,
        search: impl FnOnce() -> Option<usize>,
    ) -> Option<usize> {
        let is_known = match self {
            Self::At(at) => *at >= position,
            Self::Never => true,
            Self::Unknown => false,
        };
        if !is_known {
            *self = search().map_or(Self::Never, Self::At);
        }
        match self {
            Self::At(at) => Some(*at),
            Self::Never | Self::Unknown => None,
        }
    }
}

/// Where a window is cut.
struct Cut {
    at: usize,
    /// A secret reaches over the end of the window.
    is_open: bool,
}

/// Chooses where to cut a window: behind a blank or a comma where nothing is open.
fn cut_of(window: &str, given: usize, marks: &[Mark]) -> Cut {
    let last = window.len().saturating_sub(OPEN);
    let covering = |at: usize| {
        marks
            .iter()
            .find(|mark| mark.hit.from < at && at < mark.hit.end)
    };
    let bytes = window.as_bytes();
    let separators = [b" \t".as_slice(), b",;&\"'"];
    for separator in separators {
        let found = (window.len() / 2..last).rev().find(|at| {
            separator.contains(&super::bytes::at(bytes, *at))
                && covering(at + 1).is_none()
                && *at >= given
        });
        if let Some(at) = found {
            return Cut {
                at: at + 1,
                is_open: false,
            };
        }
    }
    let at = window.floor_char_boundary(last).max(given);
    match covering(at) {
        None => Cut { at, is_open: false },
        Some(mark) if mark.hit.from > given => Cut {
            at: mark.hit.from,
            is_open: false,
        },
        Some(mark) => Cut {
            at: mark.hit.end,
            is_open: mark.hit.end == window.len(),
        },
    }
}

/// What is carried from line to line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) block: Block,
    pub(super) findings: Findings,
    pub(super) ordinals: Ordinals,
    /// Complete lines before the one at hand.
    pub(super) number: u64,
    /// The marker of the key whose body is being read.
    key_marker: Option<String>,
}

impl Lines {
    /// Returns the redacted form of a complete line, or nothing where it stays as it is.
    pub(super) fn redacted(&mut self, rules: &Rules, line: &str) -> Option<String> {
        if let Some(redacted) = self.key_body(rules, line) {
            return Some(redacted);
        }
        let scanned = self.scanned(rules, line);
        if let Some(rule) = scanned.whole {
            self.findings
                .add(self.number + 1, rules.id(rule), line.len());
            return Some(LINE.to_owned());
        }
        (!scanned.marks.is_empty())
            .then(|| self.replaced(rules, line, 0, line.len(), &scanned.marks))
    }

    /// Looks through a line that is no key's body, with what the line before says of it.
    pub(super) fn scanned(&mut self, rules: &Rules, line: &str) -> Scanned {
        let mut scanned = Scanned::default();
        if is_chosen(rules, line) {
            scanned = scan(rules, line);
            if is_dressed(line) {
                self.block.open(&undressed(line).text);
            } else {
                self.block.open(line);
            }
            self.block.open_encoded(line, &scanned.marks);
        }
        scanned
    }

    /// Returns the redacted form of a line that belongs to a key's block or is the value of the
    /// name above.
    fn key_body(&mut self, rules: &Rules, line: &str) -> Option<String> {
        if !self.block.is_open() {
            return None;
        }
        let clean = is_dressed(line).then(|| undressed(line));
        let reading = clean.as_ref().map_or(line, |view| view.text.as_str());
        let step = self.block.step(reading);
        if !self.block.is_open() && !matches!(step, Step::Key(_, _)) {
            self.key_marker = None;
        }
        let (start, end, is_key) = match step {
            Step::Ordinary => return None,
            Step::Key(start, end) => (start, end, true),
            Step::Value(start, end) => (start, end, false),
        };
        let digest = fingerprint(super::bytes::text(reading, start, end));
        let (start, end) = clean.map_or((start, end), |view| view.original(start, end));
        let hit = if is_key {
            key_line(start, end)
        } else {
            Hit::of(Family::KeyedValue, 0, start, end)
        };
        let mark = Mark { hit, digest };
        let marker = match (&self.key_marker, is_key) {
            (Some(marker), true) => marker.clone(),
            _ => self.ordinals.marker(rules, &mark),
        };
        if is_key {
            self.key_marker = Some(marker.clone());
        }
        if !self.block.is_open() {
            self.key_marker = None;
        }
        self.findings
            .add(self.number + 1, rules.id(mark.hit.rule), end - start);
        if rules.mode == Mode::Line {
            return Some(LINE.to_owned());
        }
        let head = line.get(..start).unwrap_or_default();
        let tail = line.get(end..).unwrap_or_default();
        Some(format!("{head}{marker}{tail}"))
    }

    /// Returns the part of a line with its marks replaced, and counts them.
    pub(super) fn replaced(
        &mut self,
        rules: &Rules,
        line: &str,
        from: usize,
        until: usize,
        marks: &[Mark],
    ) -> String {
        let mut redacted = String::with_capacity(until.saturating_sub(from));
        let mut position = from;
        for mark in marks {
            let start = line.floor_char_boundary(mark.hit.start.max(position));
            let end = line.ceil_char_boundary(mark.hit.end);
            if end <= position || start >= until {
                continue;
            }
            redacted.push_str(line.get(position..start).unwrap_or_default());
            redacted.push_str(&self.ordinals.marker(rules, mark));
            self.findings
                .add(self.number + 1, rules.id(mark.hit.rule), end - start);
            position = end;
        }
        redacted.push_str(line.get(position..until.max(position)).unwrap_or_default());
        redacted
    }

    /// Says which rule takes a whole text, for arguments.
    pub(super) fn take(
        &mut self,
        rules: &Rules,
        number: u64,
        rule: RuleRef,
        bytes: usize,
    ) -> String {
        self.findings.add(number, rules.id(rule), bytes);
        LINE.to_owned()
    }
}
