//! The options of `feedback run` that concern the command: each changes what it says and no more.

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::background::{PATIENCE, is_gone};
use crate::sandbox::{Called, Sandbox, holds, text};
use crate::terminal::Terminal;
use crate::time::in_time;

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Called {
    sandbox.call(["run"].iter().chain(arguments))
}

#[test]
fn a_stage_that_fails_behind_a_succeeding_end_is_no_success_anywhere() {
    let sandbox = Sandbox::new();
    let script = "(echo 'FAILED tests/test_login.py'; exit 3) | cat | tail -n 1";
    let called = run(&sandbox, &["--shell", script]);
    called.says(3, &["hides a failure", "stage 1", "exited with code 3"]);
    let record = called.json();
    assert_eq!(record["exit_code"], 0, "bash itself exits 0");
    assert_eq!(record["stdout_tail"], "FAILED tests/test_login.py");
    assert_eq!(
        record["stages"],
        json!([
            {"command": "(echo 'FAILED tests/test_login.py'; exit 3)", "exit_code": 3, "signal": null},
            {"command": "cat", "exit_code": 0, "signal": null},
            {"command": "tail -n 1", "exit_code": 0, "signal": null},
        ])
    );
    for options in [&[] as &[&str], &["--last"]] {
        let (status, verdict) = sandbox.gate(options);
        assert_eq!(status, 1);
        assert_eq!(verdict["reasons"][0]["code"], "stage-failed");
    }
    let shown = sandbox.call(["show", "--text"]).stdout;
    assert!(
        shown.contains("exit 3)` exited 3, `cat` exited 0"),
        "{shown}"
    );
}

#[test]
fn a_pipeline_whose_stages_all_succeed_passes() {
    let sandbox = Sandbox::new();
    let called = run(
        &sandbox,
        &["--shell", "printf 'b\\na\\n' | sort | head -n 1"],
    );
    assert_eq!((called.status, called.stderr.as_str()), (0, ""));
    assert_eq!(called.json()["stdout_tail"], "a");
    assert_eq!(sandbox.gate(&[]).0, 0);
}

#[test]
fn sigpipe_in_an_earlier_stage_is_named_and_forgiven_unless_the_policy_is_strict() {
    let script = "yes | head -n 1";
    let sandbox = Sandbox::new();
    let called = run(&sandbox, &["--shell", script]);
    assert_eq!((called.status, called.stderr.as_str()), (0, ""));
    assert_eq!(
        called.json()["stages"][0],
        json!({"command": "yes", "exit_code": null, "signal": 13})
    );
    assert_eq!(sandbox.gate(&[]).0, 0);

    let strict = Sandbox::new();
    strict.write("feedback.json", "{\"gate\": {\"sigpipe\": \"refuse\"}}");
    run(&strict, &["--shell", script]).says(128 + 13, &["stage 1 `yes`", "signal 13"]);
    assert_eq!(strict.gate(&[]).0, 1);
}

