//! The shapes for which a line is looked at, in one pass: what changes how it reads, long runs
//! of letters and digits, and long runs of random base64.
//!
//! It does not say which of them it found; texts are found by `look`.

use super::armour::{self, is_armour, is_random};
use super::bytes::{before, part, run_end, run_start};
use super::classes::{CHUNK, WORD, full_words, has_suspect, whole_words};

/// Shortest run that is found: wherever it begins, it covers two words.
pub(super) const LONG: usize = 3 * WORD - 1;
// As long a run of base64 covers four.
const _: () = assert!(armour::LONG == 5 * WORD - 1, "four words are covered");

/// Returns a place in the first line that holds, at or after `from`, an escape, a backspace, a
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
    let mut last = [0; CHUNK];
    for (to, byte) in last.iter_mut().zip(rest) {
        *to = *byte;
    }
    sweep.step(&last, at)
}

/// One pass over a block.
struct Sweep<'a> {
    block: &'a [u8],
    from: usize,
    /// Which words of the last chunk may belong to a run whole, the first in the lowest bit.
    full: u8,
    /// The words of the last chunk that was looked at with care.
    words: Words,
    /// Where the newest run ends that was judged.
    run_end: usize,
    armour_end: usize,
}

/// Which words of a chunk belong to a run whole, the first in the lowest bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Words {
    /// Where the chunk ends.
    end: usize,
    runs: u8,
    /// The same for base64.
    armour: u8,
}

impl<'a> Sweep<'a> {
    fn new(block: &'a [u8], from: usize) -> Self {
        Self {
            block,
            from,
            full: 0,
            words: Words {
                end: from,
                ..Words::default()
            },
            run_end: 0,
            armour_end: 0,
        }
    }

    /// Looks at the chunk that stands at `at`.
    #[inline(always)]
    fn step(&mut self, chunk: &[u8; CHUNK], at: usize) -> Option<usize> {
        let full = full_words(chunk);
        let wide = (u16::from(full) << 8) | u16::from(self.full);
        let has_pair = (wide & (wide << 1)) >> 8 != 0;
        self.full = full;
        let odd = has_suspect(chunk).then(|| self.odd_in(at)).flatten();
        // Few chunks hold more than short words.
        if !has_pair {
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
        let before = match self.words.end == at {
            true => self.words,
            false => self.words_before(at),
        };
        let words = Words::of(chunk, at);
        self.words = words;
        let wide = (u16::from(words.runs) << 8) | u16::from(before.runs);
        let runs = wide & (wide << 1);
        let wide = (u16::from(words.armour) << 8) | u16::from(before.armour);
        let pairs = wide & (wide << 1);
        let armour = pairs & (pairs << 2);
        if (runs | armour) >> 8 == 0 {
            return None;
        }
        let run = words_of(runs, at).find_map(|word| self.run_around(word));
        let armour = words_of(armour, at).find_map(|word| self.armour_around(word));
        run.into_iter().chain(armour).min()
    }

    /// Looks at the chunk before the one at `at` again.
    fn words_before(&self, at: usize) -> Words {
        let before = self.block.get(..at).and_then(<[u8]>::last_chunk);
        let words = before.map(|chunk| Words::of(chunk, at - CHUNK));
        words.unwrap_or_default()
    }

    /// Returns where the run begins that the word belongs to, where it is one to be found.
    fn run_around(&mut self, word: usize) -> Option<usize> {
        if word < self.run_end {
            return None;
        }
        let start = run_start(self.block, word, is_run).max(self.from);
        self.run_end = run_end(self.block, word + WORD, is_run);
        let run = part(self.block, start, self.run_end);
        (run.len() >= LONG && run.iter().any(u8::is_ascii_digit)).then_some(start)
    }

    fn armour_around(&mut self, word: usize) -> Option<usize> {
        if word < self.armour_end {
            return None;
        }
        let start = run_start(self.block, word, is_armour).max(self.from);
        self.armour_end = run_end(self.block, word + WORD, is_armour);
        let run = part(self.block, start, self.armour_end);
        (run.len() >= armour::LONG && is_random(run)).then_some(start)
    }
}

/// Returns where the words stand whose bits are set in the upper half, of a chunk at `at`.
fn words_of(bits: u16, at: usize) -> impl Iterator<Item = usize> {
    (0..CHUNK / WORD)
        .filter(move |word| (bits >> (8 + word)) & 1 != 0)
        .map(move |word| at + word * WORD)
}

impl Words {
    /// Looks at the chunk at `at`.
    fn of(chunk: &[u8; CHUNK], at: usize) -> Self {
        let (runs, armour) = whole_words(chunk);
        Self {
            end: at + CHUNK,
            runs,
            armour,
        }
    }
}

const fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_odd(block: &[u8], at: usize) -> bool {
    let rest = block.get(at..).unwrap_or_default();
    match rest {
        [0x1b | 8, ..]
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
                let words = Words::of(&chunk, 0);
                assert_eq!(words.runs, without(is_run(byte)), "{byte} {place}");
                assert_eq!(words.armour, without(is_armour(byte)), "{byte} {place}");
                let either = is_run(byte) || is_armour(byte);
                assert_eq!(full_words(&chunk), without(either), "{byte} {place}");
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
