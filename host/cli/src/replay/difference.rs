//! Where a record and what was made anew first differ.

use serde_json::{Value, json};

/// The keys of a record that come from the output alone.
const FIELDS: [&str; 4] = ["stdout_tail", "stderr_tail", "stdout", "stderr"];

/// What only the host could see of a stream.
const OF_THE_HOST: [&str; 3] = ["end_seen", "last_byte_ms", "kept"];
/// What cannot be seen any more in a text that is decoded, normalised and redacted.
const OF_RAW_OUTPUT: [&str; 4] = [
    "bytes",
    "frames_collapsed",
    "invalid_bytes",
    "controls_removed",
];

/// How much of both sides is shown, in characters.
const SHOWN: usize = 60;

/// The first place where two values differ.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    field: String,
    /// The line of a text, from 1.
    line: usize,
    /// The character of that line, from 1.
    column: usize,
    kept: String,
    rebuilt: String,
}

/// Returns the record with what the output says put in its place. Of output that is not raw, the
/// numbers that it does not tell are left as they are.
pub(super) fn replace(record: &Value, kept: &Value, is_raw: bool) -> Value {
    let mut rebuilt = record.clone();
    let Some(members) = rebuilt.as_object_mut() else {
        return rebuilt;
    };
    for field in FIELDS {
        let mut new = kept.get(field).cloned().unwrap_or_default();
        if let (Some(new), Some(old)) = (new.as_object_mut(), record.get(field)) {
            let unseen = if is_raw { &[][..] } else { &OF_RAW_OUTPUT };
            for key in OF_THE_HOST.iter().chain(unseen).copied() {
                match old.get(key) {
                    Some(seen) => new.insert(key.to_owned(), seen.clone()),
                    None => new.remove(key),
                };
            }
        }
        members.insert(field.to_owned(), new);
    }
    rebuilt
}

/// Returns the first difference in what comes from the output.
pub(super) fn first(record: &Value, rebuilt: &Value) -> Option<Difference> {
    FIELDS.iter().find_map(|field| {
        let none = Value::Null;
        let side = |value: &'_ Value| value.get(field).cloned().unwrap_or_else(|| none.clone());
        Difference::of(field, &side(record), &side(rebuilt))
    })
}

/// Says whether both sides chose from the same lines, and kept another part of them: then the
/// limits were others.
pub(super) fn is_of_choice(record: &Value, rebuilt: &Value) -> bool {
    let numbers = |side: &Value, stream: &str, names: &[&str]| -> Vec<u64> {
        let number = |name: &&str| {
            let number = side.get(stream).and_then(|numbers| numbers.get(*name));
            number.and_then(Value::as_u64).unwrap_or_default()
        };
        names.iter().map(number).collect()
    };
    let is_same = |names: &[&str]| {
        let mut streams = ["stdout", "stderr"].iter();
        streams.all(|stream| numbers(record, stream, names) == numbers(rebuilt, stream, names))
    };
    is_same(&["bytes", "lines"])
        && !is_same(&[
            "lines_kept",
            "lines_omitted",
            "bytes_omitted",
            "lines_clamped",
        ])
}

/// Returns the first difference in what was redacted in the two streams. What else a record had to
/// redact, and its totals, are not of the output.
pub(super) fn of_redactions(record: &Value, made: &Value) -> Option<Difference> {
    let lines = |side: &Value| -> Vec<Value> {
        let lines = side.pointer("/redactions/lines").and_then(Value::as_array);
        let of_stream = |line: &&Value| {
            let place = line.get("in").and_then(Value::as_str);
            matches!(place, Some("stdout" | "stderr"))
        };
        let lines = lines.into_iter().flatten();
        lines.filter(of_stream).cloned().collect()
    };
    let (old, mut new) = (lines(record), lines(made));
    // A record names a limited number of lines, and other keys may have taken their room.
    if record.pointer("/redactions/lines_omitted").is_some() {
        new.truncate(old.len());
    }
    Difference::of("redactions.lines", &Value::Array(old), &Value::Array(new))
}

impl Difference {
    /// Compares two values. Of objects, the first key that differs is named.
    pub(super) fn of(field: &str, kept: &Value, rebuilt: &Value) -> Option<Self> {
        if kept == rebuilt {
            return None;
        }
        if let (Value::Object(left), Value::Object(right)) = (kept, rebuilt) {
            let keys = left.keys().chain(right.keys());
            return keys.into_iter().find_map(|key| {
                let none = Value::Null;
                let (left, right) = (left.get(key), right.get(key));
                Self::of(
                    &format!("{field}.{key}"),
                    left.unwrap_or(&none),
                    right.unwrap_or(&none),
                )
            });
        }
        let (left, right) = (as_line(kept), as_line(rebuilt));
        let mut line = 1_usize;
        let mut sides = (left.split('\n'), right.split('\n'));
        loop {
            let (left, right) = match (sides.0.next(), sides.1.next()) {
                (Some(left), Some(right)) if left == right => {
                    line = line.saturating_add(1);
                    continue;
                }
                (left, right) => (left.unwrap_or("(no line)"), right.unwrap_or("(no line)")),
            };
            let same = left
                .chars()
                .zip(right.chars())
                .take_while(|(a, b)| a == b)
                .count();
            return Some(Self {
                field: field.to_owned(),
                line,
                column: same.saturating_add(1),
                kept: left.to_owned(),
                rebuilt: right.to_owned(),
            });
        }
    }

