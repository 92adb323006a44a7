//! What an audit of logs and records says, and that it shows nothing.

use std::fs;

use crate::sandbox::{Sandbox, holds};

fn token() -> String {
    format!("ghp_{}", "aB3dE5gH".repeat(5))
}

/// A text that no rule covers and that looks like a secret.
fn opaque() -> String {
    ["q7Xk2M9vR4t", "Z8b3WyH6pLd1S"].concat()
}

#[test]
fn findings_and_suspects_of_a_log_are_told_by_place() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.log",
        format!("one\n  using {}\nid {}\n", token(), opaque()),
    );
    let called = sandbox.call(["audit", "a.log"]);
    assert_eq!(
        called.status, 0,
        "a log is no record file: {}",
        called.stderr
    );
    let lines: Vec<&str> = called.stdout.lines().collect();
    assert!(lines[0].starts_with("a.log:2:9: github-token (44 characters, fingerprint "));
    assert!(lines[1].starts_with("a.log:3:4: suspect (24 characters, fingerprint "));
    assert_eq!(
        lines[2],
        "1 finding, 1 suspect in 1 file, 3 lines, 0 of them records"
    );
    assert_eq!(lines[3], "  github-token 1");

    let json = sandbox.call(["audit", "--json", "a.log"]).json();
    assert_eq!(json["rules"]["github-token"], 1);
    assert_eq!(json["findings"][0]["line"], 2);
    assert_eq!(json["findings"][0]["column"], 9);
    assert_eq!(json["suspects"][0]["length"], 24);
    assert_eq!(json["unredacted_records"], false);
}

#[test]
fn no_form_of_the_report_holds_a_piece_of_a_secret() {
    let sandbox = Sandbox::new();
    let file = format!("{}.log", token());
    sandbox.write(&file, format!("{}\n{}\n", token(), opaque()));
    for form in [&["audit"][..], &["audit", "--json"], &["audit", "--sarif"]] {
        let called = sandbox.call(form.iter().copied().chain([file.as_str()]));
        let all = [called.stdout, called.stderr].concat();
        assert!(all.contains("github-token"), "{all}");
        for secret in [token(), opaque()] {
            let pieces = secret.as_bytes().windows(8);
            assert!(
                pieces
                    .into_iter()
                    .all(|piece| !holds(all.as_bytes(), piece)),
                "{all}"
            );
        }
    }
}

#[test]
fn fingerprints_compare_under_one_key_and_not_without() {
    let sandbox = Sandbox::new();
    sandbox.write("a.log", format!("{}\n", token()));
    sandbox.write("b.log", format!("again \u{1b}[1m{}\u{1b}[0m\n", token()));
    sandbox.write("key", "k".repeat(32));
    let fingerprints = |options: &[&str]| -> Vec<String> {
        let arguments = ["audit", "--json", "a.log", "b.log"].iter().chain(options);
        let json = sandbox.call(arguments).json();
        let findings = json["findings"].as_array().expect("a list");
        findings
            .iter()
            .map(|finding| finding["fingerprint"].as_str().expect("a text").to_owned())
            .collect()
    };
    let keyed = fingerprints(&["--key", "key"]);
    assert_eq!(keyed.len(), 2);
    assert_eq!(keyed[0], keyed[1]);
    assert_eq!(keyed, fingerprints(&["--key", "key"]));
    let random = fingerprints(&[]);
    assert_eq!(random[0], random[1]);
    assert_ne!(random, fingerprints(&[]));

    sandbox.write("short", "k");
    sandbox.write("long", "k".repeat(4097));
    for key in ["short", "long", "missing", "."] {
        let called = sandbox.call(["audit", "--key", key, "a.log"]);
        called.says(2, &[key]);
        assert_eq!(called.stdout, "");
    }
}

