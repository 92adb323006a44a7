//! The policy in force, its schema, and what is wrong with one.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::hosts::block;
use crate::sandbox::Sandbox;

/// A policy in which every key is set.
const WHOLE: &str = r#"{
  "$schema": "feedback.schema.json",
  "record_file": "records/feedback.jsonl",
  "run": {"timeout": "15m", "grace": "5s"},
  "excerpt": {"max_bytes": 8192, "head_lines": 3, "tail_lines": 5, "line_bytes": 200},
  "redaction": {"mode": "span", "rules": [{
    "id": "acme", "description": "keys of acme", "literal": "acme_", "pattern": "acme_[0-9]{8}",
    "scope": "line", "example": "acme_12345678", "counter_example": "acme_key"}]},
  "gate": {
    "sigpipe": "refuse", "explore": "forbid", "retry": "same-command", "others": "refuse",
    "max_same_failures": 3, "inputs": ["git", "!docs"],
    "requirements": [
      {"name": "tests", "command": ["cargo", "test", "**", "!--no-run"], "cwd": "packages/*",
       "inputs": ["src/**/*.{rs,toml}"], "max_age": "1h30m",
       "expect": [{"kind": "exit-code", "expected": [0]}, {"kind": "line", "expected": "ok"},
                  {"kind": "no-line", "expected": "FAILED"},
                  {"kind": "min-count", "expected": {"pattern": "N passed", "count": 12}},
                  {"kind": "within", "expected": "90s"}]}]}
}"#;

