//! Makes the small texts of a record fit to be kept: redacts, then shortens, and counts both.
//!
//! It does not see the captured streams; those are redacted and cut by the capture.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::redact::{Findings, Rules, redact};

/// The longest one-line text that is kept, in characters.
const LINE_CHARS: usize = 1_000;

/// What was redacted in one record.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Redactions {
    count: u64,
    #[serde(default)]
    rules: BTreeMap<String, u64>,
}

impl Redactions {
    /// Adds what was found in one text.
    pub(super) fn add(&mut self, findings: &Findings) {
        for (rule, count) in &findings.per_rule {
            self.count = self.count.saturating_add(*count);
            let total = self.rules.entry((*rule).to_owned()).or_default();
            *total = total.saturating_add(*count);
        }
    }
}

/// For each key of the record: how much of the redacted value was left out, in bytes of text
/// or in entries of a list.
pub(super) type Clamped = BTreeMap<String, u64>;

/// Redacts and shortens the texts of one record.
pub(super) struct Scrubber<'r> {
    rules: &'r Rc<Rules>,
    /// What was redacted so far.
    pub(super) redactions: Redactions,
    /// What was left out so far.
    pub(super) clamped: Clamped,
}

impl<'r> Scrubber<'r> {
    /// Goes on counting where the intent stopped.
    pub(super) fn new(rules: &'r Rc<Rules>, redactions: Redactions, clamped: Clamped) -> Self {
        Self {
            rules,
            redactions,
            clamped,
        }
    }

    /// Redacts a text and says whether anything was redacted in it.
    pub(super) fn redacted(&mut self, text: &str) -> (String, bool) {
        let (clean, findings) = redact(self.rules, text);
        self.redactions.add(&findings);
        let changed = clean != text || !findings.per_rule.is_empty();
        (clean, changed)
    }

    /// Redacts the arguments of a command and says whether anything was redacted in them.
    pub(super) fn redacted_args(&mut self, args: &[String]) -> (Vec<String>, bool) {
        let clean: Vec<String> = args.iter().map(|arg| self.redacted(arg).0).collect();
        let changed = clean != args;
        (clean, changed)
    }

    /// Redacts a text and makes it one line of at most 1,000 characters.
    pub(super) fn line(&mut self, key: &str, text: &str) -> String {
        let (first, _) = self.redacted(text);
        let folded = fold(&first);
        // Joining lines can put a keyword beside its value.
        let clean = if folded == first {
            first
        } else {
            self.redacted(&folded).0
        };
        let kept: String = clean.chars().take(LINE_CHARS).collect();
        self.shortened(key, &clean, &kept)
    }

    /// Redacts a name of at most `limit` characters, for instance of a process.
    pub(super) fn name(&mut self, text: &str, limit: usize) -> String {
        let (clean, _) = self.redacted(&fold(text));
        clean.chars().take(limit).collect()
    }

    /// Shortens an already redacted text to `limit` bytes of JSON.
    pub(super) fn clamp(&mut self, key: &str, clean: &str, limit: usize) -> String {
        self.shortened(key, clean, prefix(clean, limit))
    }

    /// Counts what was left out under `key`.
    pub(super) fn left_out(&mut self, key: &str, count: usize) {
        if count > 0 {
            let total = self.clamped.entry(key.to_owned()).or_default();
            *total = total.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        }
    }

    fn shortened(&mut self, key: &str, clean: &str, kept: &str) -> String {
        let omitted = clean.len().saturating_sub(kept.len());
        self.left_out(key, omitted);
        marked(kept, omitted)
    }
}

/// The kept text, with a marker where bytes were left out.
fn marked(kept: &str, omitted: usize) -> String {
    if omitted == 0 {
        kept.to_owned()
    } else {
        format!("{kept}...truncated {omitted} bytes...")
    }
}

/// Folds what ends lines, and other control characters, into single spaces.
fn fold(text: &str) -> String {
    let ends = |c: char| c.is_control() || c == '\u{2028}' || c == '\u{2029}';
    if !text.contains(ends) {
        return text.to_owned();
    }
    let parts: Vec<&str> = text.split(ends).filter(|part| !part.is_empty()).collect();
    parts.join(" ").trim().to_owned()
}

/// The longest start of a text that takes at most `limit` bytes inside a JSON text.
pub(super) fn prefix(text: &str, limit: usize) -> &str {
    let mut cost = 0;
    for (at, c) in text.char_indices() {
        cost += json_cost(c);
        if cost > limit {
            return text.split_at_checked(at).map_or("", |(kept, _)| kept);
        }
    }
    text
}

/// The bytes that a text takes inside a JSON text.
pub(super) fn json_len(text: &str) -> usize {
    text.chars().map(json_cost).sum()
}

fn json_cost(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_cost_is_what_json_takes() {
        let text: String = (0..0x300).filter_map(char::from_u32).collect();
        let json = serde_json::to_string(&text).unwrap();
        assert_eq!(json_len(&text), json.len() - 2);
    }

    #[test]
    fn a_prefix_never_splits_a_character_and_never_exceeds_its_limit() {
        let text = "aé\"€\u{1}😀z";
        for limit in 0..30 {
            let kept = prefix(text, limit);
            assert!(text.starts_with(kept));
            assert!(json_len(kept) <= limit);
            let next = text.chars().nth(kept.chars().count());
            assert!(next.is_none_or(|c| json_len(kept) + json_cost(c) > limit));
        }
    }

    #[test]
    fn folding_leaves_one_line() {
        assert_eq!(fold("a\r\nb\tc\u{2028}d\n"), "a b c d");
        assert_eq!(fold(" as it was "), " as it was ");
    }
}
