//! Recovery through the binary: what the next run would do, without a run.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::sandbox::{Sandbox, text};

/// A run whose command has started and does not end by itself.
struct Running {
    runner: Child,
    command: String,
}

impl Running {
    fn start(sandbox: &Sandbox) -> Self {
        let fifo = sandbox.path().join("started");
        if !fifo.exists() {
            let made = Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
            assert!(made.success());
        }
        let runner = sandbox
            .feedback()
            .args(["run", "--", "sh", "-c", "echo $$ >started; exec sleep 1000"])
            .stdout(Stdio::null())
            .spawn()
            .expect("runs");
        let command = fs::read_to_string(&fifo).expect("a pid").trim().to_owned();
        Self { runner, command }
    }

    /// Kills the runner alone, as a machine out of memory does.
    fn kill_the_runner(mut self) {
        self.runner.kill().expect("killed");
        self.runner.wait().expect("reaped");
        // It may have gone with its runner.
        let _ = Command::new("kill")
            .arg(&self.command)
            .stderr(Stdio::null())
            .status();
    }
}

/// Kills a runner while its command runs.
pub(crate) fn leave_died(sandbox: &Sandbox) {
    Running::start(sandbox).kill_the_runner();
}

fn recover(sandbox: &Sandbox) -> (i32, Value) {
    let called = sandbox.call(["recover", "--json"]);
    (called.status, called.json())
}

#[test]
fn a_run_whose_runner_died_is_recorded_without_an_exit_code() {
    let sandbox = Sandbox::new();
    leave_died(&sandbox);
    assert_eq!(sandbox.records().len(), 0);

    let found = sandbox.call(["verify", "--json"]).json();
    assert_eq!(found["open_runs"][0]["state"], "died", "{found}");

    let (status, done) = recover(&sandbox);
    assert_eq!(status, 0, "{done}");
    assert_eq!(done["recovered"][0]["died"], true);
    assert_eq!(done["complete"], true);
    let record = sandbox.records().pop().expect("a record");
    assert_eq!(done["recovered"][0]["command_id"], record["command_id"]);
    assert_eq!(text(&record, "outcome"), "runner-died");
    assert_eq!(record["exit_code"], Value::Null);
    assert_eq!(sandbox.gate(&[]).0, 1);

    let (status, again) = recover(&sandbox);
    assert_eq!((status, &again["recovered"]), (0, &Value::Array(vec![])));
    assert_eq!(sandbox.records().len(), 1, "once, and only once");
    assert_eq!(sandbox.call(["verify"]).status, 0);
}

#[test]
fn the_next_run_does_the_same() {
    let sandbox = Sandbox::new();
    leave_died(&sandbox);
    let called = sandbox.call(["run", "--", "true"]);
    called.says(0, &["died"]);
    let outcomes: Vec<Value> = sandbox
        .records()
        .iter()
        .map(|record| record["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["runner-died", "exited"]);
}

#[test]
fn a_run_that_goes_on_is_left_alone() {
    let sandbox = Sandbox::new();
    let running = Running::start(&sandbox);
    let (status, done) = recover(&sandbox);
    assert_eq!(status, 0);
    assert_eq!(done["recovered"], Value::Array(vec![]), "{done}");
    assert_eq!(done["open_runs"][0]["state"], "running", "{done}");
    let shown = sandbox.call(["recover"]).stdout;
    assert!(shown.contains("nothing to recover"), "{shown}");
    assert!(shown.contains("is still running"), "{shown}");
    assert_eq!(sandbox.records().len(), 0);
    running.kill_the_runner();
}

#[test]
fn a_torn_end_is_cut_and_told() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let whole = fs::read(sandbox.record_file()).expect("a file");
    let mut file = OpenOptions::new()
        .append(true)
        .open(sandbox.record_file())
        .expect("a file");
    file.write_all(b"{\"schema_version\":\"1.0\",\"ki")
        .expect("written");
    let called = sandbox.call(["recover"]);
    assert_eq!(called.status, 0);
    assert!(
        called.stdout.contains("torn line of 27 bytes"),
        "{}",
        called.stdout
    );
    assert_eq!(fs::read(sandbox.record_file()).expect("a file"), whole);
}

#[test]
fn where_there_is_no_store_none_is_made() {
    let sandbox = Sandbox::new();
    let called = sandbox.call(["recover"]);
    assert_eq!(called.status, 0);
    assert!(called.stdout.contains("nothing to recover"));
    assert_eq!(sandbox.every_byte(), b"", "nothing is created");
}

#[test]
fn what_can_never_become_a_record_is_set_aside_and_told() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let name = "feedback_record.jsonl.pending/01890000-0000-7000-8000-000000000000.open";
    sandbox.write(name, "no intent\n");
    let path = sandbox.path().join(name);
    let mut private = fs::metadata(&path).expect("a file").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut private, 0o600);
    fs::set_permissions(&path, private).expect("private");
    let (status, done) = recover(&sandbox);
    assert_eq!((status, &done["complete"]), (2, &false.into()), "{done}");
    let found = sandbox.call(["verify", "--json"]);
    assert_eq!(found.status, 1);
    let aside = found.json()["set_aside"][0].clone();
    assert!(
        aside.as_str().expect("a path").ends_with(".damaged"),
        "{aside}"
    );
}