#[test]
fn a_shell_run_is_recorded_as_the_bash_command_that_repeats_it() {
    let sandbox = Sandbox::new();
    let record = sandbox.run_with(["--shell"], ["echo \"$0: $1, $2\" | cat", "a b", "--note"]);
    assert_eq!(
        record["command"],
        json!([
            "bash",
            "-c",
            "echo \"$0: $1, $2\" | cat",
            "bash",
            "a b",
            "--note"
        ])
    );
    assert_eq!(record["stdout_tail"], "bash: a b, --note");
    let argv: Vec<&str> = record["command"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(sandbox.run(argv)["stdout_tail"], record["stdout_tail"]);
}

#[test]
fn a_shell_that_exits_0_without_a_word_of_its_stages_is_no_success() {
    for script in [
        "exec true",
        "trap 'true' EXIT; true | true",
        "trap - EXIT; false | true",
    ] {
        let sandbox = Sandbox::new();
        run(&sandbox, &["--shell", script]).says(125, &["stage 1 has no exit code"]);
        assert_eq!(sandbox.gate(&[]).1["reasons"][0]["code"], "stage-failed");
    }
}

#[test]
fn what_an_earlier_pipeline_of_a_script_hides_is_no_success() {
    let script = "(echo 1 failed; exit 3) 2>&1 | tail -n 1; echo done";
    let sandbox = Sandbox::new();
    let called = run(&sandbox, &["--shell", script]);
    called.says(3, &["stage 1 exited with code 3"]);
    let record = called.json();
    assert_eq!(
        (&record["exit_code"], text(&record, "stdout_tail")),
        (&json!(0), "1 failed\ndone")
    );
    let failed = json!({"command": null, "exit_code": 3, "signal": null});
    assert_eq!(record["stages"][0], failed);
    assert_eq!(sandbox.gate(&[]).1["reasons"][0]["code"], "stage-failed");
}

#[test]
fn the_status_of_a_pipeline_whose_last_stage_fails_is_its_own() {
    let sandbox = Sandbox::new();
    let called = run(&sandbox, &["--shell", "true | (exit 7)"]);
    assert_eq!((called.status, called.stderr.as_str()), (7, ""));
    assert_eq!(called.json()["exit_code"], 7);
}

#[test]
fn without_bash_a_pipeline_is_not_started_and_the_record_says_why() {
    let sandbox = Sandbox::new();
    let called = run(
        &sandbox,
        &["--env", "PATH=/nonexistent", "--shell", "echo x | cat"],
    );
    assert_eq!(called.status, 127);
    let record = called.json();
    assert_eq!(record["outcome"], "not-started");
    assert_eq!(
        text(&record, "error"),
        "program not found: `bash`, which a shell pipeline needs"
    );
    assert!(
        record
            .get("stages")
            .is_none_or(|stages| *stages == json!([]))
    );
}

#[test]
fn stdin_is_read_where_it_is_asked_for() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .feedback()
        .args(["run", "--stdin", "--", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("runs");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(b"from the other side\n")
        .expect("written");
    let called = Called::from(child.wait_with_output().expect("ends"));
    assert_eq!(called.json()["stdout_tail"], "from the other side");
}

#[test]
fn a_command_may_read_what_a_person_types() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.feedback();
    let script = "read line; echo \"got $line\"";
    command.args(["run", "--stdin", "--", "sh", "-c", script]);
    let mut terminal = Terminal::start(command);
    terminal.enter("an answer");
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(0), "{seen}");
    assert_eq!(sandbox.records()[0]["stdout_tail"], "got an answer");
}

#[test]
fn variables_are_set_for_the_command_and_the_last_of_a_name_counts() {
    let sandbox = Sandbox::new();
    let options = [
        "--env", "A=1", "--env", "B=x=y", "--env", "A=2", "--env", "EMPTY=",
    ];
    let record = sandbox.run_with(options, ["sh", "-c", "echo \"$A $B [${EMPTY-unset}]\""]);
    assert_eq!(record["stdout_tail"], "2 x=y []");
}

#[test]
fn a_cleared_environment_holds_what_was_set_and_the_id_of_the_run() {
    let sandbox = Sandbox::new();
    let record = sandbox.run_with(["--env-clear", "--env", "A=1"], ["/usr/bin/env"]);
    let id = text(&record, "command_id");
    assert_eq!(
        text(&record, "stdout_tail"),
        format!("A=1\nFEEDBACK_RUN_ID={id}")
    );
}

#[test]
fn a_secret_that_is_set_for_the_command_is_known_as_one() {
    let sandbox = Sandbox::new();
    let secret = ["quiet", "-otter-", "93471"].concat();
    let set = format!("SHOP_API_TOKEN={secret}");
    let record = sandbox.run_with(["--env", &set], ["sh", "-c", "echo got $SHOP_API_TOKEN"]);
    assert!(
        text(&record, "stdout_tail").starts_with("got [REDACTED"),
        "{record}"
    );
    assert!(!holds(&sandbox.every_byte(), secret.as_bytes()));
}

