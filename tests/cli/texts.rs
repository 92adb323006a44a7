//! The commands over texts: the filter, the list of rules, and excerpts of files.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::Value;

use crate::sandbox::{Called, Sandbox};

/// A token that every version of the rules finds, put together at run time.
fn token() -> String {
    format!("ghp_{}", "aB3dE5gH".repeat(5))
}

#[test]
fn the_filter_keeps_every_line_and_every_byte_that_is_no_secret() {
    let sandbox = Sandbox::new();
    let text = format!(
        "one\r\n\n\u{1b}[31mtwo\u{1b}[0m {}\n\tthree \u{fc}\rframe\nlast",
        token()
    );
    let called = sandbox.call_with(["redact"], text.as_bytes());
    assert_eq!(called.status, 0, "{}", called.stderr);
    assert_eq!(
        called.stdout,
        text.replace(&token(), "[REDACTED:github-token#1]")
    );
    let path = sandbox.write("text", &text);
    let from_file = sandbox.call(["redact".as_ref(), path.as_os_str()]);
    assert_eq!(from_file.stdout, called.stdout);
    assert_eq!(sandbox.call_with(["redact"], b"").stdout, "");
    assert!(!sandbox.record_file().exists());
}

#[test]
fn a_line_that_goes_keeps_the_end_that_it_had() {
    let sandbox = Sandbox::new();
    let line = format!("a {}=q7Xk2m9v z", "password");
    let long = format!("{line} {}", "y".repeat(200_000));
    let text = format!("one\r\n{line}\r\n{long}\r\ntwo\n{line}\n{line}");
    let called = sandbox.call_with(["redact"], text.as_bytes());
    let gone = "[REDACTED]";
    let wanted = format!("one\r\n{gone}\r\n{gone}\r\ntwo\n{gone}\n{gone}");
    assert_eq!(called.stdout, wanted);
}

#[test]
fn the_mode_of_the_option_comes_before_the_policy() {
    let sandbox = Sandbox::new();
    let line = format!("a {}=q7Xk2m9v z\nb {} z\n", "password", token());
    let filtered = |options: &[&str]| {
        let arguments = ["redact"].iter().chain(options);
        sandbox.call_with(arguments, line.as_bytes()).stdout
    };
    let standard = "[REDACTED]\nb [REDACTED:github-token#1] z\n";
    let by_span = "a password=[REDACTED:password-assignment#1] z\nb [REDACTED:github-token#1] z\n";
    assert_eq!(filtered(&[]), standard);
    assert_eq!(filtered(&["--mode", "span"]), by_span);
    sandbox.write(
        "feedback.json",
        r#"{"redaction": {"mode": "line"}, "excerpt": {"max_bytes": 600}}"#,
    );
    assert_eq!(filtered(&[]), "[REDACTED]\n[REDACTED]\n");
    assert_eq!(filtered(&["--mode", "standard"]), standard);
    assert_eq!(filtered(&["--mode", "span"]), by_span);
    let wrong = sandbox.call(["redact", "--mode", "some"]);
    wrong.says(2, &["some", "standard", "span", "line"]);
}

#[test]
fn secret_variables_of_the_filter_itself_are_known_values() {
    let sandbox = Sandbox::new();
    let value = "k3yv".repeat(4) + "Zq9";
    let path = sandbox.write("text", format!("it is {value}.\n"));
    let mut command = sandbox.feedback();
    command.env("DEPLOY_TOKEN", &value).arg("redact").arg(path);
    let called = Called::from(command.output().expect("the binary runs"));
    assert_eq!(called.stdout, "it is [REDACTED:known-value#1].\n");
}

#[test]
fn a_reader_that_went_away_ends_the_filter_quietly() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .feedback()
        .arg("redact")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || {
        // Ends when the filter does: more than any pipe holds.
        let line = "a line of the text\n".repeat(1000);
        (0..1000).all(|_| stdin.write_all(line.as_bytes()).is_ok())
    });
    let mut first = String::new();
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    reader.read_line(&mut first).expect("a line");
    drop(reader);
    let mut stderr = String::new();
    let mut pipe = child.stderr.take().expect("a pipe");
    pipe.read_to_string(&mut stderr).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{stderr}");
    assert_eq!(
        (first.as_str(), stderr.as_str()),
        ("a line of the text\n", "")
    );
    assert!(
        !writer.join().expect("no panic"),
        "it did not read to the end"
    );
}

#[test]
fn a_line_is_given_before_the_input_ends() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .feedback()
        .arg("redact")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    for line in ["first\n", "second\n"] {
        stdin.write_all(line.as_bytes()).expect("written");
        let mut given = String::new();
        stdout.read_line(&mut given).expect("a line");
        assert_eq!(given, line);
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}

/// Returns the most memory that a process has had, in KiB.
fn peak(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).expect("a live process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.expect("a number").parse().expect("a number")
}

