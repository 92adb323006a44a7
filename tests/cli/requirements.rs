//! Requirements: what a task needs, and what does not count as it.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::sandbox::{Called, Sandbox};

const POLICY: &str = r#"{"gate": {"requirements": [
    {"name": "tests", "command": ["sh", "check.sh", "**", "!--dry"], "inputs": ["src"],
     "expect": [{"kind": "line", "expected": "^all passed$"}]},
    {"name": "lint", "command": ["true"]}]}}"#;

/// A project whose check prints what `src/says` holds.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("feedback.json", POLICY);
    sandbox.write("check.sh", "cat src/says; exit $(cat src/code)\n");
    sandbox.write("src/says", "all passed\n");
    sandbox.write("src/code", "0\n");
    sandbox
}

/// The decision, and the reasons as `requirement code`.
fn judged(sandbox: &Sandbox, options: &[&str]) -> (i32, Vec<String>) {
    let (status, verdict) = sandbox.gate(options);
    let reasons = verdict["reasons"].as_array().expect("a list").iter();
    let word = |reason: &Value, key: &str| reason[key].as_str().unwrap_or("-").to_owned();
    let reasons = reasons.map(|one| format!("{} {}", word(one, "requirement"), word(one, "code")));
    (status, reasons.collect())
}

#[test]
fn a_task_is_done_when_every_requirement_is_met_and_the_evidence_is_named() {
    let sandbox = project();
    let nothing = (
        1,
        vec!["tests never-run".to_owned(), "lint never-run".to_owned()],
    );
    assert_eq!(judged(&sandbox, &[]), nothing);
    let record = sandbox.run(["sh", "check.sh"]);
    assert_eq!(record["requirement"]["name"], "tests");
    assert_eq!(
        record["expectations"][0]["held"], true,
        "declared without being asked"
    );
    assert_eq!(record["inputs"]["files"], 2);
    assert_eq!(
        judged(&sandbox, &[]),
        (1, vec!["lint never-run".to_owned()])
    );
    sandbox.run(["true"]);
    sandbox.run(["grep", "x", "check.sh"]);
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(status, 0, "{verdict}");
    assert_eq!(verdict["evidence"][0]["command_id"], record["command_id"]);
    assert_eq!(verdict["judged"], 2, "other runs do not count");
}

#[test]
fn a_requirement_is_not_met_by_less_than_it_asks_for() {
    let sandbox = project();
    sandbox.run(["true"]);
    sandbox.run(["sh", "check.sh"]);
    assert_eq!(judged(&sandbox, &[]).0, 0);

    sandbox.write("src/says", "0 tests ran\n");
    assert_eq!(judged(&sandbox, &[]), (1, vec!["tests stale".to_owned()]));
    sandbox.run(["sh", "check.sh"]);
    assert_eq!(
        judged(&sandbox, &[]),
        (1, vec!["tests unmet-expectation".to_owned()])
    );
    sandbox.write("src/code", "3\n");
    sandbox.run(["sh", "check.sh"]);
    let (_, reasons) = judged(&sandbox, &[]);
    assert!(
        reasons.contains(&"tests non-zero-exit".to_owned()),
        "{reasons:?}"
    );
    sandbox.write("src/says", "all passed\n");
    sandbox.write("src/code", "0\n");
    sandbox.run(["sh", "check.sh"]);
    assert_eq!(judged(&sandbox, &[]).0, 0);
}

