//! The verdict over many records: chains of attempts, and what later runs make up for.
//!
//! It keeps a few hundred bytes of each run, never an excerpt.

mod chains;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde::Deserialize;
use serde_json::Value;

use super::GatePolicy;
use super::asked::Asked;
use super::entry::{self, Entry, Run};
use super::evidence::{self, Claim};
use super::fingerprint::{self, Content, Program, Same};
use super::freshness::Sight;
use super::judge::{self, Finding, judge};
use super::repeat::Repeats;
use super::shown;
use super::since::Since;
use super::verdict::{Evidence, Reason, ReasonCode, Verdict};
use crate::document;
use crate::fault::{Fault, FaultCode};
use crate::outcome::OutcomeKind;
use crate::policy::Policy;
use crate::redact::{Rules, redact};
use crate::timestamp::Timestamp;

/// How far the clocks of two machines may be apart.
const TOLERANCE_MS: i64 = 5 * 60 * 1_000;

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

/// What is kept of a run.
#[derive(Debug)]
struct Attempt {
    command_id: String,
    named: String,
    chain: usize,
    same: Option<Same>,
    program: Option<Program>,
    /// Its command was never started, so that nothing of it was tried.
    never_started: bool,
    /// How often its failure has come in a row.
    repeated: u32,
    started: Option<Timestamp>,
    standing: Standing,
    claim: Claim,
    asked: Asked,
}

/// How a run stands by itself.
#[derive(Debug)]
enum Standing {
    Success,
    /// A later success can make up for it.
    Failed(Vec<Finding>),
    /// The record cannot be trusted; its reasons are kept as damage.
    Distrusted,
}

/// How a run stands by itself, without the reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stood {
    Success,
    Failed,
    Distrusted,
}

impl Stood {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Distrusted => "distrusted",
        }
    }
}

