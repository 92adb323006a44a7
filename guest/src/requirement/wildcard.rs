//! The wildcards of patterns: `*` for any characters, `?` for one, `\` before what is meant as it is.
//!
//! It knows no paths: a `/` is a character like any other.

/// One step of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step<P> {
    /// Exactly one item, of this kind.
    One(P),
    /// Any number of items, also none.
    Many,
}

/// Returns whether the whole of `items` follows `pattern`; `one` judges a single item.
///
/// Only the newest `Many` is ever taken back, so the time is at most the product of both lengths.
pub(super) fn follows<P, T>(
    pattern: &[Step<P>],
    items: &[T],
    one: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut step, mut place) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(item) = items.get(place) {
        match pattern.get(step) {
            Some(Step::Many) => {
                step += 1;
                retry = Some((step, place));
                continue;
            }
            Some(Step::One(kind)) if one(kind, item) => {
                step += 1;
                place += 1;
                continue;
            }
            Some(Step::One(_)) | None => {}
        }
        let Some((after, taken)) = retry else {
            return false;
        };
        (step, place) = (after, taken + 1);
        retry = Some((after, taken + 1));
    }
    let mut rest = pattern.iter().skip(step);
    rest.all(|step| matches!(step, Step::Many))
}

/// Returns whether every sequence that follows `narrow` follows `wide`, where `one` says that of a
/// single step. It may say no where that is hard to tell, never yes where it is not so.
pub(super) fn covers<P>(
    wide: &[Step<P>],
    narrow: &[Step<P>],
    one: impl Fn(&P, &P) -> bool,
) -> bool {
    follows(wide, narrow, |wide, narrow| match narrow {
        Step::One(narrow) => one(wide, narrow),
        Step::Many => false,
    })
}

/// A pattern for one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wildcard(Vec<Step<Option<char>>>);

impl Wildcard {
    /// Reads a pattern. A `\` at the end is meant as it is.
    pub(super) fn parse(text: &str) -> Self {
        let mut steps = Vec::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            steps.push(match c {
                '*' => Step::Many,
                '?' => Step::One(None),
                '\\' => Step::One(Some(rest.next().unwrap_or('\\'))),
                plain => Step::One(Some(plain)),
            });
        }
        Self(steps)
    }

    /// Returns whether the whole text follows the pattern.
    pub(super) fn fits(&self, text: &str) -> bool {
        let characters: Vec<char> = text.chars().collect();
        follows(&self.0, &characters, |wanted, found| {
            wanted.is_none_or(|wanted| wanted == *found)
        })
    }

    /// Returns whether every text that follows `narrow` follows this pattern as well.
    pub(super) fn covers(&self, narrow: &Self) -> bool {
        covers(&self.0, &narrow.0, |wide, narrow| {
            wide.is_none() || wide == narrow
        })
    }

    /// Returns whether a letter or digit stands in it: not everything fits.
    pub(super) fn has_letter(&self) -> bool {
        let is_letter = |step: &Step<Option<char>>| match step {
            Step::One(character) => character.is_some_and(char::is_alphanumeric),
            Step::Many => false,
        };
        self.0.iter().any(is_letter)
    }

    /// Returns whether it is a word and no flag.
    pub(super) fn is_word(&self) -> bool {
        self.0.first() != Some(&Step::One(Some('-'))) && self.has_letter()
    }

    /// Returns the only text that follows the pattern, where there is but one.
    pub(super) fn literal(&self) -> Option<String> {
        let character = |step: &Step<Option<char>>| match step {
            Step::One(character) => *character,
            Step::Many => None,
        };
        self.0.iter().map(character).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, text: &str) -> bool {
        Wildcard::parse(pattern).fits(text)
    }

    #[test]
    fn a_pattern_must_fit_the_whole_text() {
        for (pattern, text, wanted) in [
            ("", "", true),
            ("", "a", false),
            ("test", "test", true),
            ("test", "tests", false),
            ("te?t", "text", true),
            ("te?t", "tet", false),
            ("*", "", true),
            ("--*", "--no-run", true),
            ("--*", "-q", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("a*a", "a", false),
            ("é?", "éß", true),
            (r"\*", "*", true),
            (r"\*", "x", false),
            (r"\!x", "!x", true),
            (r"a\", r"a\", true),
        ] {
            assert_eq!(fits(pattern, text), wanted, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_covers_what_cannot_follow_another_alone() {
        for (wide, narrow, wanted) in [
            ("test", "test", true),
            ("test", "tests", false),
            ("te?t", "test", true),
            ("test", "te?t", false),
            ("*", "", true),
            ("*", "a*b?", true),
            ("a*", "*", false),
            ("a*b", "axb", true),
            ("a*b", "a*c*b", true),
            ("a*b", "a*", false),
            ("?", "*", false),
            (r"\*", "*", false),
            ("*", r"\*", true),
        ] {
            let covers = Wildcard::parse(wide).covers(&Wildcard::parse(narrow));
            assert_eq!(covers, wanted, "{wide} {narrow}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_does_not_stall() {
        let text = "a".repeat(16_000);
        assert!(!fits(&format!("{}c", "a*".repeat(300)), &text));
        assert!(!fits(&"*a".repeat(300), &"b".repeat(16_000)));
    }
}
