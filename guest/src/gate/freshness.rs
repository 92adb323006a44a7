//! Whether the files that a run depends on are still those that it ran on.
//!
//! It digests nothing: a host tells what the files are now.

use std::collections::HashMap;
use std::rc::Rc;

use serde::Deserialize;

use super::entry::{Change, Inputs, Run};
use super::judge::{Finding, Judgement};
use super::shown;
use super::verdict::{Reason, ReasonCode};
use crate::outcome::OutcomeKind;
use crate::redact::{Rules, redact};
use crate::timestamp::Timestamp;

/// How many of the files that changed are named.
const NAMED: usize = 3;
/// The same for those that changed while the command ran, as many as a record names.
const NAMED_CHANGES: usize = 5;

/// Judges what the record alone shows: whether the inputs held still while the command ran.
pub(super) fn judge(run: &Run, judgement: &mut Judgement) {
    let Some(inputs) = &run.inputs else {
        return;
    };
    let named = inputs
        .patterns
        .as_ref()
        .is_some_and(|list| !list.is_empty());
    let Some(before) = inputs.before.as_ref().filter(|_| named) else {
        return judgement.contradicts("has inputs without a digest of them");
    };
    // Another outcome has its own reason, and nobody may have digested after it.
    if run.outcome != Some(OutcomeKind::Exited) {
        return;
    }
    let code = ReasonCode::ChangedDuringRun;
    match &inputs.after {
        Some(after) if after == before => {}
        Some(_) => {
            let which = changes(inputs);
            let what = format!("changed its inputs, or they changed, while it ran{which}");
            judgement.fails(code, what);
        }
        None => {
            let why = inputs.error.as_deref().map(shown::text);
            let why = why.map_or_else(String::new, |why| format!(": {why}"));
            judgement.fails(
                code,
                format!("has inputs that could not be read after it{why}"),
            );
        }
    }
}

/// The files that the record names. They were redacted when it was built.
fn changes(inputs: &Inputs) -> String {
    let named = inputs.changed.as_deref().unwrap_or_default();
    let of = |change: &Change| {
        let path = shown::text(change.path.as_deref()?);
        let how = shown::text(change.how.as_deref().unwrap_or("changed"));
        Some(format!("`{path}` {how}"))
    };
    let shown: Vec<String> = named.iter().take(NAMED_CHANGES).filter_map(of).collect();
    if shown.is_empty() {
        return String::new();
    }
    let untold = u64::try_from(named.len().saturating_sub(shown.len())).unwrap_or(u64::MAX);
    let more = match untold.saturating_add(inputs.changed_omitted.unwrap_or_default()) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!(": {}{more}", shown.join(", "))
}

/// What is kept of the inputs of a run.
#[derive(Debug)]
pub(super) struct Declared {
    /// Which files they are.
    pub(super) patterns: Vec<String>,
    folder: String,
    files: Option<u64>,
    digest: String,
    /// When the run was over.
    ended: Option<Timestamp>,
}

impl Declared {
    /// Returns the inputs of a run that has some.
    pub(super) fn of(run: &Run, started: Option<Timestamp>) -> Option<Self> {
        let Inputs {
            patterns,
            folder,
            files,
            after,
            ..
        } = run.inputs.as_ref()?;
        let ended = started.zip(run.duration_ms);
        Some(Self {
            patterns: patterns.clone()?,
            folder: folder.clone().unwrap_or_default(),
            files: *files,
            digest: after.clone()?,
            ended: ended.map(|(started, duration)| started.plus_millis(duration)),
        })
    }
}

/// Why a success is not known to be fresh.
#[derive(Debug)]
pub(super) enum Staleness {
    /// Its inputs are others now.
    Stale(String),
    /// None of its inputs is left.
    Gone(String),
    /// Its inputs cannot be read now, so that nobody can tell.
    Unknown(String),
}

impl Staleness {
    /// Returns what was found, for the reason.
    pub(super) fn finding(&self) -> Finding {
        let (Self::Stale(what) | Self::Gone(what) | Self::Unknown(what)) = self;
        Finding {
            code: ReasonCode::Stale,
            what: what.clone(),
        }
    }

    /// Returns the reason as one that refuses, or as one that leaves the question open.
    pub(super) fn weigh(&self, reason: Reason) -> Reason {
        match self {
            Self::Stale(_) => reason,
            Self::Gone(_) => reason.with_remedy(BRING_BACK),
            Self::Unknown(_) => reason.leaves_open().with_remedy(LET_READ),
        }
    }
}

