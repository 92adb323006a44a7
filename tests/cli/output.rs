//! Keeping a run's whole output beside its record, and reading it again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::background::eventually;
use crate::sandbox::{Called, Sandbox, holds, text};
use crate::time::in_time;

const NUMBERS: &str =
    "i=1; while [ $i -le 2000 ]; do echo line $i; i=$((i+1)); done; echo oops >&2";

fn kept_file(sandbox: &Sandbox, record: &Value, stream: &str) -> PathBuf {
    sandbox.path().join(text(&record[stream]["kept"], "file"))
}

fn output_files(sandbox: &Sandbox) -> Vec<String> {
    let folder = sandbox.path().join("feedback_record.jsonl.output");
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    names.sort();
    names
}

fn sha256_of(path: &PathBuf) -> String {
    let output = Command::new("sha256sum")
        .arg(path)
        .output()
        .expect("sha256sum");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    format!("sha256:{}", text.split(' ').next().expect("a digest"))
}

/// Runs in a sandbox and returns what `show` prints for these options.
fn show(sandbox: &Sandbox, options: &[&str]) -> Called {
    sandbox.call(["show"].iter().chain(options))
}

#[test]
fn the_whole_output_is_kept_with_its_size_and_digest_for_the_user_alone() {
    let sandbox = Sandbox::new();
    let record = sandbox.run_with(["--keep-output"], ["sh", "-c", NUMBERS]);
    for (stream, lines) in [("stdout", 2000), ("stderr", 1)] {
        let path = kept_file(&sandbox, &record, stream);
        let kept = &record[stream]["kept"];
        let about = fs::metadata(&path).expect("a file");
        assert_eq!(kept["bytes"], about.len());
        assert_eq!(kept["lines"], lines);
        assert_eq!(kept["lines"], record[stream]["lines"]);
        assert_eq!(text(kept, "sha256"), sha256_of(&path));
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
        let folder = path
            .parent()
            .expect("a folder")
            .metadata()
            .expect("a folder");
        assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    }
    assert!(record["stdout"]["lines_omitted"].as_u64() > Some(0));
    assert_eq!(sandbox.call(["verify"]).status, 0);
}

#[test]
fn nothing_is_kept_where_nobody_asked_and_show_says_how_to_ask() {
    let sandbox = Sandbox::new();
    let record = sandbox.run(["echo", "hello"]);
    assert!(record["stdout"].get("kept").is_none());
    assert!(output_files(&sandbox).is_empty());
    for option in [vec!["--full"], vec!["--lines", "1-2"], vec!["--grep", "h"]] {
        show(&sandbox, &option).says(2, &["kept no output", "--keep-output", "keep_output"]);
    }
}

