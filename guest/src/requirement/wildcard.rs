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
    fn a_pattern_of_many_stars_does_not_stall() {
        let text = "a".repeat(16_000);
        assert!(!fits(&format!("{}c", "a*".repeat(300)), &text));
        assert!(!fits(&"*a".repeat(300), &"b".repeat(16_000)));
    }
}
