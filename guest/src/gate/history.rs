//! The runs of a store as stories: what a new run would retry, and every attempt of a chain.
//!
//! It keeps what a chain shows of each run, never an excerpt, and it gives no verdict.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::entry::{self, Entry, Run};
use super::fingerprint::{self, Same};
use super::judge;
use super::review::{Review, Stood};
use super::shown;
use crate::document;
use crate::fault::Fault;
use crate::policy::Policy;
use crate::record;

/// The time of a review that finds nothing to be in the future.
const ANY_TIME: &str = r#"{"now":"9999-12-31T23:59:59.999Z","folder":""}"#;

/// The runs of a store, given one at a time, oldest first.
#[derive(Debug)]
pub struct History {
    review: Review,
    runs: Vec<Told>,
    known: HashMap<String, usize>,
}

/// What is kept of a run.
#[derive(Debug)]
struct Told {
    shown: Shown,
    same: Option<Same>,
    /// Its place in the review. An exploration has none.
    place: Option<usize>,
    /// The run that it retries.
    parent: Option<usize>,
}

/// A run as a chain shows it. Its keys are those of its record.
#[derive(Debug, Serialize)]
struct Shown {
    command_id: String,
    parent_command_id: Option<String>,
    attempt: u64,
    command: Vec<String>,
    cwd: Option<String>,
    agent_note: Option<String>,
    started_at: Option<String>,
    duration_ms: Option<u64>,
    outcome: Option<&'static str>,
    exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    exploration: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_signature: Option<String>,
}

/// A run that is about to begin, beside what its intent will say.
#[derive(Debug, Deserialize)]
struct Asked {
    #[serde(default)]
    retry: Option<bool>,
    #[serde(default)]
    exploration: Option<bool>,
    #[serde(default)]
    attempt: Option<u64>,
    #[serde(default)]
    parent_command_id: Option<String>,
}

impl History {
    /// Starts without any run.
    ///
    /// # Errors
    /// Never in practice: the facts are our own.
    pub fn start(policy: &Policy) -> Result<Self, Fault> {
        Ok(Self {
            review: Review::start(policy, ANY_TIME)?,
            runs: Vec::new(),
            known: HashMap::new(),
        })
    }

    /// Takes the next line of the store, oldest first. What is no run is passed over.
    pub fn consider(&mut self, line: &str) {
        let before = self.review.len();
        match entry::read(line) {
            Entry::Run(run) => {
                self.review.consider(line);
                if self.review.len() > before {
                    self.remember(*run, Some(before));
                }
            }
            Entry::Exploration(run) => {
                let is_sound = judge::contradictions(&run).contradictions.is_empty();
                if is_sound && !self.known.contains_key(&run.command_id) {
                    self.remember(*run, None);
                }
            }
            Entry::Notice | Entry::Unusable(_) => {}
        }
    }

    /// Says what a run that is about to begin retries, and whether it may begin.
    ///
    /// `request_json` is a request as `intend` takes it; with `"retry": true` the newest failed run
    /// of the same command in the same directory becomes its parent. The answer is
    /// `{ "parent_command_id", "attempt", "refusal" }`; `refusal` is null where nothing speaks
    /// against the run, otherwise a sentence.
    ///
    /// # Errors
    /// As `intend`.
    pub fn next(&self, policy: &Policy, request_json: &str) -> Result<String, Fault> {
        let asked: Asked = document::read("request", request_json)?;
        let intent = record::intend(policy, request_json)?;
        let run = entry::begun(&intent)?;
        let same = fingerprint::same(&run);
        let mut parent = asked.parent_command_id;
        let mut attempt = asked.attempt.unwrap_or(1);
        let mut refusal = None;
        if asked.retry == Some(true) {
            match self.newest_failure(&run, same) {
                Ok(found) => {
                    parent = Some(found.shown.command_id.clone());
                    attempt = found.shown.attempt.saturating_add(1);
                }
                Err(why) => refusal = Some(why),
            }
        }
        if asked.exploration != Some(true) {
            refusal = refusal.or_else(|| self.blind_retry(policy, same));
        }
        let answer = json!({
            "parent_command_id": parent, "attempt": attempt, "refusal": refusal,
        });
        document::write("answer", &answer)
    }

    /// Returns the chain that a run belongs to, oldest first, or the newest one for the empty text:
    /// `{ "chain": [ … ] }`. Each has the keys of its record that tell how it went, and `standing`
    /// (`success`, `failed`, `distrusted`, `exploration`), `reasons`, `same_failure_as` (the
    /// newest earlier attempt that failed in the same way) and `made_up_for_by`.
    /// The list is empty where there is no such run.
    #[must_use]
    pub fn chain(&self, id: &str) -> String {
        let newest = || self.runs.iter().rposition(|run| run.place.is_some());
        let start = if id.is_empty() {
            newest()
        } else {
            self.known.get(id).copied()
        };
        let members = start.map_or_else(Vec::new, |start| self.members(start));
        let shown: Vec<Value> = members
            .iter()
            .filter_map(|member| self.show(*member, &members))
            .collect();
        document::shown(&json!({ "chain": shown }))
    }

