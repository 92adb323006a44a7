//! The first look at a block: where a text stands that makes a line worth looking at.
//!
//! It answers exactly where, but not which text it is; what a text leads to is in `anchors`.

use memchr::memchr;

const BITS: u32 = 17;
/// Makes the letters of both cases the same.
const FOLD: u32 = 0x2020_2020;

/// Finds any of many texts, ASCII letters in either case, two bytes at a time.
///
/// Of every text, the four bytes that are rarest elsewhere make two groups of three. One of them
/// stands at an even place, so every other place is enough to look at.
#[derive(Debug)]
pub(super) struct FirstLook {
    /// The groups by their hashes, for a quick no.
    bitmap: Box<[u64; 1 << (BITS - 6)]>,
    /// The four bytes around a group by their hashes, for a second no: many groups stand in
    /// ordinary words as well.
    around: Box<[u64; 1 << (BITS - 6)]>,
    /// How many groups come before each word of the bitmap, and how many there are.
    ranks: Vec<u32>,
    /// The groups, in the order of the bitmap's words.
    groups: Vec<Group>,
    texts: Vec<Box<[u8]>>,
}

/// Three bytes by which a text is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    hash: u32,
    bytes: u32,
    /// Which text it belongs to.
    text: u32,
    /// Where it stands in the text, counted from one byte before.
    place: u32,
}

impl FirstLook {
    /// Prepares the search for texts of three bytes or more; shorter ones are left out.
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut texts: Vec<Box<[u8]>> = texts
            .filter(|text| text.len() >= 3 && memchr(b'\n', text).is_none())
            .map(|text| text.to_ascii_lowercase().into())
            .collect();
        texts.sort();
        texts.dedup();
        let mut groups = Vec::new();
        let mut around = Box::new([0; 1 << (BITS - 6)]);
        for (index, text) in (0_u32..).zip(&texts) {
            learn(text, |bytes, place| {
                let bytes = fold(bytes);
                groups.push(Group {
                    hash: hash(bytes),
                    bytes,
                    text: index,
                    place,
                });
            });
            learn_around(text, |four| {
                let (word, bit) = slot(hash(u32::from_le_bytes(four) | FOLD));
                if let Some(word) = around.get_mut(word) {
                    *word |= bit;
                }
            });
        }
        groups.sort_unstable();
        groups.dedup();
        let mut bitmap = Box::new([0; 1 << (BITS - 6)]);
        for group in &groups {
            let (word, bit) = slot(group.hash);
            if let Some(word) = bitmap.get_mut(word) {
                *word |= bit;
            }
        }
        let ranks = (0..=bitmap.len())
            .map(|word| groups.partition_point(|group| slot(group.hash).0 < word))
            .map(|rank| u32::try_from(rank).unwrap_or(u32::MAX))
            .collect();
        Self {
            bitmap,
            around,
            ranks,
            groups,
            texts,
        }
    }

    /// Returns a place within a text at or after `from`, in the first line that holds one.
    pub(super) fn first(&self, block: &[u8], from: usize) -> Option<usize> {
        let block = block.get(from..)?;
        self.first_in(block).map(|at| from + at)
    }

    fn first_in(&self, block: &[u8]) -> Option<usize> {
        let mut at = 0;
        let mut rest = block;
        // No text starts before the block.
        let mut before = 0;
        while let Some(ten) = rest.first_chunk::<10>() {
            if self.any_may_be(groups(ten))
                && self.any_around(ten, before)
                && let Some(found) = self.verified(groups(ten), at, block)
            {
                return Some(found);
            }
            at += 8;
            before = ten[7];
            rest = rest.get(8..).unwrap_or_default();
        }
        // Behind the end, where no text goes on, any byte does.
        let mut last = [0; 10];
        for (to, byte) in last.iter_mut().zip(rest) {
            *to = *byte;
        }
        self.verified(groups(&last), at, block)
    }

    /// Returns a place within the text that one of these groups is part of; `at` is where the
    /// first of them stands.
    #[cold]
    fn verified(&self, groups: [u32; 4], at: usize, block: &[u8]) -> Option<usize> {
        (at..)
            .step_by(2)
            .zip(groups)
            .find(|(at, bytes)| self.is_in_text(*bytes, *at, block))
            .map(|(at, _)| at + 1)
    }

    fn is_in_text(&self, bytes: u32, at: usize, block: &[u8]) -> bool {
        let hash = hash(bytes);
        if self.bit(hash) & 1 == 0 {
            return false;
        }
        let (word, _) = slot(hash);
        let rank = |word: usize| self.ranks.get(word).map_or(0, |rank| index(*rank));
        let groups = self.groups.get(rank(word)..rank(word + 1));
        groups.unwrap_or_default().iter().any(|group| {
            group.bytes == bytes
                && self
                    .texts
                    .get(index(group.text))
                    .zip((at + 1).checked_sub(index(group.place)))
                    .and_then(|(text, start)| Some((text, block.get(start..start + text.len())?)))
                    .is_some_and(|(text, here)| here.eq_ignore_ascii_case(text))
        })
    }

    fn any_may_be(&self, groups: [u32; 4]) -> bool {
        // Without a branch between them, the look-ups overlap.
        let [first, second, third, fourth] = groups.map(|bytes| self.bit(hash(bytes)));
        (first | second | third | fourth) & 1 != 0
    }

    /// Says whether one of the groups stands, with the byte behind or before it, in four bytes of
    /// its text.
    fn any_around(&self, ten: &[u8; 10], before: u8) -> bool {
        let near = |four: u32| bit_of(&self.around, hash(four));
        let (first, last) = halves(ten);
        let behind = [first, first >> 16, first >> 32, last >> 32].map(low_four);
        let led = (first << 8) | u64::from(before | 0x20);
        let ahead = [led, first >> 8, first >> 24, last >> 24].map(low_four);
        let may_be = groups(ten).map(|bytes| self.bit(hash(bytes)));
        let four = may_be.into_iter().zip(behind.into_iter().zip(ahead));
        let any = four.fold(0, |any, (may_be, (behind, ahead))| {
            any | (may_be & (near(behind) | near(ahead)))
        });
        any & 1 != 0
    }

    /// Returns a word whose lowest bit says whether one of the groups may have this hash.
    fn bit(&self, hash: u32) -> u64 {
        bit_of(&self.bitmap, hash)
    }
}