#[test]
fn a_variable_that_cannot_be_set_is_refused_on_record() {
    let sandbox = Sandbox::new();
    let called = run(&sandbox, &["--env", "=value", "--", "touch", "started"]);
    assert_eq!(called.status, 125);
    let record = called.json();
    assert_eq!(record["outcome_detail"]["cause"], "invalid-argument");
    assert!(
        text(&record, "error").contains("environment variable"),
        "{record}"
    );
    let typed = "Xk7";
    let called = run(&sandbox, &["--env", typed, "--", "touch", "started"]);
    called.says(125, &["--env", "NAME=VALUE"]);
    assert!(!called.stderr.contains(typed), "{}", called.stderr);
    let called = run(&sandbox, &["--env", "A", "--", "touch", "started"]);
    called.says(125, &["--env <NAME=VALUE>", "write NAME=VALUE"]);
    for option in ["--timeout", "--head", "--durability"] {
        let typed = "a-value-that-nobody-meant";
        let called = run(&sandbox, &[option, typed, "--", "touch", "started"]);
        called.says(125, &[option]);
        assert!(!called.stderr.contains(typed), "{}", called.stderr);
    }
    assert!(!sandbox.path().join("started").exists());
}

#[test]
fn an_argument_with_a_nul_byte_is_refused_on_record() {
    use feedback_host::component::Component;
    use feedback_host::project::Project;
    use feedback_host::run::Runner;

    let sandbox = Sandbox::new();
    let component = Component::built_in().expect("the component");
    let file = sandbox.record_file();
    let project = Project::find(&component, sandbox.path(), Some(&file)).expect("a project");
    let finished = Runner::new(component, project)
        .run(["echo", "a\0b"], None)
        .expect("a record");
    assert!(finished.stored.is_ok());
    let record = sandbox.records().pop().expect("a record");
    assert_eq!(record["outcome_detail"]["cause"], "invalid-argument");
    assert!(text(&record, "error").contains("argument 1"), "{record}");
    assert_eq!(record["exit_code"], Value::Null);
}

#[test]
fn silence_is_a_limit_of_its_own_and_named_as_such() {
    let sandbox = Sandbox::new();
    in_time(|millis| {
        let silence = format!("{millis}ms");
        let options = ["--silence-timeout", &silence, "--timeout", "10m", "--"];
        let command = ["sh", "-c", "echo working; exec sleep 600"];
        let called = run(&sandbox, &[&options[..], &command].concat());
        assert_eq!(called.status, 124);
        let record = called.json();
        assert_eq!(record["outcome"], "timed-out");
        assert_eq!(record["outcome_detail"]["limit"], "silence");
        assert_eq!(record["outcome_detail"]["after_ms"], millis);
        assert!(text(&record, "error").starts_with("no output for "));
        (record["stdout_tail"] == "working").then_some(())
    });
}

#[test]
fn a_command_that_keeps_talking_is_not_silent() {
    let sandbox = Sandbox::new();
    in_time(|millis| {
        // Longer than the limit altogether, and never silent for half as long.
        let pause = format!("{:.3}", Duration::from_millis(millis / 3).as_secs_f64());
        let script = format!("for i in 1 2 3 4; do echo $i; sleep {pause}; done");
        let limit = format!("{millis}ms");
        let called = run(
            &sandbox,
            &["--silence-timeout", &limit, "--", "sh", "-c", &script],
        );
        (called.status == 0).then_some(())
    });
}

#[test]
fn no_grace_means_that_sigterm_is_not_waited_for() {
    let sandbox = Sandbox::new();
    let script = "trap '' TERM; echo ready; while :; do sleep 600; done";
    in_time(|millis| {
        let timeout = format!("{millis}ms");
        let options = ["--timeout", &timeout, "--grace", "0s", "--"];
        let began = Instant::now();
        let called = run(&sandbox, &[&options[..], &["sh", "-c", script]].concat());
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
        let record = called.json();
        if record["stdout_tail"] != "ready" {
            return None;
        }
        assert_eq!(record["outcome_detail"]["escalated"], true);
        assert_eq!(record["outcome_detail"]["then"], json!({"signal": 9}));
        Some(())
    });
}

