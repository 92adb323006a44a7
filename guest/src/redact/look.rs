//! The first look at a block: where a text stands that makes a line worth looking at.
//!
//! It answers exactly where, but not which text it is; what a text leads to is in `anchors`.

use memchr::memchr;

const BITS: u32 = 17;
/// Makes the letters of both cases the same.
const FOLD: u32 = 0x2020_2020;
/// How many bytes at once are searched for odd ones.
const CHUNK: usize = 64;

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

/// Returns where a byte or a character stands at or after `from` that changes how a line reads:
/// an escape, a backspace, a character without width; or the ending `q~`.
pub(super) fn first_odd(block: &[u8], from: usize) -> Option<usize> {
    let (chunks, rest) = block.get(from..)?.as_chunks::<CHUNK>();
    let mut at = from;
    for chunk in chunks {
        if has_suspect(chunk) {
            let odd = (at..at + CHUNK).find(|at| is_odd(block, *at));
            if odd.is_some() {
                return odd;
            }
        }
        at += CHUNK;
    }
    (at..at + rest.len()).find(|at| is_odd(block, *at))
}

/// Says whether one of the bytes may be odd. Written without branches, so that it becomes
/// vector code.
fn has_suspect(chunk: &[u8; CHUNK]) -> bool {
    let is_suspect = |byte: u8| {
        u8::from(byte == 0x1b)
            | u8::from(byte == 8)
            | u8::from(byte == b'~')
            | u8::from(byte == 0xc2)
            | u8::from(byte == 0xe2)
            | u8::from(byte == 0xef)
    };
    chunk.iter().fold(0, |any, byte| any | is_suspect(*byte)) != 0
}

fn is_odd(block: &[u8], at: usize) -> bool {
    let rest = block.get(at..).unwrap_or_default();
    match rest {
        [0x1b | 8, ..]
        | [0xc2, 0xad, ..]
        | [0xe2, 0x80, 0x8b..=0x8d, ..]
        | [0xe2, 0x81, 0xa0, ..]
        | [0xef, 0xbb, 0xbf, ..] => true,
        [b'~', ..] => super::bytes::before(block, at).eq_ignore_ascii_case(&b'q'),
        _ => false,
    }
}

/// How long the words are in the search for long runs, in bytes, and how far they are apart.
const WORD: usize = 8;
const STRIDE: usize = 2 * WORD;
/// Shortest run that is found: wherever it begins, it covers a word.
pub(super) const LONG: usize = STRIDE + WORD - 1;

/// Returns where a run of 23 or more letters, digits, `_` and `-`, among them a digit, begins
/// at or after `from`.
pub(super) fn first_long_run(block: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    let mut rest = block.get(from..)?;
    while let Some(word) = rest.first_chunk::<WORD>() {
        // Most of a text has no long run: four words at once are passed over without a branch
        // between them.
        if let Some(four) = rest.first_chunk::<{ 4 * STRIDE }>()
            && !any_is_run_word(four)
        {
            at += 4 * STRIDE;
            rest = rest.get(4 * STRIDE..).unwrap_or_default();
            continue;
        }
        let mut next = at + STRIDE;
        if is_run_word(u64::from_le_bytes(*word)) {
            let start = super::bytes::run_start(block, at, is_run).max(from);
            let end = super::bytes::run_end(block, at + WORD, is_run);
            let run = super::bytes::part(block, start, end);
            if run.len() >= LONG && run.iter().any(u8::is_ascii_digit) {
                return Some(start);
            }
            // The next run begins behind this one.
            next = next.max(end);
        }
        rest = rest.get(next - at..).unwrap_or_default();
        at = next;
    }
    None
}

const fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Says whether one of the four words that stand a stride apart is one of a run. Written without
/// branches, so that it becomes vector code.
fn any_is_run_word(four: &[u8; 4 * STRIDE]) -> bool {
    let (strides, _) = four.as_chunks::<STRIDE>();
    let mut words = [0; 4 * WORD];
    for (to, stride) in words.chunks_exact_mut(WORD).zip(strides) {
        to.copy_from_slice(stride.first_chunk::<WORD>().unwrap_or(&[0; WORD]));
    }
    let mut belongs = [0; 4 * WORD];
    for (to, byte) in belongs.iter_mut().zip(&words) {
        *to = u8::from((byte | 0x20).wrapping_sub(b'a') < 26)
            | u8::from(byte.wrapping_sub(b'0') < 10)
            | u8::from(*byte == b'_')
            | u8::from(*byte == b'-');
    }
    let (words, _) = belongs.as_chunks::<WORD>();
    words
        .iter()
        .fold(false, |any, word| any | (*word == [1; WORD]))
}

/// Says whether all eight bytes belong to a run.
fn is_run_word(word: u64) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    // Bytes have their high bit set in these where they lie in the range; none is above 0x7f,
    // so that no sum carries into the next byte.
    let seven = word & !HIGH;
    let within = |bytes: u64, first: u64, last: u64| {
        (bytes + (0x80 - first) * EACH) & !(bytes + (0x7f - last) * EACH)
    };
    let letter = within(seven | (0x20 * EACH), 0x61, 0x7a);
    let digit = within(seven, 0x30, 0x39);
    let others = within(seven, 0x2d, 0x2d) | within(seven, 0x5f, 0x5f);
    (letter | digit | others) & !word & HIGH == HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_run_holds_nothing_else() {
        for byte in 0..=u8::MAX {
            for place in 0..WORD {
                let mut word = *b"aZ09_-xY";
                word[place] = byte;
                assert_eq!(
                    is_run_word(u64::from_le_bytes(word)),
                    is_run(byte),
                    "{byte} {place}"
                );
            }
        }
    }

    #[test]
    fn a_stride_without_a_word_of_a_run_is_passed_over_and_no_other() {
        for byte in 0..=u8::MAX {
            for place in 0..4 * STRIDE {
                let mut four = [b' '; 4 * STRIDE];
                let word = place / STRIDE * STRIDE;
                four[word..word + WORD].copy_from_slice(b"aZ09_-xY");
                four[place] = byte;
                let holds = four[word..word + WORD].iter().all(|byte| is_run(*byte));
                assert_eq!(any_is_run_word(&four), holds, "{byte} {place}");
            }
        }
    }

    #[test]
    fn a_long_run_is_found_wherever_it_begins() {
        for before in ["", "x", "x y", "abcdefgh ", "abcdefghijkl-"] {
            for offset in 0..30 {
                for length in 20..60 {
                    let blanks = " ".repeat(offset);
                    let run = "ab".repeat(length / 2) + &"1".repeat(length % 2 + 1);
                    let block = format!("{before}{blanks} {run}\n");
                    let found = first_long_run(block.as_bytes(), 0);
                    let place = before.len() + offset + 1;
                    assert_eq!(found, (run.len() >= LONG).then_some(place), "{block}");
                }
            }
        }
        assert_eq!(first_long_run(b"a line without any of them 1\n", 0), None);
    }

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
