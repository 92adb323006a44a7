//! Signals to the runner in every phase of a run: one record, nothing left running, and the right
//! exit status; without a terminal and from the keys of one.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::background::{
    Background, a_record_waits, eventually, hold_the_store, holds_a_line, is_gone, line_in, send,
    state,
};
use crate::sandbox::{Sandbox, text};
use crate::terminal::{CTRL_BACKSLASH, CTRL_C, CTRL_Z, Terminal};
use crate::time::in_time;

const REQUESTS: [(Signal, &str); 4] = [
    (Signal::INT, "SIGINT"),
    (Signal::TERM, "SIGTERM"),
    (Signal::HUP, "SIGHUP"),
    (Signal::QUIT, "SIGQUIT"),
];

/// Says its pid and waits, with a daemon beside it.
const WAITS: &str = "setsid sleep 600 >&- 2>&- & echo $! > daemon; echo $$ > pid; exec sleep 600";

/// Waits until the command of a sandbox runs, and returns its process.
fn command(sandbox: &Sandbox) -> i32 {
    line_in(&sandbox.path().join("pid")).parse().expect("a pid")
}

/// Asserts that neither the command nor its daemon runs, and returns the one record.
#[track_caller]
fn only_record(sandbox: &Sandbox) -> Value {
    for name in ["pid", "daemon"] {
        let pid = fs::read_to_string(sandbox.path().join(name)).unwrap_or_default();
        if let Ok(pid) = pid.trim().parse() {
            assert!(is_gone(pid), "{name} is still there");
        }
    }
    let mut records = sandbox.records();
    assert_eq!(records.len(), 1, "{records:?}");
    records.pop().expect("one")
}

#[test]
fn while_the_command_runs() {
    for (signal, name) in REQUESTS {
        let sandbox = Sandbox::new();
        let runner = Background::start(&sandbox, &["run", "--", "sh", "-c", WAITS]);
        command(&sandbox);
        runner.signal(signal);
        let called = runner.end();
        assert_eq!(called.status, 128 + signal.as_raw());
        let record = only_record(&sandbox);
        assert_eq!(record["outcome"], "cancelled");
        assert_eq!(record["exit_code"], Value::Null);
        assert_eq!(record["outcome_detail"]["name"], name);
        assert_eq!(record, called.json());
        assert_eq!(sandbox.gate(&[]).1["reasons"][0]["code"], "cancelled");
    }
}

#[test]
fn before_the_command_is_started() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(["false"]);
    let parent = text(&first, "command_id");
    // The runner asks git for the inputs before it starts the command, and this git takes its time.
    let waits = "#!/bin/sh\ntouch asked; until test -e answer; do sleep 0.05; done; printf 'feedback.json\\0'\n";
    let git = sandbox.program("bin/git", waits);
    sandbox.write("feedback.json", "{}");
    let argv = [
        "run", "--parent", parent, "--inputs", "git", "--", "touch", "started",
    ];
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", git.parent().expect("a folder").display());
    let runner = Background::start_with(&sandbox, &argv, |command| {
        command.env("PATH", &path);
    });
    runner.hears_signals();
    eventually("git is asked", || sandbox.path().join("asked").exists());
    runner.signal(Signal::INT);
    sandbox.write("answer", "");
    let called = runner.end();
    assert_eq!(called.status, 128 + 2, "{}", called.stderr);
    assert!(!sandbox.path().join("started").exists());
    let records = sandbox.records();
    assert_eq!(records.len(), 2);
    assert_eq!(records[1]["outcome"], "cancelled");
    assert_eq!(records[1]["outcome_detail"]["signal"], 2);
    assert_eq!(records[1]["parent_command_id"], parent);
}

#[test]
fn while_the_streams_are_drained() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    // The runner cannot end before it has had the signal.
    let lock = hold_the_store(&sandbox);
    let script = "sleep 600 & echo $! > daemon; echo printed; echo $$ > pid";
    let runner = Background::start(&sandbox, &["run", "--", "sh", "-c", script]);
    let leader = command(&sandbox);
    eventually("the command has ended", || is_gone(leader));
    runner.signal(Signal::TERM);
    drop(lock);
    let called = runner.end();
    assert_eq!(called.status, 128 + 15, "{}", called.stderr);
    let record = called.json();
    assert_eq!(record["exit_code"], 0, "it had exited before: {record}");
    assert_eq!(record["stdout_tail"], "printed");
    assert_eq!(record["leftovers"][0]["fate"], "killed");
    assert!(is_gone(
        line_in(&sandbox.path().join("daemon"))
            .parse()
            .expect("a pid")
    ));
    assert_eq!(sandbox.records().len(), 2);
}

#[test]
fn while_the_record_is_written() {
    for (signal, _) in REQUESTS {
        let sandbox = Sandbox::new();
        sandbox.run(["true"]);
        let lock = hold_the_store(&sandbox);
        let runner =
            Background::start(&sandbox, &["run", "--", "sh", "-c", "echo printed; exit 3"]);
        eventually("a record waits", || a_record_waits(&sandbox));
        runner.signal(signal);
        drop(lock);
        let called = runner.end();
        assert_eq!(called.status, 128 + signal.as_raw(), "{}", called.stderr);
        let records = sandbox.records();
        assert_eq!(records.len(), 2);
        assert_eq!(records[1]["exit_code"], 3);
        assert_eq!(records[1], called.json());
    }
}

