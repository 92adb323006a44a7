//! Tells the classes of 64 bytes at once, in words of eight bytes.
//!
//! It does not know what the classes are good for. With the vectors of WebAssembly it takes a part
//! of the time; elsewhere, where only tests run, the compiler makes what vectors it can.

/// How many bytes are classed at once, and in words of how many they are looked at.
pub(super) const CHUNK: usize = 64;
pub(super) const WORD: usize = 8;

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) use self::vectors::{full_words, has_suspect, whole_words};

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(super) use self::bytewise::{full_words, has_suspect, whole_words};

// All of these stand in the loop over a block, which a call for every chunk would slow down.

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod vectors {
    use std::arch::wasm32::{
        i64x2_bitmask, i64x2_eq, i64x2_splat, u8x16_eq, u8x16_ge, u8x16_le, u8x16_splat, u8x16_sub,
        u64x2, v128, v128_any_true, v128_or,
    };

    use super::CHUNK;

    /// Returns which words of a chunk hold nothing but what runs and base64 are made of, the
    /// first in the lowest bit.
    #[inline(always)]
    pub(in super::super) fn full_words(chunk: &[u8; CHUNK]) -> u8 {
        words(chunk, |bytes| {
            // The digits follow the stroke.
            let digits = within(bytes, b'/', 10);
            let marks = either(is(bytes, b'_'), either(is(bytes, b'-'), is(bytes, b'+')));
            either(letters(bytes), either(digits, marks))
        })
    }

    /// Returns which words of a chunk belong to a run whole, and which to base64.
    #[inline(always)]
    pub(in super::super) fn whole_words(chunk: &[u8; CHUNK]) -> (u8, u8) {
        let plain = |bytes| either(letters(bytes), within(bytes, b'0', 9));
        let runs = words(chunk, |bytes| {
            either(plain(bytes), either(is(bytes, b'_'), is(bytes, b'-')))
        });
        let armour = words(chunk, |bytes| {
            either(plain(bytes), either(is(bytes, b'+'), is(bytes, b'/')))
        });
        (runs, armour)
    }

    /// Says whether one of the bytes may be odd.
    #[inline(always)]
    pub(in super::super) fn has_suspect(chunk: &[u8; CHUNK]) -> bool {
        let suspects = lanes(chunk).map(|bytes| {
            let above = u8x16_ge(bytes, u8x16_splat(b'~'));
            either(above, either(is(bytes, 0x1b), is(bytes, 8)))
        });
        let [first, second, third, fourth] = suspects;
        v128_any_true(either(either(first, second), either(third, fourth)))
    }

    /// Returns which words are all in a class, the first in the lowest bit.
    #[inline(always)]
    fn words(chunk: &[u8; CHUNK], class: impl Fn(v128) -> v128) -> u8 {
        lanes(chunk).into_iter().rev().fold(0, |bits, bytes| {
            let full = i64x2_eq(class(bytes), i64x2_splat(-1));
            (bits << 2) | i64x2_bitmask(full)
        })
    }

    #[inline(always)]
    fn lanes(chunk: &[u8; CHUNK]) -> [v128; 4] {
        let (words, _) = chunk.as_chunks::<8>();
        let word = |at: usize| words.get(at).map_or(0, |word| u64::from_le_bytes(*word));
        [0, 2, 4, 6].map(|at| u64x2(word(at), word(at + 1)))
    }

    #[inline(always)]
    fn letters(bytes: v128) -> v128 {
        within(either(bytes, u8x16_splat(0x20)), b'a', 25)
    }

    /// Returns which bytes are at most `reach` above `first`.
    #[inline(always)]
    fn within(bytes: v128, first: u8, reach: u8) -> v128 {
        u8x16_le(u8x16_sub(bytes, u8x16_splat(first)), u8x16_splat(reach))
    }

    #[inline(always)]
    fn is(bytes: v128, byte: u8) -> v128 {
        u8x16_eq(bytes, u8x16_splat(byte))
    }

    #[inline(always)]
    fn either(one: v128, other: v128) -> v128 {
        v128_or(one, other)
    }
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod bytewise {
    use super::{CHUNK, WORD};

    /// Returns which words of a chunk hold nothing but what runs and base64 are made of, the
    /// first in the lowest bit.
    #[inline(always)]
    pub(in super::super) fn full_words(chunk: &[u8; CHUNK]) -> u8 {
        // The digits follow the stroke.
        let is_digit = |byte: u8| byte.wrapping_sub(b'/') < 11;
        let is_mark = |byte: u8| (byte == b'_') | (byte == b'-') | (byte == b'+');
        words(chunk, |byte| {
            is_letter(byte) | is_digit(byte) | is_mark(byte)
        })
    }

    /// Returns which words of a chunk belong to a run whole, and which to base64.
    pub(in super::super) fn whole_words(chunk: &[u8; CHUNK]) -> (u8, u8) {
        let is_plain = |byte: u8| is_letter(byte) | (byte.wrapping_sub(b'0') < 10);
        let runs = words(chunk, |byte| {
            is_plain(byte) | (byte == b'_') | (byte == b'-')
        });
        let armour = words(chunk, |byte| {
            is_plain(byte) | (byte == b'+') | (byte == b'/')
        });
        (runs, armour)
    }

    /// Says whether one of the bytes may be odd.
    #[inline(always)]
    pub(in super::super) fn has_suspect(chunk: &[u8; CHUNK]) -> bool {
        let is_suspect = |byte: u8| (byte >= b'~') | (byte == 0x1b) | (byte == 8);
        chunk
            .iter()
            .fold(false, |any, byte| any | is_suspect(*byte))
    }

    #[inline(always)]
    fn is_letter(byte: u8) -> bool {
        (byte | 0x20).wrapping_sub(b'a') < 26
    }

    /// Returns which words are all in a class, the first in the lowest bit. The first loop has no
    /// branches, so that it becomes vector code.
    #[inline(always)]
    fn words(chunk: &[u8; CHUNK], class: impl Fn(u8) -> bool) -> u8 {
        let mut classes = [0; CHUNK];
        for (to, byte) in classes.iter_mut().zip(chunk) {
            *to = u8::from(class(*byte));
        }
        let (words, _) = classes.as_chunks::<WORD>();
        words
            .iter()
            .rev()
            .fold(0, |bits, word| (bits << 1) | u8::from(*word == [1; WORD]))
    }
}
