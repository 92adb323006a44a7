//! Decides over what a review has taken in.
//!
//! It reads no record. A run that was told under one requirement is never left out without a
//! reason.

use std::collections::HashMap;

use serde_json::Value;

use super::super::entry;
use super::super::evidence::{self, Claim};
use super::super::freshness::Staleness;
use super::super::judge::Finding;
use super::super::shown;
use super::super::verdict::{Evidence, Reason, ReasonCode, Verdict};
use super::Review;
use super::attempt::{Attempt, Standing, superseded_line};

impl Review {
    /// Decides.
    #[must_use]
    pub fn conclude(mut self) -> Verdict {
        let stale = self.stale();
        let required = self.required();
        let mut reasons = std::mem::take(&mut self.damage).into_iter().peekable();
        let mut all = Vec::new();
        let mut superseded = Vec::new();
        for (place, attempt) in self.attempts.iter().enumerate() {
            while let Some((_, reason)) = reasons.next_if(|(before, _)| *before <= place) {
                all.push(reason);
            }
            if !evidence::counts(&self.policy, attempt.claim.meets) {
                continue;
            }
            if let Some(stale) = stale.get(&place) {
                all.push(stale.weigh(self.reason(attempt, &stale.finding(), "")));
            }
            let lacking = required.lacking.get(&place);
            all.extend(lacking.map(|finding| self.reason(attempt, finding, "")));
            let Standing::Failed(findings) = &attempt.standing else {
                continue;
            };
            let speaker = self.speaker(place);
            match self.made_up_for(speaker) {
                Some(by) => superseded.push(superseded_line(attempt, findings, by)),
                None if speaker == place => {
                    let other = self.other_retry(place);
                    let reasons = findings
                        .iter()
                        .map(|finding| self.reason(attempt, finding, &other));
                    all.extend(reasons);
                    all.extend(self.same_failure(attempt));
                }
                // Its chain went on, and a later attempt speaks for it.
                None => {}
            }
        }
        all.extend(reasons.map(|(_, reason)| reason));
        all.extend(required.never_run);
        all.extend(self.open_reasons());
        let judged = self.attempts.iter();
        let judged = judged.filter(|attempt| evidence::counts(&self.policy, attempt.claim.meets));
        let judged = u32::try_from(judged.count()).unwrap_or(u32::MAX);
        let met = required.met.into_iter();
        let met = met.filter(|(place, _)| !stale.contains_key(place));
        let evidence: Vec<Evidence> = met.map(|(_, evidence)| evidence).collect();
        all.extend(self.unaccounted(&all, &evidence));
        Verdict::of(all, judged, superseded).with_evidence(evidence)
    }

    fn reason(&self, attempt: &Attempt, finding: &Finding, also: &str) -> Reason {
        let reason = attempt.reason(finding, also);
        let requirement = attempt
            .claim
            .meets
            .and_then(|place| self.policy.requirements.get(place));
        match requirement {
            Some(requirement) => reason.for_requirement(&requirement.name),
            None => reason,
        }
    }

    /// The successes that speak for their chain, that no later run of the very same command, or for
    /// the same requirement, speaks for (and is judged itself, however it ended), and that are
    /// older than their inputs.
    fn stale(&self) -> HashMap<usize, Staleness> {
        // One command after another may meet the same requirement.
        let key = |attempt: &Attempt| match attempt.claim.meets {
            Some(requirement) => Some((None, Some(requirement))),
            None => Some((Some(attempt.same?), None)),
        };
        let places = self.attempts.iter().enumerate();
        // Of equal keys the last one stays.
        let newest: HashMap<_, _> = places
            .filter_map(|(place, attempt)| Some((key(attempt)?, place)))
            .collect();
        let fresh = |place: usize| {
            let attempt = self.attempts.get(place)?;
            let Standing::Success = attempt.standing else {
                return None;
            };
            if key(attempt).is_some_and(|key| newest.get(&key) != Some(&place)) {
                return None;
            }
            let inputs = attempt.claim.inputs.as_ref()?;
            Some((place, self.sight.stale(&self.rules, inputs)?))
        };
        let speaks = |place: &usize| self.speaker(*place) == *place;
        let speakers = (0..self.attempts.len()).filter(speaks);
        speakers.filter_map(fresh).collect()
    }

