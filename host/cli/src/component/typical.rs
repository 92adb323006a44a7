//! What a typical record uses, measured now: a test run of a thousand lines that fails.

use std::time::Instant;

use feedback_host::component::{CallError, Component, Session};
use feedback_host::ending::Source;
use serde_json::{Value, json};

use crate::failure::Failure;

const LINES: u32 = 1000;

const INTENT: &str = r#"{"command_id":"00000000-0000-7000-8000-000000000000","command":[{"text":"pytest"}],
"cwd":{"text":"/"},"agent_note":"1000 passed","started_at":"2026-01-01T00:00:00.000Z"}"#;

const ENDING: &str = r#"{"outcome":{"kind":"exited","code":1},"duration_ms":1000}"#;

/// Builds a record in a fresh instance and returns what that took.
pub(super) fn measure(component: &Component) -> Result<Value, Failure> {
    let output = output();
    let begun = Instant::now();
    let mut session = Session::open(component, "", "").map_err(Failure::undecided)?;
    let (line, calls) = record(&mut session, &output).map_err(Failure::undecided)?;
    let time = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    Ok(json!({
        "captured_bytes": output.len(),
        "output_bytes": line.len(),
        "memory_bytes": session.memory(),
        "steps": session.steps(),
        "steps_of_a_call": session.steps().and_then(|steps| steps.checked_div(calls)),
        "calls": calls,
        "time_us": time,
    }))
}

fn record(session: &mut Session, output: &str) -> Result<(String, u64), CallError> {
    let intent = session.intend(INTENT)?;
    let capture = session.start_capture("")?;
    session.push(&capture, Source::Stdout, output.as_bytes())?;
    session.end(&capture, Source::Stdout)?;
    session.end(&capture, Source::Stderr)?;
    let body = session.build(&intent, capture, ENDING)?;
    let line = session.seal(&body, 1, "")?;
    session.check(&line)?;
    session.may_continue(&line)?;
    // The policy was parsed before these nine.
    Ok((line, 10))
}

fn output() -> String {
    let mut output: String = (1..=LINES)
        .map(|number| format!("tests/test_shop.py::test_order_{number} PASSED\n"))
        .collect();
    output.push_str("E   assert 401 == 200\n1 failed, 1000 passed\n");
    output
}