#[test]
fn a_million_lines_are_filtered_in_constant_memory() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .feedback()
        .arg("redact")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let block = "compiling a unit of a long build\n".repeat(1000);
    let mut filter = |blocks: usize| {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (0..blocks).for_each(|_| stdin.write_all(block.as_bytes()).expect("written"));
            });
            let mut given = vec![0; block.len()];
            for _ in 0..blocks {
                stdout.read_exact(&mut given).expect("a block");
                assert!(given == block.as_bytes());
            }
        });
        peak(child.id())
    };
    let first = filter(10);
    let all = filter(990);
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    assert!(all < first + 4096, "{first} KiB, then {all} KiB");
}

#[test]
fn rules_are_listed_with_harmless_examples() {
    let sandbox = Sandbox::new();
    let listed = sandbox.call(["rules", "--json"]);
    let rules = listed.json();
    let rules = rules.as_array().expect("a list");
    assert!(rules.len() > 100);
    for rule in rules {
        let example = rule["example"].as_str().expect("a text");
        let id = rule["id"].as_str().expect("a text");
        // What known values are depends on the environment.
        assert!(
            example.contains("[REDACTED") || id == "known-value" && example.is_empty(),
            "{id}: {example}"
        );
        assert!(rule["counter_example"].is_string() && rule["description"].is_string());
        assert_eq!(rule["origin"], "built-in");
    }
    let bearer = rules
        .iter()
        .find(|rule| rule["id"] == "bearer-token")
        .expect("a base rule");
    assert_eq!(bearer["scope"], "line");
    let text = sandbox.call(["rules"]).stdout;
    assert!(
        text.starts_with("bearer-token (line, built-in)\n"),
        "{text}"
    );
    assert!(
        text.ends_with(&format!("{} rules\n", rules.len())),
        "{text}"
    );

    // What the list shows is no secret to the rules themselves.
    let shown: Vec<&str> = rules
        .iter()
        .flat_map(|rule| [&rule["example"], &rule["counter_example"]])
        .map(|example| example.as_str().expect("a text"))
        .collect();
    let shown = shown.join("\n\n");
    let again = sandbox.call_with(["redact", "--mode", "span"], shown.as_bytes());
    assert_eq!(again.stdout, shown);
}

/// Returns a log of 2000 lines with one error in the middle.
fn log() -> String {
    let mut log: String = (1..=2000)
        .map(|n| format!("compiling unit {n}\n"))
        .collect();
    let at = log.find("compiling unit 1000\n").expect("there");
    log.insert_str(at, "error: no such function `refund`\n");
    log
}

#[test]
fn an_excerpt_is_what_a_record_keeps() {
    let sandbox = Sandbox::new();
    let path = sandbox.write("log", log());
    let mut record = sandbox.run(["cat".as_ref(), path.as_os_str()]);
    // When the last byte came is a fact of a run, not of a text.
    let numbers = record["stdout"].as_object_mut().expect("an object");
    numbers.remove("last_byte_ms");
    let called = sandbox.call(["excerpt".as_ref(), path.as_os_str()]);
    let kept = record["stdout_tail"].as_str().expect("a text");
    assert_eq!(called.stdout, format!("{kept}\n"));
    assert!(kept.contains("error: no such function"));
    assert_eq!(
        sandbox.call_with(["excerpt"], log().as_bytes()).stdout,
        called.stdout
    );

    let json = sandbox
        .call(["excerpt".as_ref(), "--json".as_ref(), path.as_os_str()])
        .json();
    assert_eq!(json["text"], kept);
    assert_eq!(json["numbers"], record["stdout"]);
    assert_eq!(json["redactions"], record["redactions"]);
}

#[test]
fn the_budget_of_an_excerpt_and_of_a_run_is_set_the_same_way() {
    let sandbox = Sandbox::new();
    let path = sandbox.write("log", log());
    let path = path.to_str().expect("UTF-8");
    for options in [
        &["--max-bytes", "600"][..],
        &["--head", "2", "--tail", "3"],
        &["--tail", "4"],
        &["--head", "0", "--tail", "0"],
    ] {
        let record = sandbox.run_with(options, ["cat", path]);
        let called = sandbox.call(["excerpt"].iter().chain(options).chain(&[path]));
        let kept = record["stdout_tail"].as_str().expect("a text");
        assert_eq!(called.stdout, format!("{kept}\n"), "{options:?}");
        match options {
            ["--max-bytes", _] => assert!(kept.len() <= 600 && kept.contains("refund"), "{kept}"),
            ["--head", "2", ..] => assert_eq!(
                kept,
                "compiling unit 1\ncompiling unit 2\n...truncated 1996 lines...\n\
                 compiling unit 1998\ncompiling unit 1999\ncompiling unit 2000"
            ),
            ["--head", "0", ..] => assert_eq!(kept, "...truncated 2001 lines..."),
            _ => assert!(kept.ends_with("compiling unit 2000"), "{kept}"),
        }
    }
}

