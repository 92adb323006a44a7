//! Reading one record back.

use crate::sandbox::{Sandbox, text};
use crate::sealed::Chain;

#[test]
fn the_newest_the_newest_failure_and_one_by_id_are_shown() {
    let sandbox = Sandbox::new();
    let failed = sandbox.run(["sh", "-c", "echo why it failed >&2; exit 4"]);
    let newest = sandbox.run(["true"]);

    assert_eq!(sandbox.call(["show"]).json(), newest);
    assert_eq!(sandbox.call(["show", "--failed"]).json(), failed);
    assert_eq!(
        sandbox.call(["show", text(&failed, "command_id")]).json(),
        failed
    );

    let shown = sandbox.call(["show", "--failed", "--text"]).stdout;
    assert!(
        shown.starts_with("exited 4") && shown.contains("    why it failed"),
        "{shown}"
    );
    assert!(
        shown.contains("sh -c 'echo why it failed >&2; exit 4'"),
        "{shown}"
    );
}

#[test]
fn a_run_without_an_exit_code_is_a_failure() {
    let sandbox = Sandbox::new();
    let killed = sandbox.run(["sh", "-c", "kill -TERM $$"]);
    sandbox.run(["true"]);
    assert_eq!(sandbox.call(["show", "--failed"]).json(), killed);
}

#[test]
fn what_is_not_there_is_said_in_one_line() {
    let sandbox = Sandbox::new();
    sandbox.call(["show"]).says(2, &["feedback_record.jsonl"]);
    sandbox.run(["true"]);
    sandbox.call(["show", "--failed"]).says(2, &["fail"]);
    sandbox
        .call(["show", "no-such-id"])
        .says(2, &["no-such-id"]);
}

#[test]
fn an_older_record_is_never_shown_as_the_newest() {
    let sandbox = Sandbox::new();
    let record = sandbox.run(["true"]);
    let path = sandbox.record_file();
    let mut text_of = std::fs::read_to_string(&path).expect("a file");
    text_of.push_str("{\"a record\": \"that somebody has edited\"}\n");
    std::fs::write(&path, text_of).expect("written");
    sandbox
        .call(["show"])
        .says(2, &["line 2", "newest", "feedback verify"]);
    let gate = sandbox.call(["gate", "--last"]);
    assert_eq!(gate.status, 2, "never a pass: {}", gate.stdout);
    let id = text(&record, "command_id");
    assert_eq!(sandbox.call(["show", id]).json(), record);
}

#[test]
fn a_record_whose_id_stands_there_with_other_words_is_shown_with_a_warning() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(["false"]);
    sandbox.run(["true"]);
    let id = text(&first, "command_id");
    assert_eq!(sandbox.call(["show", id]).stderr, "");
    let stored = std::fs::read_to_string(sandbox.record_file()).expect("a file");
    let line = stored.lines().next().expect("a line");
    let body = line.split(",\"seq\":").next().expect("a body");
    let other = Chain::behind(&stored).line(&format!("{},\"new\":1}}", body));
    std::fs::write(sandbox.record_file(), stored + &other).expect("written");
    let shown = sandbox.call(["show", id]);
    shown.says(0, &["another record with this id", "feedback verify"]);
    assert_eq!(shown.json()["new"], 1, "the newest");
    sandbox
        .call(["show"])
        .says(0, &["another record with this id"]);
    sandbox
        .call(["gate", "--last"])
        .says(2, &["two records with the id"]);
}

#[test]
fn an_id_whose_characters_are_spelt_out_is_the_same_id() {
    let sandbox = Sandbox::new();
    let record = sandbox.run(["true"]);
    assert_eq!(sandbox.call(["gate", "--last"]).status, 0);
    let id = text(&record, "command_id");
    let spelt = id.replacen('-', r"\u002d", 1);
    let stored = std::fs::read_to_string(sandbox.record_file()).expect("a file");
    let line = stored.lines().next().expect("a line");
    let body = line.split(",\"seq\":").next().expect("a body");
    let other = format!("{},\"exit_code\":9}}", body.replace("\"exit_code\":0,", ""));
    // The line stands before the one that is found.
    let forged = Chain::behind(&stored).line(&other.replace(id, &spelt));
    assert!(!forged.contains(id), "{forged}");
    std::fs::write(sandbox.record_file(), forged + &stored).expect("written");
    sandbox
        .call(["gate", "--last"])
        .says(2, &["two records with the id"]);
}
