//! That no secret reaches the disk, wherever it stands.

use crate::sandbox::{Sandbox, holds, text};

/// Secrets in the shapes of the base rules, put together here so that none stands in the source.
fn secrets() -> Vec<(&'static str, String)> {
    let opaque = "9fQ2".repeat(5);
    vec![
        ("bearer", format!("Authorization: {} {opaque}", "Bearer")),
        ("password", format!("{}={opaque}", "password")),
        ("api-key", format!("{}_key={opaque}", "api")),
        ("aws", format!("AK{}{}", "IA", "QX7R2M4N".repeat(2))),
        ("slack", format!("xo{}-{}-{opaque}", "xb", "1".repeat(12))),
    ]
}

fn value_of(secret: &str) -> &str {
    secret.rsplit([' ', '=']).next().expect("a value")
}

#[test]
fn a_base_rule_takes_the_whole_line_and_is_counted() {
    for (name, secret) in secrets() {
        let sandbox = Sandbox::new();
        let path = sandbox.write(
            "output",
            format!("before\n  context {secret} more\nafter\n"),
        );
        let record = sandbox.run(["cat".as_ref(), path.as_os_str()]);
        assert_eq!(record["stdout_tail"], "before\n[REDACTED]\nafter", "{name}");
        assert!(
            record["redactions"]["count"].as_u64() >= Some(1),
            "{name}: {record}"
        );
        std::fs::remove_file(path).expect("removed");
        assert!(
            !holds(&sandbox.every_byte(), value_of(&secret).as_bytes()),
            "{name}"
        );
    }
}

#[test]
fn a_secret_is_removed_from_argv_note_cwd_and_error() {
    for (name, secret) in secrets() {
        let sandbox = Sandbox::new();
        let value = value_of(&secret);
        let cwd = format!("/nowhere/{secret}");
        let program = format!("no-such-program {secret}");
        sandbox.call([
            "run", "--note", &secret, "--cwd", &cwd, "--", "true", &secret,
        ]);
        sandbox.call(["run", "--", &program]);
        let called = sandbox.call(["run", "--", "sh", "-c", &format!("exit 3 # {secret}")]);
        assert_eq!(
            called.status, 3,
            "{name}: the command itself gets the real argument"
        );
        assert_eq!(sandbox.records().len(), 3, "{name}");
        assert!(!holds(&sandbox.every_byte(), value.as_bytes()), "{name}");
        assert!(
            !called.stdout.contains(value) && !called.stderr.contains(value),
            "{name}"
        );
    }
}

#[test]
fn a_secret_split_across_two_writes_is_found() {
    let sandbox = Sandbox::new();
    for (name, secret) in secrets() {
        for at in [1, secret.len() / 2, secret.len() - 1] {
            let (first, second) = secret.split_at(at);
            // Two writes; the pause only makes two reads likely, the claim holds for one as well.
            let script = "printf %s \"$1\" >&2; sleep 0.05; printf '%s\\n' \"$2\" >&2";
            let record = sandbox.run(["sh", "-c", script, "sh", first, second]);
            assert_eq!(text(&record, "stderr_tail"), "[REDACTED]", "{name} at {at}");
        }
    }
}

#[test]
fn a_secret_in_the_environment_of_the_command_is_known_by_its_value() {
    let sandbox = Sandbox::new();
    let value = "k3yv".repeat(4) + "Zq9";
    let output = sandbox
        .feedback()
        .env("DEPLOY_TOKEN", &value)
        .args([
            "run",
            "--",
            "sh",
            "-c",
            "echo \"the value is $DEPLOY_TOKEN.\"",
        ])
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(!holds(&output.stdout, value.as_bytes()));
    assert!(!holds(&sandbox.every_byte(), value.as_bytes()));
}

#[test]
fn what_holds_no_secret_stays_as_it_was() {
    let sandbox = Sandbox::new();
    let lines = "error: api_key is missing\n\
                 src/password.rs:12: unused variable `token`\n\
                 401: Bearer token missing\n\
                 commit 3f786850e387550fdab836ed7e6dc881de23001b";
    let record = sandbox.run(["printf", "%s\\n", lines]);
    assert_eq!(text(&record, "stdout_tail"), lines);
}

#[test]
fn a_token_that_a_colour_glues_to_a_word_is_found_and_the_line_still_reads_as_printed() {
    let sandbox = Sandbox::new();
    let token = format!("ghp_{}", "aB3dE5gH".repeat(5));
    let script = format!("printf 'TO\\033[1mKEN\\033[0m\\033[36m{token}\\033[0m end\\n'");
    let record = sandbox.run_with(["--expect-line", "^TOKENghp_"], ["sh", "-c", &script]);
    let shown = crate::sandbox::text(&record, "stdout_tail");
    assert!(
        shown.starts_with("TOKEN[REDACTED:github-token#1"),
        "{shown:?}"
    );
    assert!(!record.to_string().contains(&token));
    assert_eq!(record["expectations"][0]["held"], true, "{record}");
}

#[test]
fn a_key_in_a_usage_error_is_not_shown_whatever_joins_its_lines() {
    let sandbox = Sandbox::new();
    let kind = ["RSA PRIVATE", " KEY"].concat();
    let line = ["q7Xk2M9vR4tZ8b3W", "yH6pLd1SqA0fGjK5"].concat().repeat(2);
    for separator in ["\u{2028}", "\u{2029}", "\\n", "\n"] {
        let key = format!(
            "--x-----BEGIN {kind}-----{separator}{line}{separator}{line}{separator}-----END {kind}-----"
        );
        let called = sandbox.call(["run", &key]);
        let all = [called.stdout, called.stderr].concat();
        assert!(!all.contains(&line[..16]), "{separator:?} {all}");
    }
}
