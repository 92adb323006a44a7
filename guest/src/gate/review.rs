//! The verdict over many records: chains of attempts, and what later runs make up for.
//!
//! It keeps a few hundred bytes of each run, never an excerpt.

mod attempt;
mod chains;
mod conclude;
mod intake;
mod set_aside;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde::Deserialize;
use serde_json::Value;

pub(super) use self::attempt::Stood;
use self::attempt::{Attempt, Standing};
use super::GatePolicy;
use super::entry::{self, Entry, Run};
use super::evidence;
use super::fingerprint::{self, Content, Same};
use super::freshness::Sight;
use super::judge;
use super::near::{Apart, NearMisses};
use super::repeat::Repeats;
use super::scope::Scope;
use super::shown;
use super::since::Since;
use super::verdict::{Reason, ReasonCode};
use crate::document;
use crate::fault::{Fault, FaultCode};
use crate::policy::Policy;
use crate::record;
use crate::redact::{Rules, redact};
use crate::timestamp::Timestamp;

/// What a host knows beside the records.
#[derive(Debug, Deserialize)]
struct Facts {
    now: String,
    #[serde(default)]
    open_runs: Option<Vec<Value>>,
    #[serde(default)]
    damage: Option<Vec<String>>,
    /// The ids of open runs whose runner is alive.
    #[serde(default)]
    running: Option<HashSet<String>>,
    /// The folder of the policy, without symbolic links.
    #[serde(default)]
    folder: Option<String>,
    /// Where evidence begins.
    #[serde(default)]
    since: Option<Since>,
    /// The project whose runs are judged, where others may keep their records in the same store:
    /// the folder of its policy.
    #[serde(default)]
    project: Option<String>,
}

/// A verdict over many records, given one at a time.
#[derive(Debug)]
pub struct Review {
    policy: GatePolicy,
    rules: Rc<Rules>,
    now: Timestamp,
    open_runs: Vec<Value>,
    running: HashSet<String>,
    folder: String,
    since: Option<Since>,
    /// The project, as it is and as a record shows it; none where every run is judged.
    project: Option<[String; 2]>,
    scope: Scope,
    near: NearMisses,
    sight: Sight,
    /// The attempts in store order.
    attempts: Vec<Attempt>,
    /// The attempts of every chain, oldest first.
    chains: Vec<Vec<usize>>,
    /// For every id: its content, and its attempt.
    seen: HashMap<String, (Content, usize)>,
    /// For every exactly known command and directory: its successes, the newest last.
    successes: HashMap<Same, Vec<usize>>,
    repeats: Repeats,
    /// What nothing can make up for, with the number of attempts that stood before it.
    damage: Vec<(usize, Reason)>,
}

impl Review {
    /// Starts a review with what the host knows: `now`, `open_runs`, `running`, `damage`,
    /// `folder`, `since`, `project`.
    ///
    /// # Errors
    /// `invalid-json` with the path of the key.
    pub fn start(policy: &Policy, facts_json: &str) -> Result<Self, Fault> {
        let facts: Facts = document::read("facts", facts_json)?;
        let Some(now) = Timestamp::parse(&facts.now) else {
            let message = "facts: `now`: expected an RFC 3339 time";
            return Err(Fault::new(FaultCode::InvalidJson, message));
        };
        if facts.folder.is_none() && !policy.gate.requirements.is_empty() {
            let message = "facts: `folder`: missing, and the policy has requirements";
            return Err(Fault::new(FaultCode::InvalidJson, message));
        }
        let damage = facts.damage.unwrap_or_default();
        let damage = damage.iter().map(|text| damaged(&policy.redaction, text));
        Ok(Self {
            policy: policy.gate.clone(),
            rules: Rc::clone(&policy.redaction),
            now,
            open_runs: facts.open_runs.unwrap_or_default(),
            running: facts.running.unwrap_or_default(),
            folder: facts.folder.unwrap_or_default(),
            since: facts.since,
            project: facts.project.map(|folder| {
                let named = record::project_name(&policy.redaction, &folder);
                [folder, named]
            }),
            scope: Scope {
                requirements: policy.gate.requirements.len(),
                ..Scope::default()
            },
            near: NearMisses::default(),
            sight: Sight::default(),
            attempts: Vec::new(),
            chains: Vec::new(),
            seen: HashMap::new(),
            successes: HashMap::new(),
            repeats: Repeats::default(),
            damage: damage.map(|reason| (0, reason)).collect(),
        })
    }

    /// Takes the next line of the store, oldest first.
    pub fn consider(&mut self, line: &str) {
        match entry::read(line) {
            Entry::Run(run) => self.consider_run(&run, fingerprint::content(line)),
            Entry::Notice => {}
            Entry::Exploration(run) => self.consider_exploration(&run),
            Entry::Unusable(reason) => self.damage.push((self.attempts.len(), reason)),
        }
    }

