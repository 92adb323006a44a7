//! Redaction: finds secrets in decoded text and replaces them before anything is kept.
//!
//! It does not decode, and it does not shorten. It guards against accident, not against a
//! program that hides its output on purpose: what is reversed, shifted or packed is not found.
//!
//! Secrets are numbered per text: the same secret has the same number wherever it stands in one
//! stream, or in one list of arguments. Two streams are numbered apart, because the numbers must
//! not depend on how the streams interleave. Values of the environment have the same number
//! everywhere.

mod address;
mod ahead;
mod anchors;
mod args;
mod armour;
mod assigned;
mod audit;
mod bare;
mod base;
mod below;
mod block;
mod bytes;
mod catalogue;
mod dump;
mod encoded;
mod encoding;
#[cfg(test)]
mod escape_tests;
mod escaped;
mod findings;
mod forms;
mod header;
mod hit;
mod key;
#[cfg(test)]
mod key_tests;
mod keyed;
mod known;
mod lines;
#[cfg(test)]
mod mask_tests;
mod name;
mod placeholder;
#[cfg(test)]
mod precision_tests;
#[cfg(test)]
mod reference;
mod scan;
#[cfg(test)]
mod seam_tests;
mod shape;
mod starts;
mod stream;
mod sweep;
#[cfg(test)]
mod tests;
mod token;
mod tokens;
mod user;
mod value;
mod view;
mod window;
#[cfg(test)]
mod window_tests;
mod words;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::fault::{Fault, FaultCode};

pub use self::args::redact_args;
pub use self::audit::{Audited, Auditor, Sighting};
pub use self::catalogue::{RuleInfo, rule_set_digest};
pub(crate) use self::findings::Ordinals;
pub use self::findings::{Findings, LineFinding};
pub use self::stream::{Redactor, Sink, Telling};
pub use self::user::{Scope, UserRule};

/// The `redaction` object of `feedback.json`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RedactionPolicy {
    /// How much of a line a finding takes.
    pub mode: Mode,
    /// For single rules, by id: what a finding takes, whatever the mode says.
    pub scopes: BTreeMap<String, Scope>,
    /// Variables whose values are secret whatever their names say.
    pub variables: Vec<String>,
    /// Files of variables, relative to the policy; the host reads them. One that may be absent
    /// ends with a question mark.
    pub env_files: Vec<String>,
    /// Rules beside the built-in ones.
    pub rules: Vec<UserRule>,
}

/// Ends the name of a file that may be absent.
const MAY_BE_ABSENT: char = '?';

impl RedactionPolicy {
    /// Returns the files of variables that must be there, and those that may be absent.
    pub(crate) fn files(&self) -> (Vec<&str>, Vec<&str>) {
        let mut files = (Vec::new(), Vec::new());
        for name in &self.env_files {
            match name.strip_suffix(MAY_BE_ABSENT) {
                Some(name) => files.1.push(name),
                None => files.0.push(name.as_str()),
            }
        }
        files
    }

    /// Checks what does not belong to a single rule.
    fn check(&self, user: &[user::Compiled]) -> Result<(), Fault> {
        let is_known =
            |id: &str| catalogue::is_builtin(id) || user.iter().any(|user| user.rule.id == id);
        if let Some(id) = self.scopes.keys().find(|id| !is_known(id)) {
            let cause = "no rule has this id; `feedback rules` lists them";
            return Err(invalid(&format!("redaction.scopes.{id}"), cause));
        }
        for (key, names) in [
            ("variables", &self.variables),
            ("env_files", &self.env_files),
        ] {
            let at = names
                .iter()
                .map(|name| name.strip_suffix(MAY_BE_ABSENT).unwrap_or(name))
                .position(|name| name.is_empty() || name.contains(['\0', '\n']));
            if let Some(index) = at {
                let key = format!("redaction.{key}[{index}]");
                return Err(invalid(&key, "expected a name on one line"));
            }
        }
        Ok(())
    }
}

fn invalid(key: &str, cause: &str) -> Fault {
    Fault::new(FaultCode::InvalidPolicy, format!("{key}: {cause}"))
}

/// How much of a line a finding takes.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
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
pub struct Rules {
    mode: Mode,
    scopes: BTreeMap<String, Scope>,
    literals: Vec<String>,
    /// Built when the first text comes: most questions to a component bring none.
    anchors: OnceCell<anchors::Anchors>,
    known: known::Known,
    user: Vec<user::Compiled>,
}