    /// Returns it for a program.
    pub(super) fn as_json(&self) -> Value {
        json!({
            "field": self.field,
            "line": self.line,
            "column": self.column,
            "kept": self.kept,
            "rebuilt": self.rebuilt,
        })
    }

    /// Returns it for a person.
    pub(super) fn as_text(&self) -> String {
        format!(
            "`{}` line {} column {}\n  kept:    {}\n  rebuilt: {}",
            self.field,
            self.line,
            self.column,
            self.near(&self.kept),
            self.near(&self.rebuilt)
        )
    }

    /// Returns what stands around the place.
    fn near(&self, line: &str) -> String {
        let before = self.column.saturating_sub(SHOWN / 2);
        line.chars().skip(before).take(SHOWN).collect()
    }
}

fn as_line(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_and_column_that_differ_are_named() {
        let of = |left: &str, right: &str| {
            Difference::of("x", &json!(left), &json!(right)).map(|at| (at.line, at.column))
        };
        assert_eq!(of("a\nb", "a\nb"), None);
        assert_eq!(of("a\nbc", "a\nbd"), Some((2, 2)));
        assert_eq!(of("é", "éa"), Some((1, 2)));
        assert_eq!(of("a", "a\nb"), Some((2, 1)));
        assert_eq!(of("", "a"), Some((1, 1)));
    }

    #[test]
    fn of_objects_the_key_is_named() {
        let (left, right) = (
            json!({"bytes": 1, "lines": 2}),
            json!({"bytes": 1, "lines": 3}),
        );
        let found = Difference::of("stdout", &left, &right).unwrap();
        assert_eq!(found.field, "stdout.lines");
        assert_eq!((found.kept.as_str(), found.rebuilt.as_str()), ("2", "3"));
        let missing = Difference::of("stdout", &json!({"bytes": 1}), &right).unwrap();
        assert_eq!(missing.field, "stdout.lines");
    }

    #[test]
    fn another_choice_from_the_same_lines_is_told_from_other_output() {
        let record = |lines: u64, kept: u64| json!({"stdout": {"bytes": 9, "lines": lines, "lines_kept": kept}});
        assert!(is_of_choice(&record(5, 2), &record(5, 4)));
        assert!(!is_of_choice(&record(5, 2), &record(5, 2)));
        assert!(!is_of_choice(&record(5, 2), &record(6, 4)));
    }

    #[test]
    fn what_only_the_host_saw_is_taken_over() {
        let record =
            json!({"stdout": {"bytes": 1, "end_seen": false, "last_byte_ms": 5, "kept": {}}});
        let made = json!({"stdout": {"bytes": 1, "end_seen": true}});
        assert_eq!(first(&record, &replace(&record, &made, true)), None);
    }

    #[test]
    fn what_redacted_output_does_not_tell_is_taken_over_from_the_record() {
        let record = json!({"stdout": {"bytes": 9, "lines": 1, "controls_removed": 2}});
        let made = json!({"stdout": {"bytes": 5, "lines": 1}});
        assert_eq!(first(&record, &replace(&record, &made, false)), None);
        assert!(first(&record, &replace(&record, &made, true)).is_some());
        let more = json!({"stdout": {"bytes": 5, "lines": 2}});
        assert!(first(&record, &replace(&record, &more, false)).is_some());
    }

    #[test]
    fn what_was_redacted_is_compared_line_for_line_in_the_streams_alone() {
        let found =
            |place: &str, line: u64| json!({"in": place, "line": line, "rule": "jwt", "count": 1});
        let redactions = |lines: &[Value]| json!({"redactions": {"lines": lines}});
        let record = redactions(&[found("command", 1), found("stdout", 3)]);
        assert_eq!(
            of_redactions(&record, &redactions(&[found("stdout", 3)])),
            None
        );
        let other = of_redactions(&record, &redactions(&[found("stdout", 4)])).unwrap();
        assert_eq!(other.field, "redactions.lines");
        let none = json!({"redactions": {}});
        assert!(of_redactions(&record, &none).is_some());
        assert_eq!(of_redactions(&none, &none), None);
        // The record had no room for the second.
        let mut short = record.clone();
        short["redactions"]["lines_omitted"] = json!(1);
        let more = redactions(&[found("stdout", 3), found("stdout", 5)]);
        assert_eq!(of_redactions(&short, &more), None);
        assert!(of_redactions(&record, &more).is_some());
    }
}