#[test]
fn the_numbers_of_many_files_stand_in_one_table() {
    let sandbox = Sandbox::new();
    sandbox.write("a.log", log());
    sandbox.write("b.log", format!("x {}\ny\n", token()));
    let called = sandbox.call(["excerpt", "--stats", "a.log", "b.log"]);
    let rows: Vec<Vec<&str>> = called
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 4, "{}", called.stdout);
    assert_eq!(
        rows[0],
        [
            "lines", "bytes", "kept", "bytes", "clamped", "redacted", "file"
        ]
    );
    assert_eq!((rows[1][0], rows[1][6]), ("2001", "a.log"));
    assert_eq!((rows[2][0], rows[2][5], rows[2][6]), ("2", "1", "b.log"));
    assert_eq!(rows[3][0], "2003");

    let json = sandbox
        .call(["excerpt", "--stats", "--json", "a.log", "b.log"])
        .json();
    assert_eq!(json[1]["redacted"], 1);
    assert_eq!(json[0]["lines"], 2001);

    // One that cannot be read is told; the others are still shown.
    let partly = sandbox.call(["excerpt", "--stats", "a.log", "missing", "b.log"]);
    partly.says(2, &["missing"]);
    assert!(partly.stdout.contains("b.log"));
}

#[test]
fn a_packed_log_is_read_as_the_plain_one() {
    let sandbox = Sandbox::new();
    sandbox.write("log", log());
    let packed = std::process::Command::new("gzip")
        .args(["-k", "log"])
        .current_dir(sandbox.path())
        .status();
    assert!(packed.expect("gzip").success());
    let plain = sandbox.call(["excerpt", "log"]).stdout;
    assert_eq!(sandbox.call(["excerpt", "log.gz"]).stdout, plain);
}

#[test]
fn bad_values_get_one_line_and_status_2() {
    let sandbox = Sandbox::new();
    sandbox.write("log", "a\n");
    fs::create_dir(sandbox.path().join("folder")).expect("a folder");
    let cases: [(&[&str], &[&str]); 13] = [
        (
            &["--max-bytes", "-5", "log"],
            &["--max-bytes", "-5", "whole number"],
        ),
        (
            &["--max-bytes", "0", "log"],
            &["`max_bytes` is 0", "512 to 65536"],
        ),
        (&["--max-bytes", "511", "log"], &["511"]),
        (&["--max-bytes", "65537", "log"], &["65537"]),
        (&["--max-bytes", "5000000000", "log"], &["5000000000"]),
        (&["--max-bytes", "4k", "log"], &["4k"]),
        (&["--head", "-1", "log"], &["--head", "-1"]),
        (&["--head", "10001", "log"], &["10001", "0 to 10000"]),
        (&["--tail", "", "log"], &["--tail"]),
        (&["missing"], &["missing"]),
        (&["folder"], &["folder", "directory"]),
        (&["log", "log"], &["--stats"]),
        (
            &["--stats", "--max-bytes", "1", "log", "log"],
            &["`max_bytes` is 1"],
        ),
    ];
    for (arguments, words) in cases {
        let called = sandbox.call(["excerpt"].iter().chain(arguments));
        called.says(2, words);
        assert_eq!(called.stdout, "", "{arguments:?}");
    }
    for arguments in [["redact", "missing"], ["redact", "folder"]] {
        sandbox.call(arguments).says(2, &[arguments[1]]);
    }
    for (option, value) in [
        ("--max-bytes", "-5"),
        ("--max-bytes", "0"),
        ("--tail", "10001"),
    ] {
        sandbox
            .call(["run", option, value, "--", "touch", "started"])
            .says(125, &[value]);
    }
    assert!(!sandbox.path().join("started").exists());
    assert!(!sandbox.record_file().exists());
}

#[test]
fn a_file_that_may_not_be_read_is_named() {
    let sandbox = Sandbox::new();
    // A loop of links cannot be opened, whoever asks.
    std::os::unix::fs::symlink("loop", sandbox.path().join("loop")).expect("a link");
    for command in ["excerpt", "redact", "audit"] {
        sandbox.call([command, "loop"]).says(2, &["loop"]);
    }
}

#[test]
fn numbers_are_those_of_the_whole_text() {
    let sandbox = Sandbox::new();
    let bytes = b"a\rb\n\xff\xfe\nlast";
    let json: Value = sandbox.call_with(["excerpt", "--json"], bytes).json();
    assert_eq!(json["numbers"]["bytes"], bytes.len());
    assert_eq!(json["numbers"]["lines"], 3);
    assert_eq!(json["numbers"]["frames_collapsed"], 1);
    assert_eq!(json["numbers"]["invalid_bytes"], 2);
    assert_eq!(json["numbers"]["end_seen"], true);
}
