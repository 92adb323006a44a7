//! Base64, in the little that is needed to find what is hidden in it.
//!
//! It finds no values; `encoded` and `known` do.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn sextet(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    }))
}

/// Decodes as far as there are characters of base64, in its standard or its URL form.
pub(super) fn decode(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let mut bits = 0_u32;
    let mut count = 0_u32;
    for byte in text {
        let Some(six) = sextet(*byte) else {
            break;
        };
        bits = (bits << 6 | six) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            decoded.push(u8::try_from(bits >> count & 0xff).unwrap_or(0));
        }
    }
    decoded
}

/// How many characters stand, in each alignment, before the first that depends on the value alone.
pub(super) const LEAD: [usize; 3] = [0, 2, 3];

/// Returns the characters of base64 that depend on `value` alone where `shift` bytes (0 to 2)
/// precede it in its group of three. `trim_end` leaves out the last, unfinished one.
pub(super) fn fixed_part(value: &[u8], shift: usize) -> String {
    let mut padded = vec![0_u8; shift];
    padded.extend_from_slice(value);
    let whole = padded.len() * 8 / 6;
    let mut bits = 0_u32;
    let mut count = 0_u32;
    let mut encoded = String::new();
    for byte in padded {
        bits = (bits << 8 | u32::from(byte)) & 0xff_ffff;
        count += 8;
        while count >= 6 {
            count -= 6;
            let index = usize::try_from(bits >> count & 0x3f).unwrap_or(0);
            encoded.push(char::from(STANDARD.get(index).copied().unwrap_or(b'A')));
        }
    }
    let lead = LEAD.get(shift).copied().unwrap_or(0);
    encoded
        .get(lead..whole.max(lead))
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_told_in_every_alignment() {
        assert_eq!(fixed_part(b"Man", 0), "TWFu");
        // "xMan" is "eE1hbg==", and "xxMan" is "eHhNYW4=".
        assert_eq!(fixed_part(b"Man", 1), "1hb");
        assert_eq!(fixed_part(b"Man", 2), "NYW");
        assert_eq!(decode(b"TWFu!"), b"Man");
    }
}
