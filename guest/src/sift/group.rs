//! Groups of three bytes by which texts are found, two bytes at a time.
//!
//! Of every text, the four or five bytes that are rarest elsewhere make two groups, of which one
//! stands at an even place of the block; so every other place is enough to look at. With a group
//! goes the byte behind it, where the text has one. This says what may be there; whether the text
//! is, is looked up by whoever asks.

use std::collections::BinaryHeap;

use super::rarity::Rarity;

/// How many bytes one step looks at the beginnings of groups in, and how many it reads for that.
pub(super) const STRIDE: usize = 18;
pub(super) const SPAN: usize = STRIDE + 2;
/// How many steps are taken before what they met is looked at: as many as a word has bits.
const STEPS: usize = 64;

/// Makes the letters of both cases the same.
const FOLD: u32 = 0x2020_2020;
/// The hash of three bytes has so many bits; what one text meets of a table of as many entries
/// fits into the nearest caches of every common processor.
const BITS: u32 = 15;
/// So many of these bits lead to the list of groups.
const RANK_BITS: u32 = 10;

/// The groups of many texts.
#[derive(Debug)]
pub(super) struct Groups {
    /// By the hash of three bytes, the kinds of bytes that may stand behind them.
    table: Box<[u16; 1 << BITS]>,
    /// How many groups come before those that begin with the same bits of the hash.
    ranks: Vec<u32>,
    groups: Vec<Group>,
    /// The texts of three bytes, which at an odd place are a group's last two and the byte behind.
    short: Vec<(u32, u32)>,
    /// Their hashes as bits, for a quick no.
    short_bits: u64,
}

/// A group by which a text is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    rank: usize,
    /// Three bytes, the first in the lowest bits, and the one behind.
    four: u32,
    /// Which of them count.
    mask: u32,
    text: u32,
    /// How many bytes before the group's second byte the text starts.
    back: u32,
}

/// What some steps met.
pub(super) struct Steps {
    /// How many there were.
    pub(super) count: usize,
    /// Which of them met what may be a group, the first in the lowest bit.
    pub(super) with_any: u64,
}

