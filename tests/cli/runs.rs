//! How a run ends, and that its record says so.

use std::time::Instant;

use serde_json::{Value, json};

use crate::background::{PATIENCE, is_gone};
use crate::sandbox::{Sandbox, text};
use crate::time::in_time;

#[test]
fn a_success_is_recorded_with_what_was_expected() {
    let sandbox = Sandbox::new();
    let record = sandbox.run_with(["--note", "3 passed"], ["sh", "-c", "echo 3 passed"]);
    assert_eq!(record["schema_version"], "1.0");
    assert_eq!(record["kind"], "run");
    assert_eq!(record["command"], json!(["sh", "-c", "echo 3 passed"]));
    assert_eq!(record["agent_note"], "3 passed");
    assert_eq!(record["outcome"], "exited");
    assert_eq!(record["exit_code"], 0);
    assert_eq!(record["stdout_tail"], "3 passed");
    assert_eq!(record["stderr_tail"], "");
    assert_eq!(record["stdout"]["bytes"], 9);
    assert_eq!(record["stdout"]["end_seen"], true);
    assert_eq!(record["parent_command_id"], Value::Null);
    assert_eq!(record["seq"], 1);
    assert!(record.get("error").is_none(), "{record}");
    assert!(record["duration_ms"].is_u64());
    let cwd = sandbox.path().canonicalize().expect("the folder");
    assert_eq!(text(&record, "cwd"), cwd.to_str().expect("UTF-8"));
    let started = text(&record, "started_at");
    assert!(started.len() == 24 && started.ends_with('Z'), "{started}");
}

#[test]
fn the_exit_code_of_the_command_is_passed_on_and_kept() {
    let sandbox = Sandbox::new();
    for code in [0, 1, 7, 124, 125, 137, 143, 255] {
        let called = sandbox.call(["run", "--", "sh", "-c", &format!("exit {code}")]);
        assert_eq!(called.status, code, "{}", called.stderr);
        assert_eq!(called.json()["exit_code"], code);
        assert_eq!(called.json()["outcome"], "exited");
    }
}

#[test]
fn a_killed_command_has_a_null_exit_code_and_is_refused() {
    let sandbox = Sandbox::new();
    let called = sandbox.call(["run", "--", "sh", "-c", "echo before; kill -9 $$"]);
    assert_eq!(called.status, 128 + 9);
    let record = called.json();
    assert_eq!(record["outcome"], "signaled");
    assert_eq!(record["exit_code"], Value::Null);
    assert_eq!(record["signal"], 9);
    assert_eq!(record["stdout_tail"], "before");
    assert!(text(&record, "error").contains("SIGKILL"), "{record}");
    let (status, verdict) = sandbox.gate(&["--last"]);
    assert_eq!(status, 1);
    assert_eq!(verdict["reasons"][0]["code"], "signaled");
}

#[test]
fn a_command_past_its_deadline_is_timed_out_even_if_it_then_exits_zero() {
    let sandbox = Sandbox::new();
    let script = "trap 'echo cleaning up; exit 0' TERM; echo started; while :; do sleep 0.05; done";
    let record = in_time(|millis| {
        let timeout = format!("{millis}ms");
        let called = sandbox.call(["run", "--timeout", &timeout, "--", "sh", "-c", script]);
        assert_eq!(called.status, 124);
        let record = called.json();
        assert_eq!(record["outcome"], "timed-out");
        assert_eq!(record["exit_code"], Value::Null);
        let error = text(&record, "error");
        assert!(error.contains("timed out after "), "{record}");
        let started = text(&record, "stdout_tail").starts_with("started");
        started.then_some(record)
    });
    assert_eq!(record["outcome_detail"]["then"], json!({"exit_code": 0}));
    assert_eq!(sandbox.gate(&[]).1["reasons"][0]["code"], "timed-out");
}

#[test]
fn a_command_that_ignores_sigterm_is_killed_with_its_children_after_the_grace() {
    let sandbox = Sandbox::new();
    let script = "trap '' TERM; sleep 600 & echo $!; while :; do sleep 600; done";
    in_time(|millis| {
        let timeout = format!("{millis}ms");
        let options = ["run", "--timeout", &timeout, "--grace", "300ms", "--"];
        let began = Instant::now();
        let called = sandbox.call(options.iter().chain(&["sh", "-c", script]));
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
        assert_eq!(called.status, 124);
        let record = called.json();
        // Without it, the deadline came before the script.
        let child = text(&record, "stdout_tail").trim().parse().ok()?;
        assert_eq!(record["outcome_detail"]["escalated"], true, "{record}");
        assert!(is_gone(child), "{child} is gone");
        Some(())
    });
}

