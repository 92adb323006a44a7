//! Wrong input gets one clear line, the right status, and loses nothing.

use std::fs;
use std::os::unix::fs::symlink;

use crate::sandbox::Sandbox;

#[test]
fn wrong_usage_is_one_line_that_names_the_object() {
    let sandbox = Sandbox::new();
    sandbox.call(["run"]).says(125, &["ARGV"]);
    sandbox
        .call(["run", "--nope", "--", "true"])
        .says(125, &["--nope"]);
    sandbox
        .call(["run", "--timeout", "soon", "--", "true"])
        .says(125, &["soon", "90s"]);
    sandbox
        .call(["run", "--timeout", "0s", "--", "true"])
        .says(125, &["0s"]);
    // Of `run`, 1 to 124 belong to the command: also where options stand before it.
    for options in [
        &["--component", "x.wasm"][..],
        &["--component=x.wasm"],
        &["--nope"],
    ] {
        sandbox
            .call(options.iter().chain(&["run", "--nope", "--", "true"]))
            .says(125, &["--nope", "feedback run --help"]);
        sandbox
            .call(options.iter().chain(&["gate", "--nope"]))
            .says(2, &["--nope", "feedback gate --help"]);
    }
    sandbox.call(["gate", "--nope"]).says(2, &["--nope"]);
    sandbox.call(["nope"]).says(2, &["nope"]);
    sandbox.call([] as [&str; 0]).says(2, &["feedback --help"]);
    assert!(!sandbox.record_file().exists());
}

#[test]
fn a_policy_that_cannot_be_used_stops_every_command() {
    let sandbox = Sandbox::new();
    for (policy, words) in [
        ("{", "line 1"),
        ("{\"excerpt\": {\"max_byte\": 9}}", "excerpt.max_byte"),
        ("{\"record_file\": 7}", "record_file"),
        ("[]", "object"),
    ] {
        sandbox.write("feedback.json", policy);
        sandbox
            .call(["run", "--", "touch", "started"])
            .says(125, &["feedback.json", words]);
        sandbox.call(["gate"]).says(2, &["feedback.json", words]);
    }
    fs::remove_file(sandbox.path().join("feedback.json")).expect("removed");
    fs::create_dir(sandbox.path().join("feedback.json")).expect("a folder");
    sandbox
        .call(["run", "--", "touch", "started"])
        .says(125, &["feedback.json"]);
    assert!(
        !sandbox.path().join("started").exists(),
        "nothing is started"
    );
}

#[test]
fn a_record_file_that_is_no_plain_file_is_refused_before_the_command_starts() {
    let sandbox = Sandbox::new();
    let file = sandbox.record_file();
    let refused = || {
        for arguments in [&["run", "--", "touch", "started"][..], &["gate"], &["show"]] {
            let status = if arguments[0] == "run" { 125 } else { 2 };
            sandbox
                .call(arguments)
                .says(status, &["feedback_record.jsonl"]);
        }
        assert!(
            !sandbox.path().join("started").exists(),
            "nothing is started"
        );
    };

    fs::create_dir(&file).expect("a folder");
    refused();
    fs::remove_dir(&file).expect("removed");

    assert!(
        std::process::Command::new("mkfifo")
            .arg(&file)
            .status()
            .expect("mkfifo")
            .success()
    );
    refused();
    fs::remove_file(&file).expect("removed");

    let target = sandbox.write("elsewhere", "untouched\n");
    symlink(&target, &file).expect("a link");
    refused();
    assert_eq!(fs::read_to_string(&target).expect("a file"), "untouched\n");
}

#[test]
fn a_corrupt_record_file_loses_nothing_and_is_refused_by_the_gate() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let mut bytes = fs::read(sandbox.record_file()).expect("a file");
    bytes.extend_from_slice(b"this is no record\n\xff\xfe\n");
    fs::write(sandbox.record_file(), &bytes).expect("written");
    assert_eq!(sandbox.call(["run", "--", "true"]).status, 0);
    let after = fs::read(sandbox.record_file()).expect("a file");
    assert!(after.starts_with(&bytes), "what was there is still there");
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(status, 1);
    assert_eq!(verdict["reasons"][0]["code"], "store-damaged", "{verdict}");
    assert_eq!(
        sandbox.call(["show"]).status,
        0,
        "the newest record can be read"
    );
}

#[test]
fn the_record_file_is_chosen_by_option_then_environment_then_policy() {
    let sandbox = Sandbox::new();
    sandbox.write("feedback.json", "{\"record_file\": \"by-policy.jsonl\"}");
    fs::create_dir(sandbox.path().join("sub")).expect("a folder");
    let run = |set: Option<&str>, options: &[&str]| {
        let mut command = sandbox.feedback();
        command.current_dir(sandbox.path().join("sub"));
        if let Some(value) = set {
            command.env("FEEDBACK_RECORD_FILE", value);
        }
        assert!(
            command
                .arg("run")
                .args(options)
                .args(["--", "true"])
                .status()
                .expect("runs")
                .success()
        );
    };
    run(None, &[]);
    assert!(
        sandbox.path().join("by-policy.jsonl").exists(),
        "relative to the policy"
    );
    run(Some("by-environment.jsonl"), &[]);
    assert!(sandbox.path().join("sub/by-environment.jsonl").exists());
    run(
        Some("by-environment.jsonl"),
        &["--record-file", "by-option.jsonl"],
    );
    assert!(sandbox.path().join("sub/by-option.jsonl").exists());
}

#[test]
fn a_file_that_is_no_record_file_is_refused_and_keeps_its_content() {
    let sandbox = Sandbox::new();
    for content in [
        "{\"deps\":{\"a\":1}}",
        "{\"a\":1}\n{\"b\":2}",
        "a note\n",
        "{\n  \"record_file\": \"x\"\n}\n",
    ] {
        let file = sandbox.write("package.json", content);
        let place = ["--record-file", "package.json"];
        let run = ["run", place[0], place[1], "--", "touch", "started"];
        sandbox
            .call(run)
            .says(125, &["package.json", "not a record file"]);
        let recover = ["recover", place[0], place[1]];
        sandbox.call(recover).says(2, &["package.json"]);
        assert_eq!(fs::read_to_string(file).expect("a file"), content);
    }
    assert!(
        !sandbox.path().join("started").exists(),
        "nothing is started"
    );
}

#[test]
fn an_answer_that_cannot_be_written_is_no_pass() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    for command in ["gate", "show", "verify"] {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full");
        let status = sandbox
            .feedback()
            .arg(command)
            .stdout(full)
            .status()
            .expect("runs");
        assert_eq!(status.code(), Some(2), "{command}");
    }
}
