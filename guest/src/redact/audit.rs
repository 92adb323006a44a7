//! Tells what the rules find in a text, and what looks like a secret that no rule covers.
//!
//! No answer holds a character of what was found.

use std::rc::Rc;

use super::Rules;
use super::block::{Block, Step};
use super::bytes::{part, run_end};
use super::catalogue::KNOWN_ID;
use super::scan::{Mark, scan};
use super::view::{is_dressed, undressed};

/// Shortest text that is suspected.
const SUSPECT_MIN: usize = 24;
/// Most suspects that are listed.
const SUSPECTS_MAX: usize = 1000;

/// What an audit of a text found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Findings of rules, in order of place.
    pub findings: Vec<AuditFinding>,
    /// Opaque texts that no rule covers, in order of place; at most 1000.
    pub suspects: Vec<Suspect>,
}

/// A finding of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFinding {
    /// The rule's id.
    pub rule: String,
    /// The line, from 1.
    pub line: u64,
    /// Where in the line it begins, in bytes from 1.
    pub column: usize,
    /// How many bytes it has.
    pub length: usize,
    /// Says whether the rule takes the whole line.
    pub takes_line: bool,
}

/// An opaque text that no rule covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// The line, from 1.
    pub line: u64,
    /// Where in the line it begins, in bytes from 1.
    pub column: usize,
    /// How many bytes it has.
    pub length: usize,
    /// Bits of entropy per character, in tenths.
    pub entropy_tenths: u32,
}

/// Audits a text.
#[must_use]
pub fn audit(rules: &Rc<Rules>, text: &str) -> Audit {
    let mut audit = Audit::default();
    let mut block = Block::default();
    for (number, line) in (1..).zip(text.lines()) {
        let plain;
        let line = if is_dressed(line) {
            plain = undressed(line).text;
            plain.as_str()
        } else {
            line
        };
        let step = if block.is_open() {
            block.step(line)
        } else {
            Step::Ordinary
        };
        match step {
            Step::Key(start, end) => audit.add(number, "private-key", start, end, false),
            Step::Value(start, end) => audit.add(number, "keyed-value", start, end, false),
            Step::Ordinary => {
                let scanned = scan(rules, line);
                block.open(line);
                for mark in &scanned.marks {
                    let rule = rules.id(mark.hit.rule);
                    let takes_line = scanned.whole == Some(mark.hit.rule) && rule != KNOWN_ID;
                    audit.add(number, rule, mark.hit.start, mark.hit.end, takes_line);
                }
                audit.suspect(number, line, &scanned.marks);
            }
        }
    }
    audit
}

impl Audit {
    fn add(&mut self, line: u64, rule: &str, start: usize, end: usize, takes_line: bool) {
        self.findings.push(AuditFinding {
            rule: rule.to_owned(),
            line,
            column: start + 1,
            length: end - start,
            takes_line,
        });
    }

    fn suspect(&mut self, number: u64, line: &str, marks: &[Mark]) {
        let bytes = line.as_bytes();
        let mut position = 0;
        while position < bytes.len() && self.suspects.len() < SUSPECTS_MAX {
            let end = run_end(bytes, position, is_opaque_character);
            let run = part(bytes, position, end);
            let is_covered = marks
                .iter()
                .any(|mark| mark.hit.start < end && mark.hit.end > position);
            if let Some(entropy_tenths) = opaque_entropy(run).filter(|_| !is_covered) {
                self.suspects.push(Suspect {
                    line: number,
                    column: position + 1,
                    length: run.len(),
                    entropy_tenths,
                });
            }
            position = end + 1;
        }
    }
}

const fn is_opaque_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_' | b'-' | b'=')
}

/// Returns the entropy of a run that mixes digits and both cases, in tenths of a bit.
fn opaque_entropy(run: &[u8]) -> Option<u32> {
    let has = |is: fn(&u8) -> bool| run.iter().any(is);
    if run.len() < SUSPECT_MIN
        || !has(u8::is_ascii_digit)
        || !has(u8::is_ascii_lowercase)
        || !has(u8::is_ascii_uppercase)
    {
        return None;
    }
    let mut counts = [0_u32; 256];
    for byte in run {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(run.len()).unwrap_or(u32::MAX));
    let bits: f64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum();
    let tenths = (35..=80)
        .rev()
        .find(|tenths| f64::from(*tenths) <= bits * 10.0)?;
    Some(tenths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::RedactionPolicy;

    #[test]
    fn findings_and_suspects_are_told_by_place() {
        let rules = Rc::new(Rules::compile(&RedactionPolicy::default(), &[]).unwrap());
        let token = format!("ghp_{}", "aB3dE5gH".repeat(5));
        let opaque = "q7Xk2M9vR4tZ8b3WyH6pLd1S";
        let found = audit(&rules, &format!("a\nvalue {token}\nid {opaque} x\n"));
        assert_eq!(found.findings.len(), 1);
        let finding = &found.findings[0];
        assert_eq!(
            (
                finding.rule.as_str(),
                finding.line,
                finding.column,
                finding.length
            ),
            ("github-token", 2, 7, 44)
        );
        assert_eq!(found.suspects.len(), 1);
        assert_eq!((found.suspects[0].line, found.suspects[0].column), (3, 4));
        assert!(!format!("{found:?}").contains(opaque));
    }
}