#[test]
fn a_missing_program_is_not_started_and_named() {
    let sandbox = Sandbox::new();
    let called = sandbox.call(["run", "--", "pytst-no-such-program", "-q"]);
    assert_eq!(called.status, 127);
    let record = called.json();
    assert_eq!(record["outcome"], "not-started");
    assert_eq!(record["exit_code"], Value::Null);
    assert_eq!(record["outcome_detail"]["cause"], "program-not-found");
    assert!(
        text(&record, "error").contains("`pytst-no-such-program`"),
        "{record}"
    );
    assert_eq!(sandbox.gate(&["--last"]).0, 1);
}

#[test]
fn a_missing_working_directory_is_told_apart_from_a_missing_program() {
    let sandbox = Sandbox::new();
    let called = sandbox.call(["run", "--cwd", "no-such-folder", "--", "true"]);
    assert_eq!(called.status, 125);
    let record = called.json();
    assert_eq!(record["outcome_detail"]["cause"], "cwd-not-found");
    assert!(
        text(&record, "cwd").ends_with("/no-such-folder"),
        "{record}"
    );
}

#[test]
fn the_command_reads_nothing_from_standard_input() {
    let sandbox = Sandbox::new();
    let record = sandbox.run(["sh", "-c", "read line; echo \"status $?\""]);
    assert_eq!(record["stdout_tail"], "status 1");
}

#[test]
fn arguments_reach_the_command_without_a_shell() {
    let sandbox = Sandbox::new();
    let record = sandbox.run(["printf", "%s\\n", "$HOME *", "a  b", "--note"]);
    assert_eq!(record["stdout_tail"], "$HOME *\na  b\n--note");
}

#[test]
fn cwd_is_where_the_command_runs_and_the_record_stays() {
    let sandbox = Sandbox::new();
    sandbox.write("sub/marker", "");
    let record = sandbox.run_with(["--cwd", "sub"], ["ls"]);
    assert_eq!(record["stdout_tail"], "marker");
    assert!(text(&record, "cwd").ends_with("/sub"));
}

#[test]
fn invalid_utf8_is_replaced_and_counted() {
    let sandbox = Sandbox::new();
    let record = sandbox.run(["printf", "caf\\303\\251 \\377\\376 end\\n"]);
    let shown = text(&record, "stdout_tail");
    assert!(
        shown.starts_with("caf\u{e9} \u{fffd}") && shown.ends_with(" end"),
        "{shown}"
    );
    assert_eq!(record["stdout"]["invalid_bytes"], 2);
}

#[test]
fn an_argument_that_is_not_utf8_is_kept_without_loss() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    let odd = std::ffi::OsStr::from_bytes(b"a\xffb");
    let record = sandbox.run([std::ffi::OsStr::new("true"), odd]);
    assert_eq!(record["command"], json!(["true", "a\u{fffd}b"]));
    assert_eq!(record["command_base64"], json!([null, "Yf9i"]));
}

#[test]
fn a_background_child_that_holds_the_pipe_does_not_hang_the_run() {
    let sandbox = Sandbox::new();
    let began = Instant::now();
    // Until it executes, the child has the shell's name.
    let script = "sleep 600 & until grep -q sleep /proc/$!/comm; do :; done; echo done";
    let record = sandbox.run(["sh", "-c", script]);
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    assert_eq!(record["exit_code"], 0);
    assert_eq!(record["stdout_tail"], "done");
    assert_eq!(record["leftovers"][0]["name"], "sleep", "{record}");
}

#[test]
fn a_retry_points_to_the_attempt_before_it() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(["false"]);
    let id = text(&first, "command_id");
    let second = sandbox.run_with(["--parent", id], ["true"]);
    assert_eq!(second["parent_command_id"], id);
    assert_eq!(second["attempt"], 2);
    // A part of an id is as good as all of it, and the record names all of it.
    let part = text(&second, "command_id");
    let third = sandbox.run_with(["--parent", &part[part.len() - 12..]], ["true"]);
    assert_eq!(third["parent_command_id"], second["command_id"]);
    assert_eq!(third["attempt"], 3);
    sandbox
        .call(["run", "--parent", "no-such-id", "--", "touch", "started"])
        .says(125, &["no-such-id"]);
    assert!(
        !sandbox.path().join("started").exists(),
        "nothing is started for an unknown parent"
    );
}

#[test]
fn the_summary_is_for_people_and_the_line_for_programs() {
    let sandbox = Sandbox::new();
    let called = sandbox.call(["run", "--text", "--", "sh", "-c", "echo hello; exit 3"]);
    assert_eq!(called.status, 3);
    assert!(called.stdout.starts_with("exited 3"), "{}", called.stdout);
    assert!(called.stdout.contains("    hello\n"), "{}", called.stdout);
}

#[test]
fn the_record_names_the_component_that_built_it() {
    let sandbox = Sandbox::new();
    let record = sandbox.run(["true"]);
    let component = feedback_host::component::Component::built_in().expect("the component");
    assert_eq!(record["component"], component.digest());
}
