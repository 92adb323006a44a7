//! Where a record and what was made anew first differ.

use serde_json::{Value, json};

/// The keys of a record that come from the output alone.
const FIELDS: [&str; 4] = ["stdout_tail", "stderr_tail", "stdout", "stderr"];

/// What only the host could see of a stream, or did with it: `kept` names files beside the record.
const OF_THE_HOST: [&str; 3] = ["end_seen", "last_byte_ms", "kept"];

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

/// Returns the record with what the output says put in its place.
pub(super) fn replace(record: &Value, kept: &Value) -> Value {
    let mut rebuilt = record.clone();
    let Some(members) = rebuilt.as_object_mut() else {
        return rebuilt;
    };
    for field in FIELDS {
        let mut new = kept.get(field).cloned().unwrap_or_default();
        if let (Some(new), Some(old)) = (new.as_object_mut(), record.get(field)) {
            for key in OF_THE_HOST {
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
    fn what_only_the_host_saw_is_taken_over() {
        let record = json!({"stdout": {
            "bytes": 1, "end_seen": false, "last_byte_ms": 5, "kept": {"file": "x.stdout"},
        }});
        let kept = json!({"stdout": {"bytes": 1, "end_seen": true}});
        let rebuilt = replace(&record, &kept);
        assert_eq!(
            Difference::of("x", &record["stdout"], &rebuilt["stdout"]),
            None
        );
    }
}
