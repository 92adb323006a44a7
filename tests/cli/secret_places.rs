//! That no piece of a secret is written where options, policy, files and reports repeat it.
//!
//! What every command says of arguments and output is in `secrets`.

use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use crate::secrets::{LETTERS, Seed, Written, inputs, opaque, seeds};
use crate::terminal::Terminal;

fn environment(written: &mut Written, seeds: &[Seed], output: &str) {
    let mut settings = Vec::new();
    for (number, seed) in seeds.iter().enumerate() {
        settings.extend([
            "--env".to_owned(),
            format!("SETTING_{number}={}", seed.text),
        ]);
        // A variable whose name says it, with a value of no shape.
        settings.extend([
            "--env".to_owned(),
            format!("APP_{number}_TOKEN={}", seed.secret),
        ]);
    }
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let script = "env; env >&2; echo \"$APP_3_TOKEN and $APP_7_TOKEN\"; cat; exit 4";
    for form in ["--json", "--text"] {
        let run = [&["run", form][..], &settings, &["--", "sh", "-c", script]].concat();
        written.call(&run);
    }
    for seed in seeds {
        // What is no `NAME=VALUE` at all.
        written.call(&["run", "--env", &seed.text, "--", "true"]);
    }
    let mut run = written.command(&["run", "--stdin", "--", "cat"]);
    run.stdin(fs::File::open(output).expect("opened"));
    written.keep("run --stdin", run);
}

fn expectations(written: &mut Written, seeds: &[Seed], output: &str) {
    for (number, seed) in seeds.iter().enumerate() {
        // As it is, and with every punctuation escaped.
        let escaped: String = seed
            .text
            .chars()
            .fold(String::new(), |mut escaped, letter| {
                if letter.is_ascii_punctuation() {
                    escaped.push('\\');
                }
                escaped.push(letter);
                escaped
            });
        let pattern = if number % 2 == 0 {
            seed.text.as_str()
        } else {
            escaped.as_str()
        };
        let absent = format!("{pattern}-absent");
        let broken = format!("({pattern}");
        // What is expected, what is not and was seen, what was missed.
        written.call(&[
            "run",
            "--expect-line",
            pattern,
            "--expect-no-line",
            pattern,
            "--",
            "cat",
            output,
        ]);
        let counted = [
            "run",
            "--text",
            "--expect-line",
            &absent,
            "--expect-min-count",
            &format!("N {}", seed.text),
            "3",
            "--",
            "cat",
            output,
        ];
        written.call(&counted);
        let wrong = [
            "--expect-line",
            "--expect-no-line",
            "--expect-exit",
            "--expect-within",
            "--inputs",
        ];
        written.call(&["run", wrong[number % wrong.len()], &broken, "--", "true"]);
    }
    written.call(&["gate"]);
    written.call(&["gate", "--json"]);
}

fn terminals(written: &mut Written, output: &str) {
    for option in ["--tee", "--json", "--text"] {
        // Slow enough for the live view to be drawn several times.
        let script = "cat \"$0\"; sleep 0.3; tail -n 9 \"$0\" >&2; sleep 0.3; tail -n 8 \"$0\" | head -n 2; sleep 0.3";
        let run = written.command(&["run", option, "--", "sh", "-c", script, output]);
        let (_, seen) = Terminal::start(run).end();
        assert!(
            option != "--tee" || seen.contains("a line before"),
            "{seen}"
        );
        written.saw(&format!("a terminal with {option}"), &seen);
    }
}

fn kept_output(written: &mut Written, seeds: &[Seed], output: &str) {
    let script = "cat \"$0\"; cat \"$0\" >&2; exit 5";
    let kept = written.call(&["run", "--keep-output", "--", "sh", "-c", script, output]);
    let record: serde_json::Value = serde_json::from_str(&kept).expect("a record");
    let id = record["command_id"].as_str().expect("an id").to_owned();
    written.call(&["show", &id, "--full"]);
    written.call(&["show", &id, "--full", "--stream", "stderr"]);
    written.call(&["show", &id, "--grep", "with"]);
    written.call(&["replay", &id]);
    written.call(&["replay", &id, "--json", "--with", output, output]);
    written.call(&["replay", &id, "--with", output, "/dev/null"]);
    written.call(&["chain", &id]);
    for (number, seed) in seeds.iter().enumerate() {
        let missing = format!("/nowhere/{}", seed.text);
        let commands = [
            &["show", &id, "--grep", &seed.text][..],
            &["show", &id, "--lines", &seed.text],
            &["replay", &id, "--with", &missing],
            &["replay", &seed.text],
            &["chain", &seed.text],
            &["chain", "--from", &missing],
            &["component", "--component", &missing],
            &["component", "extract", &missing],
            &["policy", "--check", &missing],
            &["gate", "--since", &seed.text],
        ];
        for command in commands.iter().skip(number % 2).step_by(2) {
            written.call(command);
        }
    }
}

