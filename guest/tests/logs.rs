//! Scores the excerpts of real command outputs: do the lines that explain the failure survive?

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

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

/// The collection in this repository, and a larger one beside it where there is one.
fn collections() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = root
        .ancestors()
        .skip(2)
        .map(|folder| folder.join("shared/cases/logs"));
    std::iter::once(root.join("tests/logs"))
        .chain(beside)
        .filter(|folder| folder.join("index.jsonl").is_file())
        .collect()
}

/// How many of the cases keep all of their key lines, and how many keep any.
struct Score {
    cases: usize,
    all: usize,
    any: usize,
    lost: String,
}

fn score(folder: &Path, max_bytes: usize) -> Score {
    let index = std::fs::read_to_string(folder.join("index.jsonl")).unwrap();
    let mut score = Score {
        cases: 0,
        all: 0,
        any: 0,
        lost: String::new(),
    };
    for entry in index.lines() {
        let entry: Value = serde_json::from_str(entry).unwrap();
        let log = std::fs::read(folder.join(entry["file"].as_str().unwrap())).unwrap();
        let text = excerpt(&log, max_bytes);
        assert!(text.len() <= max_bytes, "{} of {max_bytes}", text.len());
        let kept: Vec<String> = text.lines().map(essence).collect();
        let keys = entry["key"].as_array().unwrap();
        let lost: Vec<&Value> = keys
            .iter()
            .filter(|key| {
                let key = essence(key["text"].as_str().unwrap());
                !kept.iter().any(|line| line.contains(&key))
            })
            .collect();
        score.cases += 1;
        score.all += usize::from(lost.is_empty());
        score.any += usize::from(lost.len() < keys.len());
        for key in lost {
            score.lost += &format!("\n{} loses {key}", entry["id"]);
        }
    }
    score
}

#[test]
fn the_lines_that_explain_a_failure_survive() {
    assert!(!collections().is_empty());
    for folder in collections() {
        // Bytes of budget, then the least share of cases, in percent, that keep all and any.
        for (max_bytes, all, any) in [
            (1024, 50, 80),
            (2048, 80, 92),
            (4096, 96, 100),
            (8192, 100, 100),
        ] {
            let score = score(&folder, max_bytes);
            println!(
                "{max_bytes}: all {}, any {} of {}",
                score.all, score.any, score.cases
            );
            assert!(score.all * 100 >= score.cases * all, "{}", score.lost);
            assert!(score.any * 100 >= score.cases * any, "{}", score.lost);
        }
    }
}
