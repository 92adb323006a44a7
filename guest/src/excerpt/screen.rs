//! A cheap first look: most lines have nothing in them that could be graded.
//!
//! It may let a line through that then gets no grade.

use memchr::memchr2;

use super::form;
use super::location::starts_with_location;
use super::search::is_telling;
use crate::lanes::{self, CHUNK};
use crate::redact::Telling;

/// Returns whether a line is worth grading.
pub(super) fn may_matter(line: &str) -> bool {
    is_telling(line) || opens(line)
}

/// Walks through many lines and says in which of them something was found.
pub(super) struct NextFound<'a> {
    /// Places that were not passed yet.
    places: &'a [usize],
    /// Where the lines begin, counted as the places are.
    from: usize,
}

impl<'a> NextFound<'a> {
    /// Goes by what was found in a text of which `passed` bytes are not to be walked through.
    pub(super) const fn new(telling: Telling<'a>, passed: usize) -> Self {
        Self {
            places: telling.places,
            from: telling.from + passed,
        }
    }

    /// Returns the first place from this one on where something is found. They must only go up.
    #[inline]
    pub(super) fn after(&mut self, start: usize) -> Option<usize> {
        while let Some((first, rest)) = self.places.split_first()
            && *first < self.from + start
        {
            self.places = rest;
        }
        self.places.first().map(|next| next - self.from)
    }
}

/// A line of a text of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    /// Where its newline stands.
    pub(super) end: usize,
    /// A colon is in it, as most places and some marks have one.
    has_colon: bool,
}

/// Walks through the lines that end in a text.
pub(super) struct Spans<'a> {
    text: &'a [u8],
    /// The newlines and colons of a chunk that were not passed yet, the first in the lowest bit.
    newlines: u64,
    colons: u64,
    /// Where the chunk begins, and the one behind it.
    chunk: usize,
    next: usize,
    /// Where the next line begins.
    start: usize,
    /// A colon of it stands in a chunk that was passed.
    has_colon: bool,
}

impl<'a> Spans<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text: text.as_bytes(),
            newlines: 0,
            colons: 0,
            chunk: 0,
            next: 0,
            start: 0,
            has_colon: false,
        }
    }

    /// Returns where the next line begins.
    pub(super) const fn start(&self) -> usize {
        self.start
    }

    /// Returns the next line, after those that end before `until`, have no colon and do not open
    /// with a mark: whole chunks of these are passed over, and counted in `passed`.
    #[inline(always)]
    pub(super) fn next(&mut self, until: usize, passed: &mut usize) -> Option<Span> {
        while self.newlines == 0 {
            *passed += self.pass_dull(until);
            if !self.advance() {
                return None;
            }
        }
        let bit = self.newlines.trailing_zeros();
        let end = self.chunk + usize::try_from(bit).unwrap_or(0);
        let before = (1 << bit) - 1;
        let span = Span {
            start: self.start,
            end,
            has_colon: self.has_colon || self.colons & before != 0,
        };
        self.newlines &= self.newlines - 1;
        self.colons &= !before;
        self.has_colon = false;
        self.start = end + 1;
        Some(span)
    }

    /// Passes over whole chunks of dull lines, and returns how many lines end in them.
    #[inline(always)]
    fn pass_dull(&mut self, until: usize) -> usize {
        let (mut start, mut next, mut lines) = (self.start, self.next, 0);
        let mut open = self.text.get(start..next).unwrap_or_default().iter();
        let first = open.find(|byte| !matches!(byte, b' ' | b'\t'));
        if self.has_colon || self.colons != 0 || first.is_some_and(may_be_mark) {
            return 0;
        }
        let mut starts = u64::from(first.is_none());
        while let Some(chunk) = self.text.get(next..).and_then(<[u8]>::first_chunk)
            && next + CHUNK <= until
            && !lanes::any(chunk, |part| part.is(b':'))
        {
            let newlines = lanes::bits(chunk, |part| part.is(b'\n'));
            starts |= newlines << 1;
            if has_mark(chunk, starts) {
                break;
            }
            next += CHUNK;
            if newlines != 0 {
                lines += newlines.count_ones();
                start = next - usize::try_from(newlines.leading_zeros()).unwrap_or(0);
            }
            starts = newlines >> (CHUNK - 1);
        }
        (self.start, self.next) = (start, next);
        usize::try_from(lines).unwrap_or(0)
    }

    /// Goes on to the next chunk and says whether there was one.
    #[inline(always)]
    fn advance(&mut self) -> bool {
        let rest = self.text.get(self.next..).unwrap_or_default();
        if rest.is_empty() {
            return false;
        }
        self.has_colon |= self.colons != 0;
        let last;
        let chunk = match rest.first_chunk() {
            Some(chunk) => chunk,
            None => {
                last = lanes::padded(rest, 0);
                &last
            }
        };
        self.newlines = lanes::bits(chunk, |part| part.is(b'\n'));
        self.colons = lanes::bits(chunk, |part| part.is(b':'));
        self.chunk = self.next;
        self.next += CHUNK;
        true
    }
}

