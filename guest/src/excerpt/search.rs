//! Finds the phrases in a line: in one pass, in either case, without an automaton to build.
//!
//! It does not judge what it finds.

use std::sync::OnceLock;

use super::form::{ENDS, STARTS};
use super::words::{Kind, PHRASES};

const BITS: u32 = 16;

/// A phrase where it stands in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
    pub(super) weight: u8,
}

/// What is known of the phrases by the four bytes in them that are rarest in other text.
pub(super) struct Search {
    /// Two groups of every phrase and mark, one at an even and one at an odd place, so that every
    /// other position of a line is enough to see whether there may be one.
    anywhere: Groups,
    /// One group of every phrase.
    anchors: Groups,
    /// The phrases by this group, sorted.
    by_anchor: Vec<Anchor>,
}

/// The group by which a phrase is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Anchor {
    group: u32,
    /// Where it stands in the phrase.
    offset: usize,
    /// Which phrase it is.
    phrase: usize,
}

impl Search {
    /// Returns the search, built on first use.
    pub(super) fn shared() -> &'static Self {
        static SEARCH: OnceLock<Search> = OnceLock::new();
        SEARCH.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut search = Self {
            anywhere: Groups::new(),
            anchors: Groups::new(),
            by_anchor: Vec::new(),
        };
        let marks = STARTS.iter().chain(ENDS).map(|(mark, _)| *mark);
        for mark in marks {
            search.anywhere.learn(rarest(mark.as_bytes()).1);
        }
        for (at, (phrase, ..)) in PHRASES.iter().enumerate() {
            let (offset, part) = rarest(phrase.as_bytes());
            search.anywhere.learn(part);
            if let Some(group) = part.first_chunk() {
                search.anchors.set(fold(*group));
                search.by_anchor.push(Anchor {
                    group: fold(*group),
                    offset,
                    phrase: at,
                });
            }
        }
        search.by_anchor.sort_unstable();
        search
    }

    /// Returns whether the line may hold a phrase or a mark of letters.
    pub(super) fn may_hold(&self, line: &[u8]) -> bool {
        let mut rest = line;
        // Eight bytes give three groups at even places; the fourth starts the next step.
        while let Some(eight) = rest.first_chunk::<8>() {
            let bytes = u64::from_le_bytes(*eight) | 0x2020_2020_2020_2020;
            if self.anywhere.has(low(bytes))
                | self.anywhere.has(low(bytes >> 16))
                | self.anywhere.has(low(bytes >> 32))
            {
                return true;
            }
            rest = rest.get(6..).unwrap_or_default();
        }
        rest.windows(4)
            .filter_map(|group| group.first_chunk())
            .any(|group| self.anywhere.has(fold(*group)))
    }

    /// Calls `found` for every phrase in the line, in no order that means anything.
    pub(super) fn each(&self, line: &str, mut found: impl FnMut(Found)) {
        let mut rest = line.as_bytes();
        let mut at = 0;
        while let Some(group) = rest.first_chunk() {
            let group = fold(*group);
            if self.anchors.has(group) {
                self.each_anchored(group, at, line.as_bytes(), &mut found);
            }
            at += 1;
            rest = rest.get(1..).unwrap_or_default();
        }
    }

    fn each_anchored(&self, group: u32, at: usize, line: &[u8], found: &mut impl FnMut(Found)) {
        let first = self
            .by_anchor
            .partition_point(|anchor| anchor.group < group);
        let anchors = self.by_anchor.iter().skip(first);
        for anchor in anchors.take_while(|anchor| anchor.group == group) {
            let (Some(&(phrase, kind, weight)), Some(start)) =
                (PHRASES.get(anchor.phrase), at.checked_sub(anchor.offset))
            else {
                continue;
            };
            let end = start + phrase.len();
            let here = line.get(start..end);
            if here.is_some_and(|here| here.eq_ignore_ascii_case(phrase.as_bytes())) {
                found(Found {
                    start,
                    end,
                    kind,
                    weight,
                });
            }
        }
    }
}

/// Returns the five bytes of a phrase that are rarest in other text, and where they start; all of
/// it where it is shorter.
fn rarest(phrase: &[u8]) -> (usize, &[u8]) {
    let common = |part: &[u8]| part.iter().map(|byte| commonness(*byte)).sum::<usize>();
    let parts = phrase.windows(5).enumerate();
    parts
        .min_by_key(|(_, part)| common(part))
        .unwrap_or((0, phrase))
}

/// Returns how common a byte is in the outputs of commands, by rank.
fn commonness(byte: u8) -> usize {
    const RAREST_FIRST: &[u8] = b"zjqxkvwybghfpmudlcnrsaoite ";
    let rank = RAREST_FIRST
        .iter()
        .position(|other| *other == byte.to_ascii_lowercase());
    // Digits and punctuation are everywhere.
    rank.unwrap_or(RAREST_FIRST.len())
}

/// A set of groups of four bytes, as a bitmap over their hashes: it may say yes too often.
struct Groups {
    bitmap: Box<[u64; 1 << (BITS - 6)]>,
}

impl Groups {
    fn new() -> Self {
        Self {
            bitmap: Box::new([0; 1 << (BITS - 6)]),
        }
    }

    fn learn(&mut self, phrase: &[u8]) {
        if let [a, b, c, d] = *phrase {
            self.set(fold([a, b, c, d]));
            // At an odd place the byte before it comes into the group instead.
            for before in 0..=u8::MAX {
                self.set(fold([before, a, b, c]));
            }
            return;
        }
        for group in phrase
            .windows(4)
            .take(2)
            .filter_map(|group| group.first_chunk())
        {
            self.set(fold(*group));
        }
    }

    fn set(&mut self, group: u32) {
        let (word, bit) = slot(group);
        if let Some(word) = self.bitmap.get_mut(word) {
            *word |= bit;
        }
    }

    fn has(&self, group: u32) -> bool {
        let (word, bit) = slot(group);
        self.bitmap.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// Returns a group in a form that is the same in either case.
fn fold(group: [u8; 4]) -> u32 {
    u32::from_le_bytes(group) | 0x2020_2020
}

fn low(bytes: u64) -> u32 {
    u32::try_from(bytes & 0xffff_ffff).unwrap_or(0)
}

/// Returns the word of the bitmap and the bit in it.
fn slot(group: u32) -> (usize, u64) {
    let hash = group.wrapping_mul(0x9e37_79b1) >> (32 - BITS);
    (usize::try_from(hash >> 6).unwrap_or(0), 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_and_mark_is_seen_at_every_place() {
        let search = Search::shared();
        let marks = STARTS.iter().chain(ENDS).map(|(mark, _)| *mark);
        let phrases = PHRASES.iter().map(|(phrase, ..)| *phrase);
        for phrase in phrases.chain(marks).filter(|phrase| phrase.len() >= 4) {
            for before in 0..9 {
                for after in 0..9 {
                    let line = format!("{}{phrase}{}", "z".repeat(before), "z".repeat(after));
                    assert!(search.may_hold(line.as_bytes()), "{line}");
                    assert!(search.may_hold(line.to_uppercase().as_bytes()), "{line}");
                }
            }
        }
    }

    #[test]
    fn phrases_are_found_where_they_stand() {
        let mut found = Vec::new();
        Search::shared().each("it COULD NOT open", |phrase| {
            found.push((phrase.start, phrase.end));
        });
        assert_eq!(found, [(3, 12)]);
    }
}
