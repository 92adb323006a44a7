//! Sets of bytes in chunks of 64, found sixteen at a time.
//!
//! It does not know what a set is good for. With the vectors of WebAssembly it takes a part of the
//! time; elsewhere, where only tests run, the compiler makes what vectors it can.

/// How many bytes are looked at at once: as many as a word has bits.
pub(crate) const CHUNK: usize = 64;
/// A chunk holds eight words of so many bytes.
pub(crate) const WORD: usize = 8;

// All of these stand in loops over blocks, which a call for every chunk would slow down.

/// Returns which bytes of a chunk belong to a set, the first in the lowest bit.
#[inline(always)]
pub(crate) fn bits(chunk: &[u8; CHUNK], set: impl Fn(Lanes) -> Set) -> u64 {
    let [first, second, third, fourth] = parts(chunk);
    let bits = |part| u64::from(set(part).bits());
    bits(first) | bits(second) << 16 | bits(third) << 32 | bits(fourth) << 48
}

/// Says whether any byte of a chunk belongs to a set.
#[inline(always)]
pub(crate) fn any(chunk: &[u8; CHUNK], set: impl Fn(Lanes) -> Set) -> bool {
    let [first, second, third, fourth] = parts(chunk);
    let halves = (set(first).or(set(second)), set(third).or(set(fourth)));
    halves.0.or(halves.1).any()
}

/// Returns which words of a chunk belong to a set whole, the first in the lowest bit.
#[inline(always)]
pub(crate) fn words(chunk: &[u8; CHUNK], set: impl Fn(Lanes) -> Set) -> u8 {
    let [first, second, third, fourth] = parts(chunk);
    let words = |part| set(part).words();
    words(first) | words(second) << 2 | words(third) << 4 | words(fourth) << 6
}

/// Returns the last bytes of a block, which are less than a chunk, and `filling` behind them.
pub(crate) fn padded(rest: &[u8], filling: u8) -> [u8; CHUNK] {
    let mut chunk = [filling; CHUNK];
    for (to, byte) in chunk.iter_mut().zip(rest) {
        *to = *byte;
    }
    chunk
}

#[inline(always)]
fn parts(chunk: &[u8; CHUNK]) -> [Lanes; 4] {
    let (words, _) = chunk.as_chunks::<WORD>();
    let word = |at: usize| words.get(at).map_or(0, |word| u64::from_le_bytes(*word));
    let part = |at: usize| Lanes::new(word(at), word(at + 1));
    [part(0), part(2), part(4), part(6)]
}

impl Lanes {
    /// Returns where the letters are, in either case.
    #[inline(always)]
    pub(crate) fn letters(self) -> Set {
        self.folded().within(b'a', 25)
    }
}

