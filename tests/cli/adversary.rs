//! Records that no runner wrote: each is refused with its reason.

use std::fs;

use serde_json::{Value, json};

use crate::background::{Background, eventually};
use crate::sandbox::Sandbox;
use crate::sealed::Chain;

fn codes(sandbox: &Sandbox) -> (i32, Vec<String>) {
    let (status, verdict) = sandbox.gate(&[]);
    let reasons = verdict["reasons"].as_array().expect("a list").iter();
    let codes = reasons.map(|reason| reason["code"].as_str().expect("a code").to_owned());
    (status, codes.collect())
}

/// Adds a line to the store that fits there, a copy of its last record with these keys.
fn forge(sandbox: &Sandbox, keys: &Value) {
    add(sandbox, keys);
    assert_eq!(
        sandbox.call(["verify"]).status,
        0,
        "the chain itself is sound"
    );
}

fn add(sandbox: &Sandbox, keys: &Value) {
    let text = fs::read_to_string(sandbox.record_file()).expect("a file");
    let last = text.lines().last().expect("a line");
    let mut body: Value = serde_json::from_str(last).expect("JSON");
    let body = body.as_object_mut().expect("an object");
    for key in ["seq", "prev", "crc"] {
        body.remove(key);
    }
    body.insert(
        "command_id".to_owned(),
        json!("00000000-0000-7000-8000-000000000001"),
    );
    body.extend(keys.as_object().expect("an object").clone());
    let line = Chain::behind(&text).line(&json!(body).to_string());
    fs::write(sandbox.record_file(), text + &line).expect("written");
}

#[test]
fn what_contradicts_itself_or_comes_from_the_future_is_refused() {
    for (keys, code) in [
        (json!({ "signal": 9 }), "contradictory-record"),
        (
            json!({ "error": "timed out after 30 s" }),
            "contradictory-record",
        ),
        (json!({ "outcome": "timed-out" }), "timed-out"),
        (json!({ "outcome": "vanished" }), "unsupported-schema"),
        (
            json!({ "inputs": { "patterns": ["src"] } }),
            "contradictory-record",
        ),
        (
            json!({ "started_at": "2999-01-01T00:00:00.000Z" }),
            "from-the-future",
        ),
        (json!({ "exit_code": "0" }), "store-damaged"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.run(["true"]);
        forge(&sandbox, &keys);
        let (status, codes) = codes(&sandbox);
        assert_eq!(status, 1, "{keys}");
        assert!(codes.contains(&code.to_owned()), "{keys}: {codes:?}");
    }
}

#[test]
fn the_same_id_twice_with_other_content_is_refused() {
    for (code, other) in [(1, 0), (0, 1)] {
        let sandbox = Sandbox::new();
        let record = sandbox.run(["sh", "-c", &format!("exit {code}")]);
        add(
            &sandbox,
            &json!({ "command_id": record["command_id"], "exit_code": other }),
        );
        let (status, codes) = codes(&sandbox);
        assert_eq!(status, 1, "{code} then {other}");
        assert!(codes.contains(&"store-damaged".to_owned()), "{codes:?}");
        let verified = sandbox.call(["verify"]);
        assert_eq!(verified.status, 1);
        let words = "has the id of number 1, and says something else";
        assert!(verified.stdout.contains(words), "{}", verified.stdout);
        let words = ["holds two records with the id", "feedback verify"];
        sandbox.call(["gate", "--last"]).says(2, &words);
    }
}

/// A store tells of what it dropped, and of nothing else.
#[test]
fn a_notice_of_a_drop_that_no_store_writes_is_damage() {
    let notice = json!({ "kind": "drop", "at": "2026-03-01T12:00:00.000Z", "files": 1 });
    for (first, last) in [
        (json!(1), json!(1)),
        (Value::Null, Value::Null),
        (json!(0), json!(0)),
    ] {
        let sandbox = Sandbox::new();
        sandbox.run(["true"]);
        let mut keys = notice.clone();
        keys["first_seq"] = first;
        keys["last_seq"] = last;
        add(&sandbox, &keys);
        assert_eq!(codes(&sandbox), (1, vec!["store-damaged".to_owned()]));
        let verified = sandbox.call(["verify"]);
        assert_eq!(verified.status, 1);
        let words = "line 2: is a drop notice that no store writes";
        assert!(verified.stdout.contains(words), "{}", verified.stdout);
        sandbox
            .call(["gate", "--last"])
            .says(2, &["is a drop notice"]);
    }
}

#[test]
fn what_was_copied_from_another_store_or_doubled_out_of_place_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let own = fs::read_to_string(sandbox.record_file()).expect("a file");
    let other = Sandbox::new();
    other.run(["sh", "-c", "exit 0 # elsewhere"]);
    let copied = fs::read_to_string(other.record_file()).expect("a file");
    fs::write(sandbox.record_file(), own + &copied).expect("written");
    let (status, codes) = codes(&sandbox);
    assert_eq!(
        (status, codes.first().map(String::as_str)),
        (1, Some("store-damaged"))
    );
}

#[test]
fn digests_of_inputs_that_were_edited_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("src/a", "1");
    let record = sandbox.run_with(["--inputs", "src"], ["true"]);
    let digest = record["inputs"]["after"]
        .as_str()
        .expect("a digest")
        .to_owned();
    let text = fs::read_to_string(sandbox.record_file()).expect("a file");
    let edited = text.replace(&digest, &format!("sha256:{}", "0".repeat(64)));
    fs::write(sandbox.record_file(), edited).expect("written");
    let (status, codes) = codes(&sandbox);
    assert_eq!(
        (status, codes.first().map(String::as_str)),
        (1, Some("store-damaged"))
    );
}

#[test]
fn a_record_with_exit_code_0_beside_its_open_run_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let running = Background::start(
        &sandbox,
        &["run", "--", "sh", "-c", "touch begun; sleep 600"],
    );
    eventually("the command has begun", || {
        sandbox.path().join("begun").exists()
    });
    assert_eq!(codes(&sandbox), (1, vec!["open-run".to_owned()]));
    let open = sandbox.call(["verify", "--json"]).json();
    let id = open["open_runs"][0]["command_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    forge(&sandbox, &json!({ "command_id": id, "exit_code": 0 }));
    assert_eq!(codes(&sandbox), (1, vec!["open-run".to_owned()]));
    running.signal(rustix::process::Signal::TERM);
    running.end();
}

#[test]
fn a_last_line_that_nobody_will_complete_is_damage() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let text = fs::read_to_string(sandbox.record_file()).expect("a file");
    fs::write(sandbox.record_file(), format!("{text}{{\"torn\":")).expect("written");
    let told = sandbox.call(["verify"]);
    assert_eq!(told.status, 1);
    assert!(
        told.stdout.contains("line 2: ends without a newline"),
        "{}",
        told.stdout
    );
    assert_eq!(codes(&sandbox), (1, vec!["store-damaged".to_owned()]));
    assert_eq!(
        sandbox.call(["run", "--", "true"]).status,
        0,
        "the next run repairs it"
    );
}