impl Review {
    /// Starts a review with what the host knows: `now`, `open_runs`, `running`, `damage`,
    /// `folder`, `since`.
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
            Entry::Exploration(run) => {
                let place = self.attempts.len();
                let wrong = judge::contradictions(&run).into_findings();
                let reasons = wrong.map(|finding| (place, shown::reason(&run, &finding)));
                self.damage.extend(reasons);
            }
            Entry::Unusable(reason) => self.damage.push((self.attempts.len(), reason)),
        }
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
            let missing = stale
                .get(&place)
                .into_iter()
                .chain(required.lacking.get(&place));
            all.extend(missing.map(|finding| self.reason(attempt, finding, "")));
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

    /// The successes that speak for their chain, that no later run of the very same command speaks
    /// for (and is judged itself, however it ended), and that are older than their inputs.
    fn stale(&self) -> HashMap<usize, Finding> {
        let key = |attempt: &Attempt| Some((attempt.same?, attempt.claim.meets));
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
            evidence::no_record(&self.rules, requirement, "no usable record", since)
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
            let claim = run.map(|run| Claim::of(&self.policy, &self.folder, &run, None));
            let counts = claim.is_none_or(|claim| evidence::counts(&self.policy, claim.meets));
            counts.then(|| open_run(intent, id))
        });
        open.collect()
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

    fn consider_run(&mut self, run: &Run, content: Content) {
        if let Some((known, _)) = self.seen.get(&run.command_id) {
            if *known != content {
                let what = "is in the store twice, with different content".to_owned();
                let code = ReasonCode::StoreDamaged;
                let reason = shown::reason(run, &Finding { code, what });
                self.damage.push((self.attempts.len(), reason));
            }
            return;
        }
        let place = self.attempts.len();
        let started = run.started_at.as_deref().and_then(Timestamp::parse);
        if let Some(since) = &mut self.since
            && !since.has_begun(&run.command_id, started)
        {
            return;
        }
        self.seen.insert(run.command_id.clone(), (content, place));
        let claim = Claim::of(&self.policy, &self.folder, run, started);
        let standing = self.stand(run, started, claim.meets);
        let same = fingerprint::same(run);
        if let (Standing::Success, Some(same)) = (&standing, same) {
            self.remember_success(same, place, started);
        }
        let parent = self.parent(run);
        let failed = matches!(standing, Standing::Failed(_));
        let signature = run.failure_signature.as_deref().filter(|_| failed);
        let repeated = self.repeats.count(place, parent, same, signature);
        let chain = self.join_chain(parent, place, claim.meets);
        self.attempts.push(Attempt {
            command_id: shown::id(&run.command_id),
            named: shown::named_run(run),
            chain,
            same,
            program: fingerprint::program(run),
            never_started: run.outcome == Some(OutcomeKind::NotStarted),
            repeated,
            started,
            standing,
            claim,
            asked: Asked::of(run),
        });
    }

    fn stand(&mut self, run: &Run, started: Option<Timestamp>, meets: Option<usize>) -> Standing {
        let mut judgement = judge(&self.policy, run);
        let required = meets.and_then(|place| self.policy.requirements.get(place));
        if let Some(requirement) = required {
            evidence::judge_code(requirement, run, &mut judgement);
        }
        if started.is_some_and(|started| started.millis_after(self.now) > TOLERANCE_MS) {
            let at = run
                .started_at
                .as_deref()
                .map(shown::text)
                .unwrap_or_default();
            judgement.contradictions.push(Finding {
                code: ReasonCode::FromTheFuture,
                what: format!("says that it began at {at}, which is later than now"),
            });
        }
        if !judgement.contradictions.is_empty() {
            let place = self.attempts.len();
            let reasons = judgement
                .into_findings()
                .map(|finding| (place, shown::reason(run, &finding)));
            self.damage.extend(reasons);
            return Standing::Distrusted;
        }
        if judgement.failures.is_empty() {
            Standing::Success
        } else {
            Standing::Failed(judgement.failures)
        }
    }

    /// Only an earlier line can be a parent: a link to a later one says nothing about what
    /// was retried, and could go in a circle.
    fn parent(&self, run: &Run) -> Option<usize> {
        let parent = run.parent_command_id.as_ref()?;
        self.seen.get(parent).map(|(_, place)| *place)
    }

    /// An attempt whose parent was rotated away starts its own chain. So does one that meets
    /// another requirement than its parent: a required run is made up for only by one that meets
    /// the same.
    fn join_chain(&mut self, parent: Option<usize>, place: usize, meets: Option<usize>) -> usize {
        let chain = parent
            .and_then(|parent| self.attempts.get(parent))
            .filter(|parent| parent.claim.meets == meets)
            .map(|parent| parent.chain);
        if let Some(chain) = chain
            && let Some(attempts) = self.chains.get_mut(chain)
        {
            attempts.push(place);
            return chain;
        }
        self.chains.push(vec![place]);
        self.chains.len() - 1
    }

    /// Of two successes the one that began later is newer, whichever ended first.
    fn remember_success(&mut self, same: Same, place: usize, started: Option<Timestamp>) {
        let began = |place: &usize| self.attempts.get(*place).and_then(|known| known.started);
        let known = self.successes.entry(same).or_default();
        let at = known.partition_point(|known| began(known) <= started);
        known.insert(at, place);
    }
}

impl Attempt {
    fn reason(&self, finding: &Finding, also: &str) -> Reason {
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

/// What the requirements make of the runs.
#[derive(Default)]
struct Required {
    /// For the place of a success: why it is no evidence.
    lacking: HashMap<usize, Finding>,
    never_run: Vec<Reason>,
    met: Vec<(usize, Evidence)>,
}

fn superseded_line(attempt: &Attempt, findings: &[Finding], by: &Attempt) -> String {
    let what: Vec<&str> = findings
        .iter()
        .map(|finding| finding.what.as_str())
        .collect();
    let other = if attempt.program == by.program {
        ""
    } else {
        ", which is another program"
    };
    format!(
        "{} {}; made up for by {}{other}",
        attempt.named,
        what.join(", and "),
        by.named
    )
}

fn damaged(rules: &Rc<Rules>, text: &str) -> Reason {
    // The text may quote a line that is no record, so nobody knows what is in it.
    let (clean, _) = redact(rules, text);
    Reason::new(ReasonCode::StoreDamaged, "", shown::text(&clean))
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
