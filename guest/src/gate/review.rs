//! The verdict over many records: chains of attempts, and what later runs make up for.
//!
//! It keeps a few hundred bytes of each run, never an excerpt.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde::Deserialize;
use serde_json::Value;

use super::GatePolicy;
use super::entry::{self, Entry, Run};
use super::fingerprint::{self, Content, Same};
use super::judge::{Finding, judge};
use super::shown;
use super::verdict::{Reason, ReasonCode, Verdict};
use crate::document;
use crate::fault::{Fault, FaultCode};
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
    /// The newest attempt of every chain.
    chains: Vec<usize>,
    /// For every id: its content, and its attempt.
    seen: HashMap<String, (Content, usize)>,
    /// For every exactly known command and directory: its newest success.
    successes: HashMap<Same, usize>,
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
            damage: damage.map(|reason| (0, reason)).collect(),
        })
    }

    /// Takes the next line of the store, oldest first.
    pub fn consider(&mut self, line: &str) {
        match entry::read(line) {
            Entry::Run(run) => self.consider_run(&run, fingerprint::content(line)),
            Entry::Notice | Entry::Exploration => {}
            Entry::Unusable(reason) => self.damage.push((self.attempts.len(), reason)),
        }
    }

    /// Decides.
    #[must_use]
    pub fn conclude(self) -> Verdict {
        let mut reasons = self.damage.into_iter().peekable();
        let mut all = Vec::new();
        let mut superseded = Vec::new();
        for (place, attempt) in self.attempts.iter().enumerate() {
            while let Some((_, reason)) = reasons.next_if(|(before, _)| *before <= place) {
                all.push(reason);
            }
            let Standing::Failed(findings) = &attempt.standing else {
                continue;
            };
            match made_up_for(&self.attempts, &self.chains, &self.successes, place) {
                Some(by) => superseded.push(superseded_line(attempt, findings, by)),
                None if self.chains.get(attempt.chain) == Some(&place) => {
                    all.extend(findings.iter().map(|finding| attempt.reason(finding)));
                }
                // Its chain went on, and the newest attempt speaks for all of it.
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
        let chain = self.join_chain(run, place);
        self.attempts.push(Attempt {
            command_id: shown::id(&run.command_id),
            named: shown::named_run(run),
            chain,
            same,
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
    /// was retried, and could go in a circle. An attempt whose parent was rotated away starts
    /// its own chain.
    fn join_chain(&mut self, run: &Run, place: usize) -> usize {
        let parent = run.parent_command_id.as_ref();
        let parent = parent
            .and_then(|id| self.seen.get(id))
            .map(|(_, place)| *place);
        let chain = parent
            .and_then(|parent| self.attempts.get(parent))
            .map(|parent| parent.chain);
        if let Some(chain) = chain
            && let Some(newest) = self.chains.get_mut(chain)
        {
            *newest = place;
            return chain;
        }
        self.chains.push(place);
        self.chains.len() - 1
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
    fn reason(&self, finding: &Finding) -> Reason {
        let message = format!("{} {}", self.named, finding.what);
        Reason::new(finding.code, &self.command_id, message)
    }
}

/// The success that makes up for the failed attempt at `place`: the newest attempt of its
/// chain, or else a later run of the very same command as that newest attempt.
fn made_up_for<'a>(
    attempts: &'a [Attempt],
    chains: &[usize],
    successes: &HashMap<Same, usize>,
    place: usize,
) -> Option<&'a Attempt> {
    let newest_place = *chains.get(attempts.get(place)?.chain)?;
    let newest = attempts.get(newest_place)?;
    match newest.standing {
        Standing::Success => Some(newest),
        Standing::Distrusted => None,
        Standing::Failed(_) => {
            let later_place = *successes.get(&newest.same?)?;
            let later = attempts.get(later_place)?;
            let is_later = later_place > newest_place && later.started >= newest.started;
            is_later.then_some(later)
        }
    }
}

fn superseded_line(attempt: &Attempt, findings: &[Finding], by: &Attempt) -> String {
    let what: Vec<&str> = findings
        .iter()
        .map(|finding| finding.what.as_str())
        .collect();
    format!(
        "{} {}; made up for by {}",
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
