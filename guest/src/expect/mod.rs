//! What is expected of a run, declared before it: read from JSON, and judged while it runs.
//!
//! An expectation is a condition beside the exit code, never instead of it: whether a run
//! counts is the gate's to say. It gives out no captured text that has not been redacted.

mod count;
mod duration;
mod judged;
mod literal;
mod pattern;
mod watch;

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use count::CountPattern;
use pattern::LinePattern;

pub use judged::{Judgement, Observed, judge};
pub use watch::{Observed as InStream, Watch};

/// The most expectations of one run. Each is looked for in every line.
pub const MOST: usize = 32;

/// The expectations of one run, as they stand in a request, in the options of a capture and in
/// a policy: a JSON list of `{ "kind", "expected" }`.
///
/// | kind | `expected` | holds where |
/// |---|---|---|
/// | `exit-code` | a number from 0 to 255, or a list of them | the command exited with one of them |
/// | `line` | a pattern | a line of either stream matches |
/// | `no-line` | a pattern | no line of either stream matches, and both were read to their end |
/// | `min-count` | `{ "pattern", "count" }` | a number at least that large stands where `N` stands in the text |
/// | `within` | milliseconds, or a duration such as `"90s"` | the command exited by itself within that time |
///
/// A pattern is one of `regex-lite`, matched anywhere in a line unless it says `^` or `$`. The
/// text of a `min-count` is plain text in which one word is `N`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Vec<Expectation>")]
pub struct Expectations(Rc<[Expectation]>);

/// One expectation, checked.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Written")]
pub struct Expectation {
    check: Check,
}

/// What is looked at.
#[derive(Clone, Debug)]
enum Check {
    ExitCode(Vec<i32>),
    Line(LinePattern),
    NoLine(LinePattern),
    MinCount { pattern: CountPattern, count: u64 },
    Within { millis: u64 },
}

/// The kinds of expectations.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The exit code is one of those named.
    ExitCode,
    /// A line matches a pattern.
    Line,
    /// No line matches a pattern.
    NoLine,
    /// A number of the output is at least so large.
    MinCount,
    /// The command takes no longer.
    Within,
}

impl Expectations {
    /// Returns the expectations in the order in which they were declared.
    #[must_use]
    pub fn list(&self) -> &[Expectation] {
        &self.0
    }

    /// Returns whether nothing was declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a command that exited with `code` succeeded: every `exit-code` names it,
    /// or there is none and it is 0.
    #[must_use]
    pub fn allow_code(&self, code: i64) -> bool {
        let mut lists = self.exit_codes().peekable();
        if lists.peek().is_none() {
            return code == 0;
        }
        lists.all(|codes| codes.iter().any(|named| i64::from(*named) == code))
    }

    /// Returns whether `others` name an exit code that is no success here.
    #[must_use]
    pub fn are_widened_by(&self, others: &Self) -> bool {
        let mut named = others.exit_codes().flatten();
        named.any(|code| !self.allow_code(i64::from(*code)))
    }

    fn exit_codes(&self) -> impl Iterator<Item = &[i32]> {
        self.0
            .iter()
            .filter_map(|expectation| match &expectation.check {
                Check::ExitCode(codes) => Some(codes.as_slice()),
                Check::Line(_)
                | Check::NoLine(_)
                | Check::MinCount { .. }
                | Check::Within { .. } => None,
            })
    }

    /// Returns these and then `others`, without those that say the same as an earlier one.
    ///
    /// # Errors
    /// A sentence where there are more than [`MOST`].
    pub fn and(&self, others: &Self) -> Result<Self, String> {
        let mut all: Vec<Expectation> = Vec::new();
        for expectation in self.0.iter().chain(others.0.iter()) {
            let said = expectation.expected();
            let differs = |known: &Expectation| {
                known.kind() != expectation.kind() || known.expected() != said
            };
            if all.iter().all(differs) {
                all.push(expectation.clone());
            }
        }
        Self::try_from(all)
    }
}

impl TryFrom<Vec<Expectation>> for Expectations {
    type Error = String;

    fn try_from(list: Vec<Expectation>) -> Result<Self, String> {
        if list.len() > MOST {
            return Err(format!(
                "{} expectations, at most {MOST} are judged",
                list.len()
            ));
        }
        Ok(Self(list.into()))
    }
}

