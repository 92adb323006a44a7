//! `feedback replay`: the same output gives the same excerpt and verdict, and another is found.

use std::fs;
use std::path::PathBuf;

use feedback_host::component::Component;

use crate::sandbox::{Called, Sandbox, text};

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

/// Leaves a record of a command whose output is kept, and returns its id.
fn kept(sandbox: &Sandbox, out: &str, err: &str) -> String {
    sandbox.write("out.txt", out);
    sandbox.write("err.txt", err);
    let script = ["sh", "-c", "cat out.txt; cat err.txt >&2"];
    let record = sandbox.run_with(["--keep-output"], script);
    text(&record, "command_id").to_owned()
}

#[test]
fn what_the_run_kept_is_read_where_nothing_is_given() {
    let sandbox = Sandbox::new();
    // Frames, colours and what is no text are gone from what is kept.
    let noisy = format!("50%\r100%\n\u{1b}[31mred\u{1b}[0m\r\n{}", output());
    let id = kept(&sandbox, &noisy, "warning: old\nhalf");
    let same = sandbox.call(["replay", &id]);
    assert_eq!(same.status, 0, "{}{}", same.stdout, same.stderr);
    assert!(same.stdout.contains("already redacted"), "{}", same.stdout);
    let raw = sandbox.call(["replay", &id, "--with", "out.txt", "err.txt"]);
    assert_eq!(raw.status, 0, "{}{}", raw.stdout, raw.stderr);
    assert!(raw.stdout.contains("as it was given"), "{}", raw.stdout);

    let folder = sandbox.path().join("feedback_record.jsonl.output");
    let file = folder.join(format!("{id}.stdout"));
    let mut changed = fs::read_to_string(&file).expect("a file");
    changed.push_str("one more\n");
    fs::write(&file, changed).expect("written");
    sandbox
        .call(["replay", &id])
        .says(2, &["was changed after its run"]);
    fs::remove_file(&file).expect("removed");
    sandbox.call(["replay", &id]).says(2, &["is missing"]);
}

#[test]
fn another_component_is_told_with_the_place() {
    let sandbox = Sandbox::new();
    let id = kept(&sandbox, &output(), "");
    let own = Component::built_in().expect("the built-in component");
    // The built-in one, but for a word that it writes into excerpts.
    let (word, other) = (b"...truncated ", b"...shortened ");
    let mut bytes = own.bytes().to_vec();
    let places: Vec<usize> = (0..bytes.len() - word.len())
        .filter(|at| bytes[*at..].starts_with(word))
        .collect();
    assert!(!places.is_empty(), "the word is in the component");
    for at in places {
        bytes[at..at + word.len()].copy_from_slice(other);
    }
    sandbox.write("other.wasm", bytes);
    // What was compiled once is found again.
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let mut command = sandbox.feedback();
    command.env("XDG_CACHE_HOME", cache);
    command.args(["--component", "other.wasm", "replay", &id]);
    let told = Called::from(command.output().expect("the binary runs"));
    assert_eq!(told.status, 1, "{}{}", told.stdout, told.stderr);
    for wanted in [
        "different: `stdout_tail` line ",
        "shortened",
        "the record has sha256:",
    ] {
        assert!(told.stdout.contains(wanted), "{wanted}: {}", told.stdout);
    }
}

#[test]
fn another_redaction_outside_of_the_excerpt_is_told() {
    let sandbox = Sandbox::new();
    let secret = format!("{}{}\n", "pass", "word=correct-horse-battery");
    let tests = |from: u32, to: u32| -> String {
        let lines = (from..to).map(|number| format!("test order_{number} ... ok\n"));
        lines.collect()
    };
    let id = printed(
        &sandbox,
        &format!("{}{secret}{}", tests(1000, 1500), tests(1500, 2000)),
        "",
    );
    let moved = format!("{}{secret}{}", tests(1000, 1501), tests(1501, 2000));
    sandbox.write("moved.txt", moved);
    let json = sandbox
        .call(["replay", &id, "--json", "--with", "moved.txt"])
        .json();
    assert_eq!(json["difference"]["field"], "redactions.lines", "{json}");
}

#[test]
fn other_limits_are_told_as_the_cause() {
    let sandbox = Sandbox::new();
    let id = printed(&sandbox, &output(), "");
    let replay = |options: &[&str]| {
        let with = ["replay", &id, "--with", "out.txt"];
        sandbox.call(with.iter().chain(options))
    };
    for options in [
        &["--max-bytes", "9000"][..],
        &["--head", "2", "--tail", "2"],
    ] {
        let other = replay(options);
        assert_eq!(other.status, 1);
        let words = "cause: the output is the same, and another part of it is kept";
        assert!(other.stdout.contains(words), "{}", other.stdout);
        let json = replay(&[options, &["--json"]].concat()).json();
        assert!(text(&json, "cause").contains("`--max-bytes`"), "{json}");
    }
    sandbox.write("out.txt", output() + "more\n");
    let other = replay(&["--json"]).json();
    assert_eq!(
        other["cause"],
        serde_json::Value::Null,
        "the output is another"
    );
}