/// Policies that are none, with what is said of them.
const WRONG: [(&str, &str); 14] = [
    (
        r#"{"gate": {"requirement": []}}"#,
        "`gate.requirement`: unknown key, did you mean",
    ),
    (
        r#"{"gate": {"inputs": "git"}}"#,
        "`gate.inputs`: expected a list, found a text",
    ),
    (r#"{"gate": {"inputs": ["../x"]}}"#, "`gate.inputs`"),
    (
        r#"{"gate": {"others": "maybe"}}"#,
        "`gate.others`: `maybe` is not known",
    ),
    (
        r#"{"gate": {"require_component": "x"}}"#,
        "expected `sha256:`",
    ),
    (
        r#"{"gate": {"max_same_failures": 0}}"#,
        "`gate.max_same_failures`",
    ),
    (
        r#"{"gate": {"requirements": [{"name": "a"}]}}"#,
        "`gate.requirements[0].command`: missing",
    ),
    (
        r#"{"gate": {"requirements": [{"name": "a b", "command": ["x"]}]}}"#,
        "`gate.requirements[0].name`",
    ),
    (
        r#"{"gate": {"requirements": [{"name": "a", "command": []}]}}"#,
        "`gate.requirements[0].command`",
    ),
    (
        r#"{"gate": {"requirements": [{"name": "a", "command": ["x"], "max_age": 5}]}}"#,
        "max_age",
    ),
    (
        r#"{"gate": {"requirements": [{"name": "a", "command": ["x"], "cwd": "/x"}]}}"#,
        "cwd",
    ),
    (
        r#"{"gate": {"requirements": [{"name": "a", "command": ["x"], "expect": [{"kind": "x", "expected": 1}]}]}}"#,
        "expect[0].kind",
    ),
    (
        r#"{"excerpt": {"max_bytes": 1}}"#,
        "`excerpt.max_bytes` is 1",
    ),
    (
        r#"{"run": {"timeout": 90}}"#,
        "`run.timeout`: expected a duration",
    ),
];

#[test]
fn the_policy_in_the_readme_is_valid_and_every_key_is_told_there() {
    let sandbox = Sandbox::new();
    sandbox.write("feedback.json", block("json: feedback.json"));
    let called = sandbox.call(["policy", "--check"]);
    assert_eq!(called.status, 0, "{}", called.stderr);
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"));
    let readme = readme.expect("README.md");
    let policy = &sandbox.call(["policy", "--json"]).json()["policy"];
    for (part, below) in policy.as_object().expect("an object") {
        let told = |key: &str| {
            let told = readme.contains(&format!("`{key}`"));
            assert!(told, "{part}: `{key}` in README.md");
        };
        match below.as_object() {
            None => told(part),
            Some(keys) if part == "excerpt" => {
                told("excerpt.max_bytes");
                keys.keys()
                    .filter(|key| *key != "max_bytes")
                    .for_each(|key| told(key));
            }
            Some(keys) => keys.keys().for_each(|key| told(&format!("{part}.{key}"))),
        }
    }
}

#[test]
fn a_valid_policy_is_called_valid_and_shown_with_its_defaults() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("feedback.json", WHOLE);
    let file = fs::canonicalize(file).expect("a path");
    let called = sandbox.call(["policy", "--check"]);
    assert_eq!(
        (called.status, &*called.stdout),
        (0, &*format!("valid: {}\n", file.display()))
    );
    assert_eq!(
        sandbox.call(["policy", "--check", "feedback.json"]).status,
        0
    );

    sandbox.write("feedback.json", r#"{"run": {"timeout": "90s"}}"#);
    let shown = sandbox.call(["policy"]).stdout;
    assert!(
        shown.starts_with(&format!("policy: {}\n", file.display())),
        "{shown}"
    );
    let row = |key: &str| {
        shown
            .lines()
            .find(|line| line.trim_start().starts_with(key))
            .expect("a row")
    };
    assert!(
        row("run.timeout").ends_with("\"1m30s\"  (feedback.json)"),
        "{shown}"
    );
    assert!(
        row("excerpt.max_bytes").ends_with("4096  (default)"),
        "{shown}"
    );
    assert!(
        row("record_file").ends_with("not set  (default)"),
        "{shown}"
    );
    let json = sandbox.call(["policy", "--json"]).json();
    assert_eq!(json["policy"]["gate"]["others"], "ignore");
    assert_eq!(json["file"], file.display().to_string());

    fs::remove_file(file).expect("removed");
    sandbox
        .call(["policy", "--check"])
        .says(2, &["no `feedback.json`"]);
    assert!(
        sandbox
            .call(["policy"])
            .stdout
            .starts_with("policy: none, the defaults serve\n")
    );
}

#[test]
fn what_is_wrong_is_named_with_key_expectation_and_place() {
    let sandbox = Sandbox::new();
    for (policy, words) in WRONG {
        sandbox.write("feedback.json", policy);
        for arguments in [
            &["policy", "--check"][..],
            &["policy", "--check", "feedback.json"],
        ] {
            sandbox
                .call(arguments)
                .says(1, &[words, "line 1 column", "feedback.json"]);
        }
        assert_eq!(sandbox.call(["policy"]).status, 2);
    }
    for (policy, words) in [
        ("{\n\"run\": }", "line 2 column 8"),
        ("{\"a\":1,\"a\":2}", "stands twice"),
    ] {
        sandbox.write("feedback.json", policy);
        for command in [
            &["policy", "--check"][..],
            &["policy", "--check", "feedback.json"],
        ] {
            let called = sandbox.call(command);
            called.says(1, &[words]);
            assert!(!called.stderr.contains(": policy:"), "{}", called.stderr);
        }
    }
    sandbox.write("feedback.json", r#"{"gate": {"inputs": ["src/[a"]}}"#);
    sandbox.call(["policy", "--check"]).says(1, &["src/[a"]);
    sandbox
        .call(["policy", "--check", "nowhere.json"])
        .says(2, &["nowhere.json"]);
    sandbox.write("feedback.json", b"\xff\xfe{}");
    sandbox.call(["gate"]).says(2, &["not UTF-8 text"]);
    fs::remove_file(sandbox.path().join("feedback.json")).expect("removed");
    symlink("nowhere", sandbox.path().join("feedback.json")).expect("a link");
    sandbox
        .call(["gate"])
        .says(2, &["a link that leads nowhere"]);
}

#[test]
fn what_can_never_work_is_no_valid_policy() {
    let sandbox = Sandbox::new();
    sandbox.write("a folder/a file", "");
    let gate = |requirements: &str| format!(r#"{{"gate": {{"requirements": [{requirements}]}}}}"#);
    let expects = |code: &str| {
        gate(&format!(
            r#"{{"name": "a", "command": ["a"], "expect": [{{"kind": "exit-code", "expected": {code}}}]}}"#
        ))
    };
    for (policy, words) in [
        (
            gate(
                r#"{"name": "all", "command": ["cargo", "test", "**"]},
                    {"name": "one", "command": ["cargo", "test", "-p", "one"]}"#,
            ),
            &[
                "no run can meet `one`",
                "`all` stands before it",
                "put `one` before `all`",
            ][..],
        ),
        (
            gate(
                r#"{"name": "a", "command": ["a"], "cwd": "**"},
                    {"name": "b", "command": ["a"], "cwd": "web"}"#,
            ),
            &["no run can meet `b`"],
        ),
        (
            gate(r#"{"name": "a", "command": ["a"]}, {"name": "a", "command": ["b"]}"#),
            &["two requirements have this name"],
        ),
        (expects("300"), &["an exit code from 0 to 255"]),
        (expects("[0, -1]"), &["an exit code from 0 to 255"]),
        (
            r#"{"record_file": "."}"#.to_owned(),
            &["`record_file`", "is a folder; name a file"],
        ),
        (
            r#"{"record_file": "a folder"}"#.to_owned(),
            &["`record_file`", "is a folder; name a file"],
        ),
        (
            r#"{"record_file": "new/"}"#.to_owned(),
            &["`record_file`", "is a folder; name a file"],
        ),
        (
            r#"{"record_file": "a folder/a file/records.jsonl"}"#.to_owned(),
            &["`record_file`", "a file` is no folder"],
        ),
        (
            r#"{"record_file": "/dev/null"}"#.to_owned(),
            &["`record_file`", "/dev/null"],
        ),
    ] {
        sandbox.write("feedback.json", &policy);
        let named = sandbox.call(["policy", "--check"]);
        named.says(1, words);
    }
    for policy in [
        gate(
            r#"{"name": "one", "command": ["cargo", "test", "-p", "one"]},
                {"name": "all", "command": ["cargo", "test", "**"]}"#,
        ),
        expects("[0, 255]"),
        r#"{"record_file": "new/folder/records.jsonl"}"#.to_owned(),
        r#"{"record_file": "a folder/a file"}"#.to_owned(),
    ] {
        sandbox.write("feedback.json", &policy);
        let checked = sandbox.call(["policy", "--check"]);
        assert_eq!(checked.status, 0, "{policy}: {}", checked.stderr);
    }
    // The first run makes one folder.
    sandbox.write("feedback.json", r#"{"record_file": "new/records.jsonl"}"#);
    assert_eq!(sandbox.call(["policy", "--check"]).stderr, "");
    sandbox.write(
        "feedback.json",
        r#"{"record_file": "new/er/records.jsonl"}"#,
    );
    let words = ["warning: `record_file`", "before somebody makes it"];
    sandbox.call(["policy", "--check"]).says(0, &words);
}

#[test]
fn what_can_never_work_is_wrong_and_what_does_nothing_now_is_warned_of() {
    let sandbox = Sandbox::new();
    let check = |policy: Value| {
        sandbox.write("feedback.json", policy.to_string());
        sandbox.call(["policy", "--check"])
    };
    let requirement = |key: &str, value: Value| {
        let mut requirement = json!({ "name": "tests", "command": ["pytest", "-q"] });
        requirement[key] = value;
        json!({ "gate": { "requirements": [requirement] } })
    };
    let key = "gate.requirements[0]";

    for (command, is_valid) in [
        (json!(["pytest -q"]), false),
        (json!(["pytest -q", "**"]), false),
        (json!(["py* -q"]), true),
        (json!(["my tool", "-q"]), true),
        (json!(["sh", "-c", "pytest -q"]), true),
    ] {
        sandbox.write("my tool", "");
        let called = check(requirement("command", command.clone()));
        assert_eq!(called.status == 0, is_valid, "{command}: {}", called.stderr);
        assert_eq!(called.stderr.is_empty(), is_valid, "{}", called.stderr);
        if !is_valid {
            let key = format!("`{key}.command`");
            called.says(1, &[&key, r#"["pytest","-q"]"#]);
        }
    }

    check(json!({ "component": "nowhere.wasm" })).says(1, &["`component`", "nowhere.wasm"]);
    check(json!({ "component": "my tool" })).says(1, &["`component`", "my tool"]);
    check(requirement("cwd", json!("my tool"))).says(1, &["cwd`", "is a file"]);

    sandbox.write("src/a.rs", "");
    let digest = format!("sha256:{}", "0".repeat(64));
    for (policy, warning) in [
        (
            requirement("cwd", json!("web")),
            "`gate.requirements[0].cwd`",
        ),
        (requirement("cwd", json!("src/*")), "no folder `src/*`"),
        (
            requirement("inputs", json!(["*.py"])),
            "`gate.requirements[0].inputs`: inputs `*.py`",
        ),
        (
            json!({ "gate": { "inputs": ["src", "docs"] } }),
            "`gate.inputs`: inputs `docs`",
        ),
        (
            json!({ "gate": { "inputs": ["src", "!src/*"] } }),
            "`gate.inputs`: inputs `src`",
        ),
        (
            json!({ "gate": { "require_component": digest } }),
            "`gate.require_component`",
        ),
    ] {
        let called = check(policy);
        assert_eq!(called.status, 0, "{}", called.stderr);
        assert!(called.stdout.starts_with("valid: "), "{}", called.stdout);
        assert_eq!(called.stderr.lines().count(), 1, "{}", called.stderr);
        let warned = called.stderr.starts_with("feedback: warning: ");
        assert!(
            warned && called.stderr.contains(warning),
            "{}",
            called.stderr
        );
    }
    for policy in [
        requirement("cwd", json!("src")),
        requirement("cwd", json!("**")),
        requirement("inputs", json!(["src/**/*.rs", "!target"])),
    ] {
        let called = check(policy);
        assert_eq!((called.status, &*called.stderr), (0, ""));
    }
}

#[test]
fn a_policy_is_shown_without_its_secrets() {
    let sandbox = Sandbox::new();
    let secret = ["ghp_", &"a1B2c3".repeat(6)].concat();
    sandbox.write(
        "feedback.json",
        json!({ "record_file": secret }).to_string(),
    );
    for arguments in [
        &["policy"][..],
        &["policy", "--json"],
        &["policy", "--check"],
    ] {
        let called = sandbox.call(arguments);
        assert_eq!(called.status, 0, "{}", called.stderr);
        assert!(!called.stdout.contains(&secret), "{arguments:?}");
    }
}

/// Validates policies with a validator that others wrote: the first must be valid, the rest not.
#[test]
fn the_schema_accepts_what_the_parser_accepts_and_refuses_what_it_refuses() {
    let sandbox = Sandbox::new();
    let schema = sandbox.call(["policy", "--schema"]).stdout;
    sandbox.write("schema.json", &schema);
    let accepted = [WHOLE.to_owned(), "{}".to_owned(), whole_effective(&sandbox)];
    let refused = WRONG.iter().map(|(policy, _)| (*policy).to_owned());
    let all: Vec<Value> = accepted
        .into_iter()
        .chain(refused)
        .map(|text| serde_json::from_str(&text).expect("JSON"))
        .collect();
    sandbox.write("policies.json", json!(all).to_string());
    let script = "import json, jsonschema\n\
                  schema = json.load(open('schema.json'))\n\
                  check = jsonschema.Draft202012Validator\n\
                  check.check_schema(schema)\n\
                  print(*[check(schema).is_valid(one) for one in json.load(open('policies.json'))])";
    let python = std::env::var("FEEDBACK_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(python)
        .args(["-c", script])
        .current_dir(sandbox.path())
        .output()
        .expect("python3");
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let failed = String::from_utf8_lossy(&output.stderr);
    let wanted = format!("True True True{}", " False".repeat(WRONG.len()));
    assert_eq!(
        said, wanted,
        "needs the Python package jsonschema: {failed}"
    );
}

/// What the tool says is in force must itself be a policy.
fn whole_effective(sandbox: &Sandbox) -> String {
    sandbox.write("feedback.json", WHOLE);
    sandbox.call(["policy", "--json"]).json()["policy"].to_string()
}

#[test]
fn a_policy_that_was_cut_to_nothing_is_not_taken_for_the_defaults() {
    let sandbox = Sandbox::new();
    for nothing in ["", " \n", "\u{feff}"] {
        sandbox.write("feedback.json", nothing);
        for (command, wanted) in [
            (&["run", "--", "true"][..], 125),
            (&["gate"], 2),
            (&["policy", "--check"], 2),
        ] {
            let called = sandbox.call(command);
            assert_eq!(called.status, wanted, "{command:?}: {}", called.stderr);
            assert!(
                called.stderr.contains("empty; write `{}`"),
                "{}",
                called.stderr
            );
        }
    }
    assert!(sandbox.records().is_empty());
}
