//! The signature of a failure: equal where the same failure came again.
//!
//! It is made from how the run ended and from the lines that explain it, without what differs
//! from run to run: times, durations, process ids, addresses, ports, temporary paths, ids and
//! hashes. It reads only what is redacted, and judges nothing.

mod same;

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::excerpt::{EXPLAINED, grade_of};

pub use same::normal;

/// The hexadecimal digits of a signature.
const DIGITS: usize = 16;
/// The lines that are kept behind one that explains a failure: often they hold the values.
const FOLLOWING: usize = 2;
/// The last lines that are taken where none explains anything.
const LAST: usize = 5;

/// Returns the signature of a failure: `ending` says in a few words how the run ended, and the
/// excerpts hold what it printed. Sixteen hexadecimal digits.
#[must_use]
pub fn of(ending: &str, stdout_excerpt: &str, stderr_excerpt: &str) -> String {
    let mut lines = explaining(stdout_excerpt);
    lines.extend(explaining(stderr_excerpt));
    if lines.is_empty() {
        lines = last(stderr_excerpt);
    }
    if lines.is_empty() {
        lines = last(stdout_excerpt);
    }
    let mut hasher = Sha256::new();
    hasher.update(normal(ending).as_bytes());
    // Tests that run side by side fail in any order.
    for line in lines {
        hasher.update(b"\n");
        hasher.update(line.as_bytes());
    }
    let digest = hasher.finalize();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.chars().take(DIGITS).collect()
}

/// The lines that explain a failure, each with those behind it; where there are none, those that
/// may have to do with it.
fn explaining(excerpt: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = excerpt.lines().filter(|line| !is_marker(line)).collect();
    let grades: Vec<u8> = lines.iter().map(|line| grade_of(line)).collect();
    let mut chosen = BTreeSet::new();
    let mut following = 0;
    for (line, grade) in lines.iter().zip(&grades) {
        if *grade >= EXPLAINED {
            following = FOLLOWING + 1;
        }
        if following > 0 {
            following -= 1;
            chosen.insert(normal(line));
        }
    }
    if chosen.is_empty() {
        let graded = lines.iter().zip(&grades).filter(|(_, grade)| **grade > 0);
        chosen.extend(graded.map(|(line, _)| normal(line)));
    }
    chosen.remove("");
    chosen
}

fn last(excerpt: &str) -> BTreeSet<String> {
    let lines = excerpt.lines().rev().filter(|line| !is_marker(line));
    let normal = lines.map(normal).filter(|line| !line.is_empty());
    // Collected, they would be sorted by another piece of code.
    let mut last = BTreeSet::new();
    last.extend(normal.take(LAST));
    last
}

/// A line that stands for others. How many there are says nothing about the failure.
fn is_marker(line: &str) -> bool {
    line.starts_with("...truncated ") && line.ends_with(" lines...")
}

#[cfg(test)]
mod tests;
