//! Tokens and private keys in base64, told by what their beginnings become in it.
//!
//! Every candidate is decoded and judged by its own rule, so that chance does not count.

use super::bytes::{before, is_base64, part, run_end, run_start};
use super::encoding::{LEAD, decode, fixed_part};
use super::hit::{Family, Hit};
use super::tokens::TOKENS;

/// What a telling beginning of base64 decodes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inner {
    /// The token of this position in the table.
    Token(usize),
    /// A signed token.
    Jwt,
    /// An armoured block, which is secret where it is a private key.
    Armour,
    /// A base rule's token of at least 16 characters.
    Base,
}

/// A beginning of base64 that tells what follows.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    /// The characters.
    pub(super) text: String,
    /// What it decodes to.
    pub(super) inner: Inner,
    /// How many bytes precede it in its group of three.
    pub(super) shift: usize,
}

/// Returns every telling beginning.
pub(super) fn beginnings() -> Vec<Beginning> {
    let tokens = TOKENS.iter().enumerate().flat_map(|(index, token)| {
        token
            .prefixes
            .iter()
            .filter(|prefix| prefix.len() >= 4 && (token.is_glued || prefix.len() >= 5))
            .map(move |prefix| (*prefix, Inner::Token(index)))
    });
    let others = [
        ("eyJhbG", Inner::Jwt),
        ("eyJ0eX", Inner::Jwt),
        ("-----BEGIN ", Inner::Armour),
        ("AKIA", Inner::Base),
        ("xoxb-", Inner::Base),
        ("xoxp-", Inner::Base),
        ("xoxa-", Inner::Base),
        ("xoxs-", Inner::Base),
        ("hf_", Inner::Base),
        ("npm_", Inner::Base),
        ("SG.", Inner::Base),
    ];
    tokens
        .chain(others)
        .flat_map(|(prefix, inner)| {
            (0..3).map(move |shift| Beginning {
                text: fixed_part(prefix.as_bytes(), shift),
                inner,
                shift,
            })
        })
        .filter(|beginning| beginning.text.len() >= 3)
        .collect()
}

/// Reads base64 around the beginning that stands at `position`.
pub(super) fn find(line: &str, position: usize, beginning: &Beginning) -> Option<Hit> {
    let bytes = line.as_bytes();
    if part(bytes, position, position + beginning.text.len()) != beginning.text.as_bytes() {
        return None;
    }
    let lead = LEAD.get(beginning.shift).copied().unwrap_or(0);
    let group = position.checked_sub(lead)?;
    let start = run_start(bytes, position, |byte| is_base64(byte) && byte != b'=');
    if group < start {
        return None;
    }
    // A slash before the beginning is one of an address rather than one of base64.
    let start = if beginning.shift == 0 && before(bytes, group) == b'/' {
        group
    } else {
        start
    };
    let body = run_end(bytes, position, |byte| is_base64(byte) && byte != b'=');
    let end = run_end(bytes, body, |byte| byte == b'=');
    let decoded = decode(part(bytes, group, body));
    let inner = decoded.get(beginning.shift..)?;
    let holds = match beginning.inner {
        Inner::Token(index) => TOKENS
            .get(index)
            .is_some_and(|token| token.end(inner, 0).is_some()),
        Inner::Jwt => {
            inner.iter().take(400).any(|byte| *byte == b'.') && inner.len() >= 40 && is_plain(inner)
        }
        Inner::Armour => inner
            .get(..inner.len().min(60))
            .is_some_and(|head| head.windows(11).any(|window| window == b"PRIVATE KEY")),
        Inner::Base => {
            let plain = run_end(inner, 0, |byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
            });
            plain >= 20
        }
    };
    holds.then(|| Hit::of(Family::EncodedToken, start, start, end))
}

fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().take(60).all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_in_every_alignment() {
        for filler in ["", "x", "xy", "user:"] {
            let plain = format!("{filler}ghp_{}", "aB3dE5gH".repeat(5));
            let mut line = "blob ".to_owned();
            let encoded = fixed_part(plain.as_bytes(), 0);
            line.push_str(&encoded);
            let found = beginnings().iter().any(|beginning| {
                line.match_indices(&beginning.text)
                    .any(|(position, _)| find(&line, position, beginning).is_some())
            });
            assert!(found, "{filler}");
        }
    }

    #[test]
    fn an_encoded_certificate_stays() {
        let line = fixed_part(b"-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIU", 0);
        let found = beginnings().iter().any(|beginning| {
            line.match_indices(&beginning.text)
                .any(|(position, _)| find(&line, position, beginning).is_some())
        });
        assert!(!found);
    }
}
