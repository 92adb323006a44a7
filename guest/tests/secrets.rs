//! That no piece of a secret is left wherever it stands: at every offset, across every border of
//! two reads, across the edges of a cut, and in every field of a record.

#![expect(
    clippy::unwrap_used,
    reason = "test code: a failure must be loud, and helpers are outside of test functions"
)]

use feedback_guest::capture::{Captured, Source};
use feedback_guest::policy::Policy;
use feedback_guest::record::intend;
use serde_json::json;

/// How many characters in a row may not be left.
const PIECE: usize = 8;

/// Texts with a secret in them, put together here, and the part that must go.
fn secrets() -> Vec<(String, String)> {
    let opaque = ["q7Xk2M9v", "R4tZ8b3W", "yH6pLd1S", "c5Vn0JgT"].concat();
    let own = |before: &str, secret: &str| (format!("{before}{secret}"), secret.to_owned());
    vec![
        own("ghp_", &format!("{opaque}aB3d")),
        own("AKIA", "Q7XK2M9VR4TZ3B5W"),
        own("Bearer ", &opaque),
        own("password=", &opaque),
        own("client_secret: ", &opaque),
        own("postgres://svc:", &format!("{opaque}@db.example/main")),
        own("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxODU5OTM2MjA2In0.", &opaque),
    ]
    .into_iter()
    .map(|(text, secret)| {
        (
            text,
            secret.split('@').next().unwrap_or_default().to_owned(),
        )
    })
    .collect()
}

/// Returns the first piece of the secret that stands in the text.
fn left<'a>(secret: &'a str, text: &str) -> Option<&'a str> {
    (0..=secret.len().saturating_sub(PIECE))
        .filter_map(|at| secret.get(at..at + PIECE))
        .find(|piece| text.contains(piece))
}

fn policy(text: &str) -> Policy {
    Policy::parse(text, "").unwrap()
}

/// Captures a text that comes in two pieces.
fn captured(policy: &Policy, text: &str, border: usize) -> Captured {
    let mut capture = policy.capture("").unwrap();
    let (first, second) = text.as_bytes().split_at(border);
    capture.push(Source::Stdout, first);
    capture.push(Source::Stdout, second);
    capture.finish()
}

#[test]
fn at_every_offset_and_across_every_border() {
    let policy = policy("");
    for (text, secret) in secrets() {
        for offset in 0..24 {
            let line = format!("one\n{} {text} end\nlast\n", "-".repeat(offset));
            let from = line.find(&text).unwrap();
            // With most offsets a few borders, with one every border there is.
            let step = if offset == 5 { 1 } else { 7 };
            for border in (from..=from + text.len()).step_by(step) {
                let kept = captured(&policy, &line, border).stdout.text;
                assert_eq!(left(&secret, &kept), None, "{border}: {kept}");
                assert!(kept.contains("[REDACTED"), "{kept}");
            }
        }
    }
}

#[test]
fn across_the_end_of_a_line_that_is_clamped() {
    let policy = policy(r#"{"excerpt":{"line_bytes":80}}"#);
    for (text, secret) in secrets() {
        for offset in 0..120 {
            let line = format!("{} {text} {}\n", "x ".repeat(offset / 2), "y ".repeat(100));
            let kept = captured(&policy, &line, line.len()).stdout.text;
            assert_eq!(left(&secret, &kept), None, "{offset}: {kept}");
        }
    }
}

#[test]
fn across_both_edges_of_what_is_left_out() {
    let policy = policy(r#"{"excerpt":{"max_bytes":512}}"#);
    let body: Vec<String> = (0..6_u64)
        .map(|line| {
            let letters = b"q7Xk2M9vR4tZ8b3WyH6pLd1Sc5Vn0JgT";
            (0..64_u64)
                .map(|at| {
                    let at = usize::try_from((at * 11 + line * 7 + at * at * 3) % 32).unwrap();
                    char::from(letters[at])
                })
                .collect()
        })
        .collect();
    let key = [
        "-----BEGIN PRIVATE",
        " KEY-----\n",
        &body.join("\n"),
        "\n-----END PRIVATE",
        " KEY-----\n",
    ]
    .concat();
    let mut texts = secrets();
    texts.extend(body.iter().map(|line| (key.clone(), line.clone())));
    for (text, secret) in texts {
        for before in 0..40 {
            let whole = format!(
                "{}{text}\n{}",
                "an ordinary line\n".repeat(before),
                "another one\n".repeat(39 - before)
            );
            let kept = captured(&policy, &whole, whole.len() / 2).stdout.text;
            assert_eq!(left(&secret, &kept), None, "{before}: {kept}");
        }
    }
}

#[test]
fn in_every_field_at_the_place_where_it_is_shortened() {
    let policy = policy("");
    for (text, secret) in secrets() {
        for (length, step) in [(0, 1), (990, 3), (8_170, 5), (16_360, 5)] {
            for offset in (length..length + 40).step_by(step) {
                let value = format!("{} {text} end", "x ".repeat(offset / 2));
                // A pattern may have 1,000 bytes.
                let from = value.len().saturating_sub(1_000);
                let request = json!({
                    "command_id": "01a2", "parent_command_id": null, "attempt": 1,
                    "command": [{ "text": "run" }, { "text": value }],
                    "cwd": { "text": format!("/{value}") },
                    "agent_note": value,
                    "started_at": "2026-01-01T00:00:00.000Z",
                    "component": "sha256:0", "policy": "sha256:0", "runner": "0",
                    "expect": [{ "kind": "line", "expected": value.get(from..) }],
                });
                let intent = intend(&policy, &request.to_string()).unwrap();
                assert_eq!(left(&secret, &intent), None, "{offset}: {intent}");
            }
        }
    }
}
