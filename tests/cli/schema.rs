//! Records of other schemas in one store: newer minor ones are kept, other major ones stop a writer.

use std::fs;

use crate::sandbox::Sandbox;
use crate::sealed::Chain;

const NEWER_MINOR: &str = r#"{"schema_version":"1.7","kind":"run","command_id":"01890000-0000-7000-8000-000000000007","mood":{"good":[1,2.50]},"outcome":"exited","exit_code":0,"stdout_tail":"a  b"}"#;
const NEWER_MAJOR: &str =
    r#"{"schema_version":"2.0","command_id":"01890000-0000-7000-8000-000000000008"}"#;

fn append(sandbox: &Sandbox, body: &str) -> String {
    let mut text = fs::read_to_string(sandbox.record_file()).expect("a file");
    let line = Chain::behind(&text).line(body);
    text.push_str(&line);
    fs::write(sandbox.record_file(), text).expect("written");
    line
}

#[test]
fn unknown_keys_of_a_newer_minor_schema_survive() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let line = append(&sandbox, NEWER_MINOR);
    assert_eq!(sandbox.call(["show"]).stdout, line, "byte for byte");
    let next = sandbox.run(["true"]);
    assert_eq!(next["seq"], 3);
    let kept = fs::read_to_string(sandbox.record_file()).expect("a file");
    assert_eq!(kept.split_inclusive('\n').nth(1), Some(line.as_str()));
    assert_eq!(sandbox.call(["verify"]).status, 0);
    assert_eq!(sandbox.call(["export", "copy"]).status, 0);
    let copied = fs::read_to_string(sandbox.path().join("copy/feedback_record.jsonl"));
    assert_eq!(copied.expect("a file"), kept);
}

#[test]
fn a_store_of_another_major_schema_is_refused_for_writing_and_left_as_it_is() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    append(&sandbox, NEWER_MAJOR);
    // Even what looks torn: a newer version may end its file in another way.
    let mut text = fs::read_to_string(sandbox.record_file()).expect("a file");
    text.push_str("{\"schema_version\":\"2.0\",\"comm");
    fs::write(sandbox.record_file(), &text).expect("written");

    let path = sandbox.record_file().display().to_string();
    let message = format!(
        "`{path}` holds records that this version of feedback cannot continue: `schema_version`: not 1.x; use the newer version of feedback that wrote the record file\n"
    );
    let called = sandbox.call(["run", "--", "touch", "started"]);
    called.says(125, &[]);
    assert_eq!(called.stderr, format!("feedback: not started: {message}"));
    assert!(!sandbox.path().join("started").exists());

    let called = sandbox.call(["recover"]);
    called.says(2, &[]);
    assert_eq!(called.stderr, format!("feedback: {message}"));
    let kept = fs::read_to_string(sandbox.record_file()).expect("a file");
    assert_eq!(kept, text, "nothing was appended, cut or changed");
    let pending = fs::read_dir(sandbox.path().join("feedback_record.jsonl.pending"));
    assert_eq!(pending.expect("a folder").count(), 0, "nothing waits");

    let called = sandbox.call(["verify"]);
    called.says(2, &["cannot tell", "schema_version"]);
    assert_eq!(sandbox.gate(&[]).0, 1, "never a pass");
}