    /// What the requirements make of the newest run that each of them has.
    fn required(&self) -> Required {
        let mut required = Required::default();
        for (number, requirement) in self.policy.requirements.iter().enumerate() {
            let meets = |attempt: &Attempt| attempt.claim.meets == Some(number);
            let Some(place) = self.attempts.iter().rposition(meets) else {
                let reason = evidence::no_record(
                    &self.rules,
                    requirement,
                    "no record",
                    self.since.is_some(),
                    self.near.of(number),
                );
                required.never_run.push(reason);
                continue;
            };
            let Some(attempt) = self.attempts.get(place) else {
                continue;
            };
            match &attempt.standing {
                Standing::Success => {}
                // It has its own reasons.
                Standing::Failed(_) | Standing::Distrusted => continue,
            }
            match evidence::lacking(requirement, &attempt.claim, attempt.started, self.now) {
                Some(finding) => {
                    required.lacking.insert(place, finding);
                }
                None => required.met.push((
                    place,
                    Evidence {
                        requirement: requirement.name.clone(),
                        command_id: attempt.command_id.clone(),
                        message: attempt.named.clone(),
                    },
                )),
            }
        }
        required
    }

    /// The requirements for which nothing speaks and against which nothing was said: the newest
    /// record of each cannot be trusted. Nothing passes by being left out.
    fn unaccounted(&self, reasons: &[Reason], evidence: &[Evidence]) -> Vec<Reason> {
        let requirements = self.policy.requirements.iter();
        let open = requirements.filter(|requirement| {
            let name = &requirement.name;
            !reasons.iter().any(|reason| reason.requirement == *name)
                && !evidence.iter().any(|met| met.requirement == *name)
        });
        let since = self.since.is_some();
        open.map(|requirement| {
            evidence::no_record(&self.rules, requirement, "no usable record", since, None)
        })
        .collect()
    }

    /// The runs that have begun and not ended. Where others do not count, open ones do not.
    fn open_reasons(&self) -> Vec<Reason> {
        let open = self.open_runs.iter().filter_map(|intent| {
            let id = intent
                .get("command_id")
                .and_then(Value::as_str)
                .unwrap_or_default();
            // A runner that is alive has not written its record; whoever did, it was another.
            if self.seen.contains_key(id) && !self.running.contains(id) {
                return None;
            }
            let run = entry::read_intent(intent).filter(|run| run.command.is_some());
            if run
                .as_ref()
                .is_some_and(|run| self.is_of_another_project(run))
            {
                return None;
            }
            let claim = run.map(|run| Claim::of(&self.policy, &self.folder, &run, None));
            let counts = claim.is_none_or(|claim| evidence::counts(&self.policy, claim.meets));
            counts.then(|| open_run(intent, id))
        });
        open.collect()
    }
}

/// What the requirements make of the runs.
#[derive(Default)]
struct Required {
    /// For the place of a success: why it is no evidence.
    lacking: HashMap<usize, Finding>,
    never_run: Vec<Reason>,
    met: Vec<(usize, Evidence)>,
}

/// A run that has begun and is not in the store. One that is has ended after all.
fn open_run(intent: &Value, id: &str) -> Reason {
    let command: Vec<String> = intent
        .get("command")
        .and_then(Value::as_array)
        .map(|list| {
            list.iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        })
        .unwrap_or_default();
    let named = shown::named(id);
    let message = format!(
        "`{}` {named} has begun and not ended",
        shown::command(&command)
    );
    Reason::new(ReasonCode::OpenRun, &shown::id(id), message)
}
