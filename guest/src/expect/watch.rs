//! Looks for what is expected in one stream while it passes, in constant memory.
//!
//! It is given the text twice: before redaction, where it looks, so that what redaction hides
//! changes no judgement; and after, from where it takes the lines that may be shown. It decides
//! nothing.

use memchr::{memchr, memchr_iter, memrchr};

use super::literal::{Needles, Search};
use super::{Check, Expectation, Expectations};

/// How much of a line is looked at, in bytes. What follows in a longer line is not seen.
pub(super) const LINE_MAX: usize = 64 * 1024;
/// How much of the line that was found is kept, in bytes.
const SHOWN_MAX: usize = 400;
/// How much of a line is searched for the number again after redaction, in bytes.
const OPEN_MAX: usize = 4 * 1024;

/// One stream on its way past its expectations.
#[derive(Debug)]
pub struct Watch {
    expectations: Expectations,
    /// In the order of the expectations.
    states: Vec<State>,
    /// The beginning of the line that has not ended, before redaction.
    line: String,
    /// The line is longer than what is kept of it.
    is_cut: bool,
    /// Complete lines so far.
    number: u64,
    /// The beginning of the line that has not ended, after redaction, and its length.
    shown: String,
    shown_bytes: usize,
}

/// What was found in one stream for one expectation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    pub(super) found: Option<Found>,
    /// A line was longer than what is looked at of it.
    pub(super) has_cut_line: bool,
}

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its place in the stream, from 1.
    pub(super) line: u64,
    /// The number in it, where one was looked for.
    pub(super) number: Option<u64>,
    /// Its redacted text, once it came by.
    pub(super) text: Option<String>,
    /// The number stands in the redacted text too.
    pub(super) shows_number: bool,
}

#[derive(Debug, Default)]
struct State {
    observed: Observed,
    /// Nothing that follows can change it.
    is_settled: bool,
}

impl Watch {
    /// Starts at the beginning of a stream.
    #[must_use]
    pub fn new(expectations: Expectations) -> Self {
        let state = |expectation: &Expectation| State {
            is_settled: !expectation.check.is_of_lines(),
            ..State::default()
        };
        Self {
            states: expectations.list().iter().map(state).collect(),
            expectations,
            line: String::new(),
            is_cut: false,
            number: 0,
            shown: String::new(),
            shown_bytes: 0,
        }
    }

    /// Takes the next text, not redacted yet.
    pub fn push(&mut self, text: &str) {
        if self.states.iter().all(|state| state.is_settled) {
            return;
        }
        let mut text = text;
        if !self.line.is_empty() {
            let Some(end) = memchr(b'\n', text.as_bytes()) else {
                self.hold(text);
                return;
            };
            let (head, rest) = text.split_at_checked(end).unwrap_or((text, ""));
            self.hold(head);
            self.end_line();
            text = rest.strip_prefix('\n').unwrap_or(rest);
        }
        let end = memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1);
        let (block, rest) = text.split_at_checked(end).unwrap_or(("", text));
        self.block(block);
        self.hold(rest);
    }

    /// Ends the stream before redaction: a line without a newline is a line.
    pub fn end(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
    }

    /// Takes the next redacted text; `lines` is how many redacted lines ended before it.
    pub fn see(&mut self, text: &str, lines: u64) {
        let mut lines = lines;
        let mut rest = text;
        while self.awaits_text() {
            let Some((line, after)) = rest.split_once('\n') else {
                break;
            };
            self.extend_shown(line);
            lines += 1;
            self.show(lines);
            rest = after;
        }
        let rest = match memrchr(b'\n', rest.as_bytes()) {
            Some(at) => {
                self.clear_shown();
                rest.get(at + 1..).unwrap_or_default()
            }
            None => rest,
        };
        self.extend_shown(rest);
    }

    /// Takes back the redacted line that is still open.
    pub fn retract_line(&mut self) {
        self.clear_shown();
    }

    /// Ends the stream after redaction.
    #[must_use]
    pub fn finish(mut self, lines: u64) -> Vec<Observed> {
        if self.shown_bytes > 0 {
            self.show(lines + 1);
        }
        let states = self.states.into_iter();
        states.map(|state| state.observed).collect()
    }

    fn hold(&mut self, text: &str) {
        let room = LINE_MAX.saturating_sub(self.line.len());
        let kept = if self.is_cut {
            0
        } else {
            text.floor_char_boundary(room)
        };
        self.is_cut |= kept < text.len();
        self.line.push_str(text.get(..kept).unwrap_or_default());
    }

    fn end_line(&mut self) {
        self.number += 1;
        let expectations = self.expectations.clone();
        for (expectation, state) in expectations.list().iter().zip(&mut self.states) {
            if !state.is_settled {
                state.judge(&expectation.check, &self.line, self.number, self.is_cut);
            }
        }
        self.line.clear();
        self.is_cut = false;
    }

    /// Takes complete lines.
    fn block(&mut self, block: &str) {
        let mut rest = block;
        while !rest.is_empty() {
            let within = rest
                .get(..rest.floor_char_boundary(LINE_MAX))
                .unwrap_or(rest);
            if let Some(end) = memrchr(b'\n', within.as_bytes()) {
                let (lines, after) = rest.split_at_checked(end + 1).unwrap_or((rest, ""));
                self.search(lines);
                rest = after;
            } else {
                let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
                self.hold(line);
                self.end_line();
                rest = after;
            }
        }
    }

    /// Looks through complete lines of which none is cut.
    fn search(&mut self, lines: &str) {
        let expectations = self.expectations.clone();
        for (expectation, state) in expectations.list().iter().zip(&mut self.states) {
            let check = &expectation.check;
            let mut search = check.needles().map(Needles::search);
            let mut from = 0;
            while !state.is_settled
                && let Some((start, end)) = next_line(&mut search, lines, from)
            {
                let line = lines.get(start..end).unwrap_or_default();
                if check.is_in(line) {
                    let before = lines.as_bytes().get(..start).unwrap_or_default();
                    let number = self.number + count(memchr_iter(b'\n', before)) + 1;
                    state.judge(check, line, number, false);
                }
                from = end + 1;
            }
        }
        self.number += count(memchr_iter(b'\n', lines.as_bytes()));
    }

    fn awaits_text(&self) -> bool {
        let waits = |found: &Found| found.text.is_none();
        let mut states = self.states.iter();
        states.any(|state| state.observed.found.as_ref().is_some_and(waits))
    }

    fn extend_shown(&mut self, text: &str) {
        self.shown_bytes += text.len();
        let room = OPEN_MAX.saturating_sub(self.shown.len());
        if self.shown.len() + text.len() == self.shown_bytes {
            let kept = text.floor_char_boundary(room);
            self.shown.push_str(text.get(..kept).unwrap_or_default());
        }
    }

    fn clear_shown(&mut self) {
        self.shown.clear();
        self.shown_bytes = 0;
    }

    /// Gives the redacted line at hand to those who found it.
    fn show(&mut self, line: u64) {
        let expectations = self.expectations.list().iter();
        for (expectation, state) in expectations.zip(&mut self.states) {
            let Some(found) = &mut state.observed.found else {
                continue;
            };
            if found.line == line && found.text.is_none() {
                found.shows_number = match (&expectation.check, found.number) {
                    (Check::MinCount { pattern, .. }, Some(number)) => {
                        pattern.largest(&self.shown, false) == Some(number)
                    }
                    _ => false,
                };
                found.text = Some(clamped(&self.shown, self.shown_bytes));
            }
        }
        self.clear_shown();
    }
}

