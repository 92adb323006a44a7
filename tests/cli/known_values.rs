//! What is known by its value: the environment, what the policy names, and `.env` files.

use serde_json::json;

use crate::sandbox::{Sandbox, holds, text};

fn value() -> String {
    ["q7Xk2M9v", "R4tZ8b3W"].concat()
}

#[test]
fn names_whose_values_are_too_short_are_in_the_record_and_their_values_stay() {
    let sandbox = Sandbox::new();
    let options = ["--env", "API_KEY=abc", "--env", "CI_SECRET=1"];
    let script = "echo abc 1";
    let record = sandbox.run_with(options, ["sh", "-c", script]);
    assert_eq!(text(&record, "stdout_tail"), "abc 1");
    assert_eq!(
        record["redactions"]["not_covered"],
        json!(["API_KEY", "CI_SECRET"])
    );

    let long = format!("API_KEY={}", value());
    let record = sandbox.run_with(["--env", &long], ["sh", "-c", "echo \"x${API_KEY}y\""]);
    assert_eq!(text(&record, "stdout_tail"), "x[REDACTED:known-value#1]y");
    assert!(
        record["redactions"].get("not_covered").is_none(),
        "{record}"
    );

    // A name can hold a secret itself.
    let token = format!("ghp_{}", "aB3dE5gH".repeat(5));
    let record = sandbox.run_with(["--env", &format!("{token}_SECRET=1")], ["true"]);
    assert!(!record.to_string().contains(&token), "{record}");
}

