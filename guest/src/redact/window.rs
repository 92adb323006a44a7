//! Where a window of a long line is cut: at a place where nothing is open.
//!
//! It depends on the window alone, not on the pieces in which it came.

use memchr::{memrchr2, memrchr3};

use super::scan::Mark;

/// How much of an unfinished line is held back, in bytes.
pub(super) const WINDOW: usize = 64 * 1024;

/// How much at the end of a window may belong to something that is still open.
const OPEN: usize = 8 * 1024;

/// Where a window is cut.
pub(super) struct Cut {
    /// Where.
    pub(super) at: usize,
    /// A secret reaches over the end of the window.
    pub(super) is_open: bool,
}

/// Chooses where to cut a window: behind a blank or a comma where nothing is open.
pub(super) fn cut_of(window: &str, given: usize, marks: &[Mark]) -> Cut {
    let last = window.len().saturating_sub(OPEN);
    let covering = |at: usize| {
        marks
            .iter()
            .find(|mark| mark.hit.from < at && at < mark.hit.end)
    };
    let from = given.max(window.len() / 2);
    let bytes = window.as_bytes().get(..last).unwrap_or_default();
    let kinds: [fn(&[u8]) -> Option<usize>; 2] = [blank, separator];
    for newest in kinds {
        let mut end = last;
        while let Some(at) = bytes.get(from..end).and_then(newest).map(|at| from + at) {
            if covering(at + 1).is_none() {
                return Cut {
                    at: at + 1,
                    is_open: false,
                };
            }
            end = at;
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

/// Returns where the last blank is.
fn blank(bytes: &[u8]) -> Option<usize> {
    memrchr2(b' ', b'\t', bytes)
}

/// Returns where the last of the other separators is.
fn separator(bytes: &[u8]) -> Option<usize> {
    memrchr3(b',', b';', b'&', bytes).max(memrchr2(b'"', b'\'', bytes))
}