#[test]
fn the_policy_can_ask_for_it_and_one_run_can_decline() {
    let sandbox = Sandbox::new();
    sandbox.write("feedback.json", r#"{"run":{"keep_output":true}}"#);
    let record = sandbox.run(["echo", "hello"]);
    assert_eq!(record["stdout"]["kept"]["bytes"], 6);
    let record = sandbox.run_with(["--no-keep-output"], ["echo", "hello"]);
    assert!(record["stdout"].get("kept").is_none());
    sandbox.write("feedback.json", r#"{"run":{"keep_output_max_bytes":9}}"#);
    let called = sandbox.call(["run", "--", "true"]);
    called.says(125, &["run.keep_output_max_bytes", "65536"]);
}

#[test]
fn full_prints_both_streams_or_the_chosen_one() {
    let sandbox = Sandbox::new();
    sandbox.run_with(
        ["--keep-output"],
        ["sh", "-c", "echo a; printf b; echo c >&2"],
    );
    assert_eq!(
        show(&sandbox, &["--full"]).stdout,
        "== stdout ==\na\nb\n== stderr ==\nc\n"
    );
    assert_eq!(
        show(&sandbox, &["--full", "--stream", "stderr"]).stdout,
        "c\n"
    );
    sandbox.run_with(["--keep-output"], ["echo", "alone"]);
    let shown = show(&sandbox, &["--full"]);
    assert_eq!(
        (shown.stdout.as_str(), shown.stderr.as_str()),
        ("alone\n", "")
    );
    // An empty stream is no missing one.
    let shown = show(&sandbox, &["--full", "--stream", "stderr"]);
    assert_eq!((shown.status, shown.stdout.as_str()), (0, ""));
}

#[test]
fn lines_are_counted_from_one_or_from_the_end() {
    let sandbox = Sandbox::new();
    sandbox.run_with(["--keep-output"], ["sh", "-c", NUMBERS]);
    let lines = |range: &str| show(&sandbox, &["--stream", "stdout", "--lines", range]).stdout;
    assert_eq!(lines("1000-1002"), "line 1000\nline 1001\nline 1002\n");
    assert_eq!(lines("1999-"), "line 1999\nline 2000\n");
    assert_eq!(lines("-2"), "line 1999\nline 2000\n");
    assert_eq!(lines("7"), "line 7\n");
    assert_eq!(lines("1999-9999"), "line 1999\nline 2000\n");
    let shown = show(&sandbox, &["--lines", "3000-4000"]);
    assert_eq!((shown.status, shown.stdout.as_str()), (0, ""));
    assert!(
        shown.stderr.contains("stdout has 2000 lines"),
        "{}",
        shown.stderr
    );
    for wrong in ["0-2", "9-3", "x", ""] {
        show(&sandbox, &["--lines", wrong]).says(2, &["100-200"]);
    }
}

#[test]
fn grep_prints_numbered_lines_within_the_range_if_there_is_one() {
    let sandbox = Sandbox::new();
    sandbox.run_with(["--keep-output"], ["sh", "-c", NUMBERS]);
    let shown = show(&sandbox, &["--grep", "^line 19.7$|oops"]);
    let tens = (0..10).map(|ten| format!("19{ten}7:line 19{ten}7\n"));
    let wanted = tens.collect::<String>();
    assert_eq!(
        shown.stdout,
        format!("== stdout ==\n{wanted}== stderr ==\n1:oops\n")
    );
    let shown = show(
        &sandbox,
        &["--grep", "7$", "--lines", "20-40", "--stream", "stdout"],
    );
    assert_eq!(shown.stdout, "27:line 27\n37:line 37\n");
    let shown = show(&sandbox, &["--grep", "absent"]);
    assert_eq!((shown.status, shown.stdout.as_str()), (0, ""));
    assert!(shown.stderr.contains("no line matches"), "{}", shown.stderr);
    show(&sandbox, &["--grep", "("]).says(2, &["--grep"]);
    show(&sandbox, &["--full", "--grep", "x"]).says(2, &["cannot be used with"]);
    show(&sandbox, &["--stream", "stdout"]).says(2, &["required"]);
}

#[test]
fn what_is_kept_is_redacted_and_free_of_escape_sequences() {
    let sandbox = Sandbox::new();
    let token = ["ghp_", "R7xK2mVq9TzLw4Ns8YbHc3JdPf6GaQe1UoWi"].concat();
    let script = r#"printf '\033[31mred\033[0m\n10%%\r20%%\n'; printf 'token %s\n' "$(cat token)"; printf 'half %s' "$(cat token)""#;
    sandbox.write("token", &token);
    sandbox.run_with(["--keep-output"], ["sh", "-c", script]);
    fs::remove_file(sandbox.path().join("token")).expect("removed");
    let shown = show(&sandbox, &["--full"]).stdout;
    assert!(shown.starts_with("red\n20%\ntoken [REDACTED:"), "{shown}");
    assert!(shown.contains("half [REDACTED:"), "{shown}");
    assert!(!holds(&sandbox.every_byte(), token.as_bytes()));
    assert!(!holds(&sandbox.every_byte(), b"\x1b"));
}

#[test]
fn what_goes_beyond_the_bound_is_counted_exactly() {
    let sandbox = Sandbox::new();
    let policy = r#"{"run":{"keep_output":true,"keep_output_max_bytes":65536}}"#;
    sandbox.write("feedback.json", policy);
    let record = sandbox.run(["sh", "-c", "yes 'nine byte' | head -n 10000"]);
    let kept = &record["stdout"]["kept"];
    assert_eq!(
        (&kept["bytes"], &kept["bytes_omitted"]),
        (&65_536.into(), &34_464.into())
    );
    // The line that the bound cuts counts as kept.
    assert_eq!(
        (&kept["lines"], &kept["lines_omitted"]),
        (&6554.into(), &3446.into())
    );
    assert_eq!(
        text(kept, "sha256"),
        sha256_of(&kept_file(&sandbox, &record, "stdout"))
    );
    let shown = show(&sandbox, &["--lines", "-1"]);
    assert!(
        shown.stderr.contains("34464 bytes and 3446 lines"),
        "{}",
        shown.stderr
    );
    assert_eq!(sandbox.call(["verify"]).status, 0);
}

#[test]
fn a_run_that_was_ended_has_what_it_printed_by_then() {
    let sandbox = Sandbox::new();
    in_time(|millis| {
        let timeout = format!("{millis}ms");
        let options = ["--keep-output", "--timeout", &timeout, "--grace", "100ms"];
        let script = "echo first; printf unended; sleep 600";
        let record = sandbox.run_with(options, ["sh", "-c", script]);
        assert_eq!(record["outcome"], "timed-out");
        let printed = record["stdout"]["bytes"] == "first\nunended".len();
        printed.then(|| assert_eq!(show(&sandbox, &["--full"]).stdout, "first\nunended\n"))
    });
    let record = sandbox.run_with(["--keep-output"], ["no-such-program"]);
    assert_eq!(record["outcome"], "not-started");
    assert_eq!(record["stdout"]["kept"]["bytes"], 0);
}

#[test]
fn a_dead_runner_leaves_what_its_command_had_printed() {
    let sandbox = Sandbox::new();
    // The shell ends its runner once the runner has written what the shell has printed.
    let script = "echo before; until grep -q before *.output/*.stdout; do :; done; kill -9 $PPID";
    let killed = sandbox
        .feedback()
        .args(["run", "--keep-output", "--", "sh", "-c", script])
        .output()
        .expect("the binary runs");
    assert_eq!(killed.status.code(), None);
    assert_eq!(sandbox.call(["recover"]).status, 0);
    let record = sandbox.records().pop().expect("a record");
    assert_eq!(record["outcome"], "runner-died");
    let shown = show(&sandbox, &["--full"]);
    assert_eq!(shown.stdout, "before\n");
    assert!(shown.stderr.contains("the runner died"), "{}", shown.stderr);
    assert_eq!(sandbox.call(["verify"]).status, 0);
}

#[test]
fn a_limit_of_the_system_costs_the_rest_of_the_output_but_neither_run_nor_record() {
    let sandbox = Sandbox::new();
    // 512 blocks of 1024 bytes, as bash counts.
    let binary = env!("CARGO_BIN_EXE_feedback");
    let script = format!(
        "ulimit -f 512; exec '{binary}' run --keep-output -- sh -c 'yes line | head -n 300000; exit 3'"
    );
    let mut limited = Command::new("bash");
    let limited = limited.args(["-c", &script]).current_dir(sandbox.path());
    let limited = limited
        .env_remove("FEEDBACK_RECORD_FILE")
        .output()
        .expect("bash");
    assert_eq!(
        limited.status.code(),
        Some(3),
        "{}",
        String::from_utf8_lossy(&limited.stderr)
    );
    let record = sandbox.records().pop().expect("a record");
    let kept = &record["stdout"]["kept"];
    assert_eq!(
        (&kept["bytes"], &kept["bytes_omitted"]),
        (&524_288.into(), &975_712.into())
    );
    assert!(text(kept, "error").contains("File too large"), "{kept}");
    assert_eq!(
        text(kept, "sha256"),
        sha256_of(&kept_file(&sandbox, &record, "stdout"))
    );
    let shown = show(&sandbox, &["--lines", "-1"]);
    assert!(shown.stderr.contains("File too large"), "{}", shown.stderr);
}

#[test]
fn a_changed_or_missing_file_is_damage_and_is_not_shown() {
    let sandbox = Sandbox::new();
    let record = sandbox.run_with(["--keep-output"], ["echo", "1 failed"]);
    let path = kept_file(&sandbox, &record, "stdout");
    fs::write(&path, "0 failed\n").expect("changed");
    show(&sandbox, &["--full"]).says(2, &["was changed after its run"]);
    let verified = sandbox.call(["verify"]);
    assert_eq!(verified.status, 1);
    assert!(
        verified
            .stdout
            .contains("does not match its digest in record 1"),
        "{}",
        verified.stdout
    );
    fs::remove_file(&path).expect("removed");
    show(&sandbox, &["--full"]).says(2, &["is missing"]);
    let verified = sandbox.call(["verify"]);
    assert_eq!(verified.status, 1);
    assert!(
        verified
            .stdout
            .contains("is missing, and record 1 names it"),
        "{}",
        verified.stdout
    );
    std::os::unix::fs::symlink("/etc/passwd", &path).expect("a link");
    show(&sandbox, &["--full"]).says(2, &["symbolic link"]);
}

#[test]
fn recovery_removes_what_belongs_to_no_record_and_to_no_run_that_goes_on() {
    let sandbox = Sandbox::new();
    let record = sandbox.run_with(["--keep-output"], ["echo", "kept"]);
    let folder = "feedback_record.jsonl.output";
    let orphan = "01a22d10-0000-7000-8000-000000000000";
    sandbox.write(&format!("{folder}/{orphan}.stdout"), "orphan");
    sandbox.write(&format!("{folder}/{orphan}.stderr"), "orphan");
    sandbox.write(&format!("{folder}/notes.txt"), "not ours");
    let gate = sandbox.path().join("gate");
    assert!(
        Command::new("mkfifo")
            .arg(&gate)
            .status()
            .expect("mkfifo")
            .success()
    );
    let mut running = sandbox
        .feedback()
        .args([
            "run",
            "--keep-output",
            "--",
            "sh",
            "-c",
            "echo ready > ready; read line < gate",
        ])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("a run");
    eventually("the command has begun", || {
        sandbox.path().join("ready").exists()
    });
    assert_eq!(sandbox.call(["recover"]).status, 0);
    let names = output_files(&sandbox);
    assert!(!names.iter().any(|name| name.contains(orphan)), "{names:?}");
    assert!(names.contains(&"notes.txt".to_owned()), "{names:?}");
    assert_eq!(names.len(), 5, "{names:?}");
    fs::write(&gate, "go\n").expect("written");
    assert!(running.wait().expect("an end").success());
    assert_eq!(sandbox.call(["verify"]).status, 0);
    assert!(kept_file(&sandbox, &record, "stdout").exists());
}

#[test]
fn an_export_holds_the_outputs_and_show_reads_them_from_it() {
    let sandbox = Sandbox::new();
    sandbox.run_with(["--keep-output"], ["sh", "-c", NUMBERS]);
    sandbox.run(["echo", "plain"]);
    let id = text(&sandbox.records()[0], "command_id").to_owned();
    for destination in ["folder", "archive.tar.gz"] {
        let exported = sandbox.call(["export", destination, "--json"]);
        assert_eq!(exported.status, 0, "{}", exported.stderr);
        assert_eq!(
            exported.json()["outputs"].as_array().expect("a list").len(),
            2
        );
        let from = ["--from", destination, id.as_str()];
        let shown = show(
            &sandbox,
            &[&from[..], &["--lines", "5", "--stream", "stdout"]].concat(),
        );
        assert_eq!(shown.stdout, "line 5\n", "{}", shown.stderr);
        let newest = show(&sandbox, &["--from", destination, "--full"]);
        newest.says(2, &["kept no output"]);
    }
    let verified = sandbox.call(["verify", "--record-file", "folder/feedback_record.jsonl"]);
    assert_eq!(verified.status, 0, "{}", verified.stdout);
}

#[test]
fn an_export_that_cannot_be_told_fails() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    for arguments in [vec!["export", "copy", "--json"], vec!["recover"]] {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full");
        let called = sandbox
            .feedback()
            .args(&arguments)
            .stdout(full)
            .output()
            .expect("runs");
        assert_eq!(called.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_path_moves_no_cursor() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let called = sandbox.call(["export", "co\u{1b}[2Jpy"]);
    assert!(!called.stdout.contains('\u{1b}'), "{:?}", called.stdout);
    let called = sandbox.call(["export", "co\u{1b}[2Jpy"]);
    assert_eq!(called.status, 2);
    assert!(!called.stderr.contains('\u{1b}'), "{:?}", called.stderr);
}