#[test]
fn what_a_command_leaves_behind_is_ended_unless_it_shall_stay() {
    let sandbox = Sandbox::new();
    let argv = ["sh", "-c", "sleep 600 >&- 2>&- & echo $!"];
    let swept = sandbox.run(argv);
    assert_eq!(swept["leftovers"][0]["fate"], "killed", "{swept}");
    assert!(!is_running(text(&swept, "stdout_tail")));

    let kept = sandbox.run_with(["--keep-background"], argv);
    let pid = text(&kept, "stdout_tail");
    assert_eq!(kept["leftovers"][0]["fate"], "kept", "{kept}");
    assert_eq!(kept["leftovers"][0]["pid"].to_string(), pid);
    assert_eq!(kept["exit_code"], 0);
    assert!(is_running(pid));
    let pid = rustix::process::Pid::from_raw(pid.parse().expect("a pid")).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("still there");
}

fn is_running(pid: &str) -> bool {
    !is_gone(pid.parse().expect("a pid"))
}

#[test]
fn the_command_learns_the_id_of_its_own_record() {
    let sandbox = Sandbox::new();
    let record = sandbox.run(["sh", "-c", "echo $FEEDBACK_RUN_ID"]);
    assert_eq!(record["stdout_tail"], record["command_id"]);
}

#[test]
fn a_run_within_a_run_has_a_record_and_an_id_of_its_own() {
    let sandbox = Sandbox::new();
    let binary = env!("CARGO_BIN_EXE_feedback");
    let outer = sandbox.run([
        binary,
        "run",
        "--",
        "sh",
        "-c",
        "echo $FEEDBACK_RUN_ID; exit 3",
    ]);
    let records = sandbox.records();
    assert_eq!(records.len(), 2);
    let inner = &records[0];
    assert_eq!(inner["stdout_tail"], inner["command_id"]);
    assert_ne!(inner["command_id"], outer["command_id"]);
    assert_eq!(
        (&inner["exit_code"], &outer["exit_code"]),
        (&json!(3), &json!(3))
    );
    assert!(
        outer.get("leftovers").is_none_or(|left| *left == json!([])),
        "{outer}"
    );
}

#[test]
fn the_inner_of_two_runs_outlives_neither_its_own_deadline_nor_the_outer_ones() {
    let sandbox = Sandbox::new();
    let binary = env!("CARGO_BIN_EXE_feedback");
    let inner = ["run", "--", "sh", "-c", "echo $$ > pid; exec sleep 600"];
    let argv: Vec<&str> = [binary].iter().chain(&inner).copied().collect();
    in_time(|millis| {
        let timeout = format!("{millis}ms");
        let outer = sandbox.run_with(["--timeout", &timeout, "--grace", "10m"], &argv);
        assert_eq!(outer["outcome"], "timed-out");
        // Without a pid, the inner one had no time to start its command.
        let pid = fs::read_to_string(sandbox.path().join("pid")).ok()?;
        assert_eq!(outer["outcome_detail"]["escalated"], false, "{outer}");
        assert!(!is_running(pid.trim()));
        let records = sandbox.records();
        let inner = &records[records.len() - 2];
        assert_eq!(inner["outcome"], "cancelled", "{inner}");
        Some(())
    });
}

#[test]
fn a_script_that_drops_its_arguments_is_not_started() {
    let sandbox = Sandbox::new();
    let words = ["never uses `-q`", "--shell 'echo -q", "leave `--shell` out"];
    sandbox
        .call(["run", "--shell", "echo", "-q"])
        .says(125, &words);
    assert!(!sandbox.record_file().exists());
    for uses in ["echo \"$1\"", "echo \"$@\"", "for x; do echo $x; done"] {
        let record = sandbox.run_with(["--shell"], [uses, "-q"]);
        assert_eq!(record["exit_code"], 0);
    }
    sandbox
        .call(["run", "--shell", ".", "./check.sh", "-q"])
        .says(125, &["--shell '. ./check.sh"]);
    // What a script reads in has its parameters, though it names none.
    sandbox.write("check.sh", "echo \"got $1\"\n");
    for reads in [". ./check.sh", "true; source ./check.sh", "(. ./check.sh)"] {
        let record = sandbox.run_with(["--shell"], [reads, "-q"]);
        assert_eq!(record["stdout_tail"], "got -q", "{record}");
    }
}
