//! A text in which one word, `N`, stands for a number.
//!
//! It takes no sum and knows nothing of streams.

use std::rc::Rc;

use regex_lite::{Captures, Regex};

use super::literal::Needles;
use super::pattern::{NO_CONTROL, PATTERN_MAX, is_kept_otherwise};

/// A number as programs print it, with or without separators of thousands.
const NUMBER: &str = r"([0-9]+(?:[,_'][0-9]{3})*)";

/// A checked text.
#[derive(Clone, Debug)]
pub(super) struct CountPattern {
    text: Rc<str>,
    regex: Regex,
    needles: Option<Needles>,
}

impl CountPattern {
    /// Checks and compiles a text. Its blanks stand for one or more blanks.
    pub(super) fn compile(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > PATTERN_MAX {
            let length = text.len();
            return Err(format!("{length} bytes of text, at most {PATTERN_MAX}"));
        }
        if text.contains(is_kept_otherwise) {
            return Err(NO_CONTROL.to_owned());
        }
        let Some((before, after)) = around_number(text) else {
            return Err(
                "expected a text in which one word is `N`, for instance `N passed`".to_owned(),
            );
        };
        let source = format!("{}{NUMBER}{}", plain(before), plain(after));
        let regex = Regex::new(&source).map_err(|cause| cause.to_string())?;
        let longest = before
            .split_whitespace()
            .chain(after.split_whitespace())
            .max_by_key(|word| word.len());
        Ok(Self {
            text: text.into(),
            regex,
            needles: longest.map(|word| Needles::of([word.to_owned()])),
        })
    }

    /// Returns the text as it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text that every matching line holds, where there is one.
    pub(super) const fn needles(&self) -> Option<&Needles> {
        self.needles.as_ref()
    }

    /// Returns the largest number that stands in the place of `N`. In the beginning of a longer
    /// line (`is_cut`) what ends with it does not count, since it could go on.
    pub(super) fn largest(&self, line: &str, is_cut: bool) -> Option<u64> {
        let is_whole = |found: &Captures<'_>| {
            found.get(0).is_some_and(|whole| {
                stands_alone(line, whole.start(), whole.end())
                    && !(is_cut && whole.end() == line.len())
            })
        };
        self.regex
            .captures_iter(line)
            .filter(is_whole)
            .filter_map(|found| found.get(1).map(|number| value(number.as_str())))
            .max()
    }
}

/// The text before and after the only word `N`.
fn around_number(text: &str) -> Option<(&str, &str)> {
    let mut places = text
        .match_indices('N')
        .map(|(at, _)| at)
        .filter(|at| !is_within_word(text, *at));
    let place = places.next()?;
    if places.next().is_some() {
        return None;
    }
    let (before, rest) = text.split_at_checked(place)?;
    Some((before, rest.strip_prefix('N')?))
}

fn is_within_word(text: &str, at: usize) -> bool {
    let (before, rest) = text.split_at_checked(at).unwrap_or_default();
    before.chars().next_back().is_some_and(is_of_word)
        || rest.chars().nth(1).is_some_and(is_of_word)
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The pattern of a plain text.
fn plain(text: &str) -> String {
    let mut source = String::new();
    let mut blank = false;
    for c in text.chars() {
        if c.is_whitespace() {
            blank = true;
            continue;
        }
        if std::mem::take(&mut blank) {
            source.push_str("[ \t]+");
        }
        source.push_str(&regex_lite::escape(c.encode_utf8(&mut [0; 4])));
    }
    if blank {
        source.push_str("[ \t]+");
    }
    source
}

/// Whether what was found is no part of a longer word or number: the 12 of `test-12 passed` and
/// of `0.12 passed` is no count.
fn stands_alone(line: &str, start: usize, end: usize) -> bool {
    let before = line.get(..start).and_then(|text| text.chars().next_back());
    let first = line.get(start..).and_then(|text| text.chars().next());
    let last = line.get(..end).and_then(|text| text.chars().next_back());
    let after = line.get(end..).and_then(|text| text.chars().next());
    let begins = match (before, first) {
        (Some(before), Some(first)) if first.is_ascii_digit() => {
            !is_of_word(before) && !".,-+/#@$'".contains(before)
        }
        (Some(before), Some(first)) if is_of_word(first) => !is_of_word(before),
        _ => true,
    };
    let ends = match (last, after) {
        (Some(last), Some(after)) if last.is_ascii_digit() => {
            let next = line.get(end..).and_then(|text| text.chars().nth(1));
            let is_fraction =
                ".,".contains(after) && next.is_some_and(|next| next.is_ascii_digit());
            !is_of_word(after) && after != '%' && !is_fraction
        }
        (Some(last), Some(after)) if is_of_word(last) => !is_of_word(after),
        _ => true,
    };
    begins && ends
}

/// The value of a number; what does not fit is as large as can be.
fn value(number: &str) -> u64 {
    let digits = number.bytes().filter(u8::is_ascii_digit);
    digits.fold(0_u64, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(u64::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn largest(text: &str, line: &str) -> Option<u64> {
        CountPattern::compile(text).unwrap().largest(line, false)
    }

    #[test]
    fn n_stands_for_a_number_and_the_rest_for_itself() {
        for (text, line, wanted) in [
            ("N passed", "12 passed in 0.3s", Some(12)),
            ("N passed", "== 1 failed, 12 passed, 3 skipped ==", Some(12)),
            ("N passed", "3 passed; then 12  passed", Some(12)),
            ("N passed", "1,234 passed", Some(1_234)),
            ("N passed", "99999999999999999999999 passed", Some(u64::MAX)),
            ("N passed", "test-12 passed", None),
            ("N passed", "0.12 passed", None),
            ("N passed", "x12 passed", None),
            ("N passed", "12 passedness", None),
            ("N passed", "passed 12", None),
            ("(N tests)", "OK (7 tests)", Some(7)),
            ("(N tests)", "OK 7 tests", None),
            ("Tests: N", "Tests: 41", Some(41)),
            ("Tests: N", "Tests: 41.", Some(41)),
            ("Tests: N", "Tests: 41.5", None),
            ("Tests: N", "Tests: 41%", None),
            ("tests N", "attests 41", None),
            ("# pass N", "# pass 12", Some(12)),
            ("N", "a 5 b 9 c", Some(9)),
        ] {
            assert_eq!(largest(text, line), wanted, "{text} in {line}");
        }
    }

    #[test]
    fn there_must_be_one_n() {
        for text in ["", "12 passed", "N of N", "NUMBER passed", "N\npassed"] {
            assert!(CountPattern::compile(text).is_err(), "{text}");
        }
    }
}
