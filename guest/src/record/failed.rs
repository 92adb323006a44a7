//! How a run failed, in few words, where it did: the first part of its signature.
//!
//! Whether a run counts is the gate's to say; here only two failures are told apart.

use super::ending::Stage;
use super::expectation::{self, Judged};
use crate::outcome::{Cause, Outcome};

/// The number of SIGPIPE, which is no failure in a stage that is not the last.
const SIGPIPE: i32 = 13;
/// What a shell makes of it.
const SIGPIPE_STATUS: i32 = 128 + SIGPIPE;

/// What a run that could not be started was to be: no output tells one such failure from another.
pub(super) struct NotBegun<'a> {
    /// The first argument, redacted.
    pub(super) program: &'a str,
    /// The working directory, redacted.
    pub(super) cwd: &'a str,
}

/// Says how the run failed. Nothing where the command exited as it should, with every
/// expectation met and every stage at its end. `what` is what would have been started.
pub(super) fn ending(
    what: &NotBegun<'_>,
    outcome: &Outcome,
    stages: &[Stage],
    judged: &[Judged],
) -> Option<String> {
    let mut parts = Vec::new();
    match outcome {
        Outcome::Exited { code } => {
            if *code != 0 && !expectation::names_the_code(judged) {
                parts.push(format!("exited {code}"));
            }
        }
        Outcome::Signaled { signal, .. } => parts.push(format!("signaled {signal}")),
        Outcome::TimedOut { limit, .. } => parts.push(format!("timed out {limit:?}")),
        Outcome::Cancelled { signal, .. } => parts.push(format!("cancelled {signal}")),
        Outcome::NotStarted { cause, .. } => {
            let named = if *cause == Cause::CwdNotFound {
                what.cwd
            } else {
                what.program
            };
            parts.push(format!("not started {cause:?} {named}"));
        }
        Outcome::RunnerDied => parts.push("runner died".to_owned()),
    }
    parts.extend(stages_that_failed(outcome, stages, judged));
    if !expectation::all_held(judged) {
        parts.extend(expectation::unmet(judged));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The stages that the gate would name under its default policy.
fn stages_that_failed(outcome: &Outcome, stages: &[Stage], judged: &[Judged]) -> Vec<String> {
    let expected = outcome
        .exit_code()
        .filter(|_| expectation::names_the_code(judged));
    let succeeded = |stage: &Stage| stage.exit_code == Some(0) && stage.signal.is_none();
    let ends_well = |stage: &Stage| {
        succeeded(stage)
            || (expected.is_some() && stage.exit_code == expected && stage.signal.is_none())
    };
    let forgiven = stages.last().is_some_and(ends_well);
    let broke = |stage: &Stage| match (stage.exit_code, stage.signal) {
        (None, Some(signal)) => signal == SIGPIPE,
        (Some(code), None) => code == SIGPIPE_STATUS,
        (Some(_), Some(_)) | (None, None) => false,
    };
    let last = stages.len().saturating_sub(1);
    let failed = stages.iter().enumerate().filter(|(place, stage)| {
        if *place == last {
            !ends_well(stage)
        } else {
            !(succeeded(stage) || (forgiven && broke(stage)))
        }
    });
    failed
        .map(|(place, stage)| format!("stage {place} {:?} {:?}", stage.exit_code, stage.signal))
        .collect()
}