#[test]
fn variables_and_files_that_the_policy_names_are_known_to_every_command() {
    let sandbox = Sandbox::new();
    let policy = json!({ "redaction": {
        "variables": ["INTERNAL_THING"],
        "env_files": [".env", "missing.env?"],
    } });
    sandbox.write("feedback.json", policy.to_string());
    let (thing, filed) = (value(), value().replace('q', "Q"));
    sandbox.write(
        ".env",
        format!("PORT=8080\nexport MAIL_TOKEN='{filed}'\nPIN_SECRET=12\n"),
    );
    let printed = format!("port 8080, <{thing}>, <{filed}>");
    sandbox.write("output", &printed);
    let hidden = "port 8080, <[REDACTED:known-value#1]>, <[REDACTED:known-value#2]>";

    let option = format!("INTERNAL_THING={thing}");
    let called = sandbox.call(["run", "--env", &option, "--tee", "--", "cat", "output"]);
    let record = sandbox.records().pop().expect("a record");
    assert_eq!(text(&record, "stdout_tail"), hidden);
    assert_eq!(record["redactions"]["not_covered"], json!(["PIN_SECRET"]));
    assert!(called.stdout.contains(hidden) || called.stderr.contains(hidden));
    for command in ["redact", "excerpt"] {
        let output = sandbox
            .feedback()
            .env("INTERNAL_THING", &thing)
            .args([command, "output"])
            .output()
            .expect("the binary runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), hidden);
    }
    // An error text names a file.
    let called = sandbox.call(["redact", &format!("/nowhere/{filed}")]);
    assert!(!called.stderr.contains(&filed), "{}", called.stderr);
    std::fs::remove_file(sandbox.path().join(".env")).expect("removed");
    std::fs::remove_file(sandbox.path().join("output")).expect("removed");
    for secret in [&thing, &filed] {
        assert!(!holds(&sandbox.every_byte(), secret.as_bytes()));
    }
}

#[test]
fn a_file_of_variables_that_is_absent_is_told_unless_it_may_be() {
    let sandbox = Sandbox::new();
    let policy = |name: &str| {
        let policy = json!({ "redaction": { "env_files": [".env", name] } });
        sandbox.write("feedback.json", policy.to_string());
    };
    sandbox.write(".env", "PORT=8080\n");
    policy(".env.lcoal");
    for arguments in [
        &["run", "--", "true"][..],
        &["redact", "feedback.json"],
        &["excerpt", "feedback.json"],
        &["audit"],
        &["policy", "--check"],
    ] {
        let called = sandbox.call(arguments);
        assert_eq!(called.status, 0, "{}", called.stderr);
        let told = called
            .stderr
            .matches(".env.lcoal`, which is not there")
            .count();
        assert_eq!(told, 1, "{arguments:?}: {}", called.stderr);
        assert!(
            called.stderr.contains("put `?` behind"),
            "{}",
            called.stderr
        );
    }
    policy(".env.lcoal?");
    for arguments in [&["run", "--", "true"][..], &["policy", "--check"]] {
        let called = sandbox.call(arguments);
        assert_eq!((called.status, &*called.stderr), (0, ""), "{arguments:?}");
    }

    // What may be absent is hidden all the same where it is there.
    sandbox.write(".env.lcoal", format!("MAIL_TOKEN={}\n", value()));
    let record = sandbox.run(["echo", &value()]);
    assert_eq!(text(&record, "stdout_tail"), "[REDACTED:known-value#1]");
    policy("?");
    sandbox
        .call(["policy", "--check"])
        .says(1, &["redaction.env_files[1]"]);
}

#[test]
fn a_file_of_variables_that_cannot_be_read_refuses() {
    let sandbox = Sandbox::new();
    let policy = json!({ "redaction": { "env_files": ["folder"] } });
    sandbox.write("feedback.json", policy.to_string());
    sandbox.write("folder/x", "");
    let called = sandbox.call(["run", "--", "touch", "started"]);
    called.says(125, &["redaction.env_files", "folder"]);
    sandbox
        .call(["redact"])
        .says(2, &["redaction.env_files", "folder"]);
    assert!(!sandbox.path().join("started").exists());
    assert!(sandbox.records().is_empty());
}

#[test]
fn the_policy_is_told_which_key_is_wrong() {
    let sandbox = Sandbox::new();
    for (redaction, key) in [
        (
            json!({ "scopes": { "no-such-rule": "span" } }),
            "redaction.scopes.no-such-rule",
        ),
        (
            json!({ "scopes": { "bearer-token": "word" } }),
            "redaction.scopes",
        ),
        (json!({ "env_files": [""] }), "redaction.env_files[0]"),
        (
            json!({ "variables": ["A", "B\nC"] }),
            "redaction.variables[1]",
        ),
        (json!({ "variable": [] }), "redaction.variable"),
    ] {
        sandbox.write(
            "feedback.json",
            json!({ "redaction": redaction }).to_string(),
        );
        sandbox.call(["redact"]).says(2, &["feedback.json", key]);
    }
}

#[test]
fn a_single_rule_takes_its_span_where_the_policy_says_so() {
    let sandbox = Sandbox::new();
    let policy = json!({ "redaction": { "scopes": { "bearer-token": "span" } } });
    sandbox.write("feedback.json", policy.to_string());
    let line = format!("> authorization: Bearer {} (401)\n", value());
    assert_eq!(
        sandbox.call_with(["redact"], line.as_bytes()).stdout,
        "> authorization: Bearer [REDACTED:bearer-token#1] (401)\n"
    );
    let rules = sandbox.call(["rules", "--json"]).json();
    let rules = rules.as_array().expect("a list");
    let bearer = rules.iter().find(|rule| rule["id"] == "bearer-token");
    assert_eq!(bearer.expect("listed")["scope"], "span");
}

#[test]
fn every_rule_is_listed_once_and_known_values_are_among_them() {
    let sandbox = Sandbox::new();
    let rules = sandbox.call(["rules", "--json"]).json();
    let ids: Vec<&str> = rules
        .as_array()
        .expect("a list")
        .iter()
        .map(|rule| rule["id"].as_str().expect("a text"))
        .collect();
    let mut once = ids.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ids.len());
    assert!(ids.contains(&"known-value"), "{ids:?}");
    let listing = sandbox.call(["rules"]).stdout;
    assert!(listing.contains("known-value"), "{listing}");
}

#[test]
fn a_line_of_an_env_file_that_is_not_understood_is_told_and_other_forms_are_known() {
    let sandbox = Sandbox::new();
    let policy = json!({ "redaction": { "env_files": [".env"], "variables": ["PIN"] } });
    sandbox.write("feedback.json", policy.to_string());
    let values = ["Ab", "Bc", "Cd", "De"].map(|start| format!("{start}{}", value()));
    let [a, b, c, d] = &values;
    let text = format!(
        "declare -x A_TOKEN=\"{a}\"\nB_TOKEN=$'{b}'\nset -gx C_TOKEN {c}\nD_TOKEN: {d}\nnot -> {a}\n"
    );
    sandbox.write(".env", text);
    sandbox.write("output", values.join(" . "));
    let run = ["run", "--text", "--env", "PIN=12", "--", "cat", "output"];
    let called = sandbox.call(run);
    for value in &values {
        assert!(!called.stdout.contains(value), "{}", called.stdout);
    }
    let told = "UNHIDDEN  PIN (values too short or too plain to be found)";
    assert!(called.stdout.contains(told), "{}", called.stdout);
    let told = "UNREAD    env_files: line 5 (not understood";
    assert!(called.stdout.contains(told), "{}", called.stdout);
    let record = sandbox.records().pop().expect("a record");
    let names = json!(["PIN", "env_files: line 5"]);
    assert_eq!(record["redactions"]["not_covered"], names);
}
