//! A command that could not be started: the record says which of the many reasons it was.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::background::line_in;
use crate::sandbox::{Called, Sandbox, text};

#[track_caller]
fn not_started(sandbox: &Sandbox, program: &str, status: i32, cause: &str, words: &str) {
    let called = sandbox.call(["run", "--", program]);
    assert_eq!(called.status, status, "{}", called.stderr);
    let record = called.json();
    assert_eq!(record["outcome"], "not-started");
    assert_eq!(record["exit_code"], Value::Null);
    assert_eq!(record["outcome_detail"]["cause"], cause, "{record}");
    assert!(text(&record, "error").contains(words), "{record}");
    assert_eq!(
        sandbox.gate(&["--last"]).1["reasons"][0]["code"],
        "not-started"
    );
}

#[test]
fn a_line_of_a_shell_in_place_of_a_program_is_told_what_to_write() {
    let sandbox = Sandbox::new();
    let words = "give each argument by itself";
    not_started(&sandbox, "echo hi | cat", 127, "program-not-found", words);
    let words = "`--env NAME=VALUE` before `--` sets a variable";
    not_started(&sandbox, "CI=1", 127, "program-not-found", words);
}

#[test]
fn each_obstacle_has_its_own_cause_and_names_the_object() {
    let sandbox = Sandbox::new();
    sandbox.program("lost", "#!/no/such/interpreter\n");
    sandbox.program("dos", "#!/bin/sh\r\necho started\r\n");
    sandbox.program("text", "echo started\n");
    sandbox.write("plain", "#!/bin/sh\necho started\n");
    sandbox.write("folder/file", "");
    for (program, status, cause, words) in [
        (
            "no-such-program",
            127,
            "program-not-found",
            "`no-such-program`",
        ),
        (
            "./lost",
            127,
            "interpreter-not-found",
            "`/no/such/interpreter`",
        ),
        ("./dos", 127, "interpreter-not-found", "carriage return"),
        ("./plain", 126, "not-executable", "`./plain`"),
        ("./folder", 126, "is-a-directory", "`./folder`"),
        ("./text", 126, "wrong-format", "`./text`"),
    ] {
        not_started(&sandbox, program, status, cause, words);
    }
    let outputs = sandbox
        .records()
        .into_iter()
        .map(|record| record["stdout"]["bytes"].clone());
    assert!(
        outputs.eq((0..6).map(|_| Value::from(0))),
        "nothing ran in their place"
    );
}

#[test]
fn a_program_that_stays_open_for_writing_is_named_as_busy() {
    let sandbox = Sandbox::new();
    sandbox.program("busy", "#!/bin/sh\n");
    // Another process, so that nothing but this test decides for how long.
    let mut writer = Command::new("sh")
        .args(["-c", "exec 3>>busy; echo >open; read end"])
        .current_dir(sandbox.path())
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell");
    line_in(&sandbox.path().join("open"));
    not_started(&sandbox, "./busy", 126, "text-file-busy", "`./busy`");
    drop(writer.stdin.take());
    writer.wait().expect("an end");
    assert_eq!(sandbox.run(["./busy"])["exit_code"], 0);
}

#[test]
fn an_argument_that_is_too_long_is_told_with_its_size() {
    let sandbox = Sandbox::new();
    // Short enough for the runner's own argv; with what the runner adds, too long for bash.
    let script = format!("true #{}", "x".repeat(128 * 1024 - 8));
    let called = sandbox.call(["run", "--shell", &script]);
    assert_eq!(called.status, 126, "{}", called.stderr);
    let record = called.json();
    assert_eq!(record["outcome_detail"]["cause"], "argument-list-too-long");
    assert!(
        text(&record, "error").contains("131072 is the most for one"),
        "{record}"
    );
}

#[test]
fn a_working_directory_that_was_deleted_leaves_a_record_elsewhere() {
    let sandbox = Sandbox::new();
    let binary = sandbox.feedback().get_program().to_owned();
    let call = |options: &[&str]| {
        let mut shell = std::process::Command::new("sh");
        let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"";
        shell.args(["-c", script, "sh"]).arg(&binary).arg("run");
        shell.args(options).args(["--", "touch", "started"]);
        shell
            .current_dir(sandbox.path())
            .env_remove("FEEDBACK_RECORD_FILE");
        Called::from(shell.output().expect("a shell"))
    };
    let file = sandbox.record_file();
    let file = file.to_str().expect("UTF-8");

    let called = call(&["--record-file", file]);
    assert_eq!(called.status, 125, "{}", called.stderr);
    let record = called.json();
    assert_eq!(record["outcome"], "not-started");
    assert_eq!(record["outcome_detail"]["cause"], "cwd-not-found");
    let gone = sandbox.path().join("gone");
    let gone = gone.to_str().expect("UTF-8");
    assert_eq!(
        text(&record, "error"),
        format!("working directory was deleted: `{gone}`")
    );
    assert_eq!(text(&record, "cwd"), gone);

    let there = sandbox.path().to_str().expect("UTF-8");
    let called = call(&["--record-file", file, "--cwd", there]);
    assert_eq!(called.status, 0, "{}", called.stderr);
    assert_eq!(text(&called.json(), "cwd"), there);
    assert!(sandbox.path().join("started").exists());
    assert_eq!(sandbox.records().len(), 2);

    // Where there is no place for a record, nothing is started.
    call(&["--cwd", there]).says(125, &["gone"]);
    // The policy above what was deleted still holds.
    sandbox.write("feedback.json", "{");
    call(&["--record-file", file]).says(125, &["feedback.json"]);
}

