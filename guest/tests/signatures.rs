//! Signatures of real logs: the same run at another time fails the same, another failure does not.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use feedback_guest::capture::{Capture, ExcerptPolicy, Source};
use feedback_guest::redact::{RedactionPolicy, Rules};
use feedback_guest::signature;
use regex_lite::{Captures, Regex};

/// The collection in this repository, and a larger one beside it where there is one.
fn logs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = root
        .ancestors()
        .skip(2)
        .map(|folder| folder.join("shared/cases/logs"));
    let folders = std::iter::once(root.join("tests/logs")).chain(beside);
    let files = folders.filter_map(|folder| fs::read_dir(folder).ok());
    let mut logs: Vec<PathBuf> = files
        .flat_map(|files| files.map(|file| file.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    logs.sort();
    logs
}

fn signature(rules: &Rc<Rules>, log: &str) -> String {
    let mut capture = Capture::new(Rc::clone(rules), ExcerptPolicy::default());
    capture.push(Source::Stdout, log.as_bytes());
    capture.end(Source::Stdout);
    signature::of("exited 1", &capture.finish().stdout.text, "")
}

/// Turns digits and hexadecimal letters into others of their kind.
fn turned(text: &str) -> String {
    let turn = |c: char| match c {
        '1'..='8' => char::from_digit(c.to_digit(10).unwrap() + 1, 10).unwrap(),
        'a'..='e' => char::from(u8::try_from(c).unwrap() + 1),
        other => other,
    };
    text.chars().map(turn).collect()
}

/// The log of the same run at another time, by another process, at other addresses.
fn again(log: &str) -> String {
    let varying = Regex::new(
        r"\b[0-9]{2}:[0-5][0-8]:[0-5][0-8]\b|\b0x[0-9a-f]{6,16}\b|\b[0-9]+\.[0-9]+s\b|\b[0-9]{1,5}ms\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9]+\.[0-9]+ s\b",
    )
    .unwrap();
    let turn = |found: &Captures<'_>| turned(found.get(0).unwrap().as_str());
    varying.replace_all(log, turn).into_owned()
}

#[test]
fn the_same_run_at_another_time_has_the_same_signature() {
    let rules = Rc::new(Rules::compile(&RedactionPolicy::default(), &[]).unwrap());
    let mut changed = 0;
    for path in logs() {
        let log = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        let other = again(&log);
        changed += usize::from(log != other);
        let name = path.display();
        assert_eq!(signature(&rules, &log), signature(&rules, &other), "{name}");
    }
    assert!(changed >= 3, "{changed} logs hold what varies");
}

#[test]
fn no_two_logs_of_different_failures_have_the_same_signature() {
    let rules = Rc::new(Rules::compile(&RedactionPolicy::default(), &[]).unwrap());
    let mut seen: Vec<(String, String)> = Vec::new();
    for path in logs() {
        let log = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        let signature = signature(&rules, &log);
        for (other, text) in &seen {
            assert!(*other != signature || *text == log, "{}", path.display());
        }
        seen.push((signature, log));
    }
    assert!(seen.len() > 5, "{}", seen.len());
}