impl Rules {
    /// Compiles the built-in rules, the policy's own, and the secret ones among `environment`
    /// (name and value pairs).
    ///
    /// # Errors
    /// `invalid-policy` when a rule of the policy is faulty.
    pub fn compile(
        policy: &RedactionPolicy,
        environment: &[(String, String)],
    ) -> Result<Self, Fault> {
        let user = user::compile(&policy.rules)?;
        policy.check(&user)?;
        let known = known::Known::new(environment, &policy.variables);
        let literals: Vec<String> = policy
            .rules
            .iter()
            .map(|rule| rule.literal.clone())
            .collect();
        Ok(Self {
            mode: policy.mode,
            scopes: policy.scopes.clone(),
            literals,
            anchors: OnceCell::new(),
            known,
            user,
        })
    }

    /// Returns every rule in force: the built-in ones in table order, then the policy's own. One
    /// that is made of several rows of the table comes once for each of them.
    #[must_use]
    pub fn rows(&self) -> Vec<RuleInfo> {
        let mut rules = catalogue::builtin();
        rules.extend(self.user.iter().map(|user| RuleInfo {
            id: user.rule.id.clone(),
            description: user.rule.description.clone(),
            scope: user.rule.scope.name(),
            example: user.rule.example.clone(),
            counter_example: user.rule.counter_example.clone(),
        }));
        for rule in &mut rules {
            if let Some(scope) = self.scopes.get(&rule.id) {
                rule.scope = scope.name();
            }
        }
        rules
    }

    /// Returns every rule in force once, in the order of `rows`.
    #[must_use]
    pub fn list(&self) -> Vec<RuleInfo> {
        let mut seen = BTreeSet::new();
        let mut rules = self.rows();
        rules.retain(|rule| seen.insert(rule.id.clone()));
        rules
    }

    /// Says whether a finding of this rule takes the whole line.
    fn takes_line(&self, rule: hit::RuleRef) -> bool {
        if !self.scopes.is_empty()
            && let Some(scope) = self.scopes.get(self.id(rule))
        {
            return *scope == Scope::Line;
        }
        match (self.mode, rule) {
            (Mode::Line, _) => true,
            (_, hit::RuleRef::User(index)) => self
                .user
                .get(index)
                .is_some_and(|user| user.rule.scope == Scope::Line),
            (Mode::Standard, hit::RuleRef::Family(family)) => family.takes_line(),
            _ => false,
        }
    }

    /// Returns the names of variables that name a secret whose value is too short or too plain
    /// to be hidden wherever it stands, in alphabetical order, and then the lines of files of
    /// variables that were not understood.
    #[must_use]
    pub fn not_covered(&self) -> &[String] {
        self.known.not_covered()
    }

    /// Adds to those names what else may hold a secret that is not hidden.
    pub(crate) fn name_uncovered(&mut self, names: Vec<String>) {
        self.known.name_uncovered(names);
    }

    fn anchors(&self) -> &anchors::Anchors {
        self.anchors
            .get_or_init(|| anchors::Anchors::new(&self.literals, self.known.anchors()))
    }

    /// Returns the id of a rule.
    fn id(&self, rule: hit::RuleRef) -> &str {
        match rule {
            hit::RuleRef::Known(_) => catalogue::KNOWN_ID,
            hit::RuleRef::User(index) => self
                .user
                .get(index)
                .map_or("", |user| user.rule.id.as_str()),
            hit::RuleRef::Token(index) => tokens::TOKENS.get(index).map_or("", |token| token.id),
            hit::RuleRef::Family(family) => family.id(),
        }
    }
}

/// Redacts a whole text and returns it with what was found.
///
/// Of a text that comes as a whole every line with an escape is looked at: it is a command, an
/// address or a message, and what it holds may be written in any spelling.
#[must_use]
pub fn redact(rules: &Rc<Rules>, text: &str) -> (String, Findings) {
    redact_on(rules, text, &mut Ordinals::default())
}

/// Redacts a text of several, whose secrets are numbered together.
pub(crate) fn redact_on(
    rules: &Rc<Rules>,
    text: &str,
    ordinals: &mut Ordinals,
) -> (String, Findings) {
    let mut clean = String::with_capacity(text.len());
    let mut redactor = Redactor::careful(Rc::clone(rules), std::mem::take(ordinals));
    redactor.push(text, &mut clean);
    redactor.finish(&mut clean);
    let (findings, reached) = redactor.into_parts();
    *ordinals = reached;
    (clean, findings)
}
