//! What was found: how often, by which rule, on which lines; and the numbers in markers.
//!
//! Nothing here holds a character of a secret.

use std::collections::BTreeMap;

use super::Rules;
use super::hit::RuleRef;
use super::scan::Mark;

/// How many lines are told one by one.
const LINES_MAX: usize = 64;
/// How many secrets are told apart by number.
const NUMBERED_MAX: usize = 4096;

/// Where and by which rule something was redacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Findings per rule id.
    pub per_rule: BTreeMap<String, u64>,
    /// The first 64 lines with findings; a line with findings of several rules counts for each.
    pub lines: Vec<LineFinding>,
    /// How many more there were.
    pub lines_omitted: u64,
    /// Bytes that were taken out, before markers were put in.
    pub bytes_removed: u64,
}

/// Findings of one rule on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFinding {
    /// The line, from 1. In arguments: the argument, from 1.
    pub line: u64,
    /// The rule's id.
    pub rule: String,
    /// How many findings.
    pub count: u64,
}

impl Findings {
    /// Returns how many findings there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.per_rule.values().sum()
    }

    /// Adds one finding.
    pub(super) fn add(&mut self, line: u64, rule: &str, bytes: usize) {
        self.bytes_removed += u64::try_from(bytes).unwrap_or(u64::MAX);
        if let Some(count) = self.per_rule.get_mut(rule) {
            *count += 1;
        } else {
            self.per_rule.insert(rule.to_owned(), 1);
        }
        let same = self
            .lines
            .iter_mut()
            .rev()
            .take_while(|last| last.line == line)
            .find(|last| last.rule == rule);
        if let Some(last) = same {
            last.count += 1;
        } else if self.lines.len() < LINES_MAX {
            self.lines.push(LineFinding {
                line,
                rule: rule.to_owned(),
                count: 1,
            });
        } else {
            self.lines_omitted += 1;
        }
    }
}

/// Numbers the secrets of one text per rule, in the order in which they appear.
#[derive(Debug, Default)]
pub(crate) struct Ordinals {
    numbers: BTreeMap<(RuleRef, u64), usize>,
    /// The rules that have numbers, which are few, each with its last.
    last: Vec<(RuleRef, usize)>,
}

impl Ordinals {
    /// Returns the marker that stands for a secret.
    pub(super) fn marker(&mut self, rules: &Rules, mark: &Mark) -> String {
        let id = rules.id(mark.hit.rule);
        match self.number(rules, mark) {
            Some(number) => format!("[REDACTED:{id}#{number}]"),
            None => format!("[REDACTED:{id}]"),
        }
    }

    fn number(&mut self, rules: &Rules, mark: &Mark) -> Option<usize> {
        if let RuleRef::Known(number) = mark.hit.rule {
            return Some(number);
        }
        let rule = representative(rules, mark.hit.rule);
        if let Some(number) = self.numbers.get(&(rule, mark.digest)) {
            return Some(*number);
        }
        if self.numbers.len() >= NUMBERED_MAX {
            return None;
        }
        let number = self.next(rule);
        self.numbers.insert((rule, mark.digest), number);
        Some(number)
    }

    fn next(&mut self, rule: RuleRef) -> usize {
        if let Some((_, last)) = self.last.iter_mut().find(|(other, _)| *other == rule) {
            *last += 1;
            return *last;
        }
        self.last.push((rule, 1));
        1
    }
}

/// Returns one rule for all that share an id, so that they share their numbers.
fn representative(rules: &Rules, rule: RuleRef) -> RuleRef {
    let RuleRef::Token(index) = rule else {
        return rule;
    };
    let id = rules.id(rule);
    (0..index)
        .map(RuleRef::Token)
        .find(|other| rules.id(*other) == id)
        .unwrap_or(rule)
}
