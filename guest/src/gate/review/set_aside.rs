//! Failures under a requirement that does not fit them any more, since it was written anew.
//!
//! What is needed the policy says, so they are not judged; whoever reads the answer is told of them.

use serde::Serialize;

use super::Review;
use super::attempt::{Attempt, Standing};
use crate::gate::evidence;
use crate::gate::scope::Scope;

/// How many requirements are told of by their names. A store that somebody wrote may name any.
const MOST_NAMED: usize = 64;
/// Stands for all the others.
const OTHERS: &str = "";

/// What a verdict does not rest on, as it is handed out.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    #[serde(flatten)]
    pub(super) scope: Scope,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) set_aside: Vec<SetAside>,
}

/// The failures of one requirement that are not judged.
#[derive(Debug, Serialize)]
pub(super) struct SetAside {
    /// Its name, as the records have it; empty where there are more than are named.
    requirement: String,
    /// How many runs failed that nothing made up for.
    failed: usize,
    /// The id of the newest.
    newest: String,
    /// All of it in words.
    message: String,
}

impl Review {
    /// Returns the failures that were started under a requirement, meet none now, and that nothing
    /// made up for, in the order of each requirement's first.
    pub(super) fn set_aside(&self) -> Vec<SetAside> {
        let mut names: Vec<(&str, Vec<&Attempt>)> = Vec::new();
        for (place, attempt) in self.attempts.iter().enumerate() {
            let Some(name) = attempt.claim.outgrown.as_deref() else {
                continue;
            };
            if evidence::counts(&self.policy, attempt.claim.meets) || !self.stands_failed(place) {
                continue;
            }
            let known = names.iter().any(|(known, _)| *known == name);
            let is_told = known || names.len() < MOST_NAMED;
            let name = if is_told { name } else { OTHERS };
            match names.iter_mut().find(|(known, _)| *known == name) {
                Some((_, failed)) => failed.push(attempt),
                None => names.push((name, vec![attempt])),
            }
        }
        let told = names.into_iter();
        told.filter_map(|(name, failed)| self.told_aside(name, &failed))
            .collect()
    }

    /// Whether the run at `place` failed and nothing made up for it.
    fn stands_failed(&self, place: usize) -> bool {
        let attempt = self.attempts.get(place);
        let failed = attempt.is_some_and(|run| matches!(run.standing, Standing::Failed(_)));
        failed && self.made_up_for(self.speaker(place)).is_none()
    }

    fn told_aside(&self, name: &str, failed: &[&Attempt]) -> Option<SetAside> {
        let newest = failed.last()?;
        let Standing::Failed(findings) = &newest.standing else {
            return None;
        };
        let what: Vec<&str> = findings.iter().map(|found| found.what.as_str()).collect();
        let (count, named) = (failed.len(), &newest.named);
        let [runs, them, they, it_is] = if count == 1 {
            ["run was", "that run", "it is", "it is"]
        } else {
            ["runs were", "them", "they are", "the newest is"]
        };
        let mut requirements = self.policy.requirements.iter();
        let under = if name == OTHERS {
            "other requirements".to_owned()
        } else {
            format!("the requirement `{name}`")
        };
        let now = if name == OTHERS {
            ", which do not fit now".to_owned()
        } else if requirements.any(|requirement| requirement.name == name) {
            format!(
                " as it was then (other words, or another folder), and it does not fit {them} now"
            )
        } else {
            ", which the policy does not have any more".to_owned()
        };
        let message = format!(
            "{count} failed {runs} started under {under}{now}, so {they} not \
             judged; {it_is} {named}, which {}",
            what.join(", and ")
        );
        Some(SetAside {
            requirement: name.to_owned(),
            failed: count,
            newest: newest.command_id.clone(),
            message,
        })
    }
}