/// Says when it was asked to end, and stays.
const STAYS: &str =
    "trap 'echo x >> heard' INT; trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done";

#[test]
fn a_second_request_ends_the_command_at_once() {
    let sandbox = Sandbox::new();
    let argv = ["run", "--grace", "10m", "--", "sh", "-c", STAYS];
    let runner = Background::start(&sandbox, &argv);
    command(&sandbox);
    runner.signal(Signal::INT);
    line_in(&sandbox.path().join("heard"));
    runner.signal(Signal::TERM);
    assert_eq!(runner.end().status, 128 + 2, "the first request counts");
    let record = only_record(&sandbox);
    assert_eq!(record["outcome_detail"]["escalated"], true);
    assert_eq!(record["outcome_detail"]["then"], json!({"signal": 9}));
}

#[test]
fn a_request_that_was_ignored_from_the_start_stays_ignored() {
    let sandbox = Sandbox::new();
    let mut command = std::process::Command::new("sh");
    let script = format!(
        "trap '' HUP; exec '{}' run -- sh -c 'echo $$ > pid; until test -e go; do sleep 0.05; done'",
        env!("CARGO_BIN_EXE_feedback")
    );
    command
        .args(["-c", &script])
        .current_dir(sandbox.path())
        .env_remove("FEEDBACK_RECORD_FILE")
        .stdout(std::process::Stdio::null());
    let mut runner = Background::spawn(command);
    self::command(&sandbox);
    runner.signal(Signal::HUP);
    sandbox.write("go", "");
    assert!(runner.wait().success());
    assert_eq!(only_record(&sandbox)["exit_code"], 0);
}

#[test]
fn a_runner_that_is_killed_takes_its_command_along_and_the_next_run_says_so() {
    let sandbox = Sandbox::new();
    let script = "trap '' HUP TERM INT; echo $$ > pid; exec sleep 600";
    let mut runner = Background::start(
        &sandbox,
        &["run", "--note", "it works", "--", "sh", "-c", script],
    );
    let pid = command(&sandbox);
    runner.signal(Signal::KILL);
    assert_eq!(runner.wait().signal(), Some(9));
    eventually("the command is gone", || is_gone(pid));
    let (status, verdict) = sandbox.gate(&[]);
    assert_ne!(status, 0, "{verdict}");

    let called = sandbox.call(["run", "--", "echo", "next"]);
    called.says(0, &["the runner of", "died"]);
    let records = sandbox.records();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0]["outcome"], "runner-died");
    assert_eq!(records[0]["exit_code"], Value::Null);
    assert_eq!(records[0]["agent_note"], "it works");
    assert_eq!(records[1]["exit_code"], 0);
    assert_eq!(sandbox.gate(&[]).1["reasons"][0]["code"], "runner-died");
}

/// Waits for a line without any process of its own, so that it can be stopped at once: a shell
/// that is starting a program waits for that to have begun.
const READS: &str = "mkfifo go; echo $$ > pid; read line < go; echo went $line";

/// Opens a pipe for writing, whether somebody reads from it or not.
fn open_pipe(path: &Path) -> File {
    let mut pipe = File::options();
    pipe.read(true).write(true).open(path).expect("a pipe")
}

/// Starts `feedback` as the program of a terminal.
fn on_a_terminal(sandbox: &Sandbox, arguments: &[&str]) -> Terminal {
    let mut command = sandbox.feedback();
    command.args(arguments);
    Terminal::start(command)
}

#[test]
fn the_keys_of_a_terminal_cancel_the_run() {
    for (key, signal) in [(CTRL_C, 2), (CTRL_BACKSLASH, 3)] {
        let sandbox = Sandbox::new();
        let mut terminal = on_a_terminal(&sandbox, &["run", "--", "sh", "-c", WAITS]);
        command(&sandbox);
        terminal.press(key);
        let (status, seen) = terminal.end();
        assert_eq!(status.code(), Some(128 + signal), "{seen}");
        assert_eq!(only_record(&sandbox)["outcome_detail"]["signal"], signal);
        assert!(seen.contains("cancelled, no exit code"), "{seen}");
    }
}

#[test]
fn a_second_ctrl_c_ends_the_command_at_once() {
    let sandbox = Sandbox::new();
    let argv = ["run", "--grace", "10m", "--", "sh", "-c", STAYS];
    let mut terminal = on_a_terminal(&sandbox, &argv);
    command(&sandbox);
    terminal.press(CTRL_C);
    line_in(&sandbox.path().join("heard"));
    terminal.press(CTRL_C);
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(128 + 2), "{seen}");
    assert_eq!(only_record(&sandbox)["outcome_detail"]["escalated"], true);
}

