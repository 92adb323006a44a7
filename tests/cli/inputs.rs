//! Inputs: digests before and after a run, and a gate that refuses where they moved.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, text};

fn reason(sandbox: &Sandbox) -> (i32, String, String) {
    let (status, verdict) = sandbox.gate(&[]);
    let reason = &verdict["reasons"][0];
    let word = |key: &str| reason[key].as_str().unwrap_or_default().to_owned();
    (status, word("code"), word("message"))
}

#[test]
fn evidence_goes_stale_when_its_inputs_change_and_comes_back_with_a_run() {
    let sandbox = Sandbox::new();
    sandbox.write("src/a.rs", "1");
    sandbox.write("docs/b.md", "1");
    let record = sandbox.run_with(["--inputs", "src/**"], ["true"]);
    let inputs = &record["inputs"];
    assert_eq!(inputs["patterns"], json!(["src/**"]));
    assert_eq!(inputs["files"], 1);
    assert_eq!(inputs["before"], inputs["after"]);
    assert!(text(inputs, "before").starts_with("sha256:"));
    assert_eq!(sandbox.gate(&[]).0, 0);

    sandbox.write("docs/b.md", "2");
    assert_eq!(sandbox.gate(&[]).0, 0, "it is no input");
    sandbox.write("src/a.rs", "2");
    let (status, code, message) = reason(&sandbox);
    assert_eq!((status, code.as_str()), (1, "stale"));
    assert!(message.contains("changed since: `src/a.rs`"), "{message}");
    assert_eq!(
        sandbox.gate(&["--last"]).0,
        0,
        "the run itself was a success"
    );

    sandbox.run_with(["--inputs", "src/**"], ["true"]);
    assert_eq!(sandbox.gate(&[]).0, 0);
    fs::remove_file(sandbox.path().join("src/a.rs")).expect("removed");
    let (_, code, message) = reason(&sandbox);
    assert_eq!(code, "stale");
    assert!(message.contains("no file in"), "{message}");
}

#[test]
fn inputs_that_move_during_the_run_are_no_evidence() {
    let sandbox = Sandbox::new();
    sandbox.write("src/a.rs", "1");
    let record = sandbox.run_with(["--inputs", "src"], ["sh", "-c", "echo 2 > src/a.rs"]);
    assert_ne!(record["inputs"]["before"], record["inputs"]["after"]);
    assert_eq!(reason(&sandbox).1, "changed-during-run");
    assert_eq!(sandbox.gate(&["--last"]).0, 1);

    let record = sandbox.run_with(["--inputs", "src"], ["rm", "-r", "src"]);
    assert_eq!(record["inputs"]["after"], Value::Null);
    assert!(text(&record["inputs"], "error").contains("no file in"));
    assert_eq!(
        sandbox.gate(&["--last"]).1["reasons"][0]["code"],
        "changed-during-run"
    );
}

#[test]
fn git_names_the_inputs_and_the_store_is_never_among_them() {
    let sandbox = Sandbox::new();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments)
            .current_dir(sandbox.path())
            // A hook of git sets these; a user's own settings may sign commits.
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .status();
        assert!(done.expect("git").success());
    };
    git(&["init", "-q"]);
    sandbox.write(".gitignore", "target\n");
    sandbox.write("a.rs", "1");
    git(&["add", "."]);
    git(&["commit", "-qm", "x"]);
    let script = "mkdir -p target && echo x > target/out";
    let record = sandbox.run_with(["--inputs", "git"], ["sh", "-c", script]);
    assert_eq!(record["inputs"]["files"], 2);
    assert_eq!(sandbox.gate(&[]).0, 0);
    sandbox.write("new.rs", "1");
    assert_eq!(reason(&sandbox).1, "stale", "an untracked file is an input");
    git(&["add", "."]);
    git(&["commit", "-qm", "y"]);
    assert_eq!(reason(&sandbox).1, "stale");
    git(&["rm", "-q", "new.rs"]);
    assert_eq!(sandbox.gate(&[]).0, 0, "the files are what they were");
}

#[test]
fn inputs_that_cannot_be_digested_start_nothing() {
    let sandbox = Sandbox::new();
    // No repository, even where the folder for temporary files is in one.
    sandbox.write(".git", "gitdir: nowhere\n");
    for (pattern, words) in [
        ("src/**", "`src/**`: no file in"),
        ("git", "in no git repository"),
        ("[", "`[`"),
        ("/etc/passwd", "below the folder"),
        ("../x", "below the folder"),
        ("!x", "leaves files out"),
        ("", "1 to 500 characters"),
    ] {
        let arguments = ["run", "--inputs", pattern, "--", "touch", "started"];
        sandbox.call(arguments).says(125, &["not started", words]);
    }
    assert!(!sandbox.path().join("started").exists());
    assert!(!sandbox.record_file().exists());
}

#[test]
fn a_pattern_typed_in_a_folder_below_means_what_is_there() {
    let sandbox = Sandbox::new();
    sandbox.write("feedback.json", r#"{"record_file": "records.jsonl"}"#);
    sandbox.write("web/src/a.ts", "1");
    let mut command = sandbox.feedback();
    command.current_dir(sandbox.path().join("web"));
    let output = command
        .args(["run", "--inputs", "src", "--inputs", "!../x", "--", "true"])
        .output()
        .expect("runs");
    let record: Value = serde_json::from_slice(&output.stdout).expect("a record");
    assert_eq!(record["inputs"]["patterns"], json!(["web/src", "!x"]));
}

#[test]
fn the_policy_names_inputs_for_every_run_that_names_none() {
    let sandbox = Sandbox::new();
    sandbox.write("feedback.json", r#"{"gate": {"inputs": ["src"]}}"#);
    sandbox.write("src/a.rs", "1");
    sandbox.write("b.rs", "1");
    assert_eq!(sandbox.run(["true"])["inputs"]["patterns"], json!(["src"]));
    let record = sandbox.run_with(["--inputs", "b.rs"], ["true"]);
    assert_eq!(record["inputs"]["patterns"], json!(["b.rs"]));
}
