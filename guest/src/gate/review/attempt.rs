//! What a review keeps of one run.
//!
//! It decides nothing.

use super::super::asked::Asked;
use super::super::evidence::{self, Claim};
use super::super::fingerprint::{Program, Same};
use super::super::judge::Finding;
use super::super::verdict::{Reason, ReasonCode};
use super::chains::is_reworded;
use crate::timestamp::Timestamp;

/// What is kept of a run.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) command_id: String,
    pub(super) named: String,
    pub(super) chain: usize,
    pub(super) same: Option<Same>,
    pub(super) program: Option<Program>,
    /// Its command was never started, so that nothing of it was tried.
    pub(super) never_started: bool,
    /// How often its failure has come in a row.
    pub(super) repeated: u32,
    pub(super) started: Option<Timestamp>,
    pub(super) standing: Standing,
    pub(super) claim: Claim,
    pub(super) asked: Asked,
}

/// How a run stands by itself.
#[derive(Debug)]
pub(super) enum Standing {
    Success,
    /// A later success can make up for it.
    Failed(Vec<Finding>),
    /// The record cannot be trusted; its reasons are kept as damage.
    Distrusted,
}

/// How a run stands by itself, without the reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gate) enum Stood {
    Success,
    Failed,
    Distrusted,
}

impl Stood {
    pub(in crate::gate) const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Distrusted => "distrusted",
        }
    }
}

impl Attempt {
    /// Says what was found of it, with `also` behind.
    pub(super) fn reason(&self, finding: &Finding, also: &str) -> Reason {
        let message = format!("{} {}{also}", self.named, finding.what);
        let reason = Reason::new(finding.code, &self.command_id, message);
        match self.standing {
            Standing::Success if finding.code == ReasonCode::UnmetExpectation => {
                reason.with_remedy(evidence::DECLARE)
            }
            Standing::Success | Standing::Failed(_) | Standing::Distrusted => reason,
        }
    }
}

/// Says of a failure that another run makes up for it.
pub(super) fn superseded_line(attempt: &Attempt, findings: &[Finding], by: &Attempt) -> String {
    let what: Vec<&str> = findings
        .iter()
        .map(|finding| finding.what.as_str())
        .collect();
    let other = if attempt.program != by.program {
        ", which is another program"
    } else if is_reworded(attempt, by) {
        ", under the requirement as it is written now"
    } else {
        ""
    };
    format!(
        "{} {}; made up for by {}{other}",
        attempt.named,
        what.join(", and "),
        by.named
    )
}