impl Groups {
    /// Learns the groups of the texts, which are told by their places in this order.
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut groups = Self {
            table: Box::new([0; 1 << BITS]),
            ranks: Vec::new(),
            groups: Vec::new(),
            short: Vec::new(),
            short_bits: 0,
        };
        let rarity = Rarity::default();
        for (number, text) in (0..).zip(texts) {
            groups.learn(number, rarity.rarest(text));
        }
        // A heap sorts with a fraction of the code of a sort.
        let heap = BinaryHeap::from(std::mem::take(&mut groups.groups));
        groups.groups = heap.into_sorted_vec();
        groups.ranks = (0..=1 << RANK_BITS)
            .map(|rank| groups.groups.partition_point(|group| group.rank < rank))
            .map(|rank| u32::try_from(rank).unwrap_or(u32::MAX))
            .collect();
        groups
    }

    /// Learns the groups in the part of a text that starts at `offset`.
    fn learn(&mut self, number: u32, (offset, part): (usize, &[u8])) {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        match *part {
            [a, b, c] => {
                self.add([a, b, c, 0], 0x00ff_ffff, number, 1);
                let three = fold([a, b, c, 0]) & 0x00ff_ffff;
                self.short.push((three, number));
                self.short_bits |= short_bit(three);
                for before in 0..=u8::MAX {
                    self.allow(fold([before, a, b, c]), u32::MAX);
                }
            }
            [a, b, c, d] => {
                self.add([a, b, c, d], u32::MAX, number, offset + 1);
                self.add([b, c, d, 0], 0x00ff_ffff, number, offset + 2);
            }
            [a, b, c, d, e] => {
                self.add([a, b, c, d], u32::MAX, number, offset + 1);
                self.add([b, c, d, e], u32::MAX, number, offset + 2);
            }
            _ => {}
        }
    }

    fn add(&mut self, four: [u8; 4], mask: u32, text: u32, back: u32) {
        let four = fold(four) & mask;
        self.allow(four, mask);
        self.groups.push(Group {
            rank: rank(hash(four)),
            four,
            mask,
            text,
            back,
        });
    }

    fn allow(&mut self, four: u32, mask: u32) {
        let kinds = if mask == u32::MAX {
            1 << kind(four)
        } else {
            u16::MAX
        };
        if let Some(entry) = self.table.get_mut(hash(four)) {
            *entry |= kinds;
        }
    }

    /// Looks at the next steps of a block of which at least one step is left.
    pub(super) fn steps_with_any(&self, block: &[u8]) -> Steps {
        let mut steps = Steps {
            count: 0,
            with_any: 0,
        };
        let mut rest = block;
        while let Some(span) = rest.first_chunk::<SPAN>()
            && steps.count < STEPS
        {
            // Without a branch on what is met, the look-ups of many steps overlap.
            let met = fours(span)
                .into_iter()
                .fold(0, |met, four| met | self.look(four));
            steps.with_any |= u64::from(met & 1) << steps.count;
            steps.count += 1;
            rest = rest.get(STRIDE..).unwrap_or_default();
        }
        steps
    }

    /// Calls `found` for each group in these bytes with its place, its text, and how many bytes
    /// before its second byte the text starts.
    #[inline(always)]
    pub(super) fn each(&self, span: &[u8; SPAN], mut found: impl FnMut(usize, usize, usize)) {
        let fours = fours(span);
        // Most often there is one, and a loop over what is there guesses its end right.
        let met = fours.iter().rev();
        let mut left = met.fold(0_u32, |met, four| met << 1 | (self.look(*four) & 1));
        while left != 0 {
            let index = wide(left.trailing_zeros());
            left &= left - 1;
            if let Some(four) = fours.get(index) {
                self.each_of(*four, |text, back| found(2 * index, text, back));
            }
        }
    }

    /// Calls `found` for each text that these four bytes belong to.
    #[inline(always)]
    fn each_of(&self, four: u32, mut found: impl FnMut(usize, usize)) {
        let rank = rank(hash(four));
        let range = match self.ranks.get(rank..rank + 2) {
            Some([from, until]) => wide(*from)..wide(*until),
            _ => 0..0,
        };
        for group in self.groups.get(range).unwrap_or_default() {
            if (four ^ group.four) & group.mask == 0 {
                found(wide(group.text), wide(group.back));
            }
        }
        if self.short_bits & short_bit(four >> 8) != 0 {
            for (_, text) in self.short.iter().filter(|(three, _)| *three == four >> 8) {
                found(wide(*text), 0);
            }
        }
    }

    /// Returns in the lowest bit whether these may be a group with a byte of a kind that may stand
    /// behind it.
    #[inline(always)]
    fn look(&self, four: u32) -> u32 {
        let kinds = self.table.get(hash(four)).copied().unwrap_or(0);
        u32::from(kinds) >> kind(four)
    }
}

/// Returns the four bytes from every even place on.
#[inline(always)]
fn fours(span: &[u8; SPAN]) -> [u32; STRIDE / 2] {
    let ([first, second, third, fourth, last], _) = span.as_chunks::<4>() else {
        return [0; STRIDE / 2];
    };
    let [first, second, third, fourth, last] =
        [first, second, third, fourth, last].map(|bytes| fold(*bytes));
    let between = |low: u32, high: u32| low >> 16 | high << 16;
    [
        first,
        between(first, second),
        second,
        between(second, third),
        third,
        between(third, fourth),
        fourth,
        between(fourth, last),
        last,
    ]
}

#[inline(always)]
fn fold(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes) | FOLD
}

/// Of many factors, one whose hashes tell the groups apart best from those of ordinary logs.
const FACTOR: u32 = 0xcf21_372d;

/// Returns the hash of the three bytes in the lower bits, which the fourth does not reach.
#[inline(always)]
fn hash(four: u32) -> usize {
    let hash = (four.wrapping_mul(FACTOR) >> (24 - BITS)) & ((1 << BITS) - 1);
    wide(hash)
}

/// Returns which of sixteen kinds the fourth byte is of, behind the three before it.
#[inline(always)]
fn kind(four: u32) -> u32 {
    four.wrapping_mul(FACTOR) >> 28
}

/// Returns one of 64 bits for three bytes.
fn short_bit(three: u32) -> u64 {
    1 << (three.wrapping_mul(0x9e37_79b1) >> 26)
}

fn wide(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn rank(hash: usize) -> usize {
    hash >> (BITS - RANK_BITS)
}