/// What to do about inputs that are gone: another run would have none either.
const BRING_BACK: &str = "bring the files back and ask again, or name those that there are as `inputs` and run the same command again";

/// What to do about inputs that cannot be read.
const LET_READ: &str = "make them readable, or have that done by who may, and ask again; the run itself need not be repeated";

/// The files of one list of patterns, as they are now.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Observed {
    patterns: Vec<String>,
    /// Absent where they could not be digested.
    #[serde(default)]
    digest: Option<String>,
    #[serde(default)]
    files: Option<u64>,
    /// Why not.
    #[serde(default)]
    error: Option<String>,
    /// Those that changed last, the newest first.
    #[serde(default)]
    newest: Vec<Newest>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Newest {
    path: String,
    at: String,
}

/// What a host saw when it looked at the files.
#[derive(Debug, Default)]
pub(super) struct Sight {
    observed: HashMap<Vec<String>, Observed>,
    folder: String,
}

impl Sight {
    /// Reads `{ "folder", "inputs": [ … ] }`.
    pub(super) fn read(json: &str) -> Result<Self, crate::fault::Fault> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Seen {
            #[serde(default)]
            folder: String,
            inputs: Vec<Observed>,
        }
        let seen: Seen = crate::document::read("sight", json)?;
        let observed = seen.inputs.into_iter();
        Ok(Self {
            observed: observed.map(|seen| (seen.patterns.clone(), seen)).collect(),
            folder: seen.folder,
        })
    }

    /// Says how the inputs differ from what the run had. What nobody looked at is not fresh.
    pub(super) fn stale(&self, rules: &Rc<Rules>, declared: &Declared) -> Option<Staleness> {
        let names = shown::text(&declared.patterns.join(" "));
        let what = match self.observed.get(&declared.patterns) {
            None => {
                let what = format!("depends on files (`{names}`) that nobody looked at now");
                return Some(Staleness::Stale(what));
            }
            Some(seen) => match (&seen.digest, &seen.error) {
                (Some(digest), _) if *digest == declared.digest => return None,
                (Some(_), _) => self.difference(rules, declared, seen, &names),
                (None, error) => {
                    let (clean, _) = redact(rules, error.as_deref().unwrap_or("no reason given"));
                    let why = shown::text(&clean);
                    let elsewhere = self.elsewhere(declared);
                    // That no file is left is a change that was seen.
                    return Some(if seen.files == Some(0) {
                        Staleness::Gone(format!(
                            "depends on files (`{names}`) that are gone: {why}{elsewhere}"
                        ))
                    } else {
                        Staleness::Unknown(format!(
                            "depends on files (`{names}`) that cannot be read now, so that nobody can tell whether it is stale: {why}{elsewhere}"
                        ))
                    });
                }
            },
        };
        Some(Staleness::Stale(what))
    }

    /// Names files that changed after the run. Deleted ones are nowhere to be found, so where
    /// none is newer, only the numbers are told.
    fn difference(
        &self,
        rules: &Rc<Rules>,
        declared: &Declared,
        seen: &Observed,
        names: &str,
    ) -> String {
        let after = |newest: &&Newest| {
            let at = Timestamp::parse(&newest.at);
            at.zip(declared.ended).is_none_or(|(at, ended)| at >= ended)
        };
        let paths: Vec<String> = seen
            .newest
            .iter()
            .filter(after)
            .take(NAMED)
            .map(|newest| format!("`{}`", shown::text(&redact(rules, &newest.path).0)))
            .collect();
        let mut what = format!("is older than its inputs (`{names}`)");
        if !paths.is_empty() {
            what.push_str(&format!("; changed since: {}", paths.join(", ")));
        }
        match (declared.files, seen.files) {
            (Some(then), Some(now)) if then != now => {
                what.push_str(&format!("; {then} files then, {now} now"));
            }
            (Some(_) | None, Some(_) | None) => {}
        }
        what.push_str(&self.elsewhere(declared));
        what
    }

    /// Names the folder that the inputs were in, where that is another than the one looked in.
    fn elsewhere(&self, declared: &Declared) -> String {
        if declared.folder.is_empty() || declared.folder == self.folder {
            return String::new();
        }
        format!("; they were in `{}` then", shown::text(&declared.folder))
    }
}