    fn remember(&mut self, run: Run, place: Option<usize>) {
        let same = fingerprint::same(&run);
        let id = shown::id(&run.command_id);
        let parent = run.parent_command_id.as_ref();
        let parent = parent.and_then(|parent| self.known.get(parent)).copied();
        let line = |text: Option<String>| text.map(|text| shown::text(&text));
        self.known.insert(run.command_id, self.runs.len());
        self.runs.push(Told {
            shown: Shown {
                command_id: id,
                parent_command_id: run.parent_command_id.map(|id| shown::id(&id)),
                attempt: run.attempt.unwrap_or(1),
                command: run.command.unwrap_or_default(),
                cwd: run.cwd,
                agent_note: line(run.agent_note),
                started_at: line(run.started_at),
                duration_ms: run.duration_ms,
                outcome: run.outcome.map(crate::outcome::OutcomeKind::as_str),
                exit_code: run.exit_code,
                error: line(run.error),
                exploration: run.exploration,
                failure_signature: run.failure_signature,
            },
            same,
            place,
            parent,
        });
    }

    fn newest_failure(&self, run: &Run, same: Option<Same>) -> Result<&Told, String> {
        let named = shown::command(run.command.as_deref().unwrap_or_default());
        let cwd = shown::text(run.cwd.as_deref().unwrap_or_default());
        if same.is_none() {
            return Err(format!(
                "what `{named}` would retry is not known, since its command or directory is redacted or too long; name the attempt with `--parent ID`"
            ));
        }
        let failed = |told: &&Told| {
            told.same == same
                && told.place.is_some_and(|place| {
                    self.review.stood(place) == Some(Stood::Failed)
                        && self.review.told(place).1.is_none()
                })
        };
        self.runs.iter().rev().find(failed).ok_or_else(|| {
            format!("there is no failed run of `{named}` in `{cwd}` to retry that nothing has made up for; leave `--retry` out")
        })
    }

    /// A retry is blind where the same failure came as often as is allowed and nothing else was
    /// run since.
    fn blind_retry(&self, policy: &Policy, same: Option<Same>) -> Option<String> {
        let most = policy.gate.max_same_failures?.get();
        let same = same?;
        let newest = self.runs.last().filter(|told| told.same == Some(same))?;
        let times = self.review.repeated(newest.place?);
        (times >= most).then(|| {
            let named = shown::command(&newest.shown.command);
            let id = &newest.shown.command_id;
            format!(
                "`{named}` failed in the same way {times} times in a row, the last time in `{id}`, and nothing else was run since; read that record, look for the cause with `--explore`, or run something else (`gate.max_same_failures` is {most})"
            )
        })
    }

    /// Every run that is joined to this one by parents, in store order.
    fn members(&self, start: usize) -> Vec<usize> {
        let mut root = start;
        // A parent always stands earlier, so this comes to an end.
        while let Some(parent) = self.runs.get(root).and_then(|run| run.parent) {
            root = parent;
        }
        let mut joined = HashSet::new();
        let is_member = |(place, run): &(usize, &Told)| {
            let joins = run.parent.is_some_and(|parent| joined.contains(&parent));
            let is_member = *place == root || joins;
            is_member && joined.insert(*place)
        };
        let members = self.runs.iter().enumerate().filter(is_member);
        members.map(|(place, _)| place).collect()
    }

    fn show(&self, member: usize, members: &[usize]) -> Option<Value> {
        let told = self.runs.get(member)?;
        let mut shown = serde_json::to_value(&told.shown).ok()?;
        let keys = shown.as_object_mut()?;
        let signature = told.shown.failure_signature.as_ref();
        let earlier = members.iter().rev().filter(|other| **other < member);
        let again = earlier
            .filter_map(|other| self.runs.get(*other))
            .find(|other| {
                signature.is_some() && other.shown.failure_signature.as_ref() == signature
            });
        if let Some(again) = again {
            keys.insert("same_failure_as".to_owned(), json!(again.shown.command_id));
        }
        let standing = match told.place {
            None => "exploration",
            Some(place) => {
                let (reasons, by) = self.review.told(place);
                keys.insert("reasons".to_owned(), json!(reasons));
                if let Some(by) = by {
                    keys.insert("made_up_for_by".to_owned(), json!(by));
                }
                self.review.stood(place)?.as_str()
            }
        };
        keys.insert("standing".to_owned(), json!(standing));
        Some(shown)
    }
}