#[test]
fn ctrl_c_while_the_record_is_written_loses_nothing() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let lock = hold_the_store(&sandbox);
    let mut terminal = on_a_terminal(&sandbox, &["run", "--", "sh", "-c", "echo printed; exit 3"]);
    eventually("a record waits", || a_record_waits(&sandbox));
    terminal.press(CTRL_C);
    terminal.watch_for("^C");
    drop(lock);
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(128 + 2), "{seen}");
    let records = sandbox.records();
    assert_eq!((records.len(), &records[1]["exit_code"]), (2, &json!(3)));
}

#[test]
fn ctrl_z_stops_the_command_with_the_runner_and_the_clock_of_its_limits() {
    in_time(|millis| {
        let sandbox = Sandbox::new();
        let timeout = format!("{millis}ms");
        let argv = [
            "run",
            "--timeout",
            &timeout,
            "--json",
            "--",
            "sh",
            "-c",
            READS,
        ];
        let mut terminal = on_a_terminal(&sandbox, &argv);
        let runner = terminal.runner.pid();
        eventually("the command runs or is over", || {
            is_gone(runner) || holds_a_line(&sandbox.path().join("pid"))
        });
        if is_gone(runner) {
            return None;
        }
        let leader = command(&sandbox);
        terminal.press(CTRL_Z);
        eventually("both are stopped or it is over", || {
            is_gone(runner) || (state(leader) == Some('T') && state(runner) == Some('T'))
        });
        if is_gone(runner) {
            return None;
        }
        // The deadline would pass now, if the clock went on.
        sleep(Duration::from_millis(millis + 100));
        assert_eq!(state(leader), Some('T'));
        send(runner, Signal::CONT);
        // A file that both may open without waiting for the other.
        let mut go = open_pipe(&sandbox.path().join("go"));
        go.write_all(b"on\n").expect("written");
        let (status, seen) = terminal.end();
        if status.code() == Some(124) {
            // The time before the pause and after it was too long.
            return None;
        }
        assert_eq!(status.code(), Some(0), "{seen}");
        let record = only_record(&sandbox);
        assert_eq!(record["stdout_tail"], "went on");
        assert!(record["duration_ms"].as_u64() > Some(millis), "{record}");
        Some(())
    });
}

/// Starts an interactive shell with job control, in which `f` is the binary.
fn shell_on_a_terminal(sandbox: &Sandbox) -> Terminal {
    let feedback = sandbox.feedback();
    let binary = feedback.get_program().to_str().expect("UTF-8");
    let mut shell = std::process::Command::new("bash");
    shell
        .args(["--norc", "--noprofile", "-i"])
        .current_dir(sandbox.path())
        .env_remove("FEEDBACK_RECORD_FILE")
        .env("HISTFILE", "/dev/null");
    let mut terminal = Terminal::start(shell);
    terminal.enter(&format!("f() {{ '{binary}' run \"$@\"; }}"));
    terminal
}

#[test]
fn a_shell_with_job_control_can_stop_the_run_and_go_on_with_it() {
    let sandbox = Sandbox::new();
    sandbox.write("reads", READS);
    let mut terminal = shell_on_a_terminal(&sandbox);
    terminal.enter("f --json --timeout 10m -- sh reads");
    let leader = command(&sandbox);
    terminal.press(CTRL_Z);
    terminal.watch_for("Stopped");
    eventually("the command is stopped", || state(leader) == Some('T'));
    terminal.enter("fg; echo status=$?; exit");
    sandbox.write("go", "on\n");
    terminal.watch_for("status=0");
    assert_eq!(only_record(&sandbox)["stdout_tail"], "went on");
}

#[test]
fn a_shell_learns_that_ctrl_c_has_cancelled_the_run() {
    let sandbox = Sandbox::new();
    let mut terminal = shell_on_a_terminal(&sandbox);
    sandbox.write("waits", "echo $$ > pid; exec sleep 600");
    terminal.enter("f --json -- sh waits");
    command(&sandbox);
    terminal.press(CTRL_C);
    eventually("there is a record", || !sandbox.records().is_empty());
    terminal.enter("echo status=$?; exit");
    terminal.watch_for("status=130");
    assert_eq!(only_record(&sandbox)["outcome"], "cancelled");
}

#[test]
fn a_terminal_that_closes_leaves_a_record_and_no_orphan() {
    let sandbox = Sandbox::new();
    let terminal = on_a_terminal(&sandbox, &["run", "--", "sh", "-c", WAITS]);
    command(&sandbox);
    let status = terminal.close().wait();
    assert_eq!(status.code(), Some(128 + 1));
    let record = only_record(&sandbox);
    assert_eq!(record["outcome"], "cancelled");
    assert_eq!(record["outcome_detail"]["name"], "SIGHUP");
}

#[test]
fn a_password_prompt_fails_at_once_because_the_command_has_no_terminal() {
    let sandbox = Sandbox::new();
    let script = "if (read line < /dev/tty) 2>&-; then echo asked; else echo no terminal; fi";
    let terminal = on_a_terminal(&sandbox, &["run", "--", "sh", "-c", script]);
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(0), "{seen}");
    assert_eq!(only_record(&sandbox)["stdout_tail"], "no terminal");
}