#[test]
fn a_record_file_with_something_unredacted_fails() {
    let sandbox = Sandbox::new();
    sandbox.run(["echo", &format!("{} {}=q7Xk2m9v", token(), "password")]);
    let clean = sandbox.call(["audit"]);
    assert_eq!(clean.status, 0, "{}{}", clean.stdout, clean.stderr);
    assert!(
        clean
            .stdout
            .starts_with("0 findings, 0 suspects in 1 file, 1 line, 1 of them")
    );

    // A record that another writer made, in the file, in a rotated one, and packed.
    let record = fs::read_to_string(sandbox.record_file()).expect("a file");
    let leak = record.replacen(
        "\"agent_note\":null",
        &format!("\"agent_note\":\"{}\"", token()),
        1,
    );
    assert_ne!(record, leak);
    sandbox.write("feedback_record.jsonl.1", &leak);
    let found = sandbox.call(["audit", "--json"]);
    assert_eq!(found.status, 1);
    let json = found.json();
    assert_eq!(json["files"][1]["record_file"], true);
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(1), "{json}");
    assert_eq!(json["findings"][0]["field"], "/agent_note");
    assert_eq!(json["findings"][0]["line"], 1);
    assert!(!found.stdout.contains(&token()));

    sandbox.write("other.jsonl", &leak);
    let packed = std::process::Command::new("gzip")
        .arg("other.jsonl")
        .current_dir(sandbox.path())
        .status();
    assert!(packed.expect("gzip").success());
    let called = sandbox.call(["audit", "other.jsonl.gz"]);
    assert_eq!(called.status, 1);
    assert!(
        called
            .stdout
            .starts_with("other.jsonl.gz:1:/agent_note:1:1: github-token")
    );
    assert!(
        called
            .stdout
            .ends_with("`other.jsonl.gz` is a record file and holds something unredacted\n")
    );

    // What is no record counts too where it stands in the record file.
    sandbox.write("feedback_record.jsonl.1", format!("torn {}\n", token()));
    assert_eq!(sandbox.call(["audit"]).status, 1);
    assert_eq!(sandbox.call(["audit", "feedback_record.jsonl"]).status, 0);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_still_told() {
    let sandbox = Sandbox::new();
    sandbox.write("a.log", format!("{}\n", token()));
    sandbox.write("cut.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1]);
    fs::create_dir(sandbox.path().join("folder")).expect("a folder");
    for bad in ["missing", "folder", "cut.gz"] {
        let called = sandbox.call(["audit", bad, "a.log"]);
        called.says(2, &[bad]);
        assert!(called.stdout.contains("github-token"), "{}", called.stdout);
    }
    sandbox.call(["audit"]).says(2, &["feedback_record.jsonl"]);
}

#[test]
fn sarif_has_what_its_readers_need() {
    let sandbox = Sandbox::new();
    sandbox.write("a b.log", format!("x {}\ny {}\n", token(), opaque()));
    sandbox.run(["true"]);
    let record = fs::read_to_string(sandbox.record_file()).expect("a file");
    let leak = record.replacen(
        "\"agent_note\":null",
        &format!("\"agent_note\":\"{}\"", token()),
        1,
    );
    sandbox.write("records.jsonl", leak);
    let called = sandbox.call(["audit", "--sarif", "a b.log", "records.jsonl"]);
    assert_eq!(called.status, 1);
    let sarif = called.json();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "feedback");
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let rules = run["tool"]["driver"]["rules"].as_array().expect("a list");
    let results = run["results"].as_array().expect("a list");
    let levels: Vec<_> = results
        .iter()
        .map(|result| result["level"].as_str())
        .collect();
    assert_eq!(levels, [Some("warning"), Some("note"), Some("error")]);
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("a number");
        let rule = &rules[usize::try_from(index).expect("small")];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["shortDescription"]["text"].is_string());
        assert!(result["message"]["text"].is_string());
        assert!(result["partialFingerprints"]["keyedFingerprint/v1"].is_string());
    }
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.log");
    assert_eq!(place["region"]["startLine"], 1);
    assert_eq!(place["region"]["startColumn"], 3);
    assert_eq!(place["region"]["endColumn"], 47);
    let place = &results[2]["locations"][0];
    assert_eq!(
        place["logicalLocations"][0]["fullyQualifiedName"],
        "/agent_note"
    );
    assert_eq!(place["physicalLocation"]["region"]["startLine"], 1);
    sandbox
        .call(["audit", "--sarif", "--json", "x"])
        .says(2, &["--sarif", "--json"]);
}

#[test]
fn kept_output_is_audited_with_the_records_that_it_belongs_to() {
    let sandbox = Sandbox::new();
    let script = format!("echo one; echo {}", token());
    let record = sandbox.run_with(["--keep-output"], ["sh", "-c", &script]);
    let clean = sandbox.call(["audit"]);
    assert_eq!(clean.status, 0, "{}{}", clean.stdout, clean.stderr);
    let told = "0 findings, 0 suspects in 3 files, 3 lines, 1 of them records";
    assert!(clean.stdout.starts_with(told), "{}", clean.stdout);

    // What an older rule set let through, or another writer left there.
    let file = record["stdout"]["kept"]["file"].as_str().expect("a file");
    fs::write(sandbox.path().join(file), format!("one\nkey {}\n", token())).expect("a file");
    for arguments in [&["audit"][..], &["audit", "feedback_record.jsonl"]] {
        let found = sandbox.call(arguments);
        assert_eq!(found.status, 1, "{}", found.stderr);
        let line = format!("{file}:2:5: github-token (44 characters");
        assert!(found.stdout.contains(&line), "{}", found.stdout);
        let told = format!("{file}` is kept output and holds something unredacted");
        assert!(found.stdout.contains(&told), "{}", found.stdout);
        assert!(!found.stdout.contains(&token()));
    }
    let json = sandbox.call(["audit", "--json"]).json();
    let kept = |file: &serde_json::Value| file["kept_output"] == true && file["findings"] == 1;
    let files = json["files"].as_array().expect("a list");
    assert_eq!(files.iter().filter(|file| kept(file)).count(), 1, "{json}");
    assert_eq!(json["unredacted_records"], true);
}
