//! Finds the phrases and marks in a line: in one pass, in either case, two bytes at a time.
//!
//! It does not judge what it finds.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use super::marks::{ENDS, STARTS};
use super::words::{Kind, PHRASES};
use crate::sift::{Reader, Wanted};

const BITS: u32 = 17;

/// A phrase where it stands in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
    pub(super) weight: u8,
}

/// What is looked for, by groups of four bytes.
///
/// Of every text, the five bytes that are rarest elsewhere make two groups; one of them stands at
/// an even place of the line, so every other place is enough to look at.
pub(super) struct Search {
    /// The groups by their hashes, for a quick no.
    bitmap: Box<[u64; 1 << (BITS - 6)]>,
    /// How many groups come before each word of the bitmap, and how many there are.
    ranks: Vec<usize>,
    /// The groups, in the order of the bitmap's words.
    groups: Vec<u32>,
    /// What each of them belongs to.
    anchors: Vec<Anchor>,
}

/// A group by which a text is found.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    group: u32,
    /// How many bytes before the group's second byte the text starts.
    back: usize,
    text: &'static str,
    /// What the text says; a mark is left to whoever looks at the ends of a line.
    meaning: Option<(Kind, u8)>,
}

/// Telling texts of five bytes or more that many others hold: those need not be searched for.
const IMPLIED: [&str; 6] = [
    "error",
    "failed",
    "failure",
    "expected",
    "exception",
    "assert",
];

