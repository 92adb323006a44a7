//! A cheap first look: most lines have nothing in them that could be graded.
//!
//! It may let a line through that then gets no grade.

use memchr::memchr2;

use super::form;
use super::location::starts_with_location;
use super::search::Search;
use crate::redact::Telling;

/// Returns whether a line is worth grading.
pub(super) fn may_matter(line: &str) -> bool {
    Search::shared().first_in(line.as_bytes()).is_some() || opens(line)
}

/// Walks through many lines and says which of them the search finds something in.
pub(super) enum NextFound<'a> {
    /// It is searched for here.
    Sought {
        text: &'a [u8],
        /// Where the next text stands, if one does.
        next: Option<usize>,
    },
    /// It was found before.
    Known {
        /// Places that were not passed yet.
        places: &'a [usize],
        /// Where the lines begin, counted as the places are.
        from: usize,
    },
}

impl<'a> NextFound<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self::Sought {
            text: text.as_bytes(),
            next: Search::shared().first_in(text.as_bytes()),
        }
    }

    /// Goes by what was found in a text of which `passed` bytes are not to be walked through.
    pub(super) const fn known(telling: Telling<'a>, passed: usize) -> Self {
        Self::Known {
            places: telling.places,
            from: telling.from + passed,
        }
    }

    /// Returns whether something is found between two places. They must only go up.
    pub(super) fn is_in(&mut self, start: usize, end: usize) -> bool {
        match self {
            Self::Sought { text, next } => {
                if next.is_some_and(|next| next < start) {
                    let rest = text.get(start..).unwrap_or_default();
                    *next = Search::shared().first_in(rest).map(|at| start + at);
                }
                next.is_some_and(|next| next < end)
            }
            Self::Known { places, from } => {
                while let Some((first, rest)) = places.split_first()
                    && *first < *from + start
                {
                    *places = rest;
                }
                places.first().is_some_and(|next| *next < *from + end)
            }
        }
    }
}

/// Returns whether a line opens with a mark or a place that the search cannot see.
pub(super) fn opens(line: &str) -> bool {
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
