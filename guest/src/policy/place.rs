//! Where in the text of a policy a key stands.
//!
//! It reads the text again, and only after a fault: what is sound needs no place.

use crate::document;
use crate::fault::{Fault, FaultCode};

/// Adds line and column of the key that the fault names, where the text holds it or a key above it.
pub(super) fn named(fault: Fault, text: &str) -> Fault {
    if fault.code != FaultCode::InvalidPolicy {
        return fault;
    }
    let message = fault
        .message
        .strip_prefix("policy: ")
        .unwrap_or(&fault.message);
    let path = match message.strip_prefix('`') {
        Some(quoted) => quoted.split('`').next(),
        None => message.split(": ").next(),
    };
    let offset = path.and_then(|path| find(text, &steps(path)));
    match offset {
        None => fault,
        Some(offset) => {
            let (line, column) = line_and_column(text, offset);
            let message = format!("{} (line {line} column {column})", fault.message);
            Fault::new(fault.code, message)
        }
    }
}

/// One step from a value to a value in it.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Item(usize),
}

/// The steps of a path such as `redaction.rules[1].pattern`.
fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let mut names = part.split('[');
        if let Some(key) = names.next().filter(|key| !key.is_empty()) {
            steps.push(Step::Key(key.to_owned()));
        }
        let items = names.filter_map(|item| item.strip_suffix(']')?.parse().ok());
        steps.extend(items.map(Step::Item));
    }
    steps
}

/// The offset of the key or item at the end of the path, or of the last one above that is there.
/// None where not even the first step is.
fn find(text: &str, path: &[Step]) -> Option<usize> {
    let mut scanner = Scanner { text, at: 0 };
    let mut found = None;
    for step in path {
        let Some(offset) = scanner.enter(step) else {
            break;
        };
        found = Some(offset);
    }
    found
}

/// Goes over a text that is known to be JSON. Where it is not, it finds nothing.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl Scanner<'_> {
    /// Goes to the value that the step leads to, and returns where its key or itself begins.
    fn enter(&mut self, step: &Step) -> Option<usize> {
        match step {
            Step::Key(wanted) => {
                self.take('{')?;
                loop {
                    self.space();
                    let start = self.at;
                    let key = self.string()?;
                    self.take(':')?;
                    if key == *wanted {
                        return Some(start);
                    }
                    self.value()?;
                    self.take(',')?;
                }
            }
            Step::Item(wanted) => {
                self.take('[')?;
                for _ in 0..*wanted {
                    self.value()?;
                    self.take(',')?;
                }
                self.space();
                Some(self.at)
            }
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        let rest = self.rest();
        let blank = |c: char| c.is_ascii_whitespace() || c == '\u{feff}';
        self.at += rest.len() - rest.trim_start_matches(blank).len();
    }

    fn take(&mut self, wanted: char) -> Option<()> {
        self.space();
        self.rest()
            .starts_with(wanted)
            .then(|| self.at += wanted.len_utf8())
    }

    /// Takes a string and returns what it says.
    fn string(&mut self) -> Option<String> {
        let mut escaped = false;
        let rest = self.rest();
        let quoted = rest.strip_prefix('"')?;
        let end = quoted.char_indices().find_map(|(at, c)| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends.then_some(at + 2)
        })?;
        let text = document::foreign(rest.get(..end)?)?;
        self.at += end;
        text.as_str().map(str::to_owned)
    }

    /// Takes a whole value.
    fn value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            self.space();
            match self.rest().chars().next()? {
                '"' => {
                    self.string()?;
                }
                '{' | '[' => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                '}' | ']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                ',' | ':' => {
                    self.at += 1;
                    continue;
                }
                _ => self.word(),
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Takes a number, `true`, `false` or `null`.
    fn word(&mut self) {
        let rest = self.rest();
        let ends = |c: char| c.is_ascii_whitespace() || ",:]}[{\"".contains(c);
        self.at += rest.find(ends).unwrap_or(rest.len());
    }
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(start..).unwrap_or_default();
    let column = column.trim_start_matches('\u{feff}').chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\n  \"a\": {\"x\": [1, \"]}\\\"\", {}], \"é\": null},\n  \
                        \"list\": [\n    {\"b\": 1},\n    {\"b\": [true], \"c\": -2.5e3}\n  ]\n}";

    fn place(path: &str) -> Option<(usize, usize)> {
        find(TEXT, &steps(path)).map(|offset| line_and_column(TEXT, offset))
    }

    #[test]
    fn a_key_is_found_behind_whatever_stands_before_it() {
        for (path, wanted) in [
            ("a", Some((2, 3))),
            ("a.x", Some((2, 9))),
            ("a.x[1]", Some((2, 18))),
            ("a.é", Some((2, 31))),
            ("list", Some((3, 3))),
            ("list[1]", Some((5, 5))),
            ("list[1].c", Some((5, 19))),
        ] {
            assert_eq!(place(path), wanted, "{path}");
        }
    }

    #[test]
    fn what_is_missing_is_told_by_what_should_hold_it() {
        assert_eq!(place("list[1].missing"), Some((5, 5)));
        assert_eq!(place("list[7]"), Some((3, 3)));
        assert_eq!(place("b"), None);
        assert_eq!(place(""), None);
    }

    #[test]
    fn a_text_that_is_no_json_has_no_places() {
        for text in [
            "", "{", "{\"a", "{\"a\":", "[1,", "{\"b\":}", "{\"b\":]", "\"a\"",
        ] {
            assert_eq!(
                find(text, &steps("a.b[3]")),
                find(text, &steps("a")),
                "{text}"
            );
        }
    }
}
