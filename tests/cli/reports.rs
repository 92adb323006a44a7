//! The verdict for a CI: JUnit XML and GitHub annotations, whatever stands in a record.

use std::fs;
use std::process::Command;

use crate::sandbox::{Called, Sandbox};

/// Everything that one of the output languages could take for its own.
const NASTY: &str = "x\n::error::owned]]><a b='\"&%0A%25\r| [l](http://e) <img> @me `c` \u{1b}[31m";

fn gate(sandbox: &Sandbox, format: &str, summary: Option<&str>) -> Called {
    let mut command = sandbox.feedback();
    command.args(["gate", "--format", format]);
    command.env_remove("GITHUB_STEP_SUMMARY");
    if let Some(name) = summary {
        command.env("GITHUB_STEP_SUMMARY", sandbox.path().join(name));
    }
    Called::from(command.output().expect("the binary runs"))
}

/// Reads the report as an XML parser does: tests, failures and errors, and all texts.
fn parsed(xml: &str) -> (String, String) {
    let script = "import sys, xml.etree.ElementTree as tree\n\
                  root = tree.fromstring(sys.stdin.buffer.read())\n\
                  print(*[root.get(k) for k in ('tests', 'failures', 'errors')])\n\
                  print(*[c.get('name') + ' ' + ''.join(e.tag + ' ' + e.get('message', '') + ' ' \
                  + (e.text or '') for e in c) for c in root.iter('testcase')], sep='\\n')";
    let sandbox = Sandbox::new();
    let file = sandbox.write("report.xml", xml);
    let output = Command::new("python3")
        .args(["-c", script])
        .stdin(fs::File::open(file).expect("a file"))
        .output()
        .expect("python3");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        output.status.success(),
        "{}\n{xml}",
        String::from_utf8_lossy(&output.stderr)
    );
    let (numbers, rest) = said.split_once('\n').expect("two lines");
    (numbers.to_owned(), rest.to_owned())
}

#[test]
fn a_pass_a_refusal_and_no_decision_are_told_apart_in_every_form() {
    let sandbox = Sandbox::new();
    let empty = gate(&sandbox, "junit", None);
    assert_eq!(empty.status, 2);
    assert_eq!(
        parsed(&empty.stdout).0,
        "1 0 1",
        "an error, never a success"
    );
    let empty = gate(&sandbox, "github", None);
    assert_eq!(empty.status, 2);
    assert!(
        empty
            .stdout
            .starts_with("::error title=feedback gate::cannot decide")
    );

    sandbox.run(["true"]);
    let pass = gate(&sandbox, "junit", None);
    assert_eq!((pass.status, &*parsed(&pass.stdout).0), (0, "1 0 0"));
    assert_eq!(
        gate(&sandbox, "github", None).stdout,
        "::notice title=feedback gate::pass: 1 run judged; the policy requires no command\n"
    );
    assert_eq!(
        gate(&sandbox, "json", None).stdout,
        sandbox.call(["gate", "--json"]).stdout
    );

    sandbox.write("feedback.json", "{\"gate\": {\"others\": 7}}");
    for (format, word) in [
        ("junit", "<error type=\"undecided\""),
        ("github", "::error title=feedback gate::cannot"),
    ] {
        let failed = gate(&sandbox, format, None);
        assert_eq!(failed.status, 2);
        assert!(failed.stdout.contains(word), "{}", failed.stdout);
        assert!(failed.stdout.contains("gate.others"), "{}", failed.stdout);
    }
}

#[test]
fn whatever_a_record_holds_stays_a_text() {
    let sandbox = Sandbox::new();
    sandbox.run(["sh", "-c", "exit 1", NASTY]);
    let junit = gate(&sandbox, "junit", None);
    let (numbers, texts) = parsed(&junit.stdout);
    assert_eq!((junit.status, &*numbers), (1, "1 1 0"));
    assert!(
        texts.contains("::error::owned]]><a b='\\''\"&%0A"),
        "{texts}"
    );

    let github = gate(&sandbox, "github", Some("summary.md"));
    assert_eq!(github.status, 1);
    assert_eq!(github.stdout.lines().count(), 1, "{}", github.stdout);
    assert!(
        github
            .stdout
            .starts_with("::error title=feedback%3A non-zero-exit::")
    );
    assert!(github.stdout.contains("%250A%2525"), "{}", github.stdout);
    let summary = fs::read_to_string(sandbox.path().join("summary.md")).expect("a summary");
    let row = summary.lines().nth(4).expect("a row");
    assert!(row.contains("non&#45;zero&#45;exit"), "{row}");
    assert_eq!(row.matches('|').count(), 5, "{row}");
    for markup in ['<', '[', '`', '@', '*', ':'] {
        assert!(!row.contains(markup), "{markup} in {row}");
    }
}

#[test]
fn the_summary_is_added_to_and_what_cannot_be_written_is_told() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    sandbox.write("summary.md", "# before\n");
    gate(&sandbox, "github", Some("summary.md"));
    gate(&sandbox, "github", Some("summary.md"));
    let summary = fs::read_to_string(sandbox.path().join("summary.md")).expect("a summary");
    assert!(summary.starts_with("# before\n### "), "{summary}");
    assert_eq!(summary.matches("feedback gate").count(), 2);
    let failed = gate(&sandbox, "github", Some("no/such/folder"));
    assert_eq!(failed.status, 0, "the answer is the same");
    assert!(failed.stderr.contains("step summary"), "{}", failed.stderr);
}

#[test]
fn every_requirement_is_a_test_case() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "feedback.json",
        r#"{"gate": {"requirements": [{"name": "tests", "command": ["true"]},
                                      {"name": "lint", "command": ["false"]},
                                      {"name": "docs", "command": ["cargo", "doc"]}]}}"#,
    );
    sandbox.run(["true"]);
    sandbox.run(["false"]);
    let (numbers, cases) = parsed(&gate(&sandbox, "junit", None).stdout);
    assert_eq!(numbers, "3 2 0");
    let start = |line: &str| cases.lines().any(|case| case.starts_with(line));
    assert!(
        start("lint failure `false`") && start("docs failure no record"),
        "{cases}"
    );
    assert!(start("tests system-out"), "{cases}");
    let text = sandbox.call(["gate"]).stdout;
    assert!(text.contains("\n  tests: met by `true`"), "{text}");
    assert!(text.contains("\n  docs: never-run: "), "{text}");
}

#[test]
fn a_summary_that_nobody_reads_does_not_hold_up_the_answer() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let made = Command::new("mkfifo")
        .arg(sandbox.path().join("summary"))
        .status()
        .expect("mkfifo");
    assert!(made.success());
    let called = gate(&sandbox, "github", Some("summary"));
    called.says(0, &["step summary", "summary"]);
}