/// Returns whether one of the lines that start at these places may open with a mark, by the first
/// byte of it that is not blank. What is blank to the end of the chunk is taken for one.
#[inline(always)]
fn has_mark(chunk: &[u8; CHUNK], starts: u64) -> bool {
    let others = lanes::bits(chunk, |part| part.letters().or(part.is(b'\n')));
    let marks = !others | lanes::bits(chunk, |part| part.is(b'E'));
    if starts & marks == 0 {
        return false;
    }
    let blanks = lanes::bits(chunk, |part| part.is(b' ').or(part.is(b'\t')));
    // Adding a bit to a run of bits leads to the place behind it.
    let (behind, is_blank_to_end) = blanks.overflowing_add(starts & blanks);
    is_blank_to_end || (behind | starts) & !blanks & marks != 0
}

impl Span {
    /// Returns whether the line opens with a mark or a place that the search cannot see.
    #[inline(always)]
    pub(super) fn opens(self, text: &str) -> bool {
        // Most lines begin with a letter, and have no colon.
        let first = text.as_bytes().get(self.start);
        (self.has_colon || first.is_some_and(may_be_mark)) && self.opens_odd(text)
    }

    #[inline(never)]
    fn opens_odd(self, text: &str) -> bool {
        let Some(line) = text.get(self.start..self.end) else {
            return false;
        };
        let first = line.bytes().find(|byte| !byte.is_ascii_whitespace());
        let may_open = matches!(
            first,
            Some(b'_' | b'E' | b'-' | b'[' | b'0'..=b'9' | 0x80..)
        );
        (self.has_colon || may_open) && opens(line)
    }
}

/// Returns whether a line may open with a mark or with blanks, by its first byte.
const fn may_be_mark(first: &u8) -> bool {
    !first.is_ascii_alphabetic() || *first == b'E'
}

/// Returns whether a line opens with a mark or a place that the search cannot see.
fn opens(line: &str) -> bool {
    let text = line.trim_ascii_start();
    let bytes = text.as_bytes();
    match bytes {
        [b'_', b'_', b'_', ..] | [b'E', b' ', b' ', ..] | [b'E', b':', b' ', ..] => true,
        [b'-', b'-', b'-', b'-', b' ', ..] => true,
        [b'[', b'-' | b'!', b']', ..] | [b'e', b':', b' ', ..] => true,
        [b'0'..=b'9', ..] => bytes
            .iter()
            .find(|byte| !byte.is_ascii_digit())
            .is_some_and(|byte| *byte == b')'),
        [0x80..=0xff, ..] => form::start(text) > 0,
        _ => {
            // A place is a colon and then a digit, near the start and with no space before it.
            let near = bytes.get(..200).unwrap_or(bytes);
            let opens_with_one = memchr2(b':', b' ', near).is_some_and(|at| {
                near.get(at) == Some(&b':') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
            });
            (opens_with_one || bytes.ends_with(b"]:")) && starts_with_location(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_passed_over_that_may_open_with_a_mark_or_lies_behind_a_place() {
        let mut state = 1_u64;
        let mut throw = move |below: usize| {
            state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            usize::try_from(state >> 33).unwrap() % below
        };
        let mut all_passed = 0;
        for _ in 0..5000 {
            let mut text = String::new();
            for _ in 0..throw(40) {
                let line = [
                    "plain words 12",
                    "z",
                    "",
                    ": x",
                    "E  mark",
                    "  AR  words",
                    " \t E  mark",
                    "   [-] x",
                    "    ",
                    "[-] x",
                    "a b: c",
                    "\u{e9}",
                ];
                text.push_str(line[throw(line.len() * 8).saturating_sub(line.len() * 7)]);
                text.push_str(&"x ".repeat(throw(70)));
                text.push('\n');
            }
            let mut spans = Spans::new(&text);
            let every = std::iter::from_fn(|| spans.next(0, &mut 0));
            let lines: Vec<Span> = every.collect();
            assert_eq!(lines.len(), text.lines().count());
            let until = throw(text.len() + 1);
            let mut spans = Spans::new(&text);
            let mut at = 0;
            loop {
                let mut passed = 0;
                let next = spans.next(until, &mut passed);
                for span in &lines[at..at + passed] {
                    let line = text.get(span.start..span.end).unwrap();
                    assert!(span.end < until && !span.has_colon, "{line:?}");
                    assert!(!opens(line) && !span.opens(&text), "{line:?}");
                }
                all_passed += passed;
                at += passed;
                assert_eq!(next.as_ref(), lines.get(at), "{text:?}");
                at += 1;
                if next.is_none() {
                    break;
                }
            }
        }
        assert!(all_passed > 1000, "{all_passed}");
    }
}
