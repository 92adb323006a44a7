//! Makes the small texts of a record fit to be kept: redacts, then shortens, and counts both.
//!
//! It does not see the captured streams; those are redacted and cut by the capture.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::redact::{Findings, Ordinals, Rules, redact, redact_args, redact_on};
use crate::text::{PlainText, SEAM};

/// The longest one-line text that is kept, in characters.
const LINE_CHARS: usize = 1_000;

/// The longest name of a project, in characters. Two that begin alike are taken for one.
pub(super) const PROJECT_CHARS: usize = 1_000;

/// The most names of variables that are told, and their longest.
const NAMES_MAX: usize = 64;
const NAME_CHARS: usize = 128;

/// The most lines that are told one by one.
const LINES_MAX: usize = 64;

/// What was redacted in one record.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Redactions {
    count: u64,
    #[serde(default)]
    rules: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lines: Vec<FoundLine>,
    #[serde(default, skip_serializing_if = "is_zero")]
    lines_omitted: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    not_covered: Vec<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    not_covered_omitted: u64,
}

/// Findings of one rule on one line of one value.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
struct FoundLine {
    #[serde(rename = "in")]
    place: String,
    line: u64,
    rule: String,
    count: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Redactions {
    /// Names the variables that name a secret whose value is too short or too plain to be hidden.
    pub(super) fn name_uncovered(&mut self, rules: &Rc<Rules>) {
        let names = rules.not_covered();
        let shown = names.iter().take(NAMES_MAX);
        self.not_covered = shown
            .map(|name| {
                let (clean, _) = redact(rules, &fold(name));
                clean.chars().take(NAME_CHARS).collect()
            })
            .collect();
        let omitted = names.len().saturating_sub(NAMES_MAX);
        self.not_covered_omitted = u64::try_from(omitted).unwrap_or(u64::MAX);
    }

    /// Adds what was found in the value of one key.
    pub(super) fn add(&mut self, place: &str, findings: &Findings) {
        for (rule, count) in &findings.per_rule {
            self.count = self.count.saturating_add(*count);
            let total = self.rules.entry(rule.clone()).or_default();
            *total = total.saturating_add(*count);
        }
        let room = LINES_MAX.saturating_sub(self.lines.len());
        let told = findings.lines.iter().take(room).map(|found| FoundLine {
            place: place.to_owned(),
            line: found.line,
            rule: found.rule.clone(),
            count: found.count,
        });
        self.lines.extend(told);
        let untold = u64::try_from(findings.lines.len().saturating_sub(room)).unwrap_or(u64::MAX);
        let omitted = findings.lines_omitted.saturating_add(untold);
        self.lines_omitted = self.lines_omitted.saturating_add(omitted);
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

    /// Redacts the value of a key and says whether anything was redacted in it.
    pub(super) fn redacted(&mut self, key: &str, text: &str) -> (String, bool) {
        self.redacted_on(key, text, &mut Ordinals::default())
    }

    fn redacted_on(&mut self, key: &str, text: &str, ordinals: &mut Ordinals) -> (String, bool) {
        let (clean, findings) = redact_on(self.rules, text, ordinals);
        self.redactions.add(key, &findings);
        let changed = clean != text || !findings.per_rule.is_empty();
        (clean, changed)
    }

    /// Redacts the arguments of a command and says whether anything was redacted in them.
    pub(super) fn redacted_args(&mut self, args: &[String]) -> (Vec<String>, bool) {
        let (clean, findings) = redact_args(self.rules, args);
        self.redactions.add("command", &findings);
        let changed = clean != args || !findings.per_rule.is_empty();
        (clean, changed)
    }

    /// Redacts a text and makes it one line of at most 1,000 characters.
    pub(super) fn line(&mut self, key: &str, text: &str) -> String {
        let clean = self.redacted_line(key, text);
        let kept: String = clean.chars().take(LINE_CHARS).collect();
        self.shortened(key, &clean, &kept)
    }

    /// Redacts a name of at most `limit` characters, for instance of a process.
    pub(super) fn name(&mut self, key: &str, text: &str, limit: usize) -> String {
        let clean = self.redacted_line(key, text);
        clean.chars().take(limit).collect()
    }

    /// Redacts a text and makes it one line.
    fn redacted_line(&mut self, key: &str, text: &str) -> String {
        let mut ordinals = Ordinals::default();
        let (first, _) = self.redacted_on(key, text, &mut ordinals);
        let folded = fold(&first);
        // Joining lines can put a keyword beside its value.
        if folded == first {
            first
        } else {
            self.redacted_on(key, &folded, &mut ordinals).0
        }
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

/// Returns the name of a project as a record has it.
pub(crate) fn project_name(rules: &Rc<Rules>, folder: &str) -> String {
    let (clean, _) = redact(rules, &fold(folder));
    clean.chars().take(PROJECT_CHARS).collect()
}

/// Folds what ends lines, and other control characters, into single spaces.
fn fold(text: &str) -> String {
    let ends = |c: char| c.is_control() || c == '\u{2028}' || c == '\u{2029}';
    if !text.contains(ends) {
        return text.to_owned();
    }
    let plain = without_escapes(text);
    let parts: Vec<&str> = plain.split(ends).filter(|part| !part.is_empty()).collect();
    parts.join(" ").trim().to_owned()
}

/// Takes escape sequences out whole, so that `ESC [31m` does not leave `[31m` behind.
fn without_escapes(text: &str) -> String {
    // Here a carriage return separates; it does not overwrite.
    let text = text.replace('\r', "\n");
    let mut plain = String::with_capacity(text.len());
    let mut reader = PlainText::default();
    reader.push(text.as_bytes(), |piece| plain.push_str(piece));
    reader.finish(|piece| plain.push_str(piece));
    plain.replace(SEAM, "")
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
    use crate::redact::RedactionPolicy;

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
    fn what_only_shows_on_one_line_has_a_number_of_its_own() {
        let rules = Rc::new(Rules::compile(&RedactionPolicy::default(), &[]).unwrap());
        let mut scrubber = Scrubber::new(&rules, Redactions::default(), Clamped::default());
        let value = |end: &str| ["q7Xk2", "m9vR4", end].concat();
        let text = format!("api_secret: {}\nclient_secret:\n{}", value("a"), value("b"));
        assert_eq!(
            scrubber.line("agent_note", &text),
            "api_secret: [REDACTED:keyed-value#1] client_secret: [REDACTED:keyed-value#2]"
        );
    }

    #[test]
    fn folding_leaves_one_line() {
        assert_eq!(fold("a\r\nb\tc\u{2028}d\n"), "a b c d");
        assert_eq!(fold(" as it was "), " as it was ");
        assert_eq!(fold("a \u{1b}[31mred\u{1b}[0m\rb"), "a red b");
    }
}
