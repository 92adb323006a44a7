//! Finds every text of a list wherever it stands in a line, by its first two bytes.
//!
//! It is made for many texts and few lines; whole blocks are searched by `sift`.

use std::collections::BinaryHeap;

const BITS: u32 = 12;
/// Makes the letters of both cases the same.
const FOLD: u32 = 0x2020_2020;

/// A list of texts to be found.
#[derive(Debug)]
pub(super) struct Starts {
    /// How many entries come before those of each hash, and how many there are.
    ranks: Vec<u32>,
    /// In the order of their hashes.
    entries: Vec<Entry>,
    texts: Vec<Box<[u8]>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    hash: u16,
    number: u32,
    /// The first bytes of the text, up to four, in the form that is the same in either case.
    head: u32,
    /// Which bytes of `head` count.
    mask: u32,
}

impl Starts {
    /// Prepares the search; the case of letters counts.
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Self {
        let texts: Vec<Box<[u8]>> = texts.map(Box::from).collect();
        // A heap sorts with a fraction of the code of a sort.
        let mut entries = BinaryHeap::with_capacity(texts.len());
        for (number, text) in (0..).zip(&texts) {
            let (head, mask) = head_and_mask(text);
            let entry = |first, second| Entry {
                hash: hash(first, second),
                number,
                head,
                mask,
            };
            match **text {
                [] => {}
                // Whatever comes next, or nothing, belongs to a single byte.
                [only] => entries.extend((0..=u8::MAX).map(|next| entry(only, next))),
                [first, second, ..] => entries.push(entry(first, second)),
            }
        }
        let mut entries = entries.into_sorted_vec();
        entries.dedup();
        let ranks = (0..=1 << BITS)
            .map(|hash| entries.partition_point(|entry| entry.hash < hash))
            .map(|rank| u32::try_from(rank).unwrap_or(u32::MAX))
            .collect();
        Self {
            ranks,
            entries,
            texts,
        }
    }

    /// Calls `found` with the start, the end and the number of every text in the line: by start,
    /// and by number where several start at one place.
    pub(super) fn each(&self, line: &[u8], mut found: impl FnMut(usize, usize, u32)) {
        // The byte at hand is the lowest of four; behind the end there are zeros.
        let ahead = line.iter().skip(3).chain(&[0; 3]);
        let mut four = line
            .iter()
            .take(3)
            .zip([0, 8, 16])
            .fold(0, |four, (byte, shift)| four | (u32::from(*byte) << shift));
        for (start, next) in ahead.take(line.len()).enumerate() {
            four |= u32::from(*next) << 24;
            let folded = four | FOLD;
            for entry in self.of(hash_of(folded)) {
                if folded & entry.mask == entry.head
                    && let Some(end) = self.end(line, start, entry.number)
                {
                    found(start, end, entry.number);
                }
            }
            four >>= 8;
        }
    }

    fn of(&self, hash: u16) -> &[Entry] {
        let hash = usize::from(hash);
        let Some([from, until]) = self.ranks.get(hash..hash + 2) else {
            return &[];
        };
        if from == until {
            return &[];
        }
        self.entries
            .get(index(*from)..index(*until))
            .unwrap_or_default()
    }

    fn end(&self, line: &[u8], start: usize, number: u32) -> Option<usize> {
        let text = self.texts.get(index(number))?;
        let end = start + text.len();
        (line.get(start..end)? == &**text).then_some(end)
    }
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns the first bytes of a text, folded, and a mask of as many bytes.
fn head_and_mask(text: &[u8]) -> (u32, u32) {
    let bytes = text.iter().take(4).zip([0, 8, 16, 24]);
    bytes.fold((0, 0), |(head, mask), (byte, shift)| {
        let byte = u32::from(*byte | 0x20);
        (head | (byte << shift), mask | (0xff << shift))
    })
}

fn hash(first: u8, second: u8) -> u16 {
    hash_of(u32::from_le_bytes([first, second, 0, 0]) | FOLD)
}

/// Returns the hash of the lower two bytes.
fn hash_of(folded: u32) -> u16 {
    let hash = (folded << 16).wrapping_mul(0x9e37_79b1) >> (32 - BITS);
    u16::try_from(hash).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(starts: &Starts, line: &str) -> Vec<(usize, usize, u32)> {
        let mut all = Vec::new();
        starts.each(line.as_bytes(), |start, end, number| {
            all.push((start, end, number));
        });
        all
    }

    #[test]
    fn every_text_is_found_where_it_stands_in_its_case() {
        let texts = ["a", "Ab", "ABC", "."].map(str::as_bytes);
        let starts = Starts::new(texts.into_iter());
        assert_eq!(
            all(&starts, ".ABCaAb"),
            [(0, 1, 3), (1, 4, 2), (4, 5, 0), (5, 7, 1)]
        );
        assert!(all(&starts, "aB abc")[1..] == [(3, 4, 0)]);
    }
}