    fn consider_exploration(&mut self, run: &Run) {
        let place = self.attempts.len();
        let wrong = judge::contradictions(run).into_findings();
        let reasons = wrong.map(|finding| (place, shown::reason(run, &finding)));
        self.damage.extend(reasons);
        let started = run.started_at.as_deref().and_then(Timestamp::parse);
        let has_begun = self.since.as_mut();
        let has_begun = has_begun.is_none_or(|since| since.has_begun(&run.command_id, started));
        if self.is_of_another_project(run) {
            self.scope.other_projects += 1;
        } else if has_begun {
            self.scope.explorations += 1;
            let apart = Apart::Exploration;
            self.near.consider(&self.policy, &self.folder, run, apart);
        } else {
            self.scope.before_since += 1;
        }
    }

    /// Whether a run belongs to another project for certain. What does not say so counts, and so
    /// does one whose folder redaction has hidden, or which is what this project requires, where it
    /// requires it: a policy in a folder below must not take it away.
    fn is_of_another_project(&self, run: &Run) -> bool {
        let Some((own, named)) = self.project.as_ref().zip(run.project.as_ref()) else {
            return false;
        };
        !own.contains(named) && !named.contains("[REDACTED") && !self.is_required(run)
    }

    fn is_required(&self, run: &Run) -> bool {
        let Some((command, cwd)) = run.command.as_ref().zip(run.cwd.as_ref()) else {
            return false;
        };
        let mut requirements = self.policy.requirements.iter();
        requirements.any(|required| required.fits(&self.folder, cwd, command))
    }

    /// Returns what the verdict will not rest on, a JSON object: the keys of `Scope`, and
    /// `set_aside` where failures of requirements are not judged. To be asked once every line was
    /// taken.
    #[must_use]
    pub fn scope(&self) -> String {
        let judged = self.attempts.iter();
        let apart = judged.filter(|attempt| !evidence::counts(&self.policy, attempt.claim.meets));
        let scope = Scope {
            not_required: apart.count(),
            ..self.scope
        };
        let told = set_aside::Told {
            scope,
            set_aside: self.set_aside(),
        };
        serde_json::to_string(&told).unwrap_or_else(|_| "{}".to_owned())
    }

    /// Returns the input patterns that a host must look at before [`Self::conclude`], a list of
    /// lists: those of the successes that speak for a chain.
    #[must_use]
    pub fn needed_inputs(&self) -> String {
        let speaks = |(place, _): &(usize, &Attempt)| self.speaker(*place) == *place;
        let speakers = self.attempts.iter().enumerate().filter(speaks);
        let needed = speakers.map(|(_, attempt)| attempt).filter(|attempt| {
            matches!(attempt.standing, Standing::Success)
                && evidence::counts(&self.policy, attempt.claim.meets)
        });
        let mut lists: Vec<&[String]> = Vec::new();
        for inputs in needed.filter_map(|attempt| attempt.claim.inputs.as_ref()) {
            if !lists.contains(&inputs.patterns.as_slice()) {
                lists.push(&inputs.patterns);
            }
        }
        serde_json::to_string(&lists).unwrap_or_else(|_| "[]".to_owned())
    }

    /// Takes what a host saw when it looked at the inputs.
    ///
    /// # Errors
    /// `invalid-json` with the path of the key.
    pub fn see_inputs(&mut self, sight_json: &str) -> Result<(), Fault> {
        self.sight = Sight::read(sight_json)?;
        Ok(())
    }

    /// Returns how many runs were taken.
    pub(super) fn len(&self) -> usize {
        self.attempts.len()
    }

    /// Returns how the run at `place` stands by itself.
    pub(super) fn stood(&self, place: usize) -> Option<Stood> {
        self.attempts
            .get(place)
            .map(|attempt| match &attempt.standing {
                Standing::Success => Stood::Success,
                Standing::Failed(_) => Stood::Failed,
                Standing::Distrusted => Stood::Distrusted,
            })
    }

    /// Returns how often the failure of the run at `place` has come in a row.
    pub(super) fn repeated(&self, place: usize) -> u32 {
        self.attempts
            .get(place)
            .map_or(0, |attempt| attempt.repeated)
    }

    /// Returns what speaks against the run at `place`, and the id of the success that makes up
    /// for it.
    pub(super) fn told(&self, place: usize) -> (Vec<&str>, Option<&str>) {
        let Some(Standing::Failed(findings)) =
            self.attempts.get(place).map(|attempt| &attempt.standing)
        else {
            return (Vec::new(), None);
        };
        let by = self.made_up_for(self.speaker(place));
        let reasons = findings.iter().map(|finding| finding.what.as_str());
        (reasons.collect(), by.map(|by| by.command_id.as_str()))
    }
}

fn damaged(rules: &Rc<Rules>, text: &str) -> Reason {
    // The text may quote a line that is no record, so nobody knows what is in it.
    let (clean, _) = redact(rules, text);
    Reason::new(ReasonCode::StoreDamaged, "", shown::text(&clean))
}
