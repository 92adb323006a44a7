//! Audits a line that is a record: every text in it by itself, as it was redacted.
//!
//! It does not check the record; any JSON object with the keys of one will do.

use serde_json::Value;

use super::super::args::redact_args;
use super::super::lines::Lines;
use super::look::{Look, Place};
use super::{Sighting, characters};
use crate::document;

/// Returns the record that a line holds.
pub(super) fn parse(line: &str) -> Option<Value> {
    let line = line.trim();
    if !line.starts_with('{') || !line.contains("\"command_id\"") {
        return None;
    }
    let document = document::foreign(line)?;
    let has = |key: &str| document.get(key).is_some_and(Value::is_string);
    (has("command_id") && has("schema_version")).then_some(document)
}

/// Tells what stands in the texts of a record, names included.
pub(super) fn audit(look: &Look, document: &Value, line: u64, seen: &mut Vec<Sighting>) {
    let walk = Walk { look, line };
    walk.value("", "", document, seen);
}

struct Walk<'a> {
    look: &'a Look,
    line: u64,
}

impl Walk<'_> {
    fn value(&self, field: &str, name: &str, value: &Value, seen: &mut Vec<Sighting>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let field = format!("{field}/{}", shown(name));
                    self.text(&field, "", name, seen);
                    self.value(&field, name, member, seen);
                }
            }
            Value::Array(items) => {
                let found = seen.len();
                for (index, item) in items.iter().enumerate() {
                    self.value(&format!("{field}/{index}"), "", item, seen);
                }
                self.arguments(field, items, found, seen);
            }
            Value::String(text) => self.text(field, name, text, seen),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Audits a text line by line; one that says nothing by itself is read behind its name.
    fn text(&self, field: &str, name: &str, text: &str, seen: &mut Vec<Sighting>) {
        let found = seen.len();
        let mut lines = Lines::default();
        let mut was_key = false;
        let mut complete = |lines: &mut Lines, line: &str| {
            let mut in_line = self.look.line(lines, line);
            in_line.go_on(was_key);
            let place = self.place(field, lines.number + 1);
            self.look
                .report(&place, line, 0..line.len(), &in_line, seen);
            was_key = in_line.is_key;
        };
        for line in text.split('\n') {
            if !lines.offer(line, &mut complete) {
                complete(&mut lines, line);
            }
            lines.number += 1;
        }
        lines.give_held(&mut complete);
        if seen.len() > found || name.is_empty() || text.contains('\n') {
            return;
        }
        let named = format!("{name}={text}");
        let in_line = self.look.line(&mut Lines::default(), &named);
        if !in_line.scanned.marks.is_empty() {
            let place = self.place(field, 1);
            self.look
                .report(&place, &named, 0..named.len(), &in_line, seen);
        }
    }

    /// Audits a list as arguments, for a flag whose value is the next one.
    fn arguments(&self, field: &str, items: &[Value], from: usize, seen: &mut Vec<Sighting>) {
        let texts: Option<Vec<String>> = items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect();
        let Some(texts) = texts else { return };
        let (_, findings) = redact_args(&self.look.rules, &texts);
        for finding in findings.lines {
            let index = finding.line.saturating_sub(1);
            let field = format!("{field}/{index}");
            let is_told = seen
                .get(from..)
                .unwrap_or_default()
                .iter()
                .any(|sighting| sighting.field == field && sighting.rule.is_some());
            let text = usize::try_from(index)
                .ok()
                .and_then(|index| texts.get(index));
            if let (false, Some(text)) = (is_told, text) {
                seen.push(Sighting {
                    rule: Some(finding.rule),
                    column: 1,
                    length: characters(text),
                    takes_line: false,
                    tag: self.look.tagger.tag(text),
                    line: self.line,
                    field,
                    field_line: 1,
                });
            }
        }
    }

    fn place(&self, field: &str, number: u64) -> Place {
        Place {
            line: self.line,
            field: field.to_owned(),
            field_line: number,
            before: 0,
        }
    }
}

/// Returns a name as it may be told: one that could be a secret is not.
fn shown(name: &str) -> &str {
    let is_plain = name.len() <= 32
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-'));
    if is_plain { name } else { "*" }
}