/// Calls `add` with the groups of a text and where each stands, counted from one byte before.
fn learn(text: &[u8], mut add: impl FnMut([u8; 3], u32)) {
    if let [a, b, c] = *text {
        // At an odd place the byte before or behind it comes into the group.
        add([a, b, c], 1);
        for other in 0..=u8::MAX {
            if commonness(a) <= commonness(c) {
                add([other, a, b], 0);
            } else {
                add([b, c, other], 2);
            }
        }
        return;
    }
    if let Some((place, [a, b, c, d])) = rarest(text) {
        add([*a, *b, *c], place);
        add([*b, *c, *d], place + 1);
    }
}

/// Calls `add` with every four bytes that a group of a text can stand in: behind the group or
/// before it comes the byte that does in the text, or any where the text has none.
fn learn_around(text: &[u8], mut add: impl FnMut([u8; 4])) {
    if let [a, b, c] = *text {
        for other in 0..=u8::MAX {
            add([a, b, c, other]);
            add([other, a, b, c]);
        }
        return;
    }
    if let Some((_, [a, b, c, d])) = rarest(text) {
        add([*a, *b, *c, *d]);
    }
}

/// Returns the four bytes of a text that are rarest elsewhere, and where they stand, from 1.
fn rarest(text: &[u8]) -> Option<(u32, &[u8])> {
    let windows = (1_u32..).zip(text.windows(4));
    windows.min_by_key(|(_, window)| common(window))
}

/// Returns how common the two groups in four bytes are, in no unit that means anything.
fn common(window: &[u8]) -> u64 {
    window
        .windows(3)
        .map(|group| match COMMON.contains(&group) {
            true => 1 << 40,
            false => 1 << group.iter().map(|byte| commonness(*byte)).sum::<u32>(),
        })
        .sum()
}

