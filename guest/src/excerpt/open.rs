//! The line that has not ended, in bounded memory.
//!
//! It keeps the beginning and counts the rest.

use super::grade::LOOKED_AT;
use super::line::prefix;

/// The line that has not ended.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// The first bytes, as many as may be looked at or shown.
    pub(super) text: String,
    /// The length so far.
    pub(super) bytes: u64,
}

impl Open {
    /// Adds the next piece of the line.
    pub(super) fn extend(&mut self, text: &str, budget: usize) {
        // Enough to look at, and enough to go through whole.
        let room = (budget.max(LOOKED_AT) + 8).saturating_sub(self.text.len());
        // Once something was left out, nothing that follows is the continuation.
        if u64::try_from(self.text.len()).is_ok_and(|length| length == self.bytes) {
            self.text.push_str(prefix(text, room));
        }
        self.bytes += u64::try_from(text.len()).unwrap_or(u64::MAX);
    }

    /// Starts afresh, with the room that it has.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.bytes = 0;
    }
}
