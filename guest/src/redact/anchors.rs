//! The literal texts that a line must hold to be looked at, and what each of them leads to.
//!
//! Two automata: one over whole blocks with the rare texts, so that ordinary output is passed
//! on after a single look, and one over the lines that the first has chosen, with all of them.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::encoded::{Beginning, beginnings};
use super::tokens::TOKENS;
use super::words::{Action, COMMON, COMMON_PREFIXES, RARE};

/// How much of a token's prefix the first look searches for.
const PREFIX: usize = 8;

/// Where an anchor stands and what it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// What it leads to.
    pub(super) action: Action,
    /// Where it begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// Both automata.
#[derive(Debug)]
pub(super) struct Anchors {
    rare: Option<AhoCorasick>,
    all: Option<AhoCorasick>,
    actions: Vec<Action>,
    encoded: Vec<Beginning>,
}

impl Anchors {
    /// Builds the automata; `literals` come from the policy, `values` from the environment.
    pub(super) fn new(literals: &[String], values: &[Vec<u8>]) -> Self {
        let encoded = beginnings();
        let prefixes = TOKENS
            .iter()
            .enumerate()
            .flat_map(|(index, token)| token.prefixes.iter().map(move |prefix| (*prefix, index)));
        let mut rare: Vec<&[u8]> = RARE.iter().map(|(text, _)| text.as_bytes()).collect();
        let mut all: Vec<(&[u8], Action)> = RARE
            .iter()
            .chain(COMMON)
            .map(|(text, action)| (text.as_bytes(), *action))
            .collect();
        for (prefix, index) in prefixes {
            // What is shorter than a long run must be searched for, however common.
            let is_short = TOKENS
                .get(index)
                .is_some_and(|token| prefix.len() + token.shortest < LONG);
            if is_short || prefix.len() >= 4 && !COMMON_PREFIXES.contains(&prefix) {
                // The first look needs no more, and a smaller automaton is a faster one.
                rare.push(prefix.as_bytes().get(..PREFIX).unwrap_or(prefix.as_bytes()));
            }
            all.push((prefix.as_bytes(), Action::Token(index)));
        }
        for (index, literal) in literals.iter().enumerate() {
            rare.push(literal.as_bytes());
            all.push((literal.as_bytes(), Action::User(index)));
        }
        for (index, beginning) in encoded.iter().enumerate() {
            all.push((beginning.text.as_bytes(), Action::Encoded(index)));
        }
        rare.extend(values.iter().map(Vec::as_slice));
        let actions = all.iter().map(|(_, action)| *action).collect();
        Self {
            rare: build(&rare, AhoCorasickKind::DFA),
            all: build(
                &all.iter().map(|(text, _)| *text).collect::<Vec<_>>(),
                AhoCorasickKind::ContiguousNFA,
            ),
            actions,
            encoded,
        }
    }

    /// Returns where the first rare anchor at or after `from` ends.
    pub(super) fn first_rare(&self, block: &[u8], from: usize) -> Option<usize> {
        let automaton = self.rare.as_ref()?;
        automaton
            .find(Input::new(block).range(from..))
            .map(|found| found.end())
    }

    /// Calls `found` for every anchor of a line.
    pub(super) fn each(&self, line: &str, mut found: impl FnMut(Found)) {
        let Some(automaton) = &self.all else {
            return;
        };
        for hit in automaton.find_overlapping_iter(line) {
            if let Some(action) = self.actions.get(hit.pattern().as_usize()) {
                found(Found {
                    action: *action,
                    start: hit.start(),
                    end: hit.end(),
                });
            }
        }
    }

    /// Returns the beginning of base64 at this position.
    pub(super) fn beginning(&self, index: usize) -> Option<&Beginning> {
        self.encoded.get(index)
    }
}

fn build(patterns: &[&[u8]], kind: AhoCorasickKind) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(kind))
        .build(patterns)
        .ok()
}

/// How many characters apart the samples are of the search for long runs.
const STRIDE: usize = 11;
/// Shortest run that is found: it holds a sample with twelve more characters behind it.
const LONG: usize = 2 * STRIDE + 1;

/// Returns where a run of 23 or more letters, digits, `_` and `-`, among them a digit, begins
/// at or after `from`.
pub(super) fn first_long_run(block: &[u8], from: usize) -> Option<usize> {
    let mut position = from + STRIDE - 1;
    while let Some(sample) = block.get(position..position + STRIDE + 2) {
        // Words end within a few characters, so most samples cost three looks.
        let is_long = [0, 4, 8, 12, 2, 6, 10]
            .iter()
            .all(|offset| sample.get(*offset).is_some_and(|byte| is_run(*byte)));
        if !is_long {
            position += STRIDE;
            continue;
        }
        let start = super::bytes::run_start(block, position, is_run).max(from);
        let end = super::bytes::run_end(block, position, is_run);
        let run = super::bytes::part(block, start, end);
        if run.len() >= LONG && run.iter().any(u8::is_ascii_digit) {
            return Some(start);
        }
        // The next run begins behind this one; its first sample must not be later than
        // `STRIDE` characters into it.
        position = end.max(position + 1) + STRIDE - 1;
    }
    None
}

const fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_is_found_wherever_it_begins() {
        for offset in 0..30 {
            let block = format!("{} {}1\n", "x y".repeat(offset), "ab".repeat(11));
            let found = first_long_run(block.as_bytes(), 0);
            assert_eq!(found, Some(offset * 3 + 1), "{offset}");
        }
        assert_eq!(
            first_long_run(b"an ordinary line without any of them 1\n", 0),
            None
        );
    }
}
