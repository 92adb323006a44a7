//! UTF-8 across reads: a character split between two reads is whole again, and every maximal
//! part that is not UTF-8 becomes one U+FFFD.
//!
//! It does not look at what the text says.

use simdutf8::compat::from_utf8;

/// Decodes the bytes of one stream.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The first bytes of a character whose rest has not come yet, at most three.
    partial: Vec<u8>,
    invalid_bytes: u64,
}

impl Decoder {
    /// Takes the next bytes and gives the text in them.
    pub fn push(&mut self, bytes: &[u8], mut give: impl FnMut(&str)) {
        let mut rest = bytes;
        while !self.partial.is_empty() {
            let Some((&byte, after)) = rest.split_first() else {
                return;
            };
            // A byte that cannot continue the character starts afresh, so it stays in `rest`.
            if self.continues(byte, &mut give) {
                rest = after;
            }
        }
        self.decode(rest, &mut give);
    }

    /// Gives what is left of a character that never became whole.
    pub fn finish(&mut self, mut give: impl FnMut(&str)) {
        if !self.partial.is_empty() {
            self.replace(self.partial.len(), &mut give);
            self.partial.clear();
        }
    }

    /// Returns how many bytes were not UTF-8.
    #[must_use]
    pub fn invalid_bytes(&self) -> u64 {
        self.invalid_bytes
    }

    fn continues(&mut self, byte: u8, give: &mut impl FnMut(&str)) -> bool {
        self.partial.push(byte);
        match std::str::from_utf8(&self.partial) {
            Ok(text) => {
                give(text);
                self.partial.clear();
                true
            }
            Err(error) if error.error_len().is_none() => true,
            Err(_) => {
                self.replace(self.partial.len().saturating_sub(1), give);
                self.partial.clear();
                false
            }
        }
    }

    fn decode(&mut self, bytes: &[u8], give: &mut impl FnMut(&str)) {
        let mut rest = bytes;
        // What is damaged every few bytes is not given in as many pieces.
        let mut mended = String::new();
        loop {
            let error = match from_utf8(rest) {
                Ok(text) if mended.is_empty() => {
                    if !text.is_empty() {
                        give(text);
                    }
                    return;
                }
                Ok(text) => {
                    mended.push_str(text);
                    break;
                }
                Err(error) => error,
            };
            let (valid, after) = rest
                .split_at_checked(error.valid_up_to())
                .unwrap_or_default();
            if let Ok(text) = from_utf8(valid) {
                mended.push_str(text);
            }
            let Some(length) = error.error_len() else {
                self.partial.extend_from_slice(after);
                break;
            };
            self.replace(length, &mut |replaced| mended.push_str(replaced));
            rest = after.get(length..).unwrap_or_default();
        }
        if !mended.is_empty() {
            give(&mended);
        }
    }

    fn replace(&mut self, bytes: usize, give: &mut impl FnMut(&str)) {
        self.invalid_bytes += u64::try_from(bytes).unwrap_or(u64::MAX);
        give("\u{fffd}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(reads: &[&[u8]]) -> (String, u64) {
        let mut decoder = Decoder::default();
        let mut text = String::new();
        for read in reads {
            decoder.push(read, |piece| text.push_str(piece));
        }
        decoder.finish(|piece| text.push_str(piece));
        (text, decoder.invalid_bytes())
    }

    #[test]
    fn a_character_split_between_reads_is_not_damage() {
        let bytes = "a€😀z".as_bytes();
        for cut in 0..=bytes.len() {
            assert_eq!(
                decode(&[&bytes[..cut], &bytes[cut..]]),
                ("a€😀z".to_owned(), 0)
            );
        }
    }

    #[test]
    fn every_cut_of_damaged_bytes_gives_what_the_library_gives_for_the_whole() {
        let bytes = b"a\xff\xe2\x82z\xf0\x9f\x98\xc3(\xed\xa0\x80\xf0\x9f";
        let whole = String::from_utf8_lossy(bytes).into_owned();
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let reads = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(decode(&reads), (whole.clone(), 12));
            }
        }
    }

    #[test]
    fn a_printed_replacement_character_is_not_counted() {
        assert_eq!(decode(&["\u{fffd}".as_bytes()]), ("\u{fffd}".to_owned(), 0));
    }
}
