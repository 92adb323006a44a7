//! What is expected before a run: judged over the whole output, kept in the record, and told.

use serde_json::json;

use crate::sandbox::{Sandbox, text};

fn run(sandbox: &Sandbox, options: &[&str], script: &str) -> crate::sandbox::Called {
    let shell = ["--", "sh", "-c", script];
    sandbox.call(["run", "--json"].iter().chain(options).chain(&shell))
}

#[test]
fn zero_tests_are_no_success_although_the_command_exits_zero() {
    let sandbox = Sandbox::new();
    let expect = ["--expect-min-count", "N passed", "12"];
    let called = run(&sandbox, &expect, "echo 0 passed");
    called.says(123, &["does not meet the expectation", "min-count"]);
    let record = called.json();
    assert_eq!(record["exit_code"], 0);
    let expectation = &record["expectations"][0];
    assert_eq!(expectation["held"], false);
    assert_eq!(expectation["seen"]["number"], 0);
    assert_eq!(text(&record, "failure_signature").len(), 16);
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(status, 1);
    assert_eq!(verdict["reasons"][0]["code"], "unmet-expectation");
    let called = run(&sandbox, &expect, "echo 12 passed");
    assert_eq!((called.status, called.stderr.as_str()), (0, ""));
}

#[test]
fn a_code_that_was_named_is_success_and_no_other() {
    let sandbox = Sandbox::new();
    let named = ["--expect-exit", "0,2"];
    assert_eq!(run(&sandbox, &named, "exit 2").status, 0);
    assert_eq!(sandbox.gate(&[]).0, 0);
    assert_eq!(run(&sandbox, &named, "exit 3").status, 3);
    assert_eq!(sandbox.gate(&["--last"]).0, 1);
    assert_eq!(run(&sandbox, &["--expect-exit", "2"], "exit 0").status, 123);
    let killed = run(&sandbox, &named, "kill -9 $$");
    assert_eq!(killed.status, 137);
    assert_eq!(killed.json()["expectations"][0]["held"], false);
    let (_, verdict) = sandbox.gate(&["--last"]);
    let codes: Vec<&serde_json::Value> = verdict["reasons"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|reason| &reason["code"])
        .collect();
    assert_eq!(codes, ["signaled", "unmet-expectation"]);
}

#[test]
fn every_kind_is_judged_over_all_of_the_output_and_not_what_is_kept_of_it() {
    let sandbox = Sandbox::new();
    let options = [
        "--expect-line",
        "^needle in the middle$",
        "--expect-no-line",
        "panicked",
        "--expect-within",
        "5m",
        "--max-bytes",
        "512",
    ];
    let script = "seq 1 20000; echo needle in the middle; seq 1 20000";
    let called = run(&sandbox, &options, script);
    let record = called.json();
    assert_eq!(called.status, 0, "{}", called.stderr);
    assert!(!text(&record, "stdout_tail").contains("needle"));
    let seen = json!({"in": "stdout", "line": 20_001, "text": "needle in the middle"});
    assert_eq!(record["expectations"][0]["seen"], seen);
    let script = "seq 1 20000; echo thread main panicked; seq 1 20000; echo needle in the middle";
    let called = run(&sandbox, &options, script);
    assert_eq!(called.status, 123);
    assert_eq!(called.json()["expectations"][1]["seen"]["line"], 20_001);
    assert_eq!(called.json()["expectations"][0]["held"], true);
}

#[test]
fn what_cannot_be_judged_is_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    for (options, words) in [
        (&["--expect-line", "a("][..], &["`line`", "`a(`"][..]),
        (&["--expect-line", "x*"], &["matches the empty line"]),
        (
            &["--expect-min-count", "12 passed", "12"],
            &["one word is `N`"],
        ),
        (
            &["--expect-min-count", "N passed", "many"],
            &["`many` is no whole number"],
        ),
        (
            &["--expect-exit", "300"],
            &["300", "a number from 0 to 255"],
        ),
        (&["--expect-within", "0s"], &["at least 1ms"]),
        (&["--explore", "--expect-line", "x"], &["--explore"]),
    ] {
        run(&sandbox, options, "touch ran").says(125, words);
    }
    assert!(!sandbox.path().join("ran").exists());
    assert!(sandbox.records().is_empty());
}

#[test]
fn a_secret_in_a_line_that_was_expected_is_judged_and_not_shown() {
    let sandbox = Sandbox::new();
    let secret = ["gh", "p_", &"a1B2c3D4e5F6".repeat(3)].concat();
    let script = format!("echo token {secret} accepted");
    let expected = format!("token {secret} acc");
    let called = run(&sandbox, &["--expect-line", &expected], &script);
    assert_eq!(called.status, 0, "{}", called.stderr);
    let seen = called.json()["expectations"][0]["seen"].to_string();
    assert!(seen.contains("REDACTED"), "{seen}");
    assert!(!crate::sandbox::holds(
        &sandbox.every_byte(),
        secret.as_bytes()
    ));
}

#[test]
fn a_summary_shows_what_held_and_what_did_not() {
    let sandbox = Sandbox::new();
    let options = [
        "run",
        "--text",
        "--note",
        "12 passed",
        "--expect-line",
        "ok",
        "--expect-no-line",
        "bad",
    ];
    let called = sandbox.call(
        options
            .iter()
            .chain(&["--", "sh", "-c", "echo ok; echo bad"]),
    );
    assert_eq!(called.status, 123);
    assert!(
        called
            .stdout
            .contains("held      line `ok`: saw stdout line 1: ok"),
        "{}",
        called.stdout
    );
    assert!(
        called
            .stdout
            .contains("UNMET     no-line `bad`: saw stdout line 2: bad"),
        "{}",
        called.stdout
    );
}

#[test]
fn a_requirement_adds_its_expectations_to_the_run_that_meets_it() {
    let sandbox = Sandbox::new();
    let policy = json!({"gate": {"requirements": [{
        "name": "tests", "command": ["sh", "**"],
        "expect": [{"kind": "min-count", "expected": {"pattern": "N passed", "count": 12}}]
    }]}});
    sandbox.write("feedback.json", policy.to_string());
    sandbox.write("count", "3 passed");
    let called = run(&sandbox, &[], "cat count");
    assert_eq!(called.status, 123, "{}", called.stderr);
    assert_eq!(sandbox.gate(&[]).0, 1);
    sandbox.write("count", "13 passed");
    assert_eq!(run(&sandbox, &[], "cat count").status, 0);
    assert_eq!(sandbox.gate(&[]).0, 0);
}