#[test]
fn look_alikes_and_other_directories_do_not_meet_a_requirement() {
    let sandbox = project();
    sandbox.run(["true"]);
    sandbox.run(["sh", "check.sh", "--dry"]);
    sandbox.run(["sh", "./check.sh"]);
    sandbox.run_with(["--explore"], ["sh", "check.sh"]);
    let elsewhere = sandbox.write("sub/check.sh", "echo all passed\n");
    let elsewhere = elsewhere.parent().expect("a parent").to_owned();
    sandbox.run_with(["--cwd", "sub"], ["sh", "check.sh"]);
    assert_eq!(
        judged(&sandbox, &[]),
        (1, vec!["tests never-run".to_owned()])
    );

    // A link that only looks like the folder of the project, and one that leads to it.
    let outside = tempfile::tempdir().expect("a folder");
    symlink(sandbox.path(), outside.path().join("link")).expect("a link");
    let link = outside.path().join("link");
    let link = link.to_str().expect("UTF-8");
    let record = sandbox.run_with(["--cwd", link], ["sh", "check.sh"]);
    assert_eq!(record["requirement"]["name"], "tests");
    assert_eq!(judged(&sandbox, &[]).0, 0);

    sandbox.write(
        "feedback.json",
        POLICY.replacen("\"inputs\"", "\"cwd\": \"web\", \"inputs\"", 1),
    );
    symlink(elsewhere, sandbox.path().join("web")).expect("a link");
    let record = sandbox.run_with(["--cwd", "web"], ["sh", "check.sh"]);
    assert_eq!(record["requirement"], Value::Null);
    assert_eq!(
        judged(&sandbox, &[]),
        (1, vec!["tests unmet-expectation".to_owned()])
    );
}

#[test]
fn evidence_under_another_wording_of_the_requirement_is_refused_with_the_way_out() {
    let sandbox = project();
    fs::remove_file(sandbox.path().join("feedback.json")).expect("removed");
    sandbox.run(["sh", "check.sh"]);
    sandbox.run(["true"]);
    sandbox.write("feedback.json", POLICY);
    let unmet = |name: &str| format!("{name} unmet-expectation");
    assert_eq!(
        judged(&sandbox, &[]),
        (1, vec![unmet("tests"), unmet("lint")])
    );
    let (_, verdict) = sandbox.gate(&[]);
    let remedy = verdict["reasons"][0]["remedy"].as_str().expect("a text");
    assert!(remedy.contains("run the same command again"), "{remedy}");
    sandbox.run(["sh", "check.sh"]);
    sandbox.run(["true"]);
    assert_eq!(judged(&sandbox, &[]).0, 0);
    sandbox.write(
        "feedback.json",
        POLICY.replacen("all passed", "12 passed", 1),
    );
    assert_eq!(judged(&sandbox, &[]), (1, vec![unmet("tests")]));
}

#[test]
fn inputs_of_a_requirement_cannot_be_replaced_by_hand() {
    let sandbox = project();
    let arguments = ["run", "--inputs", "check.sh", "--", "sh", "check.sh"];
    sandbox.call(arguments).says(125, &["`tests`", "--inputs"]);
}

#[test]
fn evidence_can_be_asked_for_since_a_record_or_a_time() {
    let sandbox = project();
    let old = sandbox.run(["sh", "check.sh"]);
    let lint = sandbox.run(["true"]);
    let id = |record: &Value| record["command_id"].as_str().expect("an id").to_owned();
    for since in [
        &*id(&old),
        "1h",
        "2020-01-01T00:00:00Z",
        "2020-01-01T00:00:00.5+02:00",
    ] {
        assert_eq!(judged(&sandbox, &["--since", since]).0, 0, "{since}");
    }
    let never = (1, vec!["tests never-run".to_owned()]);
    assert_eq!(judged(&sandbox, &["--since", &id(&lint)]), never);
    assert_eq!(
        judged(&sandbox, &["--since", "9999-01-01T00:00:00Z"])
            .1
            .len(),
        2
    );
    for (since, words) in [
        ("2020-13-01", "how long ago"),
        ("nobody", "nobody"),
        ("2q", "how long ago"),
    ] {
        sandbox.call(["gate", "--since", since]).says(2, &[words]);
    }
    sandbox
        .call(["gate", "--last", "--since", "1h"])
        .says(2, &["--since"]);
}

