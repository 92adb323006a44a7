//! The verdict over many records: chains of attempts, and what later runs make up for.
//!
//! It keeps a few hundred bytes of each run, never an excerpt.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde::Deserialize;
use serde_json::Value;

use super::entry::{self, Entry, Run};
use super::fingerprint::{self, Content, Program, Same};
use super::judge::{self, Finding, judge};
use super::repeat::Repeats;
use super::shown;
use super::verdict::{Reason, ReasonCode, Verdict};
use super::{GatePolicy, Retry};
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
}

/// A verdict over many records, given one at a time.
#[derive(Debug)]
pub struct Review {
    policy: GatePolicy,
    now: Timestamp,
    open_runs: Vec<Value>,
    /// The attempts in store order.
    attempts: Vec<Attempt>,
    /// The attempts of every chain, oldest first.
    chains: Vec<Vec<usize>>,
    /// For every id: its content, and its attempt.
    seen: HashMap<String, (Content, usize)>,
    /// For every exactly known command and directory: its newest success.
    successes: HashMap<Same, usize>,
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

impl Review {
    /// Starts a review with what the host knows: `now`, `open_runs`, `damage`.
    ///
    /// # Errors
    /// `invalid-json` with the path of the key.
    pub fn start(policy: &Policy, facts_json: &str) -> Result<Self, Fault> {
        let facts: Facts = document::read("facts", facts_json)?;
        let Some(now) = Timestamp::parse(&facts.now) else {
            let message = "facts: `now`: expected an RFC 3339 time";
            return Err(Fault::new(FaultCode::InvalidJson, message));
        };
        let damage = facts.damage.unwrap_or_default();
        let damage = damage.iter().map(|text| damaged(&policy.redaction, text));
        Ok(Self {
            policy: policy.gate.clone(),
            now,
            open_runs: facts.open_runs.unwrap_or_default(),
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

    /// Decides.
    #[must_use]
    pub fn conclude(mut self) -> Verdict {
        let mut reasons = std::mem::take(&mut self.damage).into_iter().peekable();
        let mut all = Vec::new();
        let mut superseded = Vec::new();
        for (place, attempt) in self.attempts.iter().enumerate() {
            while let Some((_, reason)) = reasons.next_if(|(before, _)| *before <= place) {
                all.push(reason);
            }
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
                        .map(|finding| attempt.reason(finding, &other));
                    all.extend(reasons);
                    all.extend(self.same_failure(attempt));
                }
                // Its chain went on, and a later attempt speaks for it.
                None => {}
            }
        }
        all.extend(reasons.map(|(_, reason)| reason));
        let recorded: HashSet<&str> = self.seen.keys().map(String::as_str).collect();
        all.extend(
            self.open_runs
                .iter()
                .filter_map(|open| open_run(open, &recorded)),
        );
        let judged = u32::try_from(self.attempts.len()).unwrap_or(u32::MAX);
        Verdict::of(all, judged, superseded)
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
        self.seen.insert(run.command_id.clone(), (content, place));
        let started = run.started_at.as_deref().and_then(Timestamp::parse);
        let standing = self.stand(run, started);
        let same = fingerprint::same(run);
        if let (Standing::Success, Some(same)) = (&standing, same) {
            self.remember_success(same, place, started);
        }
        let parent = self.parent(run);
        let failed = matches!(standing, Standing::Failed(_));
        let signature = run.failure_signature.as_deref().filter(|_| failed);
        let repeated = self.repeats.count(place, parent, same, signature);
        let chain = self.join_chain(parent, place);
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
        });
    }

    fn stand(&mut self, run: &Run, started: Option<Timestamp>) -> Standing {
        let mut judgement = judge(&self.policy, run);
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

    /// An attempt whose parent was rotated away starts its own chain.
    fn join_chain(&mut self, parent: Option<usize>, place: usize) -> usize {
        let chain = parent
            .and_then(|parent| self.attempts.get(parent))
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

    /// The newest attempt of the chain that can speak for the attempt at `place`: itself, or a
    /// later one that tries the same.
    fn speaker(&self, place: usize) -> usize {
        let Some(attempt) = self.attempts.get(place) else {
            return place;
        };
        let chain = self
            .chains
            .get(attempt.chain)
            .map_or(&[][..], Vec::as_slice);
        let later = chain.iter().rev().take_while(|later| **later > place);
        let tries_the_same = |later: &&usize| {
            let later = self.attempts.get(**later);
            later.is_some_and(|later| self.tries_the_same(attempt, later))
        };
        let mut speakers = later.filter(tries_the_same);
        speakers.next().copied().unwrap_or(place)
    }

    /// Whether a later attempt of a chain tries again what an earlier one tried. Of a command
    /// that was never started nothing was tried, so that any correction does.
    fn tries_the_same(&self, earlier: &Attempt, later: &Attempt) -> bool {
        earlier.never_started
            || match self.policy.retry {
                Retry::SameCommand => earlier.same.is_some() && earlier.same == later.same,
                Retry::SameProgram => earlier.program.is_some() && earlier.program == later.program,
                Retry::AnyCommand => true,
            }
    }

    /// The success that makes up for a chain in which the attempt at `speaker` speaks: that
    /// attempt, or else a later run of the very same command.
    fn made_up_for(&self, speaker: usize) -> Option<&Attempt> {
        let newest = self.attempts.get(speaker)?;
        match newest.standing {
            Standing::Success => Some(newest),
            Standing::Distrusted => None,
            Standing::Failed(_) => {
                let later_place = *self.successes.get(&newest.same?)?;
                let later = self.attempts.get(later_place)?;
                let is_later = later_place > speaker && later.started >= newest.started;
                is_later.then_some(later)
            }
        }
    }

    /// Says that a chain went on with something else, which proves nothing of this attempt.
    fn other_retry(&self, place: usize) -> String {
        let attempt = self.attempts.get(place);
        let chain = attempt.and_then(|attempt| self.chains.get(attempt.chain));
        let newest = chain.and_then(|chain| chain.last());
        let newest = newest.filter(|newest| **newest > place);
        match newest.and_then(|newest| self.attempts.get(*newest)) {
            Some(newest) => {
                let named = &newest.named;
                format!("; its retry {named} is another command and does not make up for it")
            }
            None => String::new(),
        }
    }

    fn same_failure(&self, attempt: &Attempt) -> Option<Reason> {
        let most = self.policy.max_same_failures?.get();
        (attempt.repeated > most).then(|| {
            let times = attempt.repeated;
            let message = format!(
                "{} failed in the same way {times} times in a row; the policy allows {most}",
                attempt.named
            );
            Reason::new(ReasonCode::SameFailure, &attempt.command_id, message)
        })
    }

    /// Of two successes the one that began later is newer, whichever ended first.
    fn remember_success(&mut self, same: Same, place: usize, started: Option<Timestamp>) {
        let known = self
            .successes
            .get(&same)
            .and_then(|known| self.attempts.get(*known));
        if known.is_none_or(|known| known.started <= started) {
            self.successes.insert(same, place);
        }
    }
}

impl Attempt {
    fn reason(&self, finding: &Finding, also: &str) -> Reason {
        let message = format!("{} {}{also}", self.named, finding.what);
        Reason::new(finding.code, &self.command_id, message)
    }
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
fn open_run(intent: &Value, recorded: &HashSet<&str>) -> Option<Reason> {
    let id = intent
        .get("command_id")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if recorded.contains(id) {
        return None;
    }
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
    Some(Reason::new(ReasonCode::OpenRun, &shown::id(id), message))
}
