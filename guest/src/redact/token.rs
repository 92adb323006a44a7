//! Matches one token by its prefix, its alphabet and a few facts.
//!
//! The table of tokens is in `tokens`. A token is taken as long as its alphabet goes on,
//! whatever follows it: tokens stand before brackets, commas and full stops in logs.

use super::bytes::{at, before, part, run_end};

/// The characters of a token behind its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Hexadecimal digits.
    Hex,
    /// Lower-case letters and digits.
    Lower,
    /// Upper-case letters and digits.
    Upper,
    /// Letters and digits.
    Alnum,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_`, `-` and `=`.
    Url,
    /// Letters, digits, `_`, `-`, `=` and `.`.
    Dotted,
    /// Letters, digits, `+`, `/` and `=`.
    Base64,
    /// What base64 and its URL form use, and `.`, `:` and `%`.
    Wide,
}

impl Alphabet {
    /// Says whether the byte belongs to the alphabet.
    pub(super) const fn holds(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Lower => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'='),
            Self::Dotted => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'=' | b'.')
            }
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Self::Wide => {
                byte.is_ascii_alphanumeric()
                    || matches!(
                        byte,
                        b'+' | b'/' | b'=' | b'-' | b'_' | b'.' | b':' | b'%' | b'$'
                    )
            }
        }
    }
}

/// What must hold of a token beyond its alphabet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// Nothing.
    None,
    /// The body holds a digit.
    Digit,
    /// The body holds a digit, a lower-case and an upper-case letter.
    Mixed,
    /// The body is exactly as long as the minimum.
    Exact,
    /// The body's parts between dots (or dashes for [`Alphabet::Url`]) number this many.
    Dots(usize),
    /// The body holds this text.
    Holds(&'static str),
    /// The body has the form of a UUID.
    Uuid,
    /// The body is a number, a colon and hexadecimal digits.
    NumberAndHex,
}

/// A kind of token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// The rule's id and the kind named in the marker.
    pub(super) id: &'static str,
    /// What it opens.
    pub(super) description: &'static str,
    /// What it begins with; letters count in their case.
    pub(super) prefixes: &'static [&'static str],
    /// It is told apart even where a letter or a digit precedes.
    pub(super) is_glued: bool,
    /// What follows.
    pub(super) alphabet: Alphabet,
    /// How many characters follow at least.
    pub(super) shortest: usize,
    /// What else holds.
    pub(super) fact: Fact,
}

impl Token {
    /// Returns where the token ends that begins at `start`, or nothing where there is none.
    pub(super) fn end(&self, line: &[u8], start: usize) -> Option<usize> {
        if !self.is_glued && !is_border(line, start) {
            return None;
        }
        self.prefixes
            .iter()
            .filter(|prefix| part(line, start, start + prefix.len()) == prefix.as_bytes())
            .find_map(|prefix| self.body_end(line, start + prefix.len()))
    }

    fn body_end(&self, line: &[u8], from: usize) -> Option<usize> {
        let mut end = run_end(line, from, |byte| self.alphabet.holds(byte));
        if matches!(self.alphabet, Alphabet::Dotted | Alphabet::Wide) {
            while end > from && matches!(before(line, end), b'.' | b':') {
                end -= 1;
            }
        }
        let body = part(line, from, end);
        if body
            .first()
            .is_some_and(|first| body.iter().all(|byte| byte == first))
        {
            // Documentation writes one character over and over for a token.
            return None;
        }
        (body.len() >= self.shortest && self.holds(body)).then_some(end)
    }

    fn holds(&self, body: &[u8]) -> bool {
        let digit = body.iter().any(u8::is_ascii_digit);
        match self.fact {
            Fact::None => true,
            Fact::Digit => digit,
            Fact::Mixed => {
                digit
                    && body.iter().any(u8::is_ascii_lowercase)
                    && body.iter().any(u8::is_ascii_uppercase)
            }
            Fact::Exact => body.len() == self.shortest,
            Fact::Dots(dots) => {
                let mark = if self.alphabet == Alphabet::Url {
                    b'-'
                } else {
                    b'.'
                };
                body.iter().filter(|byte| **byte == mark).count() >= dots
            }
            Fact::Holds(needle) => body
                .windows(needle.len())
                .any(|window| window == needle.as_bytes()),
            Fact::Uuid => is_uuid(body),
            Fact::NumberAndHex => {
                let number = run_end(body, 0, |byte| byte.is_ascii_digit());
                let hex = run_end(body, number + 1, |byte| byte.is_ascii_hexdigit());
                number >= 12 && at(body, number) == b':' && hex == body.len()
            }
        }
    }

    /// Returns a token of this kind that opens nothing, for documentation and tests.
    pub(super) fn example(&self) -> String {
        let prefix = self.prefixes.first().copied().unwrap_or_default();
        let body = match self.fact {
            Fact::NumberAndHex => format!("{}:{}", "12".repeat(8), sample(Alphabet::Hex, 32)),
            Fact::Uuid => "0c6f51b6-41b0-4888-bd46-13c1997af843".to_owned(),
            Fact::Holds(needle) => {
                let half = self.shortest / 2;
                format!(
                    "{}{needle}{}",
                    sample(self.alphabet, half),
                    sample(self.alphabet, half + 1)
                )
            }
            Fact::Dots(dots) => {
                let mark = if self.alphabet == Alphabet::Url {
                    "-"
                } else {
                    "."
                };
                let each = self.shortest / (dots + 1) + 4;
                vec![sample(self.alphabet, each); dots + 1].join(mark)
            }
            Fact::None | Fact::Digit | Fact::Mixed | Fact::Exact => {
                sample(self.alphabet, self.shortest)
            }
        };
        format!("{prefix}{body}")
    }

    /// Returns what looks like the beginning of such a token and is none.
    pub(super) fn counter_example(&self) -> String {
        let prefix = self.prefixes.first().copied().unwrap_or_default();
        format!("{prefix} tokens are made in the settings")
    }
}

fn sample(alphabet: Alphabet, length: usize) -> String {
    let characters = match alphabet {
        Alphabet::Hex => "3f8a0c5e7b2d9146",
        Alphabet::Lower => "q7xk2m9vr4tz8b3w",
        Alphabet::Upper => "Q7XK2M9VR4TZ3B5W",
        Alphabet::Alnum
        | Alphabet::Word
        | Alphabet::Url
        | Alphabet::Dotted
        | Alphabet::Base64
        | Alphabet::Wide => "q7Xk2M9vR4tZ8b3W",
    };
    characters.chars().cycle().take(length).collect()
}

/// Says whether these are hexadecimal digits in the groups of a UUID.
pub(super) fn is_uuid(body: &[u8]) -> bool {
    body.len() == 36
        && body.iter().enumerate().all(|(position, byte)| {
            if matches!(position, 8 | 13 | 18 | 23) {
                *byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        })
}

/// Says whether a token may begin at `start`: no letter and no digit precedes, or what precedes
/// is the end of an escape.
pub(super) fn is_border(line: &[u8], start: usize) -> bool {
    let previous = before(line, start);
    if !previous.is_ascii_alphanumeric() && previous != b'_' {
        return true;
    }
    let two = start
        .checked_sub(2)
        .map_or(0, |position| at(line, position));
    let three = start
        .checked_sub(3)
        .map_or(0, |position| at(line, position));
    let is_escape = two == b'\\' && matches!(previous, b'n' | b'r' | b't');
    let is_percent = three == b'%' && two.is_ascii_hexdigit() && previous.is_ascii_hexdigit();
    is_escape || is_percent
}

#[cfg(test)]
mod tests {
    use crate::redact::tokens::TOKENS;

    #[test]
    fn every_token_is_found_whole_in_every_place() {
        for token in TOKENS {
            let example = token.example();
            for (open, close) in [
                ("", ""),
                ("\"", "\""),
                ("<t>", "</t>"),
                ("(", ")"),
                ("`", "`"),
                ("key=", ";n=1"),
                ("«", "»"),
                ("a/", " b"),
                ("[", "]"),
                (":", ", "),
                ("\\n", "\\n"),
                ("%20", " "),
            ] {
                let line = format!("{open}{example}{close}");
                let end = token.end(line.as_bytes(), open.len());
                assert_eq!(
                    end,
                    Some(open.len() + example.len()),
                    "{} in {line}",
                    token.id
                );
            }
        }
    }

    #[test]
    fn no_token_is_found_in_its_counter_example() {
        for token in TOKENS {
            assert_eq!(
                token.end(token.counter_example().as_bytes(), 0),
                None,
                "{}",
                token.id
            );
        }
    }
}
