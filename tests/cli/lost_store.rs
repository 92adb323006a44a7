//! A command that deletes the folder in which its own records are.

use std::fs;

use crate::sandbox::{Sandbox, text};

fn lose(sandbox: &Sandbox, script: &str) -> crate::sandbox::Called {
    sandbox.call(["run", "--json", "--", "sh", "-c", script])
}

#[test]
fn a_run_that_deletes_the_store_says_so_and_the_gate_refuses_from_then_on() {
    for script in [
        "rm -rf feedback_record.jsonl*",
        "rm -f feedback_record.jsonl",
        "rm -rf feedback_record.jsonl feedback_record.jsonl.pending; : > feedback_record.jsonl",
        ": > feedback_record.jsonl",
    ] {
        let sandbox = Sandbox::new();
        sandbox.run(["false"]);
        sandbox.run(["true"]);
        let called = lose(&sandbox, script);
        assert_eq!(called.status, 0, "{script}: {}", called.stderr);
        let loud = called
            .stderr
            .lines()
            .find(|line| line.contains("RECORDS LOST"));
        assert!(
            loud.is_some_and(|line| line.contains("records 1 to 2")),
            "{script}: {}",
            called.stderr
        );
        assert_eq!(called.json()["seq"], 3, "{script}");
        for _ in 0..2 {
            let (status, verdict) = sandbox.gate(&[]);
            assert_eq!(status, 1, "{script}");
            assert_eq!(text(&verdict["reasons"][0], "code"), "store-damaged");
            sandbox.run(["true"]);
        }
        assert_eq!(sandbox.call(["verify"]).status, 1, "{script}");
        // A person acts.
        fs::rename(sandbox.record_file(), sandbox.path().join("lost.jsonl")).expect("moved");
        sandbox.run(["true"]);
        assert_eq!(sandbox.gate(&[]).0, 0, "{script}");
    }
}

#[test]
fn records_that_were_put_back_and_those_of_others_are_no_loss() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let script = "cp feedback_record.jsonl copy; rm feedback_record.jsonl; mv copy feedback_record.jsonl; chmod 600 feedback_record.jsonl";
    let called = lose(&sandbox, script);
    assert_eq!((called.status, called.stderr.as_str()), (0, ""));
    let feedback = env!("CARGO_BIN_EXE_feedback");
    let called = lose(&sandbox, &format!("'{feedback}' run -- true"));
    assert_eq!((called.status, called.stderr.as_str()), (0, ""));
    let first = Sandbox::new();
    let called = lose(&first, "rm -rf feedback_record.jsonl*");
    assert_eq!(
        (called.status, called.stderr.as_str()),
        (0, ""),
        "nothing was there to lose"
    );
    assert_eq!(sandbox.gate(&[]).0, 0);
}
