//! Which runs a task requires, and whether they are evidence.
//!
//! It does not judge how a run ended; that is done before, for every run alike.

use std::rc::Rc;

use super::GatePolicy;
use super::Others;
use super::entry::Run;
use super::freshness::Declared;
use super::judge::{Finding, Judgement};
use super::shown;
use super::verdict::{Reason, ReasonCode};
use crate::redact::{Rules, redact, redact_args};
use crate::requirement::Requirement;
use crate::timestamp::Timestamp;

/// What a run is evidence for, and what it rests on.
#[derive(Debug)]
pub(super) struct Claim {
    /// The place of the requirement that it meets.
    pub(super) meets: Option<usize>,
    /// It was started under just that requirement: its expectations were declared before the
    /// run, and paths were compared without symbolic links.
    pub(super) declared: bool,
    /// It was started under this requirement by its name, but as it was written before.
    pub(super) reworded: bool,
    /// The name of the requirement that it was started under, where it meets none now.
    pub(super) outgrown: Option<String>,
    /// The files that it depends on.
    pub(super) inputs: Option<Declared>,
}

impl Claim {
    /// Reads what a run claims. `folder` is that of the policy.
    pub(super) fn of(
        policy: &GatePolicy,
        folder: &str,
        run: &Run,
        started: Option<Timestamp>,
    ) -> Self {
        let mark = run.requirement.as_ref();
        let is_marked = |requirement: &Requirement| {
            mark.is_some_and(|mark| {
                mark.name.as_ref() == Some(&requirement.name)
                    && mark.digest.as_ref() == Some(&requirement.digest(&policy.inputs, folder))
            })
        };
        let marked = policy.requirements.iter().position(is_marked);
        let meets = marked.or_else(|| looks_like(policy, folder, run));
        let met = meets.and_then(|place| policy.requirements.get(place));
        let named = mark.and_then(|mark| mark.name.as_ref());
        Self {
            meets,
            declared: marked.is_some(),
            reworded: marked.is_none()
                && met.is_some_and(|requirement| named == Some(&requirement.name)),
            outgrown: named
                .filter(|_| meets.is_none())
                .map(|name| shown::id(name)),
            inputs: Declared::of(run, started),
        }
    }
}

/// The first requirement that the command and the directory of a run fit, as they are written.
fn looks_like(policy: &GatePolicy, folder: &str, run: &Run) -> Option<usize> {
    let (command, cwd) = (run.command.as_ref()?, run.cwd.as_ref()?);
    let mut requirements = policy.requirements.iter();
    requirements.position(|requirement| requirement.fits(folder, cwd, command))
}

/// Returns whether a run counts, where it meets this requirement or none.
pub(super) fn counts(policy: &GatePolicy, meets: Option<usize>) -> bool {
    let all = match policy.others {
        Others::Ignore => policy.requirements.is_empty(),
        Others::Refuse => true,
    };
    all || meets.is_some()
}

/// Says why a success is no evidence for its requirement.
pub(super) fn lacking(
    requirement: &Requirement,
    claim: &Claim,
    started: Option<Timestamp>,
    now: Timestamp,
) -> Option<Finding> {
    let name = &requirement.name;
    if !claim.declared {
        let what = format!("was not started under the requirement `{name}` as it is written now");
        let code = ReasonCode::UnmetExpectation;
        return Some(Finding { code, what });
    }
    let limit = requirement.max_age?;
    let age = started.map(|started| now.millis_after(started));
    let allowed = i64::try_from(limit.0).unwrap_or(i64::MAX);
    if age.is_some_and(|age| age <= allowed) {
        return None;
    }
    let what = format!("is older than the {limit} that the requirement `{name}` allows");
    let code = ReasonCode::Stale;
    Some(Finding { code, what })
}

/// Judges the exit code by the requirement, whatever else the run was told to take for success.
pub(super) fn judge_code(requirement: &Requirement, run: &Run, judgement: &mut Judgement) {
    let Some(code) = run
        .exit_code
        .filter(|code| !requirement.expect.allow_code(*code))
    else {
        return;
    };
    if judgement.failures.is_empty() {
        let name = &requirement.name;
        let what =
            format!("exited with code {code}, which is no success for the requirement `{name}`");
        judgement.fails(ReasonCode::NonZeroExit, what);
    }
}

/// What to do about a success that was not started under its requirement.
pub(super) const DECLARE: &str =
    "run the same command again with `feedback run`, which declares beforehand what is required";

/// The reason where nothing was ever run: `what` is what is missing.
///
/// `near` names the run that comes nearest.
pub(super) fn no_record(
    rules: &Rc<Rules>,
    requirement: &Requirement,
    what: &str,
    since: bool,
    near: Option<&str>,
) -> Reason {
    let (command, _) = redact_args(rules, requirement.command.source());
    let command = shown::command(&command);
    let place = match requirement.cwd.source() {
        "." => String::new(),
        folder => format!(" in `{}`", shown::text(&redact(rules, folder).0)),
    };
    let since = if since { " since then" } else { "" };
    let near = near.map_or_else(String::new, |near| format!("; the nearest is {near}"));
    let message = format!(
        "{what} of `{command}`{place}, which the requirement `{}` asks for{since}{near}",
        requirement.name
    );
    Reason::new(ReasonCode::NeverRun, "", message).for_requirement(&requirement.name)
}