/// Returns whether a text holds another one, in either case.
fn holds(text: &str, part: &str) -> bool {
    let mut windows = text.as_bytes().windows(part.len());
    windows.any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

/// Returns the texts that may give the line that holds one a grade: those that
/// [`Search::first_in`] finds, for a search over many lines at once.
pub(crate) fn telling_texts() -> impl Iterator<Item = Wanted> {
    let phrases = PHRASES.iter().filter(|(_, kind, _)| *kind != Kind::Calm);
    let phrases = phrases.map(|(phrase, ..)| *phrase);
    let marks = STARTS.iter().chain(ENDS).map(|(mark, _)| *mark);
    let is_enough = |text: &&str| {
        text.len() >= 4
            && !IMPLIED
                .iter()
                .any(|part| text.len() > part.len() && holds(text, part))
    };
    let texts = phrases.chain(marks).filter(is_enough);
    texts.map(|text| Wanted {
        text: text.as_bytes().into(),
        reader: Reader::Excerpt,
        starts_word: text.len() == 4 && text.starts_with(|c: char| c.is_ascii_alphanumeric()),
    })
}

impl Search {
    /// Returns the search, built on first use.
    pub(super) fn shared() -> &'static Self {
        static SEARCH: OnceLock<Search> = OnceLock::new();
        SEARCH.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut search = Self {
            bitmap: Box::new([0; 1 << (BITS - 6)]),
            ranks: Vec::new(),
            groups: Vec::new(),
            anchors: Vec::new(),
        };
        for (phrase, kind, weight) in PHRASES {
            search.learn(phrase, Some((*kind, *weight)));
        }
        for (mark, _) in STARTS.iter().chain(ENDS) {
            search.learn(mark, None);
        }
        search
            .anchors
            .sort_by_key(|anchor| (slot(anchor.group).0, anchor.group));
        search.ranks = (0..=search.bitmap.len())
            .map(|word| {
                let before = |anchor: &Anchor| slot(anchor.group).0 < word;
                search.anchors.partition_point(before)
            })
            .collect();
        search.groups = search.anchors.iter().map(|anchor| anchor.group).collect();
        search
    }

    /// Returns where the first text stands that may give its line a grade.
    pub(super) fn first_in(&self, text: &[u8]) -> Option<usize> {
        let found = self.scan(text, |start, anchor| match anchor.meaning {
            Some((Kind::Calm, _)) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(start),
        });
        found.break_value()
    }

    /// Calls `found` for every phrase in the line, in no order that means anything.
    pub(super) fn each(&self, line: &str, mut found: impl FnMut(Found)) {
        let _: ControlFlow<()> = self.scan(line.as_bytes(), |start, anchor| {
            if let Some((kind, weight)) = anchor.meaning {
                found(Found {
                    start,
                    end: start + anchor.text.len(),
                    kind,
                    weight,
                });
            }
            ControlFlow::Continue(())
        });
    }

    fn learn(&mut self, text: &'static str, meaning: Option<(Kind, u8)>) {
        let (offset, part) = rarest(text.as_bytes());
        for (at, group) in (offset..).zip(part.windows(4)) {
            if let Some(group) = group.first_chunk() {
                self.add(*group, at + 1, text, meaning);
            }
        }
        if let [a, b, c, _] = *part {
            // At an odd place the byte before it comes into the group instead.
            for before in (0..=u8::MAX).filter(|before| may_precede(*before, text)) {
                self.add([before, a, b, c], 0, text, meaning);
            }
        }
    }

    fn add(
        &mut self,
        group: [u8; 4],
        back: usize,
        text: &'static str,
        meaning: Option<(Kind, u8)>,
    ) {
        let group = fold(group);
        let known = self
            .anchors
            .iter()
            .any(|other| (other.group, other.back, other.text) == (group, back, text));
        if known {
            return;
        }
        let (word, bit) = slot(group);
        if let Some(word) = self.bitmap.get_mut(word) {
            *word |= bit;
        }
        self.anchors.push(Anchor {
            group,
            back,
            text,
            meaning,
        });
    }

    fn scan<B>(
        &self,
        line: &[u8],
        mut visit: impl FnMut(usize, &Anchor) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut at = 0;
        let mut rest = line;
        // Twelve bytes give four groups at even places; the fifth starts the next step.
        while let Some(twelve) = rest.first_chunk::<12>() {
            let groups = groups(twelve);
            if self.any_may_be(groups) {
                let groups = groups.into_iter().enumerate();
                for (step, group) in groups.filter(|(_, group)| self.may_be(*group)) {
                    self.verify(group, at + 2 * step, line, &mut visit)?;
                }
            }
            at += 8;
            rest = rest.get(8..).unwrap_or_default();
        }
        for (step, group) in rest.windows(4).enumerate().step_by(2) {
            if let Some(group) = group.first_chunk()
                && self.may_be(fold(*group))
            {
                self.verify(fold(*group), at + step, line, &mut visit)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Visits the texts that the group at this place belongs to.
    fn verify<B>(
        &self,
        group: u32,
        at: usize,
        line: &[u8],
        visit: &mut impl FnMut(usize, &Anchor) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for (_, anchor) in self.in_word(group).filter(|(other, _)| **other == group) {
            let start = (at + 1).checked_sub(anchor.back);
            let here = start.and_then(|start| line.get(start..start + anchor.text.len()));
            let holds = here.is_some_and(|here| here.eq_ignore_ascii_case(anchor.text.as_bytes()));
            if let Some(start) = start.filter(|start| holds && stands_free(line, *start, anchor)) {
                visit(start, anchor)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns the few groups that share a word of the bitmap with this one.
    fn in_word(&self, group: u32) -> impl Iterator<Item = (&u32, &Anchor)> {
        let (word, _) = slot(group);
        let first = self.ranks.get(word).copied().unwrap_or(0);
        let end = self.ranks.get(word + 1).copied().unwrap_or(first);
        let groups = self.groups.get(first..end).unwrap_or_default();
        groups
            .iter()
            .zip(self.anchors.get(first..end).unwrap_or_default())
    }

    fn any_may_be(&self, groups: [u32; 4]) -> bool {
        // Without a branch between them, the look-ups overlap.
        let [first, second, third, fourth] = groups.map(|group| self.bit(group));
        (first | second | third | fourth) & 1 != 0
    }

    fn may_be(&self, group: u32) -> bool {
        self.bit(group) & 1 != 0
    }

    /// Returns a word whose lowest bit says whether this may be one of the groups.
    fn bit(&self, group: u32) -> u64 {
        let hash = hash(group);
        let word = usize::try_from(hash >> 6).ok();
        let word = word.and_then(|word| self.bitmap.get(word));
        word.map_or(0, |word| word >> (hash & 63))
    }
}

/// Returns whether a text of four bytes may stand behind this byte. A letter or a digit there
/// would make what starts with one part of a name.
///
/// Asked at even and at odd places alike, so that it does not matter where a line starts.
fn may_precede(before: u8, text: &str) -> bool {
    let starts_a_word = text
        .as_bytes()
        .first()
        .is_some_and(u8::is_ascii_alphanumeric);
    !starts_a_word || (before.is_ascii() && !before.is_ascii_alphanumeric())
}

fn stands_free(line: &[u8], start: usize, anchor: &Anchor) -> bool {
    anchor.text.len() > 4
        || start
            .checked_sub(1)
            .and_then(|before| line.get(before))
            .is_none_or(|before| may_precede(*before, anchor.text))
}

/// Returns the five bytes of a text that are rarest elsewhere, and where they start; all of it
/// where it is shorter.
fn rarest(text: &[u8]) -> (usize, &[u8]) {
    let common = |part: &[u8]| part.iter().map(|byte| commonness(*byte)).sum::<usize>();
    let parts = text.windows(5).enumerate();
    parts
        .min_by_key(|(_, part)| common(part))
        .unwrap_or((0, text))
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

/// Returns a group in a form that is the same in either case.
fn fold(group: [u8; 4]) -> u32 {
    u32::from_le_bytes(group) | 0x2020_2020
}

/// Returns the groups at the even places of twelve bytes.
fn groups(bytes: &[u8; 12]) -> [u32; 4] {
    // Two wide loads and shifts; byte by byte this takes most of the search's time.
    let wide = |half: Option<&[u8; 8]>| half.map_or(0, |half| u64::from_le_bytes(*half));
    let first = wide(bytes.first_chunk()) | 0x2020_2020_2020_2020;
    let last = wide(bytes.last_chunk()) | 0x2020_2020_2020_2020;
    [first, first >> 16, last, last >> 16].map(low)
}

fn low(bytes: u64) -> u32 {
    u32::try_from(bytes & 0xffff_ffff).unwrap_or(0)
}

/// Returns the word of the bitmap and the bit in it.
fn slot(group: u32) -> (usize, u64) {
    let hash = hash(group);
    (usize::try_from(hash >> 6).unwrap_or(0), 1 << (hash & 63))
}

fn hash(group: u32) -> u32 {
    group.wrapping_mul(0x9e37_79b1) >> (32 - BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_does_not_depend_on_where_the_text_starts() {
        let search = Search::shared();
        for (phrase, _, _) in PHRASES {
            for before in ["", " ", "x", "7", "\u{e9}", "(", "e "] {
                let line = format!("{before}{phrase} rest of the line");
                let places = |text: &str, from: usize| {
                    let mut starts = Vec::new();
                    search.each(text, |found| starts.push(found.start - from));
                    starts.sort_unstable();
                    starts
                };
                let shifted = format!("\n{line}");
                assert_eq!(places(&line, 0), places(&shifted, 1), "{line}");
                assert_eq!(
                    search.first_in(line.as_bytes()).is_some(),
                    search.first_in(shifted.as_bytes()).is_some(),
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn every_phrase_is_found_once_at_every_place() {
        for (phrase, ..) in PHRASES {
            for before in 0..9 {
                for after in 0..9 {
                    let line = format!("{}{phrase}{}", " ".repeat(before), "z".repeat(after));
                    let mut count = 0;
                    Search::shared().each(&line.to_uppercase(), |found| {
                        count += usize::from(
                            (found.start, found.end) == (before, before + phrase.len()),
                        );
                    });
                    // Two phrases may differ in nothing but their case.
                    assert_eq!(count, 1, "{line}");
                }
            }
        }
    }

    #[test]
    fn what_is_left_out_of_the_telling_texts_holds_another_of_them() {
        let texts: Vec<Wanted> = telling_texts().collect();
        let is_told = |text: &str| {
            let text = text.as_bytes();
            texts.iter().any(|wanted| {
                let mut windows = text.windows(wanted.text.len());
                let holds = windows.any(|window| window.eq_ignore_ascii_case(&wanted.text));
                // One of four bytes may be held and still not stand free.
                holds && (wanted.text.len() > 4 || wanted.text.len() == text.len())
            })
        };
        for (phrase, kind, _) in PHRASES {
            assert!(*kind == Kind::Calm || is_told(phrase), "{phrase}");
        }
        for (mark, _) in STARTS
            .iter()
            .chain(ENDS)
            .filter(|(mark, _)| mark.len() >= 4)
        {
            assert!(is_told(mark), "{mark}");
        }
    }

    #[test]
    fn every_mark_of_letters_makes_a_line_worth_grading() {
        for (mark, _) in STARTS
            .iter()
            .chain(ENDS)
            .filter(|(mark, _)| mark.len() >= 4)
        {
            for place in 0..9 {
                let line = format!("{}{mark}", " ".repeat(place));
                assert!(
                    Search::shared().first_in(line.as_bytes()).is_some(),
                    "{line}"
                );
            }
        }
    }
}
