//! A cheap first look: most lines have nothing in them that could be graded.
//!
//! It may let a line through that then gets no grade.

use memchr::memchr;

use super::location::starts_with_location;
use super::marks::STARTS;
use super::search::Search;

/// Returns whether a line is worth grading.
pub(super) fn may_matter(line: &str) -> bool {
    Search::shared().may_hold(line) || opens(line.trim_ascii_start())
}

/// Marks and places that a search for words cannot see.
fn opens(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes {
        [b'_', b'_', b'_', ..] | [b'E', b' ', b' ', ..] | [b'E', b':', b' ', ..] => true,
        [b'-', b'-', b'-', b'-', b' ', ..] => true,
        [b'[', b'-' | b'!', b']', ..] | [b'e', b':', b' ', ..] => true,
        [b'0'..=b'9', ..] => bytes
            .iter()
            .find(|byte| !byte.is_ascii_digit())
            .is_some_and(|byte| *byte == b')'),
        [0x80..=0xff, ..] => STARTS
            .iter()
            .any(|(mark, _)| !mark.is_ascii() && text.starts_with(mark)),
        _ => {
            // A place is a colon and then a digit, near the start.
            let near = bytes.get(..200).unwrap_or(bytes);
            memchr(b':', near).is_some_and(|at| bytes.get(at + 1).is_some_and(u8::is_ascii_digit))
                && starts_with_location(text)
        }
    }
}
