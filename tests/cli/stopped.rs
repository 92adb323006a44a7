//! What the commands write where the component stops: nothing of the text.
//!
//! It really stops: each of the policy's rules is sound, and together they need more memory than
//! an instance may have. How it stops in the middle of a text is tested on the library.

use serde_json::json;

use crate::sandbox::{Sandbox, holds};

const RULES: usize = 16;

fn literal(number: usize) -> String {
    format!("stop-{number:02}-")
}

/// A policy that takes more memory than there is.
fn write_policy(sandbox: &Sandbox) {
    let rules: Vec<_> = (0..RULES)
        .map(|number| {
            let literal = literal(number);
            json!({
                "id": format!("stop-{number:02}"),
                "literal": literal,
                "pattern": format!("{literal}{}", "(x?)".repeat(230)),
                "example": literal,
                "counter_example": "nothing",
            })
        })
        .collect();
    sandbox.write(
        "feedback.json",
        json!({ "redaction": { "rules": rules } }).to_string(),
    );
}

/// The line, with a secret that no rule knows.
fn line() -> String {
    let literals: String = (0..RULES).map(literal).collect();
    format!("{} {literals}", secret())
}

fn secret() -> String {
    ["plain", "looking", "secret"].concat()
}

/// A sandbox with the policy, and the line in a file outside of it.
fn prepared() -> (Sandbox, tempfile::TempDir, String) {
    let sandbox = Sandbox::new();
    write_policy(&sandbox);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("output");
    std::fs::write(&path, format!("first\n{}\nlast\n", line())).expect("written");
    let path = path.to_str().expect("UTF-8").to_owned();
    (sandbox, folder, path)
}

fn nothing_is_left(sandbox: &Sandbox) {
    assert!(!holds(&sandbox.every_byte(), secret().as_bytes()));
}

#[test]
fn a_run_is_refused_where_nothing_can_be_redacted() {
    let (sandbox, _folder, _) = prepared();
    let line = line();
    for arguments in [
        &["run", "--note", &line, "--", "touch", "started"][..],
        &["run", "--", "touch", "started", &line],
        &["run", "--cwd", &line, "--", "touch", "started"],
    ] {
        let called = sandbox.call(arguments);
        assert_eq!(called.status, 125, "{}{}", called.stdout, called.stderr);
        assert!(!called.stderr.contains(&secret()), "{}", called.stderr);
        assert!(!called.stdout.contains(&secret()), "{}", called.stdout);
    }
    assert!(!sandbox.path().join("started").exists());
    assert!(sandbox.records().is_empty());
    nothing_is_left(&sandbox);
}

#[test]
fn commands_over_texts_show_nothing_of_what_cannot_be_redacted() {
    let (sandbox, _folder, path) = prepared();
    for command in ["redact", "excerpt", "audit"] {
        let called = sandbox.call([command, &path]);
        assert_eq!(
            called.status, 2,
            "{command}: {}{}",
            called.stdout, called.stderr
        );
        assert!(!called.stdout.contains(&secret()), "{}", called.stdout);
        assert!(!called.stderr.contains(&secret()), "{}", called.stderr);
        assert!(called.stderr.contains("memory"), "{}", called.stderr);
        assert_eq!(called.stdout, "");
    }
}
