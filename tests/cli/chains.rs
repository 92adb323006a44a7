//! Retries, the same failure again, explorations, and what a chain shows.

use serde_json::{Value, json};

use crate::sandbox::{Called, Sandbox, text};

fn run(sandbox: &Sandbox, options: &[&str], argv: &[&str]) -> Called {
    sandbox.call(
        ["run", "--json"]
            .iter()
            .chain(options)
            .chain(&["--"])
            .chain(argv),
    )
}

/// A command that fails in another way whenever the file says so, and at another time each time.
const FAILS: [&str; 3] = [
    "sh",
    "-c",
    "echo \"error: $(cat how) (pid $$)\" >&2; date +'%H:%M:%S took %Ns' >&2; [ \"$(cat how)\" = fine ]",
];

fn codes(verdict: &Value) -> Vec<&str> {
    let reasons = verdict["reasons"].as_array().expect("a list").iter();
    reasons.map(|reason| text(reason, "code")).collect()
}

#[test]
fn a_retry_finds_its_parent_and_the_chain_shows_every_attempt() {
    let sandbox = Sandbox::new();
    sandbox.write("how", "broken");
    run(&sandbox, &["--retry"], &FAILS)
        .says(125, &["there is no failed run of", "leave `--retry` out"]);
    let first = run(&sandbox, &["--note", "it works"], &FAILS).json();
    let second = run(&sandbox, &["--retry"], &FAILS).json();
    assert_eq!(second["parent_command_id"], first["command_id"]);
    assert_eq!(second["attempt"], 2);
    assert_eq!(second["failure_signature"], first["failure_signature"]);
    sandbox.write("how", "another way");
    let third = run(&sandbox, &["--retry"], &FAILS).json();
    assert_ne!(third["failure_signature"], first["failure_signature"]);
    sandbox.write("how", "fine");
    let fourth = run(&sandbox, &["--retry"], &FAILS).json();
    assert_eq!(
        (&fourth["attempt"], &fourth["exit_code"]),
        (&json!(4), &json!(0))
    );
    assert_eq!(sandbox.gate(&[]).0, 0);

    let chain = sandbox.call(["chain", "--json"]).json();
    let attempts = chain["chain"].as_array().expect("a list");
    let standings: Vec<&str> = attempts
        .iter()
        .map(|attempt| text(attempt, "standing"))
        .collect();
    assert_eq!(standings, ["failed", "failed", "failed", "success"]);
    assert_eq!(attempts[1]["same_failure_as"], first["command_id"]);
    assert_eq!(attempts[2]["made_up_for_by"], fourth["command_id"]);
    let shown = sandbox.call(["chain", text(&first, "command_id")]);
    assert_eq!(shown.status, 0, "{}", shown.stderr);
    assert!(
        shown.stdout.starts_with("4 attempts, 3 failed\n"),
        "{}",
        shown.stdout
    );
    for words in [
        "expected: it works",
        "the same as",
        "new in this chain",
        "made up for by",
    ] {
        assert!(shown.stdout.contains(words), "{words} in {}", shown.stdout);
    }
}

#[test]
fn a_blind_third_retry_is_refused_until_the_agent_has_looked() {
    let sandbox = Sandbox::new();
    sandbox.write("feedback.json", r#"{"gate":{"max_same_failures":2}}"#);
    sandbox.write("how", "broken");
    assert_eq!(run(&sandbox, &[], &FAILS).status, 1);
    assert_eq!(run(&sandbox, &["--retry"], &FAILS).status, 1);
    let refused = run(&sandbox, &["--retry"], &FAILS);
    refused.says(125, &["not started", "2 times in a row", "--explore"]);
    assert_eq!(sandbox.records().len(), 2);
    assert_eq!(run(&sandbox, &["--explore"], &["cat", "how"]).status, 0);
    assert_eq!(run(&sandbox, &["--retry"], &FAILS).status, 1);
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(
        (status, codes(&verdict)),
        (1, vec!["non-zero-exit", "same-failure"])
    );
    sandbox.write("how", "fine");
    run(&sandbox, &["--retry"], &FAILS).says(125, &["3 times in a row"]);
    run(&sandbox, &["--explore"], &["cat", "how"]);
    assert_eq!(run(&sandbox, &["--retry"], &FAILS).status, 0);
    assert_eq!(sandbox.gate(&[]).0, 0);
}

#[test]
fn an_exploration_refuses_nothing_and_proves_nothing() {
    let sandbox = Sandbox::new();
    let record = run(&sandbox, &["--explore"], &["false"]);
    assert_eq!(
        (record.status, &record.json()["exploration"]),
        (1, &json!(true))
    );
    assert!(record.json().get("failure_signature").is_none());
    assert_eq!(sandbox.gate(&[]).0, 2);
    run(&sandbox, &[], &["true"]);
    run(&sandbox, &["--explore"], &["false"]);
    assert_eq!(sandbox.gate(&[]).0, 0);
    sandbox.write("feedback.json", r#"{"gate":{"explore":"forbid"}}"#);
    run(&sandbox, &["--explore"], &["touch", "ran"])
        .says(125, &["the policy forbids", "gate.explore"]);
    assert!(!sandbox.path().join("ran").exists());
}

#[test]
fn a_retry_with_another_program_does_not_make_up_for_a_failure() {
    let sandbox = Sandbox::new();
    let failed = run(&sandbox, &[], &["false"]).json();
    let retry = run(
        &sandbox,
        &["--parent", text(&failed, "command_id")],
        &["true"],
    );
    assert_eq!(retry.status, 0);
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!((status, codes(&verdict)), (1, vec!["non-zero-exit"]));
    assert!(text(&verdict["reasons"][0], "message").contains("another command"));
    sandbox.write("feedback.json", r#"{"gate":{"retry":"any-command"}}"#);
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(status, 0);
    assert!(
        verdict["superseded"][0]
            .as_str()
            .expect("a text")
            .contains("another program")
    );
}

#[test]
fn a_later_success_of_the_same_command_makes_up_for_a_failure_without_a_parent() {
    let sandbox = Sandbox::new();
    sandbox.write("how", "broken");
    let failed = run(&sandbox, &[], &FAILS).json();
    sandbox.write("how", "fine");
    let later = run(&sandbox, &[], &FAILS).json();
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(status, 0);
    assert!(
        verdict["superseded"][0]
            .as_str()
            .expect("a text")
            .contains(text(&later, "command_id"))
    );
    let chain = sandbox
        .call(["chain", "--json", text(&failed, "command_id")])
        .json();
    assert_eq!(chain["chain"][0]["made_up_for_by"], later["command_id"]);
}

#[test]
fn a_chain_that_is_not_there_is_no_answer() {
    let sandbox = Sandbox::new();
    sandbox.call(["chain"]).says(2, &["holds no record"]);
    run(&sandbox, &[], &["true"]);
    sandbox
        .call(["chain", "ffff"])
        .says(2, &["holds no record `ffff`"]);
}
