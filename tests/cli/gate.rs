//! What the gate says over real records.

use std::fs;

use crate::sandbox::{Sandbox, text};

#[test]
fn no_records_cannot_be_decided_and_never_pass() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.call(["gate"]).status, 2);
    assert_eq!(sandbox.call(["gate", "--last"]).status, 2);
}

#[test]
fn success_passes_and_any_failure_refuses_with_its_reason() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    assert_eq!(sandbox.gate(&[]).0, 0);
    assert_eq!(sandbox.gate(&["--last"]).0, 0);

    let failed = sandbox.run(["sh", "-c", "exit 7"]);
    sandbox.run(["echo", "later success of something else"]);
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(status, 1);
    assert_eq!(verdict["decision"], "refuse");
    assert_eq!(verdict["reasons"][0]["code"], "non-zero-exit");
    assert_eq!(verdict["reasons"][0]["command_id"], failed["command_id"]);
    assert_eq!(
        sandbox.gate(&["--last"]).0,
        0,
        "the newest record alone is a success"
    );
}

#[test]
fn the_newest_attempt_of_a_chain_decides() {
    let sandbox = Sandbox::new();
    let exits = |code: &'static str| ["sh", "-c", "exit $1", "sh", code];
    let mut parent = text(&sandbox.run(exits("1")), "command_id").to_owned();
    for code in ["2", "0"] {
        let record = sandbox.run_with(["--parent", &parent], exits(code));
        parent = text(&record, "command_id").to_owned();
    }
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(status, 0, "{verdict}");
    sandbox.run_with(["--parent", &parent], exits("9"));
    assert_eq!(sandbox.gate(&[]).0, 1);
}

#[test]
fn a_failure_that_has_rotated_away_from_the_active_file_still_counts() {
    let sandbox = Sandbox::new();
    sandbox.run(["sh", "-c", "exit 5"]);
    sandbox.run(["true"]);
    fs::rename(
        sandbox.record_file(),
        sandbox.path().join("feedback_record.jsonl.1"),
    )
    .expect("renamed");
    sandbox.run(["true"]);
    assert_eq!(sandbox.gate(&[]).1["reasons"][0]["code"], "non-zero-exit");
}

#[test]
fn an_edited_record_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.run(["sh", "-c", "exit 1"]);
    let edited = fs::read_to_string(sandbox.record_file())
        .expect("a file")
        .replace("\"exit_code\":1", "\"exit_code\":0");
    fs::write(sandbox.record_file(), edited).expect("written");
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(status, 1);
    assert_eq!(verdict["reasons"][0]["code"], "store-damaged", "{verdict}");
    assert_ne!(sandbox.call(["gate", "--last"]).status, 0);
}
