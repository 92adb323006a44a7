//! The shapes for which a line is looked at, in one pass: what changes how it reads, long runs
//! of letters and digits, and long runs of random base64.
//!
//! It does not say which of them it found; texts are found by `look`.

use super::armour::{self, is_armour, is_random};
use super::bytes::{before, part, run_end, run_start};
use crate::lanes::{self, CHUNK, Lanes, Set, WORD};
use crate::text::SEAM_BYTE;

/// Shortest run that is found: wherever it begins, it covers two words.
pub(super) const LONG: usize = 3 * WORD - 1;
// As long a run of base64 covers four.
const _: () = assert!(armour::LONG == 5 * WORD - 1, "four words are covered");

/// The last word of the chunk before, from which on words and what follows them may be of a run
/// that reaches into a chunk.
const LAST: usize = CHUNK / WORD - 1;

/// Returns a place in the first line that holds, at or after `from`, an escape, a seam, a backspace, a
/// character without width, the ending `q~`, a run of 23 or more letters, digits, `_` and `-`
/// with a digit among them, or a random run of 39 or more characters of base64.
pub(super) fn first_shape(block: &[u8], from: usize) -> Option<usize> {
    let (chunks, rest) = block.get(from..)?.as_chunks::<CHUNK>();
    let mut sweep = Sweep::new(block, from);
    let mut at = from;
    for chunk in chunks {
        let found = sweep.step(chunk, at);
        if found.is_some() {
            return found;
        }
        at += CHUNK;
    }
    sweep.step(&lanes::padded(rest, 0), at)
}

/// Which words of a chunk may belong to a run, or to base64, whole, the first in the lowest bit.
#[derive(Clone, Copy)]
struct Words {
    runs: u8,
    base64: u8,
}

/// One pass over a block.
struct Sweep<'a> {
    block: &'a [u8],
    from: usize,
    /// Which words of the last chunk may belong to a run or to base64 whole, the first in the
    /// lowest bit.
    full: u8,
    /// The same for each, where it was asked for.
    words: Option<Words>,
    /// Where the newest run ends that was judged.
    run_end: usize,
    armour_end: usize,
}

impl<'a> Sweep<'a> {
    fn new(block: &'a [u8], from: usize) -> Self {
        Self {
            block,
            from,
            full: 0,
            words: None,
            run_end: 0,
            armour_end: 0,
        }
    }

    /// Looks at the chunk that stands at `at`.
    #[inline(always)]
    fn step(&mut self, chunk: &[u8; CHUNK], at: usize) -> Option<usize> {
        let before = self.full;
        self.full = lanes::words(chunk, runs_or_base64);
        let odd = lanes::any(chunk, suspects)
            .then(|| self.odd_in(at))
            .flatten();
        // Few chunks hold more than short words.
        if !covered(before, self.full, LONG) {
            self.words = None;
            return odd;
        }
        let run = self.run_in(chunk, at);
        odd.into_iter().chain(run).min()
    }

    #[cold]
    fn odd_in(&self, at: usize) -> Option<usize> {
        (at..at + CHUNK).find(|at| is_odd(self.block, *at))
    }

    /// Returns where the first long run begins that reaches into the chunk at `at`.
    fn run_in(&mut self, chunk: &[u8; CHUNK], at: usize) -> Option<usize> {
        let last = self.block.get(..at).and_then(<[u8]>::last_chunk);
        let last = last.unwrap_or(&[0; CHUNK]);
        let before = self.words.unwrap_or_else(|| Words::of(last));
        let words = Words::of(chunk);
        self.words = Some(words);
        let run = match covered(before.runs, words.runs, LONG) {
            true => long_in(last, chunk, at, LONG, runs).find_map(|place| self.run_around(place)),
            false => None,
        };
        if !covered(before.base64, words.base64, armour::LONG) {
            return run;
        }
        let mut long = long_in(last, chunk, at, armour::LONG, base64);
        let armour = long.find_map(|place| self.armour_around(place));
        run.into_iter().chain(armour).min()
    }