impl State {
    /// Takes note of a line, or of the beginning of one.
    fn judge(&mut self, check: &Check, line: &str, place: u64, is_cut: bool) {
        let number = match check {
            Check::Line(pattern) if is_cut && !pattern.is_within(line) => None,
            Check::Line(pattern) | Check::NoLine(pattern) => pattern.is_in(line).then_some(None),
            Check::MinCount { pattern, .. } => pattern.largest(line, is_cut).map(Some),
            Check::ExitCode(_) | Check::Within { .. } => return,
        };
        self.observed.has_cut_line |= is_cut && number.is_none();
        let Some(number) = number else {
            return;
        };
        let known = self.observed.found.as_ref().and_then(|found| found.number);
        if known.is_none_or(|known| number > Some(known)) {
            self.observed.found = Some(Found {
                line: place,
                number,
                text: None,
                shows_number: false,
            });
        }
        self.is_settled = match (check, number) {
            (Check::MinCount { count, .. }, Some(number)) => number >= *count,
            _ => true,
        };
    }
}

impl Check {
    const fn is_of_lines(&self) -> bool {
        match self {
            Self::Line(_) | Self::NoLine(_) | Self::MinCount { .. } => true,
            Self::ExitCode(_) | Self::Within { .. } => false,
        }
    }

    const fn needles(&self) -> Option<&Needles> {
        match self {
            Self::Line(pattern) | Self::NoLine(pattern) => pattern.needles(),
            Self::MinCount { pattern, .. } => pattern.needles(),
            Self::ExitCode(_) | Self::Within { .. } => None,
        }
    }

    fn is_in(&self, line: &str) -> bool {
        match self {
            Self::Line(pattern) | Self::NoLine(pattern) => pattern.is_in(line),
            Self::MinCount { pattern, .. } => pattern.largest(line, false).is_some(),
            Self::ExitCode(_) | Self::Within { .. } => false,
        }
    }
}

/// Returns where the next line worth a look begins and ends.
fn next_line(search: &mut Option<Search<'_>>, lines: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = lines.as_bytes();
    let hit = match search {
        Some(search) => search.next(bytes, from)?,
        None => Some(from).filter(|from| *from < bytes.len())?,
    };
    let start = memrchr(b'\n', bytes.get(..hit)?).map_or(0, |at| at + 1);
    let end = memchr(b'\n', bytes.get(hit..)?).map_or(bytes.len(), |at| hit + at);
    Some((start, end))
}

fn count(newlines: memchr::Memchr<'_>) -> u64 {
    u64::try_from(newlines.count()).unwrap_or(u64::MAX)
}

/// The beginning of a redacted line of `bytes` bytes, with the number of those left out.
fn clamped(beginning: &str, bytes: usize) -> String {
    if bytes <= SHOWN_MAX {
        return beginning.to_owned();
    }
    let kept = beginning
        .get(..beginning.floor_char_boundary(SHOWN_MAX))
        .unwrap_or_default();
    format!("{kept}...truncated {} bytes...", bytes - kept.len())
}
