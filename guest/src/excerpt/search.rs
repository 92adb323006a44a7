//! Finds the phrases and marks in lines, in either case, in one pass.
//!
//! It does not judge what it finds.

use std::sync::OnceLock;

use super::marks::{ENDS, STARTS};
use super::words::{Kind, PHRASES};
use crate::sift::{Reader, Sift, Texts, Wanted};

/// A phrase where it stands in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
    pub(super) weight: u8,
}

/// Telling texts of five bytes or more that many others hold: those need not be searched for.
const IMPLIED: [&str; 6] = [
    "error",
    "failed",
    "failure",
    "expected",
    "exception",
    "assert",
];

/// Returns whether a text holds another one, in either case.
fn holds(text: &str, part: &str) -> bool {
    let mut windows = text.as_bytes().windows(part.len());
    windows.any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

/// Returns the texts that may give the line that holds one a grade, for a search over many lines
/// at once.
pub(crate) fn telling_texts() -> impl Iterator<Item = Wanted> {
    let phrases = PHRASES.iter().filter(|(_, kind, _)| *kind != Kind::Calm);
    let phrases = phrases.map(|(phrase, ..)| *phrase);
    let marks = STARTS.iter().chain(ENDS).map(|(mark, _)| *mark);
    // Shorter marks are told by how a line opens.
    let is_needed = |text: &&str| {
        text.len() >= 4
            && !IMPLIED
                .iter()
                .any(|part| text.len() > part.len() && holds(text, part))
    };
    phrases.chain(marks).filter(is_needed).map(wanted)
}

/// A letter or a digit before a text of four bytes would make what starts with one part of a name.
fn wanted(text: &str) -> Wanted {
    let starts_a_word = text.starts_with(|first: char| first.is_ascii_alphanumeric());
    Wanted {
        text: text.as_bytes().into(),
        reader: Reader::Excerpt,
        starts_word: text.len() == 4 && starts_a_word,
    }
}

/// Returns the search for them alone.
pub(super) fn telling() -> &'static Sift {
    static TELLING: OnceLock<Sift> = OnceLock::new();
    TELLING.get_or_init(|| Sift::new(telling_texts().collect()))
}

/// Returns whether a line holds one of them.
pub(super) fn is_telling(line: &str) -> bool {
    telling().holds(line.as_bytes(), Reader::Excerpt)
}

/// Calls `found` for every phrase in the line, in no order that means anything.
pub(super) fn each_phrase(line: &str, mut found: impl FnMut(Found)) {
    static ALL: OnceLock<Texts> = OnceLock::new();
    let all =
        ALL.get_or_init(|| Texts::new(PHRASES.iter().map(|(text, ..)| wanted(text)).collect()));
    all.each(line.as_bytes(), |number, start| {
        if let Some((text, kind, weight)) = PHRASES.get(number) {
            found(Found {
                start,
                end: start + text.len(),
                kind: *kind,
                weight: *weight,
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_does_not_depend_on_where_the_text_starts() {
        for (phrase, _, _) in PHRASES {
            for before in ["", " ", "x", "7", "\u{e9}", "(", "e "] {
                let line = format!("{before}{phrase} rest of the line");
                let places = |text: &str, from: usize| {
                    let mut starts = Vec::new();
                    each_phrase(text, |found| starts.push(found.start - from));
                    starts.sort_unstable();
                    starts
                };
                let shifted = format!("\n{line}");
                assert_eq!(places(&line, 0), places(&shifted, 1), "{line}");
                assert_eq!(is_telling(&line), is_telling(&shifted), "{line}");
            }
        }
    }

    #[test]
    fn every_phrase_is_found_once_at_every_place() {
        for (phrase, ..) in PHRASES {
            for before in 0..9 {
                for after in 0..9 {
                    let line = format!("{}{phrase}{}", " ".repeat(before), "z".repeat(after));
                    let mut count = 0;
                    each_phrase(&line.to_uppercase(), |found| {
                        count += usize::from(
                            (found.start, found.end) == (before, before + phrase.len()),
                        );
                    });
                    // Two phrases may differ in nothing but their case.
                    assert_eq!(count, 1, "{line}");
                }
            }
        }
    }

    #[test]
    fn what_is_left_out_of_the_telling_texts_holds_another_of_them() {
        let texts: Vec<Wanted> = telling_texts().collect();
        let is_told = |text: &str| {
            let text = text.as_bytes();
            texts.iter().any(|wanted| {
                let mut windows = text.windows(wanted.text.len());
                let holds = windows.any(|window| window.eq_ignore_ascii_case(&wanted.text));
                // One of four bytes may be held and still not stand free.
                holds && (wanted.text.len() > 4 || wanted.text.len() == text.len())
            })
        };
        for (phrase, kind, _) in PHRASES {
            assert!(*kind == Kind::Calm || is_told(phrase), "{phrase}");
        }
        for (mark, _) in STARTS
            .iter()
            .chain(ENDS)
            .filter(|(mark, _)| mark.len() >= 4)
        {
            assert!(is_told(mark), "{mark}");
        }
    }

    #[test]
    fn every_mark_of_letters_makes_a_line_worth_grading() {
        for (mark, _) in STARTS
            .iter()
            .chain(ENDS)
            .filter(|(mark, _)| mark.len() >= 4)
        {
            for place in 0..9 {
                let line = format!("{}{mark}", " ".repeat(place));
                assert!(is_telling(&line), "{line}");
            }
        }
    }
}
