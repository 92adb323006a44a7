//! The ten lines of Python in the README load what a store holds.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::hosts::block;
use crate::sandbox::Sandbox;
use crate::sealed::Chain;

/// False where there is none, which is only accepted outside of CI.
fn has_python() -> bool {
    let found = Command::new("python3")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    assert!(
        found || std::env::var_os("CI").is_none(),
        "CI needs python3"
    );
    if !found {
        println!("python3 is missing: not tried here");
    }
    found
}

fn load(sandbox: &Sandbox) -> Vec<Value> {
    let script = format!(
        "{}\nprint(json.dumps(load()))\n",
        block("python: load records")
    );
    let output = Command::new("python3")
        .args(["-c", &script])
        .current_dir(sandbox.path())
        .output()
        .expect("python3");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn the_recipe_has_at_most_ten_lines() {
    assert!(
        block("python: load records").lines().count() <= 10,
        "{}",
        block("python: load records")
    );
}

#[test]
fn the_recipe_loads_the_whole_set_oldest_first_and_skips_what_is_torn() {
    if !has_python() {
        return;
    }
    let sandbox = Sandbox::new();
    let mut chain = Chain::default();
    for index in (1..=4).rev() {
        let lines: String = (0..3).map(|_| chain.run(10)).collect();
        sandbox.write(&format!("feedback_record.jsonl.{index}"), lines);
    }
    let twice = chain.run(10);
    let active = format!("{twice}not a record\n\n7\n{twice}");
    sandbox.write("feedback_record.jsonl", &active);
    assert_eq!(sandbox.call(["run", "--", "echo", "é"]).status, 0);
    let whole = fs::read(sandbox.record_file()).expect("a file");

    let seqs = |records: &[Value]| -> Vec<u64> {
        records
            .iter()
            .map(|record| record["seq"].as_u64().expect("a number"))
            .collect()
    };
    let loaded = load(&sandbox);
    assert_eq!(loaded.len(), 14);
    assert_eq!(seqs(&loaded)[..13], (1..=13).collect::<Vec<u64>>());
    assert_eq!(loaded[13]["stdout_tail"], "é");

    // Torn at every byte: the same records, and never an error.
    let line = chain.run(3);
    for end in [1, 2, 20, line.len() / 2, line.len() - 2] {
        let mut torn = whole.clone();
        torn.extend_from_slice(&line.as_bytes()[..end]);
        fs::write(sandbox.record_file(), torn).expect("written");
        assert_eq!(load(&sandbox), loaded, "torn after {end} bytes");
    }
    // Torn inside of a character.
    let mut torn = whole.clone();
    torn.extend_from_slice(b"{\"stdout_tail\":\"\xc3");
    fs::write(sandbox.record_file(), torn).expect("written");
    assert_eq!(load(&sandbox), loaded);
}

#[test]
fn the_recipe_loads_nothing_where_there_is_no_store() {
    if has_python() {
        assert_eq!(load(&Sandbox::new()), Vec::<Value>::new());
    }
}
