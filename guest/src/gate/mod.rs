//! The gate: whether the records show that the work is done.
//!
//! Total: any text at all gets an opinion, and only records that show success get a pass.
//! It reads no file and knows no time but the one it is told. `GATE.md` is its table.

mod entry;
mod evidence;
mod fingerprint;
mod freshness;
mod judge;
mod review;
mod shown;
mod since;
mod verdict;

use serde::{Deserialize, Serialize};

use crate::policy::Policy;
use crate::requirement::{self, InputPatterns, Requirement};

use entry::Entry;

pub use review::Review;
pub use verdict::{Decision, Evidence, Reason, ReasonCode, Verdict};

/// The `gate` object of `feedback.json`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct GatePolicy {
    /// What a stage of a pipeline is that SIGPIPE ended, where it is not the last and the
    /// last one succeeded.
    pub sigpipe: Sigpipe,
    /// The digest (`sha256:…`) of the only component whose records count.
    pub require_component: Option<String>,
    /// The commands that a task needs.
    pub requirements: Vec<Requirement>,
    /// The files that a run depends on, where neither its requirement nor the command line says.
    pub inputs: InputPatterns,
    /// What the failure of a run is that no requirement asks for. Without requirements every
    /// run counts.
    pub others: Others,
}

impl GatePolicy {
    /// Checks what the type of a key alone does not show. Returns the key and the mistake.
    ///
    /// # Errors
    /// Where a requirement has no usable name, or a digest is none.
    pub fn check(&self) -> Result<(), (String, String)> {
        let is_digest = |text: &String| {
            let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            let digits = text.strip_prefix("sha256:");
            digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(lower))
        };
        if self
            .require_component
            .as_ref()
            .is_some_and(|text| !is_digest(text))
        {
            let what = "expected `sha256:` and 64 hexadecimal digits, as `component` in a record";
            return Err(("gate.require_component".to_owned(), what.to_owned()));
        }
        requirement::check(&self.requirements)
    }
}

/// What the gate makes of runs that no requirement asks for, where there are requirements.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Others {
    /// They are not judged: what is required says what is needed.
    #[default]
    Ignore,
    /// The newest attempt of each must be a success, as without requirements.
    Refuse,
}

/// What the gate makes of SIGPIPE in a stage that is not the last.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sigpipe {
    /// The reader had enough, which is no failure.
    #[default]
    Allow,
    /// A failure like any other.
    Refuse,
}

/// Judges one record, a sealed line or a body: may the agent go on after it?
#[must_use]
pub fn may_continue(policy: &Policy, line: &str) -> Verdict {
    match entry::read(line) {
        Entry::Run(run) => {
            let judgement = judge::judge(&policy.gate, &run);
            let about = |finding| shown::reason(&run, &finding);
            let reasons = judgement.into_findings().map(about).collect();
            Verdict::of(reasons, 1, Vec::new())
        }
        Entry::Notice => nothing("a notice that rotation dropped a file is no run"),
        Entry::Exploration => nothing("a run that only explores is not judged"),
        Entry::Unusable(reason) => Verdict::of(vec![reason], 0, Vec::new()),
    }
}

fn nothing(message: &str) -> Verdict {
    Verdict::undecided(Reason::new(ReasonCode::NoRecords, "", message.to_owned()))
}

#[cfg(test)]
mod evidence_tests;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;
