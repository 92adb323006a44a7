//! Says in words what was expected of a run and what was seen instead.
//!
//! It judges nothing. A record can hold any value in these places; what does not look like an
//! expectation is shown as JSON.

use serde_json::Value;

use super::entry::Expectation;
use super::{expected, shown};
use crate::document;
use crate::expect::Kind;
use crate::policy::Millis;

/// Returns what stands behind the name of the command.
pub(super) fn words(expectation: &Expectation, kind: Option<Kind>) -> String {
    let name = shown::text(expectation.kind.as_deref().unwrap_or("unnamed"));
    let seen = expectation.seen.as_ref().filter(|seen| !seen.is_null());
    let told = kind
        .zip(expectation.expected.as_ref())
        .and_then(|(kind, expected)| told(kind, expected, seen));
    let told = told.unwrap_or_else(|| {
        let expected = json(expectation.expected.as_ref());
        format!("expected {expected}, saw {}", json(seen))
    });
    format!("does not meet the expectation `{name}`: {told}")
}

fn told(kind: Kind, expected: &Value, seen: Option<&Value>) -> Option<String> {
    match kind {
        Kind::ExitCode => {
            let codes = expected::codes(Some(expected)).into_iter();
            let codes: Vec<String> = codes.map(|code| code.to_string()).collect();
            let saw = match seen {
                Some(code) => format!("saw {}", code.as_i64()?),
                None => "it has none".to_owned(),
            };
            Some(format!(
                "expected the exit code {}, {saw}",
                codes.join(" or ")
            ))
        }
        Kind::Line => {
            let pattern = shown::text(expected.as_str()?);
            Some(format!(
                "expected a line with `{pattern}`, saw {}",
                line(seen)?
            ))
        }
        Kind::NoLine => {
            let pattern = shown::text(expected.as_str()?);
            Some(format!(
                "expected no line with `{pattern}`, saw {}",
                line(seen)?
            ))
        }
        Kind::MinCount => {
            let pattern = shown::text(expected.get("pattern")?.as_str()?);
            let count = expected.get("count")?.as_u64()?;
            let saw = line(seen)?;
            Some(format!(
                "expected `{pattern}` with at least {count}, saw {saw}"
            ))
        }
        Kind::Within => {
            let limit = Millis(expected.as_u64()?);
            let took = match seen {
                Some(took) => format!("took {}", Millis(took.as_u64()?)),
                None => "nobody knows how long it took".to_owned(),
            };
            Some(format!("expected an exit within {limit}, {took}"))
        }
    }
}

/// The line that was seen, no line, or why that could not be decided.
fn line(seen: Option<&Value>) -> Option<String> {
    let Some(seen) = seen else {
        return Some("none".to_owned());
    };
    if let Some(why) = seen.get("undecided") {
        return Some(format!("none so far: {}", shown::text(why.as_str()?)));
    }
    let stream = shown::text(seen.get("in")?.as_str()?);
    let number = seen.get("line")?.as_u64()?;
    let text = shown::text(seen.get("text")?.as_str()?);
    Some(format!("{stream} line {number}: {text}"))
}

fn json(value: Option<&Value>) -> String {
    let value = value.map(document::shown);
    shown::text(value.as_deref().unwrap_or("nothing"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(kind: Kind, expected: Value, seen: Value) -> String {
        let expectation = Expectation {
            kind: Some(kind.as_str().to_owned()),
            expected: Some(expected),
            held: Some(false),
            seen: Some(seen),
        };
        let words = words(&expectation, Some(kind));
        let start = format!("does not meet the expectation `{}`: ", kind.as_str());
        words.strip_prefix(&start).unwrap().to_owned()
    }

    #[test]
    fn each_kind_is_told_in_words() {
        let line = json!({"in": "stderr", "line": 3, "text": "3 passed", "number": 3});
        let counted = json!({"pattern": "N passed", "count": 12});
        for (kind, expected, seen, wanted) in [
            (
                Kind::ExitCode,
                json!([0, 2]),
                json!(1),
                "expected the exit code 0 or 2, saw 1",
            ),
            (
                Kind::ExitCode,
                json!(0),
                Value::Null,
                "expected the exit code 0, it has none",
            ),
            (
                Kind::Line,
                json!("^ok"),
                Value::Null,
                "expected a line with `^ok`, saw none",
            ),
            (
                Kind::NoLine,
                json!("3"),
                line.clone(),
                "expected no line with `3`, saw stderr line 3: 3 passed",
            ),
            (
                Kind::NoLine,
                json!("3"),
                json!({"undecided": "cut"}),
                "expected no line with `3`, saw none so far: cut",
            ),
            (
                Kind::MinCount,
                counted,
                line,
                "expected `N passed` with at least 12, saw stderr line 3: 3 passed",
            ),
            (
                Kind::Within,
                json!(90_000),
                json!(95_200),
                "expected an exit within 1m30s, took 1m35s200ms",
            ),
            (
                Kind::Within,
                json!(90_000),
                Value::Null,
                "expected an exit within 1m30s, nobody knows how long it took",
            ),
        ] {
            assert_eq!(said(kind, expected, seen), wanted);
        }
    }

    #[test]
    fn what_is_no_expectation_is_shown_as_it_stands() {
        assert_eq!(
            said(Kind::Line, json!([1]), json!({"line": "x"})),
            r#"expected [1], saw {"line":"x"}"#
        );
        assert_eq!(
            said(Kind::Within, json!("soon"), Value::Null),
            r#"expected "soon", saw nothing"#
        );
    }
}
