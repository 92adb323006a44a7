//! What was expected of a run: whether the record says that it held, and whether that can be.
//!
//! It looks at no stream. What a record says is held against the rest of the record, so that an
//! answer that somebody changed is found.

use serde_json::{Value, json};

use super::entry::{Expectation, Run};
use super::judge::Judgement;
use super::unmet;
use super::verdict::ReasonCode;
use crate::document;
use crate::expect::{Expectations, Kind};
use crate::fault::FaultCode;

/// Judges every expectation of a run: it holds only where the record says so.
pub(super) fn judge(run: &Run, judgement: &mut Judgement) {
    for expectation in run.expectations.as_deref().unwrap_or_default() {
        let kind = expectation.kind.as_deref().and_then(kind);
        if expectation.held != Some(true) {
            let what = unmet::words(expectation, kind);
            judgement.fails(ReasonCode::UnmetExpectation, what);
        } else if kind.is_none() {
            let what = "is judged by an expectation of a kind that this component does not know";
            judgement.fails(ReasonCode::UnmetExpectation, what);
        }
        if let Some(kind) = kind
            && contradicts(run, expectation, kind)
        {
            let name = kind.as_str();
            judgement.contradicts(format!("says of the expectation `{name}` what cannot be"));
        }
    }
}

/// Whether the command exited with a code that was named before it ran.
pub(super) fn names_the_code(run: &Run) -> bool {
    let Some(code) = run.exit_code else {
        return false;
    };
    let expectations = run.expectations.as_deref().unwrap_or_default().iter();
    let mut of_code = expectations
        .filter(|expectation| expectation.kind.as_deref() == Some(Kind::ExitCode.as_str()));
    of_code.any(|expectation| {
        expectation.held == Some(true) && names(expectation.expected.as_ref(), code)
    })
}

fn kind(name: &str) -> Option<Kind> {
    document::fit("record", &json!(name), FaultCode::InvalidJson).ok()
}

/// Whether no runner writes this answer beside the rest of the record.
fn contradicts(run: &Run, expectation: &Expectation, kind: Kind) -> bool {
    let Some(held) = expectation.held else {
        return false;
    };
    let expected = expectation.expected.as_ref();
    let seen = expectation.seen.as_ref();
    let has_line = seen.is_some_and(|seen| seen.get("line").is_some_and(Value::is_u64));
    match kind {
        Kind::ExitCode => {
            let named = run.exit_code.is_some_and(|code| names(expected, code));
            named != held
        }
        Kind::Within => {
            let limit = expected.and_then(Value::as_u64);
            let within = limit
                .zip(run.duration_ms)
                .is_some_and(|(limit, took)| took <= limit);
            held && !(within && run.exit_code.is_some())
        }
        Kind::Line | Kind::MinCount => held && !(has_line && is_shown(expectation, kind)),
        Kind::NoLine => held && seen.is_some(),
    }
}

/// Whether the line that is shown is one that was expected. Where it was redacted or shortened,
/// or the pattern was, nobody can tell any more, and it is taken for one.
fn is_shown(expectation: &Expectation, kind: Kind) -> bool {
    let seen = expectation.seen.as_ref();
    let text = seen
        .and_then(|seen| seen.get("text"))
        .and_then(Value::as_str);
    let Some(text) = text else {
        return true;
    };
    let expected = expectation.expected.clone().unwrap_or_default();
    let is_changed = |text: &str| text.contains("[REDACTED") || text.contains("...truncated ");
    if is_changed(text) || is_changed(&document::shown(&expected)) {
        return true;
    }
    let list = json!([{ "kind": kind, "expected": expected }]);
    let read = document::fit::<Expectations>("record", &list, FaultCode::InvalidJson);
    read.is_ok_and(|read| read.list().iter().all(|one| one.is_met_by_line(text)))
}

/// Whether `expected` names the code.
fn names(expected: Option<&Value>, code: i64) -> bool {
    codes(expected).contains(&code)
}

/// The codes that `expected`, a number or a list of numbers, names.
pub(super) fn codes(expected: Option<&Value>) -> Vec<i64> {
    match expected {
        Some(Value::Array(codes)) => codes.iter().filter_map(Value::as_i64).collect(),
        Some(one) => one.as_i64().into_iter().collect(),
        None => Vec::new(),
    }
}
