//! Standard base64 with padding, for arguments that are not UTF-8.
//!
//! It accepts no other alphabet, no missing padding and no white space.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns the bytes as base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .chain([0, 0].iter())
            .take(3)
            .fold(0_u32, |word, byte| (word << 8) | u32::from(*byte));
        for place in 0..4_usize {
            if place > chunk.len() {
                text.push('=');
            } else {
                text.push(letter((word >> (18 - 6 * place)) & 63));
            }
        }
    }
    text
}

/// Returns the bytes, or `None` where the text is not base64.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let (groups, rest) = text.as_bytes().as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    let mut bytes = Vec::with_capacity(groups.len() * 3);
    let mut rest = groups;
    while let Some((group, tail)) = rest.split_first() {
        let padding = group.iter().rev().take_while(|byte| **byte == b'=').count();
        if padding > 2 || (padding > 0 && !tail.is_empty()) {
            return None;
        }
        let mut word = 0_u32;
        for byte in group.iter().take(4 - padding) {
            word = (word << 6) | value(*byte)?;
        }
        word <<= 6 * u32::try_from(padding).ok()?;
        let [_, first, second, third] = word.to_be_bytes();
        let whole = [first, second, third];
        // What the padding covers must be nothing.
        if whole.iter().rev().take(padding).any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend(whole.iter().take(3 - padding));
        rest = tail;
    }
    Some(bytes)
}

fn letter(value: u32) -> char {
    usize::try_from(value)
        .ok()
        .and_then(|value| ALPHABET.get(value))
        .map_or('=', |byte| char::from(*byte))
}

fn value(letter: u8) -> Option<u32> {
    let place = ALPHABET.iter().position(|known| *known == letter)?;
    u32::try_from(place).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_vectors_hold() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(decode(coded).as_deref(), Some(plain.as_bytes()));
        }
    }

    #[test]
    fn every_byte_survives() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..=bytes.len() {
            assert_eq!(
                decode(&encode(&bytes[..length])).as_deref(),
                Some(&bytes[..length])
            );
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "Z", "Zg", "Zg=", "Zh==", "Zg==Zg==", "====", "Zm9v\n", "Zm-_", "Z===", "é===",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
