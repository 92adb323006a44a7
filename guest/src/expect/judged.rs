//! Says of each expectation whether it held, and what was seen instead of or in its place.
//!
//! What could not be decided did not hold.

use serde_json::{Value, json};

use super::watch::{Found, LINE_MAX, Observed as InStream};
use super::{Check, Expectations, Kind};

/// What was observed of one run.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// What was found in each stream, in the order of the expectations.
    pub stdout: Vec<InStream>,
    /// The same of standard error.
    pub stderr: Vec<InStream>,
    /// Whether both streams were read to their end.
    pub ends_seen: bool,
    /// The exit code, where the command exited by itself.
    pub exit_code: Option<i32>,
    /// How long the command ran.
    pub duration_ms: Option<u64>,
}

/// One expectation after the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What kind of expectation it is.
    pub kind: Kind,
    /// What was expected; not redacted.
    pub expected: Value,
    /// Whether it held.
    pub held: bool,
    /// What was seen; redacted.
    pub seen: Value,
}

/// Judges every expectation.
#[must_use]
pub fn judge(expectations: &Expectations, observed: &Observed) -> Vec<Judgement> {
    let nothing = InStream::default();
    let list = expectations.list().iter().enumerate();
    list.map(|(place, expectation)| {
        let stdout = observed.stdout.get(place).unwrap_or(&nothing);
        let stderr = observed.stderr.get(place).unwrap_or(&nothing);
        let (held, seen) = expectation.check.judge(observed, stdout, stderr);
        Judgement {
            kind: expectation.kind(),
            expected: expectation.expected(),
            held,
            seen,
        }
    })
    .collect()
}

impl Check {
    fn judge(&self, observed: &Observed, stdout: &InStream, stderr: &InStream) -> (bool, Value) {
        let has_cut_line = stdout.has_cut_line || stderr.has_cut_line;
        match self {
            Self::ExitCode(codes) => {
                let held = observed.exit_code.is_some_and(|code| codes.contains(&code));
                (held, json!(observed.exit_code))
            }
            Self::Within { millis } => {
                let exited = observed.exit_code.is_some();
                let within = observed.duration_ms.is_some_and(|took| took <= *millis);
                (exited && within, json!(observed.duration_ms))
            }
            Self::Line(_) => match first(stdout, stderr) {
                Some(seen) => (true, seen),
                None => (false, unsure(has_cut_line, observed.ends_seen)),
            },
            Self::NoLine(_) => match first(stdout, stderr) {
                Some(seen) => (false, seen),
                None => {
                    let held = observed.ends_seen && !has_cut_line;
                    (held, unsure(has_cut_line, observed.ends_seen))
                }
            },
            Self::MinCount { count, .. } => match largest(*count, stdout, stderr) {
                Some((found, seen)) => (found.number >= Some(*count), seen),
                None => (false, unsure(has_cut_line, observed.ends_seen)),
            },
        }
    }
}

/// The first line that was found. Which stream printed first is not known, so standard output
/// goes first, however the two were read.
fn first(stdout: &InStream, stderr: &InStream) -> Option<Value> {
    let of = |stream: &InStream, name| stream.found.as_ref().map(|found| shown(found, name));
    of(stdout, "stdout").or_else(|| of(stderr, "stderr"))
}

/// The number that was large enough, or else the largest.
fn largest<'o>(
    count: u64,
    stdout: &'o InStream,
    stderr: &'o InStream,
) -> Option<(&'o Found, Value)> {
    let out = stdout.found.as_ref().map(|found| (found, "stdout"));
    let err = stderr.found.as_ref().map(|found| (found, "stderr"));
    let enough = |(found, _): &(&Found, &str)| found.number >= Some(count);
    let best = match (out, err) {
        (Some(out), _) if enough(&out) => out,
        (Some(out), Some(err)) if err.0.number > out.0.number => err,
        (Some(out), _) => out,
        (None, err) => err?,
    };
    Some((best.0, shown(best.0, best.1)))
}

/// A number that redaction hid is not shown.
fn shown(found: &Found, stream: &str) -> Value {
    let mut seen = json!({ "in": stream, "line": found.line, "text": found.text });
    if let (Some(number), true) = (found.number, found.shows_number)
        && let Some(keys) = seen.as_object_mut()
    {
        keys.insert("number".to_owned(), json!(number));
    }
    seen
}

/// Why it could not be decided whether a line is there, where it could not.
fn unsure(has_cut_line: bool, ends_seen: bool) -> Value {
    if !ends_seen {
        json!({ "undecided": "the output was not read to its end" })
    } else if has_cut_line {
        let what = format!("of a longer line only {LINE_MAX} bytes were looked at");
        json!({ "undecided": what })
    } else {
        Value::Null
    }
}