pub(crate) use self::machine::{Lanes, Set};

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod machine {
    use std::arch::wasm32::{
        i64x2_bitmask, i64x2_eq, i64x2_splat, u8x16_bitmask, u8x16_eq, u8x16_le, u8x16_splat,
        u8x16_sub, u64x2, v128, v128_any_true, v128_or,
    };

    /// Sixteen bytes.
    #[derive(Clone, Copy)]
    pub(crate) struct Lanes(v128);

    /// Which of sixteen bytes belong to a set.
    #[derive(Clone, Copy)]
    pub(crate) struct Set(v128);

    impl Lanes {
        #[inline(always)]
        pub(super) fn new(first: u64, second: u64) -> Self {
            Self(u64x2(first, second))
        }

        /// Returns the same with the letters of both cases made one, and other bytes with them.
        #[inline(always)]
        pub(crate) fn folded(self) -> Self {
            Self(v128_or(self.0, u8x16_splat(0x20)))
        }

        /// Returns where a byte is.
        #[inline(always)]
        pub(crate) fn is(self, byte: u8) -> Set {
            Set(u8x16_eq(self.0, u8x16_splat(byte)))
        }

        /// Returns where a byte is that is at most `reach` above `first`.
        #[inline(always)]
        pub(crate) fn within(self, first: u8, reach: u8) -> Set {
            let above = u8x16_sub(self.0, u8x16_splat(first));
            Set(u8x16_le(above, u8x16_splat(reach)))
        }
    }

    impl Set {
        /// Returns both together.
        #[inline(always)]
        pub(crate) fn or(self, other: Self) -> Self {
            Self(v128_or(self.0, other.0))
        }

        #[inline(always)]
        pub(super) fn bits(self) -> u16 {
            u8x16_bitmask(self.0)
        }

        #[inline(always)]
        pub(super) fn any(self) -> bool {
            v128_any_true(self.0)
        }

        #[inline(always)]
        pub(super) fn words(self) -> u8 {
            i64x2_bitmask(i64x2_eq(self.0, i64x2_splat(-1)))
        }
    }
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod machine {
    /// Sixteen bytes.
    #[derive(Clone, Copy)]
    pub(crate) struct Lanes([u8; 16]);

    /// Which of sixteen bytes belong to a set.
    #[derive(Clone, Copy)]
    pub(crate) struct Set([bool; 16]);

    impl Lanes {
        #[inline(always)]
        pub(super) fn new(first: u64, second: u64) -> Self {
            let both = u128::from(first) | u128::from(second) << 64;
            Self(both.to_le_bytes())
        }

        /// Returns the same with the letters of both cases made one, and other bytes with them.
        #[inline(always)]
        pub(crate) fn folded(self) -> Self {
            Self(self.0.map(|byte| byte | 0x20))
        }

        /// Returns where a byte is.
        #[inline(always)]
        pub(crate) fn is(self, byte: u8) -> Set {
            Set(self.0.map(|here| here == byte))
        }

        /// Returns where a byte is that is at most `reach` above `first`.
        #[inline(always)]
        pub(crate) fn within(self, first: u8, reach: u8) -> Set {
            Set(self.0.map(|byte| byte.wrapping_sub(first) <= reach))
        }
    }

    impl Set {
        /// Returns both together.
        #[inline(always)]
        pub(crate) fn or(self, other: Self) -> Self {
            let mut both = self.0;
            for (one, other) in both.iter_mut().zip(other.0) {
                *one |= other;
            }
            Self(both)
        }

        #[inline(always)]
        pub(super) fn bits(self) -> u16 {
            let bits = self.0.iter().rev();
            bits.fold(0, |bits, one| bits << 1 | u16::from(*one))
        }

        #[inline(always)]
        pub(super) fn any(self) -> bool {
            self.0.contains(&true)
        }

        #[inline(always)]
        pub(super) fn words(self) -> u8 {
            let (words, _) = self.0.as_chunks::<{ super::WORD }>();
            let full = words.iter().map(|word| !word.contains(&false));
            full.rev().fold(0, |bits, full| bits << 1 | u8::from(full))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_its_bytes_and_no_others_wherever_they_stand() {
        for byte in 0..=u8::MAX {
            for place in 0..CHUNK {
                let mut chunk = [b'.'; CHUNK];
                chunk[place] = byte;
                let bit = 1_u64 << place;
                let told = |is_in: bool| if is_in { bit } else { 0 };
                let of = |set: fn(Lanes) -> Set| bits(&chunk, set);
                assert_eq!(of(|part| part.is(b'k')), told(byte == b'k'), "{byte}");
                let digits = of(|part| part.within(b'0', 9));
                assert_eq!(digits, told(byte.is_ascii_digit()), "{byte}");
                let letters = of(Lanes::letters);
                assert_eq!(letters, told(byte.is_ascii_alphabetic()), "{byte}");
                let high = any(&chunk, |part| part.within(0x80, 0x7f));
                assert_eq!(high, !byte.is_ascii(), "{byte}");
                let dots = words(&chunk, |part| part.is(b'.').or(part.is(b':')));
                let is_whole = matches!(byte, b'.' | b':');
                let without = if is_whole { 0 } else { 1 << (place / WORD) };
                assert_eq!(dots, 0xff ^ without, "{byte}");
            }
        }
    }
}
