//! A cheap first look: most lines have nothing in them that could be graded.
//!
//! It may let a line through that then gets no grade.

use std::sync::OnceLock;

use memchr::memchr;

use super::form::{ENDS, STARTS, is_place};
use super::words::PHRASES;

/// Returns whether a line is worth grading.
pub(super) fn may_matter(line: &str) -> bool {
    opens(line.trim_start_matches([' ', '\t'])) || Grams::shared().any_in(line.as_bytes())
}

/// Marks and places that the grams cannot see.
fn opens(text: &str) -> bool {
    let first = text.bytes().next().unwrap_or(b' ');
    match first {
        b'_' => text.starts_with("___"),
        b'E' => text.starts_with("E  ") || text.starts_with("E: "),
        b'[' => text.starts_with("[-]"),
        b'0'..=b'9' => text
            .split_once(')')
            .is_some_and(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit())),
        0x80.. => STARTS
            .iter()
            .any(|(mark, _)| !mark.is_ascii() && text.starts_with(mark)),
        _ => {
            // A place is a colon and then a digit, near the start.
            let (head, _) = text.as_bytes().split_at(text.len().min(200));
            memchr(b':', head).is_some_and(|at| {
                text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit) && is_place(text)
            })
        }
    }
}

const BITS: u32 = 16;

/// Which groups of four bytes occur in the phrases, as a bitmap over their hashes. Two groups
/// of every phrase are in it, one at an even and one at an odd place, so that every other
/// position of a line is enough to find it.
struct Grams {
    bitmap: Box<[u64; 1 << (BITS - 6)]>,
}

impl Grams {
    fn shared() -> &'static Self {
        static GRAMS: OnceLock<Grams> = OnceLock::new();
        GRAMS.get_or_init(|| {
            let mut grams = Self {
                bitmap: Box::new([0; 1 << (BITS - 6)]),
            };
            let phrases = PHRASES.iter().map(|(phrase, ..)| *phrase);
            let marks = STARTS.iter().chain(ENDS).map(|(mark, _)| *mark);
            for phrase in phrases.chain(marks) {
                grams.learn(phrase.as_bytes());
            }
            grams
        })
    }

    fn learn(&mut self, phrase: &[u8]) {
        if let [a, b, c, d] = *phrase {
            self.set([a, b, c, d]);
            // At an odd place the byte before it comes into the group instead.
            for before in 0..=u8::MAX {
                self.set([before, a, b, c]);
            }
        }
        if phrase.len() > 4 {
            for group in phrase.windows(4).take(2) {
                if let Ok(group) = <[u8; 4]>::try_from(group) {
                    self.set(group);
                }
            }
        }
    }

    fn set(&mut self, group: [u8; 4]) {
        let (word, bit) = slot(group);
        if let Some(word) = self.bitmap.get_mut(word) {
            *word |= bit;
        }
    }

    fn any_in(&self, bytes: &[u8]) -> bool {
        bytes.windows(4).step_by(2).any(|group| {
            <[u8; 4]>::try_from(group).is_ok_and(|group| {
                let (word, bit) = slot(group);
                self.bitmap.get(word).is_some_and(|word| word & bit != 0)
            })
        })
    }
}

/// Returns the word of the bitmap and the bit in it, for a group in either case.
fn slot(group: [u8; 4]) -> (usize, u64) {
    let folded = u32::from_le_bytes(group) | 0x2020_2020;
    let hash = folded.wrapping_mul(0x9e37_79b1) >> (32 - BITS);
    (usize::try_from(hash >> 6).unwrap_or(0), 1 << (hash & 63))
}
