//! A cheap first look: most lines have nothing in them that could be graded.
//!
//! It may let a line through that then gets no grade.

use memchr::{memchr, memchr2};

use super::form;
use super::location::starts_with_location;
use super::search::is_telling;
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

/// Walks through many lines and says which of them open with a mark or a place that the search
/// cannot see.
pub(super) struct NextOpening<'a> {
    text: &'a str,
    /// Where the next colon stands; the length of the text where there is none.
    colon: usize,
}

impl<'a> NextOpening<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut next = Self { text, colon: 0 };
        next.find_colon(0);
        next
    }

    /// Returns whether the line between two places is one. They must only go up.
    #[inline]
    pub(super) fn is_at(&mut self, start: usize, end: usize) -> bool {
        if self.colon < start {
            self.find_colon(start);
        }
        // Most lines begin with a letter, and have no colon.
        let line = self.text.as_bytes().get(start..end).unwrap_or_default();
        let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
        let may_open = self.colon < end
            || matches!(
                first,
                Some(b'_' | b'E' | b'-' | b'[' | b'0'..=b'9' | 0x80..)
            );
        may_open && self.text.get(start..end).is_some_and(opens)
    }

    fn find_colon(&mut self, from: usize) {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        self.colon = from + memchr(b':', rest).unwrap_or(rest.len());
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
