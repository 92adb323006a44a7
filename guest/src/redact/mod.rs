//! Redaction: finds secrets in decoded text and replaces them before anything is kept.
//!
//! It does not decode, and it does not shorten.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Deserialize;

use crate::fault::Fault;

/// The `redaction` object of `feedback.json`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct RedactionPolicy {
    /// How much of a line a finding takes.
    pub mode: Mode,
}

/// How much of a line a finding takes.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The base rules take the line, every other rule its span.
    #[default]
    Standard,
    /// Every rule takes its span.
    Span,
    /// Every rule takes the line.
    Line,
}

/// The compiled rules of one policy and the known values of one run.
#[derive(Debug)]
pub struct Rules {}

impl Rules {
    /// Compiles the built-in rules, the policy's own, and the secret ones among `environment`
    /// (name and value pairs).
    ///
    /// # Errors
    /// `invalid-policy` when a rule of the policy is faulty.
    pub fn compile(
        _policy: &RedactionPolicy,
        _environment: &[(String, String)],
    ) -> Result<Self, Fault> {
        Ok(Self {})
    }
}

/// Takes redacted text. A newline in it ends a line; a line may come in several calls.
pub trait Sink {
    /// Takes the next piece of redacted text.
    fn text(&mut self, text: &str);
    /// Takes back the line that is still open: all of it so far was a secret's line.
    /// What follows up to the newline is given as usual.
    fn retract_line(&mut self);
}

/// Where and by which rule something was redacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Findings per rule id.
    pub per_rule: BTreeMap<&'static str, u64>,
}

/// Redacts one stream, line by line, with the state that spans lines (a key block).
#[derive(Debug)]
pub struct Redactor {
    _rules: Rc<Rules>,
    findings: Findings,
}

impl Redactor {
    /// Starts at the beginning of a stream.
    #[must_use]
    pub fn new(rules: Rc<Rules>) -> Self {
        Self {
            _rules: rules,
            findings: Findings::default(),
        }
    }

    /// Takes decoded text, gives what can be given to `sink`, and holds back the rest:
    /// an unfinished line up to 64 KiB, and always an open candidate.
    pub fn push(&mut self, text: &str, sink: &mut impl Sink) {
        sink.text(text);
    }

    /// Gives what was held back.
    pub fn finish(&mut self, _sink: &mut impl Sink) {}

    /// Returns what was found so far.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}

/// Redacts a whole text and returns it with what was found.
#[must_use]
pub fn redact(rules: &Rc<Rules>, text: &str) -> (String, Findings) {
    struct Text(String);
    impl Sink for Text {
        fn text(&mut self, text: &str) {
            self.0.push_str(text);
        }
        fn retract_line(&mut self) {
            let start = self.0.rfind('\n').map_or(0, |at| at + 1);
            self.0.truncate(start);
        }
    }
    let mut sink = Text(String::with_capacity(text.len()));
    let mut redactor = Redactor::new(Rc::clone(rules));
    redactor.push(text, &mut sink);
    redactor.finish(&mut sink);
    (sink.0, redactor.findings)
}
