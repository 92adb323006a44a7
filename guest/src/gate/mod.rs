//! The gate: whether the records show that the work is done.
//!
//! Total: any text at all gets an opinion, and only records that show success get a pass.
//! It reads no file and knows no time but the one it is told. `GATE.md` is its table.

mod asked;
mod entry;
mod evidence;
mod expected;
mod fingerprint;
mod freshness;
mod history;
mod judge;
mod near;
mod repeat;
mod review;
mod scope;
mod shown;
mod since;
mod unmet;
mod verdict;

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::policy::Policy;
use crate::requirement::{self, InputPatterns, Requirement};

use entry::Entry;

pub use history::History;
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
    /// Whether a run may be marked as one that only explores.
    pub explore: Explore,
    /// How often the same failure of the same command may come in a row, from 1.
    pub max_same_failures: Option<NonZeroU32>,
    /// What makes up for a failure, beside a later success of the same command.
    pub retry: Retry,
    /// The commands that a task needs.
    pub requirements: Vec<Requirement>,
    /// The files that a run depends on, where neither its requirement nor the command line says.
    pub inputs: InputPatterns,
    /// What the failure of a run is that no requirement asks for. Without requirements every
    /// run counts.
    pub others: Others,
}

/// Whether a run may be marked as one that only explores.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Explore {
    /// It is no evidence, and its failure refuses nothing.
    #[default]
    Allow,
    /// It is not started.
    Forbid,
}

/// Which later attempt of a chain can make up for a failed one.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retry {
    /// An attempt that runs the very same command in the same directory.
    SameCommand,
    /// An attempt that runs the same program, whatever its arguments.
    #[default]
    SameProgram,
    /// Any attempt of the chain, whatever it runs.
    AnyCommand,
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
        Entry::Exploration(run) => {
            let wrong = judge::contradictions(&run).into_findings();
            let reasons: Vec<Reason> = wrong.map(|finding| shown::reason(&run, &finding)).collect();
            if reasons.is_empty() {
                nothing("a run that only explores is not judged")
            } else {
                Verdict::of(reasons, 0, Vec::new())
            }
        }
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
#[cfg(test)]
mod told_tests;