/// Groups that outputs of commands are full of.
const COMMON: &[&[u8]] = &[
    b"acc", b"ake", b"app", b"ass", b"cal", b"cce", b"cke", b"cre", b"dap", b"equ", b"fig", b"ipp",
    b"lag", b"loa", b"loc", b"mat", b"nfo", b"oca", b"ock", b"odu", b"ool", b"pas", b"red", b"sca",
    b"sha", b"use", b"ver", b"wor",
];

/// Returns how common a byte is in the outputs of commands: a logarithm.
fn commonness(byte: u8) -> u32 {
    match byte.to_ascii_lowercase() {
        b'.' | b' ' => 11,
        b'e' | b's' | b't' => 10,
        b'a' | b'i' | b'n' | b'o' | b'r' => 9,
        b'*' | b'-' | b'/' | b'0'..=b'2' | b':' | b'c' | b'd' | b'l' | b'm' | b'p' | b'u' => 8,
        b'_' | b'3'..=b'9' | b';' | b'b' | b'f' | b'g' | b'h' | b'k' => 7,
        b'%' | b')' | b'=' | b'v' | b'w' | b'y' => 6,
        b'\'' | b'(' | b',' | b'>' | b'j' | b'x' | b'|' => 5,
        _ => 4,
    }
}

/// Returns a group in a form that is the same in either case.
fn fold([a, b, c]: [u8; 3]) -> u32 {
    u32::from_le_bytes([a, b, c, 0]) | 0x20_2020
}

/// Returns the groups at the first four even places.
fn groups(bytes: &[u8; 10]) -> [u32; 4] {
    let (first, last) = halves(bytes);
    [first, first >> 16, first >> 32, last >> 32].map(low)
}

/// Returns the first and the last eight of ten bytes, in the form that is the same in either case.
fn halves(bytes: &[u8; 10]) -> (u64, u64) {
    // Two wide loads and shifts; byte by byte this takes most of the search's time.
    let wide = |half: Option<&[u8; 8]>| half.map_or(0, |half| u64::from_le_bytes(*half));
    let first = wide(bytes.first_chunk()) | 0x2020_2020_2020_2020;
    let last = wide(bytes.last_chunk()) | 0x2020_2020_2020_2020;
    (first, last)
}

fn low_four(bytes: u64) -> u32 {
    u32::try_from(bytes & 0xffff_ffff).unwrap_or(0)
}

/// Returns a word whose lowest bit says whether a bitmap has this hash.
fn bit_of(bitmap: &[u64; 1 << (BITS - 6)], hash: u32) -> u64 {
    let word = usize::try_from(hash >> 6).ok();
    let word = word.and_then(|word| bitmap.get(word));
    word.map_or(0, |word| word >> (hash & 63))
}

fn low(bytes: u64) -> u32 {
    u32::try_from(bytes & 0xff_ffff).unwrap_or(0)
}

fn hash(group: u32) -> u32 {
    group.wrapping_mul(0x9e37_79b1) >> (32 - BITS)
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns the word of the bitmap and the bit in it.
fn slot(hash: u32) -> (usize, u64) {
    (index(hash >> 6), 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_found_wherever_it_stands() {
        let texts = [
            "pwd",
            "_key",
            "://",
            "secret",
            "\u{e9}t\u{e9}",
            "access_token",
        ];
        for text in texts {
            let look = FirstLook::new([text.as_bytes()].into_iter());
            for before in 0..20 {
                for after in 0..20 {
                    let upper = text.to_ascii_uppercase();
                    let block = format!("{}{upper}{}", " ".repeat(before), "x".repeat(after));
                    for from in 0..=before {
                        let found = look.first(block.as_bytes(), from);
                        assert!(
                            found.is_some_and(|at| { (before..before + text.len()).contains(&at) }),
                            "{block} {from} {found:?}"
                        );
                    }
                    assert_eq!(look.first(block.as_bytes(), before + 1), None, "{block}");
                }
            }
        }
    }
}
