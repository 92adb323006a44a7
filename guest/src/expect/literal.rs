//! The texts of which every match of a pattern holds one, so that most lines need no pattern.
//!
//! Where it is not sure it says that there are no such texts; then every line is matched.

use std::iter::Peekable;
use std::str::Chars;

use memchr::memmem::Finder;

/// The most texts that are looked for in place of one pattern.
const MOST: usize = 8;

/// Texts of which a matching line holds at least one.
#[derive(Clone, Debug)]
pub(super) struct Needles(Vec<Finder<'static>>);

impl Needles {
    /// Returns the finders of these texts.
    pub(super) fn of(texts: impl IntoIterator<Item = String>) -> Self {
        let finder = |text: String| Finder::new(text.as_bytes()).into_owned();
        Self(texts.into_iter().map(finder).collect())
    }

    /// Starts a search through a text.
    pub(super) fn search(&self) -> Search<'_> {
        let begin = |finder| (finder, Next::At(0));
        Search(self.0.iter().map(begin).collect())
    }
}

/// A search that looks at each place once for each text, however many are found.
pub(super) struct Search<'n>(Vec<(&'n Finder<'static>, Next)>);

/// Where a text stands next.
#[derive(Clone, Copy)]
enum Next {
    /// Not before here.
    At(usize),
    /// Nowhere any more.
    Nowhere,
}

impl Search<'_> {
    /// Returns the next place of any of the texts from `from` on, which never goes back.
    pub(super) fn next(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let next = |(finder, known): &mut (&Finder<'static>, Next)| match *known {
            Next::Nowhere => None,
            Next::At(at) if at > from => Some(at),
            Next::At(_) => {
                let found = bytes.get(from..).and_then(|rest| finder.find(rest));
                *known = found.map_or(Next::Nowhere, |at| Next::At(from + at));
                found.map(|at| from + at)
            }
        };
        self.0.iter_mut().filter_map(next).min()
    }
}

/// Returns the texts for a pattern that compiles: the longest of every alternative.
pub(super) fn of_pattern(pattern: &str) -> Option<Needles> {
    // Flags can change what a letter stands for.
    if pattern.contains("(?") {
        return None;
    }
    let mut rest = pattern.chars().peekable();
    let mut found = Vec::new();
    let mut longest = Longest::default();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next()? {
                // The beginning and the end of a word, as `\b`.
                '<' | '>' => longest.keep(),
                plain if plain.is_ascii_punctuation() => longest.run.push(plain),
                'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'A' | 'z' | 'B' => longest.keep(),
                'b' if rest.peek() != Some(&'{') => longest.keep(),
                // Another escape can stand for one character or many.
                _ => return None,
            },
            '[' => {
                skip_class(&mut rest)?;
                longest.keep();
            }
            '(' => {
                skip_group(&mut rest)?;
                longest.keep();
            }
            '?' | '*' => longest.drop_last(),
            '{' => {
                longest.drop_last();
                rest.find(|c| *c == '}')?;
            }
            '|' => found.push(longest.take()?),
            // What repeats a repetition can allow none.
            '+' if rest.peek().is_some_and(|next| "?*{".contains(*next)) => longest.drop_last(),
            '+' | '.' | '^' | '$' | ')' | ']' | '}' => longest.keep(),
            plain => longest.run.push(plain),
        }
    }
    found.push(longest.take()?);
    (found.len() <= MOST).then(|| Needles::of(found))
}

/// The longest run of characters that stand for themselves.
#[derive(Default)]
struct Longest {
    best: String,
    run: String,
}

impl Longest {
    fn keep(&mut self) {
        if self.run.len() > self.best.len() {
            self.best.clone_from(&self.run);
        }
        self.run.clear();
    }

    /// The last character of the run may be missing in a match.
    fn drop_last(&mut self) {
        self.run.pop();
        self.keep();
    }

    fn take(&mut self) -> Option<String> {
        self.keep();
        Some(std::mem::take(&mut self.best)).filter(|best| !best.is_empty())
    }
}

/// Goes on behind the end of a class. A class in a class is left to the pattern itself.
fn skip_class(rest: &mut Peekable<Chars<'_>>) -> Option<()> {
    if rest.peek() == Some(&'^') {
        rest.next();
    }
    // Right at the beginning `]` is a character of the class.
    let mut is_first = true;
    loop {
        match rest.next()? {
            ']' if !is_first => return Some(()),
            '\\' => {
                rest.next()?;
            }
            '[' => return None,
            _ => {}
        }
        is_first = false;
    }
}

/// Goes on behind the end of a group.
fn skip_group(rest: &mut Peekable<Chars<'_>>) -> Option<()> {
    let mut depth = 1_usize;
    while depth > 0 {
        match rest.next()? {
            '\\' => {
                rest.next()?;
            }
            '[' => skip_class(rest)?,
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needles(pattern: &str) -> Option<Vec<String>> {
        let needles = of_pattern(pattern)?;
        let text = |finder: &Finder<'_>| String::from_utf8(finder.needle().to_vec()).unwrap();
        Some(needles.0.iter().map(text).collect())
    }

    #[test]
    fn the_longest_text_of_each_alternative_is_needed() {
        for (pattern, wanted) in [
            ("panicked", Some(vec!["panicked"])),
            ("panicked|FAILED", Some(vec!["panicked", "FAILED"])),
            (r"^\d+ passed, 0 failed$", Some(vec![" passed, 0 failed"])),
            (r"tests? fine", Some(vec![" fine"])),
            (r"tests+ ok", Some(vec!["tests"])),
            (r"foob+*c", Some(vec!["foo"])),
            (r"foob+{0}c", Some(vec!["foo"])),
            (r"\<panicked\>", Some(vec!["panicked"])),
            (r"left\>pad", Some(vec!["left"])),
            (r"ab{0,3}cde", Some(vec!["cde"])),
            (r"\(12\) [a-z]+ x", Some(vec!["(12) "])),
            (r"a[]x]long", Some(vec!["long"])),
            (r"(a|b)cd", Some(vec!["cd"])),
            (r"(a[)]|b)cd", Some(vec!["cd"])),
            (r"(a|b)", None),
            (r"a|\d", None),
            ("(?i)ok", None),
            (r"\x41bc", None),
            (r"\p{L}abc", None),
        ] {
            let wanted: Option<Vec<String>> =
                wanted.map(|list| list.into_iter().map(str::to_owned).collect());
            assert_eq!(needles(pattern), wanted, "{pattern}");
        }
    }

    /// Small patterns and lines from few characters, all of them up to a length.
    #[test]
    fn no_match_is_without_what_is_needed() {
        let atoms = [
            "a", "b", "a?", "b+", "[ab]", "(a|b)", "|", "c*", r"\d", "c{0,1}", ".", "b+*", "b+{0}",
            r"\<", r"\>",
        ];
        let lines = [
            "a", "b", "ab", "ba", "abc", "aab", "cab", "1a", "b1", "c1c", "bbca",
        ];
        let mut looked = 0;
        for x in atoms {
            for y in atoms {
                for z in atoms {
                    let pattern = format!("{x}{y}{z}");
                    let Ok(regex) = regex_lite::Regex::new(&pattern) else {
                        continue;
                    };
                    let Some(needed) = needles(&pattern) else {
                        continue;
                    };
                    for line in lines.iter().filter(|line| regex.is_match(line)) {
                        let holds = needed.iter().any(|text| line.contains(text.as_str()));
                        assert!(holds, "{pattern} {line} {needed:?}");
                        looked += 1;
                    }
                }
            }
        }
        assert!(looked > 500, "{looked}");
    }
}
