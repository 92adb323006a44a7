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

    /// Returns whether something is found between two places. They must only go up.
    #[inline]
    pub(super) fn is_in(&mut self, start: usize, end: usize) -> bool {
        while let Some((first, rest)) = self.places.split_first()
            && *first < self.from + start
        {
            self.places = rest;
        }
        self.places
            .first()
            .is_some_and(|next| *next < self.from + end)
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

impl Iterator for Spans<'_> {
    type Item = Span;

    #[inline(always)]
    fn next(&mut self) -> Option<Span> {
        while self.newlines == 0 {
            if !self.advance() {
                return None;
            }
        }
        let bit = self.newlines.trailing_zeros();
        let end = self.chunk + usize::try_from(bit).unwrap_or(0);
        let passed = (1 << bit) - 1;
        let span = Span {
            start: self.start,
            end,
            has_colon: self.has_colon || self.colons & passed != 0,
        };
        self.newlines &= self.newlines - 1;
        self.colons &= !passed;
        self.has_colon = false;
        self.start = end + 1;
        Some(span)
    }
}

impl Span {
    /// Returns whether the line opens with a mark or a place that the search cannot see.
    #[inline(always)]
    pub(super) fn opens(self, text: &str) -> bool {
        // Most lines begin with a letter, and have no colon.
        let first = text.as_bytes().get(self.start).copied().unwrap_or(b'\n');
        (self.has_colon || !first.is_ascii_alphabetic() || first == b'E') && self.opens_odd(text)
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
