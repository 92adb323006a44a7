//! What looks like a secret by its characters alone, or stands where one does.
//!
//! It is a hint for whoever reviews the rules; nothing is redacted for it.

use std::collections::BinaryHeap;

use super::super::Rules;
use super::super::bytes::{part, run_end};
use super::super::scan::{Mark, each_reading};
use super::super::view::{is_dressed, undressed};
use super::words;

/// Shortest text that is suspected.
const SHORTEST: usize = 24;
/// Longest text that is suspected: longer ones are data.
const LONGEST: usize = 512;
/// Least entropy, in bits per character.
const ENTROPY: f64 = 3.8;

/// Calls `found` with the start and the end of every suspect that no mark touches, in order.
pub(super) fn each(rules: &Rules, line: &str, marks: &[Mark], mut found: impl FnMut(usize, usize)) {
    let dressed = is_dressed(line).then(|| undressed(line));
    let mut suspects = BinaryHeap::new();
    let mut is_first = true;
    each_reading(line, dressed.as_ref(), |text, seams, original| {
        if !seams.is_empty() {
            return;
        }
        // Other readings make runs of what are none.
        if std::mem::take(&mut is_first) {
            runs(text, |start, end| suspects.push(original(start, end)));
        }
        words::each(rules, text, |start, end| {
            suspects.push(original(start, end));
        });
    });
    let mut reached = 0;
    for (start, end) in suspects.into_sorted_vec() {
        let is_covered = marks
            .iter()
            .any(|mark| mark.hit.start < end && mark.hit.end > start);
        if !is_covered && start >= reached {
            reached = end;
            found(start, end);
        }
    }
}

fn runs(line: &str, mut found: impl FnMut(usize, usize)) {
    let bytes = line.as_bytes();
    let mut position = 0;
    while position < bytes.len() {
        let end = run_end(bytes, position, is_opaque_character);
        let run = part(bytes, position, end);
        if run.len() >= SHORTEST && run.len() <= LONGEST && is_opaque(run) {
            found(position, end);
        }
        position = end + 1;
    }
}

const fn is_opaque_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_' | b'-' | b'=')
}

/// Says whether a run looks random: digits among letters of both cases, in no order that a name
/// would have, and no digest that says what it is.
fn is_opaque(run: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| run.iter().any(is);
    let is_digest = [b"sha1-".as_slice(), b"sha256-", b"sha384-", b"sha512-"]
        .iter()
        .any(|name| run.starts_with(name));
    !is_digest
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && changes(run) * 4 >= run.len()
        && digit_groups(run) >= 3
        && entropy(run) >= ENTROPY
}

/// Counts how often a letter or digit is followed by one of another kind. Across a dash or an
/// underscore that says nothing: names change there.
fn changes(run: &[u8]) -> usize {
    let kind = |byte: u8| {
        (
            byte.is_ascii_digit(),
            byte.is_ascii_lowercase(),
            byte.is_ascii_uppercase(),
        )
    };
    run.iter()
        .zip(run.iter().skip(1))
        .filter(|(left, right)| left.is_ascii_alphanumeric() && right.is_ascii_alphanumeric())
        .filter(|(left, right)| kind(**left) != kind(**right))
        .count()
}

fn digit_groups(run: &[u8]) -> usize {
    run.split(|byte| !byte.is_ascii_digit())
        .filter(|group| !group.is_empty())
        .count()
}

/// Returns the entropy of a run, in bits per character.
fn entropy(run: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in run {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(run.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum()
}
