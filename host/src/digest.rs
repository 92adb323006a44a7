//! How SHA-256 digests are written: lowercase hexadecimal, in records behind `sha256:`.
//!
//! It computes none.

use std::fmt::Write;

/// Returns the bytes in hexadecimal, two digits each.
#[must_use]
pub fn hex(digest: &[u8]) -> String {
    let mut text = String::with_capacity(digest.len().saturating_mul(2));
    for byte in digest {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Returns `sha256:` and the digest in hexadecimal.
#[must_use]
pub fn named(digest: &[u8]) -> String {
    format!("sha256:{}", hex(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(hex(&[0x00, 0x0a, 0xff]), "000aff");
        assert_eq!(named(&[]), "sha256:");
        assert_eq!(named(&[0x01]), "sha256:01");
    }
}
