//! Scores the excerpts of real command outputs: do the lines that explain the failure survive?

use std::path::{Path, PathBuf};
use std::rc::Rc;

use feedback_guest::capture::{Capture, ExcerptPolicy, Source};
use feedback_guest::redact::{RedactionPolicy, Rules};
use serde_json::Value;

fn excerpt(log: &[u8], max_bytes: usize) -> String {
    let rules = Rc::new(Rules::compile(&RedactionPolicy::default(), &[]).unwrap());
    let policy = ExcerptPolicy {
        max_bytes,
        ..ExcerptPolicy::default()
    };
    let mut capture = Capture::new(rules, policy);
    capture.push(Source::Stdout, log);
    capture.end(Source::Stdout);
    capture.finish().stdout.text
}

/// The first 160 characters, escapes removed and white space collapsed.
fn essence(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after
            .split_once(|c: char| c.is_ascii_alphabetic())
            .map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    let words: Vec<&str> = plain.split_whitespace().collect();
    words.join(" ").chars().take(160).collect()
}

fn collections() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    [
        root.join("tests/logs"),
        root.join("../../shared/cases/logs"),
        root.join("../../../shared/cases/logs"),
    ]
    .into_iter()
    .filter(|folder| folder.join("index.jsonl").is_file())
    .collect()
}

fn score(folder: &Path, max_bytes: usize) -> (usize, usize, usize) {
    let index = std::fs::read_to_string(folder.join("index.jsonl")).unwrap();
    let (mut cases, mut all, mut any) = (0, 0, 0);
    for entry in index.lines() {
        let entry: Value = serde_json::from_str(entry).unwrap();
        let log = std::fs::read(folder.join(entry["file"].as_str().unwrap())).unwrap();
        let text = excerpt(&log, max_bytes);
        assert!(text.len() <= max_bytes, "{} of {max_bytes}", text.len());
        let kept: Vec<String> = text.lines().map(essence).collect();
        let survives = |key: &&Value| {
            let key = essence(key["text"].as_str().unwrap());
            kept.iter().any(|line| line.contains(&key))
        };
        let keys = entry["key"].as_array().unwrap();
        let survived = keys.iter().filter(survives).count();
        cases += 1;
        all += usize::from(survived == keys.len());
        any += usize::from(survived > 0);
        if survived < keys.len() {
            println!(
                "{}: {survived} of {} at {max_bytes}",
                entry["id"],
                keys.len()
            );
            for key in keys.iter().filter(|key| !survives(key)) {
                println!("    {} {}", key["line_no"], key["text"]);
            }
        }
        if let Ok(folder) = std::env::var("EXCERPTS") {
            let name = format!("{folder}/{}.{max_bytes}", entry["id"].as_str().unwrap());
            std::fs::write(name, text).unwrap();
        }
    }
    (cases, all, any)
}

#[test]
fn the_lines_that_explain_a_failure_survive() {
    for folder in collections() {
        for b in [768, 1024, 1536, 2048, 3072, 4096, 8192] {
            let (cases, all, any) = score(&folder, b);
            println!("{b} KiB: {all} and {any} of {cases}");
        }
    }
}
