//! How telling texts are written where their marks are escaped, so that the first look chooses
//! such lines as well.
//!
//! It reads nothing: what a chosen line holds is found in its reading without escapes. Letters
//! and digits are not looked for in other spellings: no program that escapes writes them so.

use std::collections::BTreeSet;

use super::bytes::{part, run_end, run_start};
use super::sweep::LONG;
use super::token::{Alphabet, Token};
use super::tokens::TOKENS;
use super::words::COMMON_PREFIXES;

/// What a line is chosen for whatever stands beside it: dashes and underscores that are spelt
/// out, which no encoder needs to do, and short names whose quotes and signs are.
const SPELT: [&str; 46] = [
    "%5f",
    "%2d",
    "%255f",
    "%252d",
    "#95;",
    "#x5f;",
    "#45;",
    "#x2d;",
    "&#0",
    ";#0",
    "#x0",
    "lowbar;",
    "underbar;",
    "hyphen;",
    "dash;",
    "\\u000000",
    // Quoted-printable, before which more than these texts stands in ordinary lines.
    "hf=5f",
    "_live=5f",
    "_test=5f",
    "glpat=2d",
    "xoxb=2d",
    "\\u005f",
    "\\u002d",
    "\\x5f",
    "\\x2d",
    "\\\"pass\\",
    "pass\\u00",
    "pass%",
    "pass&",
    "\\\"auth\\",
    "auth\\u00",
    "auth%22",
    "auth%3",
    "auth%25",
    "auth&",
    "pw%",
    "pw\\u00",
    "pw&#",
    "psk%3",
    // These tokens may hold no digit, and then are no long run.
    "hf\\_",
    "hf\\\\_",
    "xoxa\\",
    "xoxb\\",
    "xoxp\\",
    "xoxr\\",
    "xoxs\\",
];

/// Returns what to search for beside the telling texts as they are: for the tokens of the table,
/// for short names, and for the literals of the policy's own rules.
pub(super) fn texts(literals: &[String]) -> Vec<Vec<u8>> {
    // Collected, they would be sorted by another piece of code.
    let mut of_tokens = BTreeSet::new();
    of_tokens.extend(TOKENS.iter().flat_map(of_token));
    let is_covered = |text: &[u8]| {
        let mut others = of_tokens.iter().filter(|other| other.len() < text.len());
        others.any(|other| text.starts_with(other))
    };
    SPELT
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .chain(of_tokens.iter().filter(|text| !is_covered(text)).cloned())
        .chain(literals.iter().flat_map(|text| pieces(text.as_bytes())))
        .collect()
}

/// Returns what to search for a token whose marks are escaped by backslashes, where it is not
/// found as a long run all the same.
fn of_token(token: &Token) -> BTreeSet<Vec<u8>> {
    // Marks within its body make short runs of a longer token.
    let has_marks = match token.alphabet {
        Alphabet::Hex | Alphabet::Lower | Alphabet::Upper | Alphabet::Alnum | Alphabet::Word => {
            false
        }
        Alphabet::Url | Alphabet::Dotted | Alphabet::Base64 | Alphabet::Wide => true,
    };
    if token.shortest >= if has_marks { LONG + 8 } else { LONG } {
        return BTreeSet::new();
    }
    let prefixes = token.prefixes.iter();
    prefixes
        // Those that hold such a word are found by it.
        .filter(|prefix| !prefix.contains("token") && !prefix.contains("secret"))
        .filter(|prefix| !COMMON_PREFIXES.contains(prefix))
        .flat_map(|prefix| marks_of(prefix))
        .flat_map(|(before, rest)| {
            let once_and_twice =
                |stem: &str| vec![format!("{stem}\\{rest}"), format!("{stem}\\\\{rest}")];
            match before {
                Before::All(stem) if stem.len() < 2 => Vec::new(),
                Before::All(stem) if stem.len() < 4 => once_and_twice(stem),
                // No word ends so, and however many backslashes follow.
                Before::All(stem) => vec![format!("{stem}\\")],
                // A path can; and what is shorter stands in every other line.
                Before::Last(stem) if stem.len() < 3 => Vec::new(),
                Before::Last(stem) => once_and_twice(stem),
            }
        })
        .map(|text| text.to_ascii_lowercase().into_bytes())
        .collect()
}

/// What stands before a mark of a prefix.
enum Before<'a> {
    /// All of the prefix: it is the first mark.
    All(&'a str),
    /// The letters behind the mark before it.
    Last(&'a str),
}

/// Returns every mark of a prefix with some letters behind it, and what stands before it.
fn marks_of(prefix: &str) -> impl Iterator<Item = (Before<'_>, &str)> {
    const MARKS: [char; 3] = ['_', '-', '.'];
    prefix.match_indices(MARKS).filter_map(|(mark, _)| {
        let (before, rest) = prefix.split_at_checked(mark)?;
        let behind = run_end(rest.as_bytes(), 1, |byte| byte.is_ascii_alphanumeric());
        let before = match before.rsplit_once(MARKS) {
            None => Before::All(before),
            Some((_, stem)) => Before::Last(stem),
        };
        Some((before, rest.get(..behind.min(4))?))
    })
}

/// How many letters before a mark, and behind it, are searched for with it.
const BEFORE: usize = 4;
const BEHIND: usize = 3;

/// Returns for each mark of a secret the letters around it, with the mark escaped.
pub(super) fn pieces(text: &[u8]) -> BTreeSet<Vec<u8>> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric();
    let mut pieces = BTreeSet::new();
    for (place, mark) in text.iter().enumerate() {
        let start = run_start(text, place, is_letter).max(place.saturating_sub(BEFORE));
        let end = run_end(text, place + 1, is_letter).min(place + 1 + BEHIND);
        if mark.is_ascii_punctuation() && *mark != b'\\' && end - start > 2 {
            let (before, behind) = (part(text, start, place), part(text, place, end));
            pieces.insert([before, b"\\", behind].concat());
            pieces.insert([before, b"\\\\", behind].concat());
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_of_a_secret_is_searched_for_with_the_letters_around_it() {
        let pieces: Vec<Vec<u8>> = pieces(b"Ab!cdefg--h").into_iter().collect();
        assert_eq!(
            pieces,
            [
                br"Ab\!cde".as_slice(),
                br"Ab\\!cde",
                br"defg\-",
                br"defg\\-"
            ]
        );
    }

    #[test]
    fn few_texts_are_added() {
        let texts = texts(&[]);
        for wanted in [br"sk\_liv".as_slice(), br"glpat\", br"%5f"] {
            assert!(
                texts.iter().any(|text| text == wanted),
                "{}",
                wanted.escape_ascii()
            );
        }
        // Each makes the first look at all output a little slower.
        assert!(texts.len() < 220, "{}", texts.len());
    }
}
