//! Counts how often the same failure came in a row.
//!
//! A row is what one chain or one command did, one attempt after the other. It judges nothing.

use std::collections::HashMap;

use super::fingerprint::Same;

/// The failures of all attempts so far.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// For every attempt in store order: the signature of its failure, and its place in the row.
    attempts: Vec<Option<(String, u32)>>,
    /// For every exactly known command: its newest attempt.
    newest: HashMap<Same, usize>,
}

impl Repeats {
    /// Takes the next attempt, the one at `place`, and returns how often its failure has come in a
    /// row: 0 for a success, and for a failure without a signature.
    pub(super) fn count(
        &mut self,
        place: usize,
        parent: Option<usize>,
        same: Option<Same>,
        signature: Option<&str>,
    ) -> u32 {
        let before = same.and_then(|same| self.newest.insert(same, place));
        let before = before.max(parent);
        let before = before.and_then(|before| self.attempts.get(before));
        let row = signature.map(|signature| {
            let again = before
                .and_then(Option::as_ref)
                .filter(|(known, _)| known == signature);
            let times = again.map_or(1, |(_, times)| times.saturating_add(1));
            (signature.to_owned(), times)
        });
        let times = row.as_ref().map_or(0, |(_, times)| *times);
        self.attempts.push(row);
        times
    }
}
