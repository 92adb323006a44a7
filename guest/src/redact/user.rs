//! Rules of the policy's own: a literal that gates, and a pattern that finds.
//!
//! Each is checked against its own examples before it is used.

use regex_lite::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use crate::fault::{Fault, FaultCode};

/// How far around its literal a pattern may look, in bytes.
const REACH: usize = 2048;
/// How far behind a literal that was tried the next one is tried, in bytes. A match reaches at
/// least `REACH - STEP` behind its literal.
pub(super) const STEP: usize = REACH / 2;
/// The largest compiled pattern, in bytes: it bounds the time for each byte of a text.
const COMPILED_MAX: usize = 1 << 16;
/// Most rules, and the longest pattern in bytes.
const RULES_MAX: usize = 64;
const PATTERN_MAX: usize = 1000;

/// What a finding takes.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The span that the pattern matches.
    #[default]
    Span,
    /// The line.
    Line,
}

impl Scope {
    /// Returns its name in policies and listings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Span => "span",
            Self::Line => "line",
        }
    }
}

/// One entry of `redaction.rules`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UserRule {
    /// Names the rule in findings and, with scope `span`, in the marker.
    pub id: String,
    /// What it finds, for listings.
    #[serde(default)]
    pub description: String,
    /// At least three characters that every match holds; letters count in either case.
    pub literal: String,
    /// A pattern of `regex-lite`. Where it has a group, the first group is the secret.
    pub pattern: String,
    /// What a finding takes.
    #[serde(default)]
    pub scope: Scope,
    /// A text in which the rule must find something.
    pub example: String,
    /// A text in which it must find nothing.
    pub counter_example: String,
}

/// A checked rule of the policy.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) rule: UserRule,
    pattern: Regex,
}

impl Compiled {
    /// Calls `found` with the candidate's start, the secret's start and its end for every match
    /// near the literal at `position`.
    pub(super) fn find(
        &self,
        line: &str,
        position: usize,
        mut found: impl FnMut(usize, usize, usize),
    ) {
        let from = line.floor_char_boundary(position.saturating_sub(REACH));
        let until = line.ceil_char_boundary((position + REACH).min(line.len()));
        let window = line.get(from..until).unwrap_or_default();
        for captures in self.pattern.captures_iter(window) {
            let Some(whole) = captures.get(0) else {
                continue;
            };
            let secret = captures.get(1).unwrap_or(whole);
            if !secret.is_empty() {
                found(
                    from + whole.start(),
                    from + secret.start(),
                    from + secret.end(),
                );
            }
        }
    }

    /// Returns whether the rule finds something in `text` by way of its literal.
    fn finds_in(&self, text: &str) -> bool {
        let literal = self.rule.literal.to_ascii_lowercase();
        self.pattern.find_iter(text).any(|found| {
            !found.is_empty() && found.as_str().to_ascii_lowercase().contains(&literal)
        })
    }
}

/// Checks and compiles the rules of a policy.
///
/// # Errors
/// `invalid-policy`, naming the key at fault.
pub(super) fn compile(rules: &[UserRule]) -> Result<Vec<Compiled>, Fault> {
    if rules.len() > RULES_MAX {
        return Err(fault(
            "redaction.rules",
            format!("more than {RULES_MAX} rules"),
        ));
    }
    rules
        .iter()
        .enumerate()
        .map(|(index, rule)| {
            let is_taken = rules.iter().take(index).any(|other| other.id == rule.id)
                || super::catalogue::is_builtin(&rule.id);
            let key = |name: &str| format!("redaction.rules[{index}].{name}");
            if is_taken {
                return Err(fault(&key("id"), "the id is taken"));
            }
            check(rule, key)
        })
        .collect()
}

fn check(rule: &UserRule, key: impl Fn(&str) -> String) -> Result<Compiled, Fault> {
    let is_id = !rule.id.is_empty()
        && rule.id.len() <= 48
        && rule
            .id
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !is_id {
        return Err(fault(
            &key("id"),
            "an id has 1 to 48 lower-case letters, digits and dashes",
        ));
    }
    if rule.literal.chars().count() < 3 || rule.literal.contains(['\n', '\r']) {
        return Err(fault(
            &key("literal"),
            "a literal has at least 3 characters on one line",
        ));
    }
    if rule.pattern.len() > PATTERN_MAX {
        return Err(fault(
            &key("pattern"),
            format!("longer than {PATTERN_MAX} bytes"),
        ));
    }
    let pattern = RegexBuilder::new(&rule.pattern)
        .size_limit(COMPILED_MAX)
        .nest_limit(32)
        .build()
        .map_err(|error| fault(&key("pattern"), error.to_string()))?;
    if pattern.is_match("") {
        return Err(fault(&key("pattern"), "it matches the empty text"));
    }
    let compiled = Compiled {
        rule: rule.clone(),
        pattern,
    };
    if !compiled.pattern.is_match(&rule.example) {
        return Err(fault(&key("example"), "the pattern finds nothing in it"));
    }
    if !compiled.finds_in(&rule.example) {
        return Err(fault(&key("literal"), "no match in the example holds it"));
    }
    if compiled.finds_in(&rule.counter_example) {
        return Err(fault(
            &key("counter_example"),
            "the pattern finds something in it",
        ));
    }
    Ok(compiled)
}

fn fault(key: &str, message: impl std::fmt::Display) -> Fault {
    Fault::new(FaultCode::InvalidPolicy, format!("{key}: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> UserRule {
        UserRule {
            id: "acme-key".to_owned(),
            description: String::new(),
            literal: "acme_".to_owned(),
            pattern: "acme_([a-z0-9]{8})".to_owned(),
            scope: Scope::Span,
            example: "acme_12345678".to_owned(),
            counter_example: "acme_1".to_owned(),
        }
    }

    #[test]
    fn every_fault_names_its_key() {
        type Change = fn(&mut UserRule);
        let faulty: [(&str, Change); 7] = [
            ("id", |rule| rule.id = "Not An Id".to_owned()),
            ("id", |rule| rule.id = "github-token".to_owned()),
            ("literal", |rule| rule.literal = "ac".to_owned()),
            ("literal", |rule| rule.literal = "other".to_owned()),
            ("pattern", |rule| rule.pattern = "acme_(".to_owned()),
            ("example", |rule| rule.example = "nothing".to_owned()),
            ("counter_example", |rule| {
                rule.counter_example = "acme_87654321".to_owned();
            }),
        ];
        for (key, change) in faulty {
            let mut second = rule();
            second.id = "second".to_owned();
            change(&mut second);
            let fault = compile(&[rule(), second]).unwrap_err();
            assert_eq!(fault.code, FaultCode::InvalidPolicy);
            assert!(
                fault
                    .message
                    .starts_with(&format!("redaction.rules[1].{key}: ")),
                "{}",
                fault.message
            );
        }
    }

    #[test]
    fn the_first_group_is_the_secret() {
        let compiled = compile(&[rule()]).unwrap();
        let mut spans = Vec::new();
        for rule in &compiled {
            rule.find("x acme_12345678 y", 2, |from, start, end| {
                spans.push((from, start, end));
            });
        }
        assert_eq!(spans, [(2, 7, 15)]);
    }
}
