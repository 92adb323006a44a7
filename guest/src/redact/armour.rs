//! Runs of base64 in a line, as the bodies of keys are made of, and how the first of them begins.
//!
//! It does not know where a key begins or ends.

use super::bytes::{at, before, part, run_end, run_start, text};

/// A run of base64 with its padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Run {
    pub(super) const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }
}

/// Says whether the byte is one of base64, without its padding.
pub(super) const fn is_armour(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

/// Returns every run of a line in order. The letter of an escape before a run is not part of it.
pub(super) fn runs(line: &str) -> impl Iterator<Item = Run> + '_ {
    let bytes = line.as_bytes();
    let mut position = 0;
    std::iter::from_fn(move || {
        while position < bytes.len() && !is_armour(at(bytes, position)) {
            position += 1;
        }
        if position >= bytes.len() {
            return None;
        }
        let body = run_end(bytes, position, is_armour);
        let is_escape =
            before(bytes, position) == b'\\' && matches!(at(bytes, position), b'n' | b'r' | b't');
        let start = position + usize::from(is_escape);
        let padded = run_end(bytes, body, |byte| byte == b'=').min(body + 2);
        position = padded.max(body);
        Some(Run { start, end: padded })
    })
}

/// Says whether a run looks like base64 of bytes without a pattern: letters of both cases and
/// digits that change from one to the next nearly everywhere. Words, paths, names of classes and
/// hexadecimal digits do not.
///
/// Of random base64 two neighbours differ in kind in 64 of 100 places, and 17 of 100 characters
/// are digits; of names, 10 to 40 and hardly any.
pub(super) fn is_random(run: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| run.iter().any(is);
    if run.len() < 16 || !has(u8::is_ascii_lowercase) || !has(u8::is_ascii_uppercase) {
        return false;
    }
    // The strokes of a path change the kind as well, and count for nothing.
    let digits = run
        .iter()
        .filter(|byte| byte.is_ascii_digit() || **byte == b'+')
        .count();
    let changes = run
        .windows(2)
        .filter(|pair| match pair {
            [first, second] => !pair.contains(&b'/') && kind(*first) != kind(*second),
            _ => false,
        })
        .count();
    digits * 20 >= run.len() && changes * 3 >= run.len() - 1
}

