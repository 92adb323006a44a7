//! Reading positions and runs of bytes without ever panicking.
//!
//! It knows nothing of secrets.

use memchr::memchr2_iter;

/// Returns the byte at `at`, or 0 outside.
pub(super) fn at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// Returns the byte before `at`, or 0 at the start.
pub(super) fn before(bytes: &[u8], at: usize) -> u8 {
    at.checked_sub(1)
        .and_then(|at| bytes.get(at).copied())
        .unwrap_or(0)
}

/// Returns the bytes from `start` to `end`, or nothing where that is outside.
pub(super) fn part(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    bytes.get(start..end).unwrap_or_default()
}

/// Returns the text from `start` to `end`, or nothing where that is no text.
pub(super) fn text(line: &str, start: usize, end: usize) -> &str {
    line.get(start..end).unwrap_or_default()
}

/// Returns where the run of bytes that `belongs` accepts, beginning at `from`, ends.
pub(super) fn run_end(bytes: &[u8], from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let mut at = from;
    while bytes.get(at).is_some_and(|byte| belongs(*byte)) {
        at += 1;
    }
    at
}

/// Returns where the run of bytes that `belongs` accepts, ending before `until`, begins.
pub(super) fn run_start(bytes: &[u8], until: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let mut at = until.min(bytes.len());
    while at > 0 && belongs(before(bytes, at)) {
        at -= 1;
    }
    at
}

/// Says whether `bytes` holds `needle` at `at`, letters in either case.
pub(super) fn has_at(bytes: &[u8], at: usize, needle: &[u8]) -> bool {
    part(bytes, at, at.saturating_add(needle.len())).eq_ignore_ascii_case(needle)
        && !needle.is_empty()
}

/// Returns where `needle` is found at or after `from`, letters in either case.
pub(super) fn find_from(bytes: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let first = needle.first()?;
    let mut starts = memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), rest);
    starts
        .find(|start| has_at(rest, *start, needle))
        .map(|found| from + found)
}

/// Says whether this is a space or a tab.
pub(super) const fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Returns the first position at or after `from` that is no space and no tab.
pub(super) fn skip_blanks(bytes: &[u8], from: usize) -> usize {
    run_end(bytes, from, is_blank)
}

/// Says whether this is a letter, a digit, or one of `+ / = - _`.
pub(super) const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}