/// Two lists are equal where they say the same.
impl PartialEq for Expectations {
    fn eq(&self, other: &Self) -> bool {
        let said = |list: &Self| -> Vec<(Kind, Value)> {
            let said = |one: &Expectation| (one.kind(), one.expected());
            list.0.iter().map(said).collect()
        };
        said(self) == said(other)
    }
}

impl Eq for Expectations {}

impl Serialize for Expectations {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

impl Expectation {
    /// Returns what kind of expectation it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match &self.check {
            Check::ExitCode(_) => Kind::ExitCode,
            Check::Line(_) => Kind::Line,
            Check::NoLine(_) => Kind::NoLine,
            Check::MinCount { .. } => Kind::MinCount,
            Check::Within { .. } => Kind::Within,
        }
    }

    /// Returns whether a whole line alone meets it. What no line can meet, none does.
    #[must_use]
    pub fn is_met_by_line(&self, line: &str) -> bool {
        match &self.check {
            Check::Line(pattern) => pattern.is_in(line),
            Check::MinCount { pattern, count } => pattern.largest(line, false) >= Some(*count),
            Check::NoLine(_) | Check::ExitCode(_) | Check::Within { .. } => false,
        }
    }

    /// Returns what is expected, as it stands in a record. It is not redacted.
    #[must_use]
    pub fn expected(&self) -> Value {
        match &self.check {
            Check::ExitCode(codes) => json!(codes),
            Check::Line(pattern) | Check::NoLine(pattern) => json!(pattern.text()),
            Check::MinCount { pattern, count } => {
                json!({ "pattern": pattern.text(), "count": count })
            }
            Check::Within { millis } => json!(millis),
        }
    }
}

impl Serialize for Expectation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({ "kind": self.kind(), "expected": self.expected() }).serialize(serializer)
    }
}

impl Kind {
    /// Returns its name in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExitCode => "exit-code",
            Self::Line => "line",
            Self::NoLine => "no-line",
            Self::MinCount => "min-count",
            Self::Within => "within",
        }
    }
}

/// An expectation as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    kind: Kind,
    expected: Value,
}

impl TryFrom<Written> for Expectation {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let expected = &written.expected;
        let check = match written.kind {
            Kind::ExitCode => codes(expected).map(Check::ExitCode),
            Kind::Line => pattern(expected).map(Check::Line),
            Kind::NoLine => pattern(expected).map(Check::NoLine),
            Kind::MinCount => min_count(expected),
            Kind::Within => duration::millis(expected).map(|millis| Check::Within { millis }),
        };
        match check {
            Ok(check) => Ok(Self { check }),
            Err(what) => Err(format!("`{}`: {what}", written.kind.as_str())),
        }
    }
}

/// No other code can ever be seen: the system hands on the lowest eight bits.
const CODES: std::ops::RangeInclusive<i32> = 0..=255;

fn codes(expected: &Value) -> Result<Vec<i32>, String> {
    let code = |value: &Value| {
        let code = value.as_i64().and_then(|code| i32::try_from(code).ok());
        code.filter(|code| CODES.contains(code))
    };
    let codes = match expected.as_array() {
        Some(list) => list.iter().map(code).collect::<Option<Vec<i32>>>(),
        None => code(expected).map(|code| vec![code]),
    };
    codes
        .filter(|codes| (1..=256).contains(&codes.len()))
        .ok_or_else(|| {
            "expected an exit code from 0 to 255, or a list of 1 to 256 of them".to_owned()
        })
}

fn pattern(expected: &Value) -> Result<LinePattern, String> {
    let text = expected.as_str();
    LinePattern::compile(text.ok_or_else(|| "expected a pattern".to_owned())?)
}

fn min_count(expected: &Value) -> Result<Check, String> {
    let wanted = || "expected an object of `pattern`, a text, and `count`, a number".to_owned();
    let keys = expected.as_object().filter(|keys| keys.len() == 2);
    let keys = keys.ok_or_else(wanted)?;
    let pattern = keys.get("pattern").and_then(Value::as_str);
    let count = keys.get("count").and_then(Value::as_u64);
    let (Some(pattern), Some(count)) = (pattern, count) else {
        return Err(wanted());
    };
    let pattern = CountPattern::compile(pattern)?;
    Ok(Check::MinCount { pattern, count })
}

#[cfg(test)]
mod tests;