    /// Returns where the run begins that a place belongs to, where it is one to be found.
    fn run_around(&mut self, place: usize) -> Option<usize> {
        if place < self.run_end {
            return None;
        }
        let start = run_start(self.block, place, is_run).max(self.from);
        self.run_end = run_end(self.block, place + LONG, is_run);
        let run = part(self.block, start, self.run_end);
        (run.len() >= LONG && run.iter().any(u8::is_ascii_digit)).then_some(start)
    }

    fn armour_around(&mut self, place: usize) -> Option<usize> {
        if place < self.armour_end {
            return None;
        }
        let start = run_start(self.block, place, is_armour).max(self.from);
        self.armour_end = run_end(self.block, place + armour::LONG, is_armour);
        let run = part(self.block, start, self.armour_end);
        (run.len() >= armour::LONG && is_random(run)).then_some(start)
    }
}

impl Words {
    fn of(chunk: &[u8; CHUNK]) -> Self {
        Self {
            runs: lanes::words(chunk, runs),
            base64: lanes::words(chunk, base64),
        }
    }
}

/// Says whether a run of at least `length` bytes may reach into a chunk, by the full words of the
/// chunk before it and its own: wherever it begins, it covers all but one of the words that it is
/// as long as.
#[inline(always)]
fn covered(before: u8, words: u8, length: usize) -> bool {
    let words = u16::from_le_bytes([before, words]);
    let covered = (1..length / WORD).fold(words, |covered, step| covered & (words << step));
    covered >> LAST != 0
}

/// Returns where runs of a set of at least `length` bytes begin that reach into the chunk at `at`,
/// behind the chunk before it.
fn long_in(
    before: &[u8; CHUNK],
    chunk: &[u8; CHUNK],
    at: usize,
    length: usize,
    set: fn(Lanes) -> Set,
) -> impl Iterator<Item = usize> {
    let (before, now) = long((lanes::bits(before, set), lanes::bits(chunk, set)), length);
    // What begins earlier was judged with the chunk before.
    let reaches = u64::MAX << (CHUNK + 1 - length);
    let before = begins(before & reaches, at.saturating_sub(CHUNK));
    before.chain(begins(now, at))
}

/// Returns the bits at which so many set ones begin, of two words.
fn long(bits: (u64, u64), length: usize) -> (u64, u64) {
    let ((mut before, mut now), mut known) = (bits, 1);
    while known < length {
        let step = known.min(length - known);
        before &= before >> step | now << (CHUNK - step);
        now &= now >> step;
        known += step;
    }
    (before, now)
}

/// Returns where the bits begin that are set side by side, counted from `base`.
fn begins(bits: u64, base: usize) -> impl Iterator<Item = usize> {
    let mut left = bits & !(bits << 1);
    std::iter::from_fn(move || {
        let bit = usize::try_from(left.trailing_zeros()).ok()?;
        (left != 0).then(|| {
            left &= left - 1;
            base + bit
        })
    })
}

/// What runs are made of.
#[inline(always)]
fn runs(part: Lanes) -> Set {
    plain(part).or(part.is(b'_').or(part.is(b'-')))
}

/// What base64 is made of.
#[inline(always)]
fn base64(part: Lanes) -> Set {
    plain(part).or(part.is(b'+').or(part.is(b'/')))
}

#[inline(always)]
fn plain(part: Lanes) -> Set {
    part.letters().or(part.within(b'0', 9))
}

/// What runs or base64 are made of.
#[inline(always)]
fn runs_or_base64(part: Lanes) -> Set {
    // The digits follow the stroke.
    let digits = part.within(b'/', 10);
    let marks = part.is(b'_').or(part.is(b'-').or(part.is(b'+')));
    part.letters().or(digits).or(marks)
}

/// What may be odd.
#[inline(always)]
fn suspects(part: Lanes) -> Set {
    let above = part.within(b'~', 0xff - b'~');
    // The escape follows the seam.
    above.or(part.within(SEAM_BYTE, 1).or(part.is(8)))
}

const fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_odd(block: &[u8], at: usize) -> bool {
    let rest = block.get(at..).unwrap_or_default();
    match rest {
        [SEAM_BYTE | 0x1b | 8, ..]
        | [0xc2, 0xad, ..]
        | [0xe2, 0x80, 0x8b..=0x8d, ..]
        | [0xe2, 0x81, 0xa0, ..]
        | [0xef, 0xbb, 0xbf, ..] => true,
        [b'~', ..] => before(block, at).eq_ignore_ascii_case(&b'q'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_nothing_but_its_class() {
        for byte in 0..=u8::MAX {
            for place in 0..CHUNK {
                let mut chunk =
                    *b"aZ09bcxYaZ09bcxYaZ09bcxYaZ09bcxYaZ09bcxYaZ09bcxYaZ09bcxYaZ09bcxY";
                chunk[place] = byte;
                let word = 1 << (place / WORD);
                let without = |belongs: bool| if belongs { 0xff } else { 0xff ^ word };
                let of = |set: fn(Lanes) -> Set| lanes::words(&chunk, set);
                assert_eq!(of(runs), without(is_run(byte)), "{byte} {place}");
                assert_eq!(of(base64), without(is_armour(byte)), "{byte} {place}");
                let is_either = is_run(byte) || is_armour(byte);
                assert_eq!(of(runs_or_base64), without(is_either), "{byte} {place}");
            }
        }
    }

    #[test]
    fn a_long_run_is_found_wherever_it_begins() {
        for before in [
            "",
            "x",
            "x y",
            "abcdefgh ",
            "abcdefghijkl.",
            "only-letters-in-a-long-run ",
        ] {
            for offset in 0..70 {
                for length in 20..60 {
                    let blanks = " ".repeat(offset);
                    let run = "ab".repeat(length / 2) + &"1".repeat(length % 2 + 1);
                    let block = format!("{before}{blanks} {run}\n");
                    let found = first_shape(block.as_bytes(), 0);
                    let place = before.len() + offset + 1;
                    assert_eq!(found, (run.len() >= LONG).then_some(place), "{block}");
                }
            }
        }
        assert_eq!(first_shape(b"a line without any of them 1\n", 0), None);
    }

    #[test]
    fn random_base64_is_found_wherever_it_begins() {
        // No piece of it between two strokes is a long run.
        let body = "q7Xk2M9vR/tZ8b3WyH6p+d1S".repeat(3);
        for offset in 0..140 {
            for length in 30..body.len() {
                let run = body.get(..length).unwrap();
                let block = format!("{} {run} end\n", ".".repeat(offset));
                let found = first_shape(block.as_bytes(), 0);
                let is_long = run.len() >= armour::LONG;
                assert_eq!(found, is_long.then_some(offset + 1), "{block}");
            }
        }
    }

    #[test]
    fn the_first_line_that_holds_a_shape_is_told_whatever_follows() {
        let shapes = [
            "\u{1b}[1m".to_owned(),
            "\u{8}".to_owned(),
            "\u{1a}".to_owned(),
            "\u{200b}".to_owned(),
            "q~".to_owned(),
            "ab1".repeat(9),
            "q7Xk2M9vR/tZ8b3WyH6p+d1S".repeat(2),
        ];
        for first in &shapes {
            for second in &shapes {
                for lead in 0..80 {
                    let block = format!("{}\n {first} \nx\n{second}\n", "- ".repeat(lead));
                    let lines = 2 * lead + 1..2 * lead + 3 + first.len();
                    let found = first_shape(block.as_bytes(), 0);
                    assert!(found.is_some_and(|at| lines.contains(&at)), "{block}");
                    let last = lines.end;
                    let found = first_shape(block.as_bytes(), last);
                    assert!(found.is_some_and(|at| at >= last + 2), "{block}");
                }
            }
        }
    }
}