#[test]
fn no_option_turns_a_failing_code_into_what_a_requirement_asks_for() {
    let sandbox = project();
    sandbox.write("src/code", "1\n");
    let refused = sandbox.call(["run", "--expect-exit", "0,1", "--", "sh", "check.sh"]);
    assert_eq!(refused.status, 125, "{}", refused.stdout);
    assert!(refused.stderr.contains("`tests`"), "{}", refused.stderr);
    assert!(sandbox.records().is_empty(), "nothing was run");
    // What meets no requirement may say so.
    let other = sandbox.call(["run", "--expect-exit", "1", "--", "false"]);
    assert_eq!(other.status, 0, "{}", other.stderr);
}

#[test]
fn a_store_that_was_copied_from_another_checkout_meets_no_requirement() {
    let policy = r#"{"gate": {"requirements": [{"name": "lint", "command": ["true"]}]}}"#;
    let (other, here) = (Sandbox::new(), Sandbox::new());
    for sandbox in [&other, &here] {
        sandbox.write("feedback.json", policy);
    }
    other.run(["true"]);
    assert_eq!(judged(&other, &[]), (0, Vec::new()));
    fs::copy(other.record_file(), here.record_file()).expect("copied");
    assert_eq!(judged(&here, &[]), (1, vec!["lint never-run".to_owned()]));
    here.run(["true"]);
    assert_eq!(judged(&here, &[]), (0, Vec::new()));
}

#[test]
fn a_store_is_not_judged_without_the_policy_of_its_project() {
    let sandbox = project();
    sandbox.run(["true"]);
    let elsewhere = Sandbox::new();
    let store = sandbox.record_file().display().to_string();
    elsewhere
        .call(["gate", "--record-file", &store])
        .says(2, &["belongs to the project in", "ask from there"]);
    let asked = Called::from(
        elsewhere
            .feedback()
            .args(["gate", "--json"])
            .env("FEEDBACK_RECORD_FILE", &store)
            .output()
            .expect("the binary runs"),
    );
    assert_eq!(
        (asked.status, &asked.json()["decision"]),
        (2, &"undecided".into())
    );
    assert_eq!(judged(&sandbox, &["--record-file", &store]).0, 1);
}

#[test]
fn failures_under_a_requirement_that_is_written_anew_are_told_in_every_form() {
    let sandbox = Sandbox::new();
    let policy = |command: &str| {
        format!(
            r#"{{"gate": {{"requirements": [{{"name": "tests", "command": ["{command}"]}}]}}}}"#
        )
    };
    sandbox.write("feedback.json", policy("false"));
    sandbox.run(["false"]);
    let newest = sandbox.run(["false"]);
    let id = newest["command_id"].as_str().expect("an id");
    sandbox.write("feedback.json", policy("true"));
    sandbox.run(["true"]);

    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(status, 0, "what is needed the policy says: {verdict}");
    let aside = &verdict["set_aside"][0];
    assert_eq!(
        (&aside["requirement"], &aside["failed"], &aside["newest"]),
        (&"tests".into(), &2.into(), &id.into())
    );
    let told = aside["message"].as_str().expect("a text");
    assert!(told.starts_with("2 failed runs were started under the requirement `tests`"));
    for (format, wanted) in [
        ("text", format!("\n  set aside: {told}\n")),
        ("junit", "&#10;set aside: 2 failed runs were".to_owned()),
        (
            "github",
            format!("\n::warning title=feedback: set aside::{told}\n"),
        ),
    ] {
        let said = sandbox.call(["gate", "--format", format]);
        assert_eq!(said.status, 0);
        assert!(said.stdout.contains(&wanted), "{}", said.stdout);
        assert!(said.stdout.contains(id), "{}", said.stdout);
    }
    // Nothing of it is told where the runs count, or were made up for.
    let refusing = policy("true").replace(r#""gate": {"#, r#""gate": {"others": "refuse", "#);
    sandbox.write("feedback.json", refusing);
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(
        (status, &verdict["set_aside"]),
        (1, &Value::Array(Vec::new()))
    );
}
