//! A project's own redaction rules, from the policy to every text.

use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, text};

fn rule() -> Value {
    json!({
        "id": "acme-key",
        "description": "a key of the ACME service",
        "literal": "acme_",
        "pattern": "acme_([a-z0-9]{8})",
        "scope": "span",
        "example": "acme_12345678",
        "counter_example": "acme_1",
    })
}

fn write(sandbox: &Sandbox, rules: &[Value]) {
    let policy = json!({ "redaction": { "rules": rules } });
    sandbox.write("feedback.json", policy.to_string());
}

#[test]
fn a_rule_of_the_policy_is_used_by_every_command() {
    let sandbox = Sandbox::new();
    let mut by_line = rule();
    by_line["id"] = json!("acme-line");
    by_line["literal"] = json!("ACME-");
    by_line["pattern"] = json!("ACME-[0-9]{4}");
    by_line["scope"] = json!("line");
    by_line["example"] = json!("ACME-0000");
    write(&sandbox, &[rule(), by_line]);
    let printed = "the key is acme_q7xk2m9v.\nid ACME-1234 of it\nacme_x ACME-12";
    let hidden = "the key is acme_[REDACTED:acme-key#1].\n[REDACTED]\nacme_x ACME-12";

    let record = sandbox.run(["printf", "%s\\n", printed]);
    assert_eq!(text(&record, "stdout_tail"), hidden);
    assert_eq!(record["redactions"]["rules"]["acme-key"], 2, "argv as well");
    assert!(!record["command"].to_string().contains("q7xk2m9v"));
    assert_eq!(
        sandbox.call_with(["redact"], printed.as_bytes()).stdout,
        hidden
    );
    let excerpt = sandbox.call_with(["excerpt"], printed.as_bytes()).stdout;
    assert_eq!(excerpt, format!("{hidden}\n"));

    sandbox.write("a.log", printed);
    let audit = sandbox.call(["audit", "--json", "a.log"]).json();
    assert_eq!(audit["rules"], json!({ "acme-key": 1, "acme-line": 1 }));
    assert_eq!(audit["findings"][1]["takes_line"], true);

    let rules = sandbox.call(["rules", "--json"]).json();
    let last = rules.as_array().and_then(|rules| rules.iter().rev().nth(1));
    let last = last.expect("a rule");
    assert_eq!(
        (&last["id"], &last["origin"]),
        (&json!("acme-key"), &json!("policy"))
    );
    assert_eq!(last["example"], "acme_[REDACTED:acme-key#1]");
}

#[test]
fn each_fault_of_a_rule_is_named_with_its_key() {
    let sandbox = Sandbox::new();
    let cases: [(&str, Value, &str); 13] = [
        ("id", json!("Not An Id"), "letters"),
        ("id", json!("github-token"), "taken"),
        ("id", json!("acme-key"), "taken"),
        ("id", json!(7), "text"),
        ("literal", json!("ac"), "3 characters"),
        ("literal", json!("other"), "no match"),
        ("pattern", json!("acme_("), "group"),
        ("pattern", json!("(acme_)?"), "empty"),
        ("pattern", json!("acme_([a-z0-9]{8}){1000}"), "size"),
        ("example", json!("nothing"), "finds nothing"),
        ("counter_example", json!("acme_87654321"), "finds something"),
        ("scope", json!("word"), "word"),
        ("patern", json!("x"), "unknown key"),
    ];
    for (key, value, words) in cases {
        let mut second = rule();
        second["id"] = json!("second");
        second[key] = value.clone();
        write(&sandbox, &[rule(), second]);
        let place = format!("redaction.rules[1].{key}");
        for command in ["rules", "redact", "excerpt", "audit"] {
            sandbox
                .call([command])
                .says(2, &["feedback.json", &place, words]);
        }
        sandbox
            .call(["run", "--", "touch", "started"])
            .says(125, &["feedback.json", &place, words]);
    }
    let mut without = rule();
    without
        .as_object_mut()
        .expect("an object")
        .remove("literal");
    write(&sandbox, &[without]);
    sandbox
        .call(["rules"])
        .says(2, &["feedback.json", "redaction.rules[0]", "literal"]);
    assert!(!sandbox.path().join("started").exists());
}

#[test]
fn a_slow_pattern_cannot_stall_a_text() {
    let sandbox = Sandbox::new();
    let mut slow = rule();
    slow["literal"] = json!("aaa");
    slow["pattern"] = json!("(a|aa|aaa|a?a?a?a?)*aaa(a*)*b");
    slow["example"] = json!("aaaab");
    slow["counter_example"] = json!("aaa");
    write(&sandbox, &[slow]);
    let line = "a".repeat(100_000) + "\n";
    let file = sandbox.write("line", &line);
    let called = sandbox.call([Path::new("redact"), &file]);
    assert_eq!(called.stdout, line);
    // Without a bound on how often the pattern is tried this takes minutes of a processor's time,
    // which does not depend on who else has one.
    let outer = Sandbox::new();
    let redact = ["--cwd", sandbox.path().to_str().expect("UTF-8")];
    let argv = [env!("CARGO_BIN_EXE_feedback"), "redact", "line"];
    let used = outer.run_with(redact, argv)["usage"]["user_ms"].as_u64();
    assert!(used < Some(20_000), "{used:?}");
}