/// Runs in a folder whose files have telling names, which change.
fn named_inputs(written: &mut Written, folder: &Path) {
    let records = written.sandbox.record_file();
    let folder = folder.join("named");
    let folder = folder.to_str().expect("UTF-8");
    let records = records.to_str().expect("UTF-8");
    let change = "find . -type f -exec sh -c 'echo more >> \"$1\"' sh {} \\; ; exit 0";
    for command in [&["true"][..], &["sh", "-c", change], &["find", "."]] {
        let run = [
            "run",
            "--record-file",
            records,
            "--cwd",
            folder,
            "--inputs",
            "**",
            "--",
        ];
        written.call(&[&run, command].concat());
        let mut gate = written.command(&["gate", "--record-file", records]);
        gate.current_dir(folder);
        written.keep("gate", gate);
    }
    let changed = ["sh", "-c", &format!("cd '{folder}' && {change}")].map(str::to_owned);
    assert!(
        std::process::Command::new(&changed[0])
            .args(&changed[1..])
            .status()
            .expect("run")
            .success()
    );
    for form in ["text", "json", "junit", "github"] {
        written.call(&["gate", "--format", form]);
    }
}

/// Names and commands of requirements, and variables in a file, in a policy; it is taken away again.
fn policies(written: &mut Written, seeds: &[Seed], output: &str, hidden: &str) {
    let requirements: Vec<_> = seeds
        .iter()
        .map(|seed| {
            let expect = json!([{ "kind": "line", "expected": seed.text }]);
            json!({ "name": seed.text, "command": ["cat", seed.text, "**"], "expect": expect })
        })
        .collect();
    let policy = json!({
        "redaction": { "env_files": [".env"] },
        "gate": { "requirements": requirements },
    });
    let policy_file = written.sandbox.write("feedback.json", policy.to_string());
    let variables = written
        .sandbox
        .write(".env", format!("PLAIN='{hidden}'\nOTHER=1\n"));
    // Nothing but the file says that this is a secret.
    written.call(&["run", "--", "echo", hidden, "and", hidden]);
    for seed in seeds {
        written.call(&["run", "--", "cat", &seed.text, output]);
    }
    for form in ["text", "json", "junit"] {
        written.call(&["gate", "--format", form]);
    }
    let mut gate = written.command(&["gate", "--format", "github"]);
    gate.env(
        "GITHUB_STEP_SUMMARY",
        written.sandbox.path().join("summary.md"),
    );
    written.keep("gate --format github", gate);
    for command in [
        &["policy"][..],
        &["policy", "--json"],
        &["policy", "--check"],
        &["policy", "--schema"],
        &["component"],
        &["component", "--json"],
        &["chain"],
        &["chain", "--json"],
        &["show", "--text"],
        &["verify"],
        &["export", "exported.tar.gz"],
    ] {
        written.call(command);
    }
    for seed in seeds {
        for faulty in [
            json!({ &seed.text: 1 }),
            json!({ "excerpt": { "max_bytes": seed.text } }),
            json!({ "gate": { "requirements": [{ "name": seed.text, "command": [] }] } }),
        ] {
            fs::write(&policy_file, faulty.to_string()).expect("written");
            written.call(&["policy", "--check"]);
        }
        written.call(&["run", "--", "true"]);
    }
    fs::remove_file(policy_file).expect("removed");
    fs::remove_file(variables).expect("removed");
}

#[test]
fn no_place_that_options_and_files_reach_holds_a_piece_of_any_of_thirty_secrets() {
    let seeds = seeds();
    let mut written = Written::new(&seeds);
    let folder = TempDir::new().expect("a folder");
    let (output, _) = inputs(&folder, &seeds);
    let hidden = opaque(31, 28, LETTERS);
    environment(&mut written, &seeds, &output);
    expectations(&mut written, &seeds, &output);
    terminals(&mut written, &output);
    kept_output(&mut written, &seeds, &output);
    named_inputs(&mut written, folder.path());
    policies(&mut written, &seeds, &output, &hidden);
    let secrets = seeds.iter().map(|seed| seed.secret.as_str());
    written.holds_no_piece_of(secrets.chain([hidden.as_str()]));
    written.is_more_than(400, 500_000, 150);
}
