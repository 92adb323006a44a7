//! `feedback replay`: the same output gives the same excerpt and verdict, and another is found.

use crate::sandbox::{Sandbox, text};

/// Leaves a record of a command that prints both files, and returns its id.
fn printed(sandbox: &Sandbox, out: &str, err: &str) -> String {
    sandbox.write("out.txt", out);
    sandbox.write("err.txt", err);
    let record = sandbox.run(["sh", "-c", "cat out.txt; cat err.txt >&2"]);
    text(&record, "command_id").to_owned()
}

fn output() -> String {
    let tests = (1..=2000).map(|number| format!("test order_{number} ... ok\n"));
    let mut output: String = tests.collect();
    output.push_str(&format!("{}{}\n", "pass", "word=correct-horse-battery"));
    output.push_str("error: the refund is wrong\n1 failed\n");
    output
}

#[test]
fn the_same_output_is_identical() {
    let sandbox = Sandbox::new();
    let id = printed(&sandbox, &output(), "warning: old\n");
    let same = sandbox.call(["replay", &id, "--with", "out.txt", "err.txt"]);
    assert_eq!(same.status, 0, "{}{}", same.stdout, same.stderr);
    assert!(same.stdout.starts_with("identical: "), "{}", same.stdout);
    let json = sandbox
        .call([
            "replay",
            &id[24..],
            "--json",
            "--with",
            "out.txt",
            "err.txt",
        ])
        .json();
    assert_eq!(json["identical"], true);
    assert_eq!(json["component"], json["component_of_record"]);
    assert_eq!(json["policy"], json["policy_of_record"]);
    assert_eq!(json["verdict"]["decision"], "pass");
}

#[test]
fn the_output_that_a_run_kept_does_not_make_it_different() {
    let sandbox = Sandbox::new();
    sandbox.write("out.txt", "one\ntwo\n");
    let run = sandbox.call(["run", "--json", "--keep-output", "--", "cat", "out.txt"]);
    let id = text(&run.json(), "command_id").to_owned();
    let same = sandbox.call(["replay", &id, "--with", "out.txt"]);
    assert_eq!(same.status, 0, "{}{}", same.stdout, same.stderr);
}

#[test]
fn another_output_is_told_with_the_place() {
    let sandbox = Sandbox::new();
    let id = printed(&sandbox, "one\ntwo\nthree\n", "");
    sandbox.write("changed.txt", "one\ntwi\nthree\n");
    let other = sandbox.call(["replay", &id, "--with", "changed.txt"]);
    assert_eq!(other.status, 1, "{}", other.stderr);
    assert!(
        other.stdout.contains("`stdout_tail` line 2 column 3"),
        "{}",
        other.stdout
    );
    sandbox.write("more.txt", "one\ntwo\nthree");
    let json = sandbox
        .call(["replay", &id, "--json", "--with", "more.txt"])
        .json();
    assert_eq!(json["difference"]["field"], "stdout.bytes", "{json}");
}

#[test]
fn another_policy_is_told() {
    let sandbox = Sandbox::new();
    let id = printed(&sandbox, &output(), "");
    sandbox.write("feedback.json", r#"{"excerpt":{"max_bytes":600}}"#);
    let other = sandbox.call(["replay", &id, "--with", "out.txt"]);
    assert_eq!(other.status, 1, "{}", other.stderr);
    assert!(
        other.stdout.contains("the record has sha256:"),
        "{}",
        other.stdout
    );
}

#[test]
fn what_is_not_there_cannot_be_decided() {
    let sandbox = Sandbox::new();
    let id = printed(&sandbox, "one\n", "");
    sandbox
        .call(["replay", "nothing", "--with", "out.txt"])
        .says(2, &["no record `nothing`"]);
    sandbox
        .call(["replay", &id, "--with", "none.txt"])
        .says(2, &["`none.txt`"]);
    sandbox.call(["replay", &id]).says(2, &["--with"]);
}