const fn kind(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

/// How private keys begin in base64: how many characters stand before the text, and the text.
///
/// From the encodings of PKCS#1, SEC1, PKCS#8 (plain and encrypted), PKCS#12 and OpenSSH, whose
/// first bytes are fixed but for their lengths. Certificates and public keys begin otherwise.
pub(super) const BEGINNINGS: [(usize, &str); 19] = [
    (6, "IBAAKC"),
    (6, "IBAAKB"),
    (6, "IBADANBgkqhkiG"),
    (6, "IBADCC"),
    (6, "IBAzCC"),
    (0, "MHcCAQEEI"),
    (0, "MHQCAQEEI"),
    (0, "MHgCAQEEI"),
    (4, "AgEBBD"),
    (4, "AgEBBE"),
    (4, "AgEAMBMGByqGSM49"),
    (4, "AgEAMBAGByqGSM49"),
    (4, "AgEAMBQGByqGSM49"),
    (0, "MC4CAQAwBQYDK2V"),
    (0, "MEcCAQAwBQYDK2V"),
    (0, "MFECAQEwBQYDK2V"),
    (16, "9w0BBQ0w"),
    (16, "DQEFDT"),
    (0, "b3BlbnNzaC1rZXktdjE"),
];

/// Returns the run that begins as a private key does, whose telling text stands at `position`.
pub(super) fn key_at(line: &str, position: usize) -> Option<Run> {
    let bytes = line.as_bytes();
    let start = BEGINNINGS.iter().find_map(|(lead, text)| {
        let end = position + text.len();
        let start = position.checked_sub(*lead)?;
        let begins = part(bytes, position, end) == text.as_bytes()
            && matches!(
                part(bytes, start, start + 2),
                b"MI" | b"MH" | b"MC" | b"ME" | b"MF" | b"b3"
            );
        begins.then_some(start)
    })?;
    // Only what is glued to an escape or a mark of a diff may stand before it.
    let run = run_start(bytes, start, is_armour);
    let glued = start - run;
    let is_border =
        glued == 0 || glued == 1 && (before(bytes, run) == b'\\' || at(bytes, run) == b'+');
    let body = run_end(bytes, start, is_armour);
    let end = run_end(bytes, body, |byte| byte == b'=');
    (is_border && end - start >= 16).then_some(Run { start, end })
}

/// Calls `found` with every body of a key whose lines stand on one line, joined by the same few
/// marks: two or more as wide as armour is, with the shorter one behind them.
pub(super) fn joined(line: &str, mut found: impl FnMut(Run)) {
    let mut body: Option<Joined> = None;
    for run in runs(line) {
        body = match body.take() {
            Some(body) if body.goes_on(line, run) => Some(body.with(run)),
            last => {
                if let Some(last) = last.filter(Joined::is_key) {
                    found(last.whole);
                }
                Joined::starting(line, run)
            }
        };
    }
    if let Some(last) = body.filter(Joined::is_key) {
        found(last.whole);
    }
}

/// Says whether what stands before a piece leaves a frame open that is no private key's.
fn is_in_public_frame(before: &str) -> bool {
    before
        .rsplit_once("-----BEGIN ")
        .is_some_and(|(_, rest)| !rest.contains("PRIVATE KEY") && !rest.contains("-----END "))
}

/// Says whether all of the text is the body of a key on one line, as `joined` finds it.
pub(super) fn is_joined(text: &str) -> bool {
    let mut is_whole = false;
    joined(text, |run| {
        is_whole |= run.start == 0 && run.end == text.len();
    });
    is_whole
}

/// Pieces of one width on one line.
#[derive(Clone, Copy, Debug)]
struct Joined {
    whole: Run,
    width: usize,
    full: usize,
    /// The newest piece was shorter.
    is_ended: bool,
}

impl Joined {
    fn starting(line: &str, run: Run) -> Option<Self> {
        let piece = text(line, run.start, run.end);
        let is_start = matches!(run.len(), 64 | 70)
            && is_random(piece.as_bytes())
            && !begins_as_public(piece)
            && !is_in_public_frame(text(line, 0, run.start));
        is_start.then_some(Self {
            whole: run,
            width: run.len(),
            full: 1,
            is_ended: false,
        })
    }

    fn goes_on(&self, line: &str, run: Run) -> bool {
        let between = part(line.as_bytes(), self.whole.end, run.start);
        let is_joined = between.len() <= 8
            && between.iter().all(|byte| {
                byte.is_ascii_whitespace()
                    || matches!(
                        byte,
                        b'\\' | b'n' | b'r' | b'"' | b'\'' | b',' | b'+' | b';' | b'|' | b'$'
                    )
            });
        !self.is_ended && is_joined && run.len() >= 4 && run.len() <= self.width
    }

    fn with(self, run: Run) -> Self {
        Self {
            whole: Run {
                start: self.whole.start,
                end: run.end,
            },
            full: self.full + usize::from(run.len() == self.width),
            is_ended: run.len() < self.width,
            ..self
        }
    }

    const fn is_key(&self) -> bool {
        self.full >= 2
    }
}

/// Returns the run at the beginning of a text where it begins as a private key does.
pub(super) fn first_key(text: &str) -> Option<Run> {
    BEGINNINGS
        .iter()
        .find_map(|(lead, _)| key_at(text, *lead))
        .filter(|run| run.start == 0)
}

/// Says whether base64 begins as that of something public does: a certificate or a public key,
/// an image, an archive, a program, a document.
pub(super) fn begins_as_public(run: &str) -> bool {
    const STARTS: [&str; 23] = [
        "iVBORw0KGgo",
        "/9j/",
        "R0lGOD",
        "UklGR",
        "H4sI",
        "UEsD",
        "JVBERi0",
        "PD94",
        "PHN2",
        "PCFE",
        "N3q8",
        "d09G",
        "AAEAAAA",
        "TVqQ",
        "f0VMR",
        "AGFzb",
        "yv66",
        "KLUv",
        "QlpoO",
        "/Td6",
        "ey",
        "mQ",
        "mDME",
    ];
    let bytes = run.as_bytes();
    let has = |from: usize, text: &str| part(bytes, from, from + text.len()) == text.as_bytes();
    // A sequence in a sequence, as certificates, requests and lists of revoked ones begin; and
    // the names of public keys and of signed data.
    let is_sequence = has(0, "MII") && (has(6, "CC") || has(5, "gKCA"));
    let is_key = [
        "jANBgkqhkiG9w0BAQEF",
        "wEwYHKoZIzj0CAQ",
        "wEAYHKoZIzj0CAQ",
        "YJKoZIhvcNAQc",
    ]
    .iter()
    .any(|name| (3..=8).any(|from| has(from, name)))
        || has(4, "MBAGByqGSM49AgEG")
        || has(0, "MCowBQYDK2V");
    is_sequence || is_key || STARTS.iter().any(|start| has(0, start))
}

/// How far apart the words are that the search looks at, and how long they are.
const STRIDE: usize = 32;
const WORD: usize = 8;
/// Shortest run that the search finds: wherever it begins, it covers a word.
pub(super) const LONG: usize = STRIDE + WORD - 1;

/// Returns where a random run of `LONG` or more begins at or after `from`.
pub(super) fn first_long(block: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    let mut rest = block.get(from..)?;
    while let Some(word) = rest.first_chunk::<WORD>() {
        let mut next = at + STRIDE;
        if is_armour_word(u64::from_le_bytes(*word)) {
            let start = run_start(block, at, is_armour).max(from);
            let end = run_end(block, at + WORD, is_armour);
            if end - start >= LONG && is_random(part(block, start, end)) {
                return Some(start);
            }
            // The next run begins behind this one.
            next = next.max(end);
        }
        rest = rest.get(next - at..).unwrap_or_default();
        at = next;
    }
    None
}

/// Says whether all eight bytes are of base64.
fn is_armour_word(word: u64) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    // Bytes have their high bit set in these where they lie in the range; none is above 0x7f,
    // so that no sum carries into the next byte.
    let seven = word & !HIGH;
    let within = |bytes: u64, first: u64, last: u64| {
        (bytes + (0x80 - first) * EACH) & !(bytes + (0x7f - last) * EACH)
    };
    let letter = within(seven | (0x20 * EACH), 0x61, 0x7a);
    let digit_or_slash = within(seven, 0x2f, 0x39);
    let plus = within(seven, 0x2b, 0x2b);
    (letter | digit_or_slash | plus) & !word & HIGH == HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_base64_holds_nothing_else() {
        for byte in 0..=u8::MAX {
            for place in 0..WORD {
                let mut word = *b"aZ09+/xY";
                word[place] = byte;
                assert_eq!(
                    is_armour_word(u64::from_le_bytes(word)),
                    is_armour(byte),
                    "{byte} {place}"
                );
            }
        }
    }

    #[test]
    fn words_paths_and_digits_are_not_random() {
        for text in [
            "usr/lib/x86/linux/gnu/libstdc/include/c/bits/allocator",
            "org/apache/commons/lang3/builder/ToStringBuilderTestCase",
            "3f786850e387550fdab836ed7e6dc881de23001b3f786850e387",
            "TestBashCompletionV2WithActiveHelpAndSomeMoreWords",
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEFGHIJKLMNOP",
        ] {
            assert!(!is_random(text.as_bytes()), "{text}");
        }
        assert!(is_random(b"q7Xk2M9vR4tZ8b3WyH6pLd1Sq7Xk2M9vR4tZ8b3W"));
    }

    #[test]
    fn a_random_run_is_found_wherever_it_begins() {
        let body = "q7Xk2M9vR/tZ8b3WyH6p+d1S".repeat(3);
        for offset in 0..70 {
            for length in LONG..body.len() {
                let run = body.get(..length).unwrap();
                let block = format!("{} {run} end\n", ".".repeat(offset));
                assert_eq!(first_long(block.as_bytes(), 0), Some(offset + 1), "{block}");
            }
        }
    }
}
