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
    for wants_blank in [true, false] {
        let mut end = last;
        while let Some(at) = bytes
            .get(from..end)
            .and_then(|bytes| newest(bytes, wants_blank))
        {
            let at = from + at;
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

/// Returns where the last blank is, or the last of the other separators.
fn newest(bytes: &[u8], wants_blank: bool) -> Option<usize> {
    if wants_blank {
        return memrchr2(b' ', b'\t', bytes);
    }
    memrchr3(b',', b';', b'&', bytes).max(memrchr2(b'"', b'\'', bytes))
}