#[test]
fn a_working_directory_that_is_not_utf8_is_kept_without_loss() {
    let sandbox = Sandbox::new();
    let name = OsString::from_vec(b"odd-\xff".to_vec());
    fs::create_dir(sandbox.path().join(&name)).expect("a folder");
    let record = sandbox.run_with([OsStr::new("--cwd"), &name], ["pwd"]);
    assert!(text(&record, "cwd").ends_with("/odd-\u{fffd}"), "{record}");
    let path = std::path::absolute(sandbox.path())
        .expect("a path")
        .join(&name);
    assert_eq!(
        unbase64(text(&record, "cwd_base64")),
        path.as_os_str().as_bytes()
    );
    assert_eq!(record["stdout"]["invalid_bytes"], 1);
}

/// Decodes base64 with padding.
fn unbase64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text
        .bytes()
        .filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte));
    let (mut bits, mut count, mut bytes) = (0_usize, 0, Vec::new());
    for digit in digits {
        bits = bits << 6 | digit;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).expect("a byte"));
        }
    }
    bytes
}

/// Calls the binary with so few descriptors.
fn with_descriptors(sandbox: &Sandbox, most: u32) -> Called {
    let script = format!(
        "ulimit -n {most}; exec '{}' run -- sh -c 'echo x >> started'",
        env!("CARGO_BIN_EXE_feedback")
    );
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", &script])
        .current_dir(sandbox.path())
        .env_remove("FEEDBACK_RECORD_FILE");
    Called::from(shell.output().expect("runs"))
}

#[test]
fn without_descriptors_a_run_is_refused_or_recorded_and_never_lost() {
    let (mut refused, mut short, mut started) = (0, 0, 0);
    for most in 4..24 {
        let sandbox = Sandbox::new();
        let called = with_descriptors(&sandbox, most);
        let ran = sandbox.path().join("started").exists();
        // Where even the record file could not be opened, the record waits for this.
        sandbox.call(["recover"]);
        match sandbox.records().as_slice() {
            [] => {
                assert!(!ran, "{most}: a run without a record: {}", called.stderr);
                called.says(125, &["feedback: "]);
                refused += 1;
            }
            [record] if ran => {
                assert_eq!(record["exit_code"], 0, "{most}: {record}");
                started += 1;
            }
            [record] => {
                assert_eq!(
                    record["outcome_detail"]["cause"], "resource-limit",
                    "{record}"
                );
                assert_eq!(called.status, 125);
                short += 1;
            }
            records => panic!("{most}: {records:?}"),
        }
    }
    assert!(
        refused > 0 && short > 0 && started > 0,
        "{refused} {short} {started}"
    );
}

#[test]
fn a_secret_is_hidden_in_an_error_however_it_is_spelt() {
    let sandbox = Sandbox::new();
    let value = ["p\u{e4}ss", "W\u{f6}rd9x!Z"].concat();
    let escaped = ["sk\\_live", "\\_q7Xk2m9vR4z8"].concat();
    let token = ["ghp", "_q7Xk2m9vR4z8aB3dE6gH9jK2mN5pQ8sT1vW4"].concat();
    let [controlled, coloured, deleted] = ["\u{1}", "\u{1b}[31m", "\u{7f}\u{8}"].map(|control| {
        let (head, tail) = token.split_at(9);
        format!("{head}{control}{tail}")
    });
    for (program, trace) in [
        (&value, "rd9x!Z"),
        (&escaped, "q7Xk2m9vR4"),
        (&controlled, "R4z8aB3"),
        (&coloured, "R4z8aB3"),
        (&deleted, "R4z8aB3"),
    ] {
        let called = Called::from(
            sandbox
                .feedback()
                .env("APP_PASSWORD", &value)
                .args(["run", "--json", "--", program])
                .output()
                .expect("the binary runs"),
        );
        assert_eq!(called.status, 127, "{}", called.stderr);
        let record = called.json();
        let error = text(&record, "error");
        assert!(error.starts_with("program not found: "), "{error}");
        assert!(!called.stdout.contains(trace), "{error}");
        assert!(!called.stderr.contains(trace), "{}", called.stderr);
    }
}
