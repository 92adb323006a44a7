//! Every way in which a run can end, as its record tells it, and the time that it takes.
//!
//! | situation | where |
//! |---|---|
//! | exit codes, a signal, a missing program, arguments and output that are not UTF-8 | `runs` |
//! | other signals, a deadline, stopped processes, what outlives a command, large output | here |
//! | what keeps a program from being started, too few descriptors | `starts` |
//! | signals to the runner, pausing, its death | `signals` |
//! | pipelines, standard input, the environment, silence | `options` |
//! | many runs at once | `storm` |
//!
//! All 256 exit codes, all 64 signals, and processes of other users are tested in the library,
//! where what cannot be brought about is named as well.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::background::{PATIENCE, is_gone};
use crate::sandbox::{Called, Sandbox, text};
use crate::time::in_time;

/// Runs a bash script with options, and returns what it gave and how long it took.
fn run(sandbox: &Sandbox, options: &[&str], script: &str) -> (Called, Duration) {
    let began = Instant::now();
    let argv = [&["run"], options, &["--", "bash", "-c", script]].concat();
    (sandbox.call(argv), began.elapsed())
}

#[test]
fn a_signal_without_a_name_is_told_by_its_number() {
    let (called, _) = run(&Sandbox::new(), &[], "kill -40 $$");
    assert_eq!(called.status, 128 + 40);
    let record = called.json();
    assert_eq!(
        (&record["signal"], &record["exit_code"]),
        (&json!(40), &Value::Null)
    );
    assert!(record["outcome_detail"].get("name").is_none(), "{record}");
    assert!(text(&record, "error").contains("signal 40"), "{record}");
}

#[test]
fn what_a_command_did_after_its_deadline_is_kept_beside_the_outcome() {
    let sandbox = Sandbox::new();
    let record = in_time(|millis| {
        let options = ["--timeout", &format!("{millis}ms"), "--grace", "10m"];
        let (called, _) = run(&sandbox, &options, "echo before; exec sleep 600");
        assert_eq!(called.status, 124);
        let record = called.json();
        (record["stdout_tail"] == "before").then_some(record)
    });
    assert_eq!(record["outcome_detail"]["limit"], "deadline");
    assert_eq!(record["outcome_detail"]["escalated"], false);
    assert_eq!(record["outcome_detail"]["then"], json!({"signal": 15}));
    assert!(
        record.get("signal").is_none(),
        "the runner's own signal is not the command's end"
    );
}

#[test]
fn a_command_that_has_stopped_itself_still_ends_at_its_deadline() {
    let sandbox = Sandbox::new();
    let (called, took) = run(
        &sandbox,
        &["--timeout", "300ms", "--grace", "10m"],
        "kill -STOP $$",
    );
    assert_eq!(called.status, 124);
    assert_eq!(
        called.json()["outcome_detail"]["then"],
        json!({"signal": 15})
    );
    assert!(took < PATIENCE, "{took:?}");
}

#[test]
fn a_deadline_that_passes_while_a_child_holds_the_pipe_is_not_the_commands() {
    let sandbox = Sandbox::new();
    let script = "sleep 600 & echo $!; exit 0";
    let (called, took) = run(&sandbox, &["--timeout", "9m"], script);
    assert_eq!(called.status, 0, "{}", called.stdout);
    let record = called.json();
    assert_eq!(record["outcome"], "exited");
    assert_eq!(
        record["stdout"]["end_seen"], false,
        "a child had it open: {record}"
    );
    assert!(took < PATIENCE, "it was not waited for: {took:?}");
    assert!(is_gone(
        text(&record, "stdout_tail").parse().expect("a pid")
    ));
}

#[test]
fn a_daemon_that_keeps_writing_is_ended_with_the_run_and_its_output_kept() {
    let sandbox = Sandbox::new();
    let script = "setsid bash -c \"trap '' TERM; echo \\$\\$ > daemon; while :; do echo from the daemon; sleep 0.01; done\" & \
                  echo first; until test -s daemon; do sleep 0.01; done; wait";
    in_time(|millis| {
        let _ = fs::remove_file(sandbox.path().join("daemon"));
        let limits = ["--timeout", &format!("{millis}ms"), "--grace", "500ms"];
        let (called, took) = run(&sandbox, &limits, script);
        assert_eq!(called.status, 124);
        assert!(took < PATIENCE, "{took:?}");
        let record = called.json();
        let said = text(&record, "stdout_tail");
        if !said.contains("from the daemon") || !said.contains("first") {
            return None;
        }
        let daemon = fs::read_to_string(sandbox.path().join("daemon")).expect("a pid");
        assert!(is_gone(daemon.trim().parse().expect("a pid")));
        assert_eq!(record["outcome_detail"]["escalated"], true, "{record}");
        Some(())
    });
}

#[test]
fn a_daemon_that_left_everything_behind_is_swept_after_a_success_and_named() {
    let sandbox = Sandbox::new();
    let script = "(setsid env -i PATH=\"$PATH\" sleep 600 <&- >&- 2>&- & echo $! > daemon); exit 0";
    let (called, _) = run(&sandbox, &[], script);
    assert_eq!(called.status, 0, "{}", called.stdout);
    let record = called.json();
    assert_eq!(record["leftovers"][0]["fate"], "killed", "{record}");
    assert_eq!(record["stdout"]["end_seen"], true);
    let daemon = fs::read_to_string(sandbox.path().join("daemon")).expect("a pid");
    assert!(is_gone(daemon.trim().parse().expect("a pid")));
}

