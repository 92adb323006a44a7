//! What the gate has to say, in the form that every way of saying it starts from.
//!
//! It writes nothing.

use feedback_host::component::{Decision, ReasonCode};

use super::Judged;
use crate::texts;

/// A verdict, or why there is none.
pub(super) enum Answer {
    Given(Box<Judged>),
    /// The question could not be answered. Never a pass.
    Failed(String),
}

/// One thing that was looked at: a requirement, or a reason of its own.
pub(super) struct Case {
    /// The requirement, or else the reason and the record.
    pub(super) name: String,
    /// It is a requirement.
    pub(super) required: bool,
    /// What speaks against it. Empty where nothing does.
    pub(super) against: Vec<Against>,
    /// What shows it, where nothing speaks against it.
    pub(super) shown_by: String,
}

/// One thing that speaks against it.
pub(super) struct Against {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) remedy: String,
}

impl Answer {
    /// Returns the decision. Without a verdict nothing is decided.
    pub(super) fn decision(&self) -> Decision {
        match self {
            Self::Given(judged) => judged.verdict.decision,
            Self::Failed(_) => Decision::Undecided,
        }
    }

    /// Returns the decision in words.
    pub(super) fn headline(&self) -> String {
        match self {
            Self::Given(judged) => super::headline(judged),
            Self::Failed(_) => "cannot decide".to_owned(),
        }
    }

    /// Returns the failures that count no more, and what makes up for each.
    pub(super) fn made_up_for(&self) -> &[String] {
        match self {
            Self::Given(judged) => &judged.verdict.superseded,
            Self::Failed(_) => &[],
        }
    }

    /// Returns what is to be said of failures that are not judged, since the requirement that they
    /// were started under was written anew.
    pub(super) fn set_aside(&self) -> Vec<String> {
        match self {
            Self::Given(judged) => judged.coverage.set_aside(),
            Self::Failed(_) => Vec::new(),
        }
    }

    /// Returns what was looked at, what speaks against something first. Never empty.
    pub(super) fn cases(&self) -> Vec<Case> {
        match self {
            Self::Given(judged) => of_judged(judged),
            Self::Failed(message) => vec![Case {
                name: "the gate".to_owned(),
                required: false,
                against: vec![Against {
                    code: "undecided",
                    message: texts::redacted(message),
                    remedy: String::new(),
                }],
                shown_by: String::new(),
            }],
        }
    }
}

fn of_judged(judged: &Judged) -> Vec<Case> {
    let verdict = &judged.verdict;
    let mut cases: Vec<Case> = Vec::new();
    for reason in &verdict.reasons {
        let against = Against {
            code: super::code(reason.code),
            message: reason.message.clone(),
            remedy: reason.remedy.clone(),
        };
        let required = !reason.requirement.is_empty();
        let name = match (&*reason.requirement, &*reason.command_id) {
            ("", "") => against.code.to_owned(),
            ("", id) => format!("{} {id}", against.code),
            (requirement, _) => requirement.to_owned(),
        };
        let known = cases.iter_mut();
        match known
            .into_iter()
            .find(|case| case.required == required && case.name == name)
        {
            Some(case) => case.against.push(against),
            None => cases.push(Case {
                name,
                required,
                against: vec![against],
                shown_by: String::new(),
            }),
        }
    }
    for evidence in &verdict.evidence {
        let named = |case: &Case| case.required && case.name == evidence.requirement;
        if !cases.iter().any(named) {
            cases.push(Case {
                name: evidence.requirement.clone(),
                required: true,
                against: Vec::new(),
                shown_by: evidence.message.clone(),
            });
        }
    }
    if cases.is_empty() {
        cases.push(plain(judged));
    }
    cases
}

/// A verdict without requirements and without reasons. That is a pass, or nobody knows what.
fn plain(judged: &Judged) -> Case {
    let against = match judged.verdict.decision {
        Decision::Pass => Vec::new(),
        Decision::Refuse | Decision::Undecided => vec![Against {
            code: super::code(ReasonCode::NoRecords),
            message: "the component gives no reason".to_owned(),
            remedy: String::new(),
        }],
    };
    Case {
        name: "records".to_owned(),
        required: false,
        against,
        shown_by: super::headline(judged),
    }
}