#[test]
fn the_runner_survives_a_command_that_kills_its_own_group() {
    let sandbox = Sandbox::new();
    let (called, _) = run(&sandbox, &[], "echo before; kill -KILL 0");
    assert_eq!(called.status, 128 + 9);
    assert_eq!(called.json()["stdout_tail"], "before");
}

#[test]
fn a_command_that_signals_its_own_runner_is_cancelled_on_record() {
    let sandbox = Sandbox::new();
    // As a `pkill -f` does whose pattern is in the runner's argv too.
    let (called, _) = run(
        &sandbox,
        &[],
        "echo before; kill -TERM $PPID; exec sleep 600",
    );
    assert_eq!(called.status, 128 + 15);
    let record = called.json();
    assert_eq!(record["outcome"], "cancelled");
    assert_eq!(record["stdout_tail"], "before");
}

#[test]
fn both_streams_can_be_full_at_once_and_are_counted_exactly() {
    let sandbox = Sandbox::new();
    let script = "fill() { head -c 2000000 /dev/zero | tr '\\0' x; }; fill & fill >&2; wait";
    let (called, _) = run(&sandbox, &["--timeout", "60s"], script);
    assert_eq!(called.status, 0, "{}", called.stdout);
    let record = called.json();
    for stream in ["stdout", "stderr"] {
        assert_eq!(record[stream]["bytes"], 2_000_000, "{record}");
        assert_eq!(record[stream]["end_seen"], true);
    }
}

#[test]
fn a_line_without_an_end_takes_constant_memory_and_is_counted_exactly() {
    let sandbox = Sandbox::new();
    let script = "head -c 64000000 /dev/zero | tr '\\0' x";
    let inner = [
        env!("CARGO_BIN_EXE_feedback"),
        "run",
        "--record-file",
        "inner.jsonl",
        "--",
        "bash",
        "-c",
        script,
    ];
    // What the outer run measures is the inner runner.
    let outer = sandbox.run(inner);
    let text = fs::read_to_string(sandbox.path().join("inner.jsonl")).expect("a record");
    let inner: Value = serde_json::from_str(text.trim()).expect("JSON");
    assert_eq!(inner["stdout"]["bytes"], 64_000_000);
    let peak = outer["usage"]["max_rss_bytes"].as_u64().expect("a number");
    assert!(peak < 60_000_000, "{peak} bytes of memory");
}

#[test]
fn no_output_and_exit_0_is_a_success_with_two_streams_that_ended() {
    let sandbox = Sandbox::new();
    let record = sandbox.run(["true"]);
    for stream in ["stdout", "stderr"] {
        assert_eq!(
            record[stream],
            json!({"bytes": 0, "lines": 0, "end_seen": true, "last_byte_ms": null})
        );
    }
    assert_eq!(sandbox.gate(&[]).0, 0);
}

#[test]
fn what_the_output_says_of_failure_changes_no_outcome() {
    let sandbox = Sandbox::new();
    let script = "echo 'Permission denied'; echo 'Killed'; echo 'timed out after 30 s' >&2";
    let (called, _) = run(&sandbox, &[], script);
    assert_eq!(
        (called.status, &called.json()["outcome"]),
        (0, &json!("exited"))
    );
    assert_eq!(sandbox.gate(&[]).0, 0);
}

#[test]
fn cpu_time_and_peak_memory_of_the_command_are_in_the_record() {
    let sandbox = Sandbox::new();
    let script = "i=0; while ((i < 200000)); do ((i++)); done; head -c 60000000 /dev/zero | tail -n 1 | wc -c";
    let (called, _) = run(&sandbox, &[], script);
    let record = called.json();
    assert!(record["usage"]["user_ms"].as_u64() > Some(0), "{record}");
    assert!(
        record["usage"]["max_rss_bytes"].as_u64() > Some(50_000_000),
        "{record}"
    );
}

#[test]
fn a_record_that_cannot_be_written_after_the_run_waits_and_the_verdict_is_told() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    // The command itself takes the record file's place away.
    let script = "mv feedback_record.jsonl kept; mkdir feedback_record.jsonl; echo done; exit 3";
    let (called, _) = run(&sandbox, &[], script);
    assert_eq!(called.status, 125);
    assert!(
        called.stderr.contains("the command itself: exited 3"),
        "{}",
        called.stderr
    );
    assert_eq!(called.json()["exit_code"], 3);

    fs::remove_dir(sandbox.record_file()).expect("removed");
    fs::rename(sandbox.path().join("kept"), sandbox.record_file()).expect("back");
    sandbox.run(["true"]);
    let codes: Vec<Value> = sandbox
        .records()
        .into_iter()
        .map(|record| record["exit_code"].clone())
        .collect();
    assert_eq!(codes, [0, 3, 0], "it has come in before the next one");
}
