//! The opinion on one run: what failed in it, and what in it cannot be.
//!
//! It does not look at other runs; a later success is the review's matter.

use super::entry::{Run, Stage};
use super::expected;
use super::freshness;
use super::shown;
use super::verdict::ReasonCode;
use super::{GatePolicy, Sigpipe};
use crate::outcome::OutcomeKind;
use crate::timestamp::Timestamp;

/// The number of SIGPIPE, and what a shell makes of it.
const SIGPIPE: i64 = 13;
const SIGPIPE_STATUS: i64 = 128 + SIGPIPE;

/// One thing that speaks against a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) code: ReasonCode,
    /// Goes on after the command and the id.
    pub(super) what: String,
}

/// Everything that speaks against a run. Success is that there is nothing.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    /// What a later success can make up for.
    pub(super) failures: Vec<Finding>,
    /// What no later run can make up for: the record itself cannot be trusted.
    pub(super) contradictions: Vec<Finding>,
}

impl Judgement {
    /// Returns both kinds, the failures first.
    pub(super) fn into_findings(self) -> impl Iterator<Item = Finding> {
        self.failures.into_iter().chain(self.contradictions)
    }

    pub(super) fn fails(&mut self, code: ReasonCode, what: impl Into<String>) {
        self.failures.push(Finding {
            code,
            what: what.into(),
        });
    }

    pub(super) fn contradicts(&mut self, what: impl Into<String>) {
        self.contradictions.push(Finding {
            code: ReasonCode::ContradictoryRecord,
            what: what.into(),
        });
    }
}

/// Judges one run.
pub(super) fn judge(policy: &GatePolicy, run: &Run) -> Judgement {
    let mut judgement = Judgement::default();
    if run.fallback {
        judgement.fails(
            ReasonCode::FallbackRecord,
            "has only the fallback for a record",
        );
        return judgement;
    }
    judge_outcome(run, &mut judgement);
    judge_stages(policy, run, &mut judgement);
    expected::judge(run, &mut judgement);
    freshness::judge(run, &mut judgement);
    if let Some(required) = &policy.require_component
        && run.component.as_ref() != Some(required)
    {
        judgement.fails(
            ReasonCode::UnknownComponent,
            "was recorded by another component than the policy requires",
        );
    }
    find_contradictions(run, &mut judgement);
    judgement
}

/// Returns what in a run that only explores cannot be. Nothing else in it is judged.
pub(super) fn contradictions(run: &Run) -> Judgement {
    let mut judgement = Judgement::default();
    find_contradictions(run, &mut judgement);
    if run.failure_signature.is_some() || run.expectations.is_some() {
        judgement.contradicts("says that it only explores, and was judged");
    }
    judgement
}

/// Gives every outcome its opinion. A code beside another outcome than `exited` changes
/// nothing here; it is found as a contradiction.
fn judge_outcome(run: &Run, judgement: &mut Judgement) {
    let Some(outcome) = run.outcome else {
        return judgement.contradicts("has no `outcome`");
    };
    let because = run.error.as_deref().map(shown::text);
    let (code, default) = match outcome {
        OutcomeKind::Exited => return judge_exit(run, judgement),
        OutcomeKind::Signaled => (ReasonCode::Signaled, "was killed by a signal"),
        OutcomeKind::TimedOut => (ReasonCode::TimedOut, "timed out"),
        OutcomeKind::Cancelled => (ReasonCode::Cancelled, "was cancelled"),
        OutcomeKind::NotStarted => (ReasonCode::NotStarted, "could not be started"),
        OutcomeKind::RunnerDied => (ReasonCode::RunnerDied, "has no end"),
    };
    let what = match because {
        Some(because) => format!("has no exit code: {because}"),
        None => default.to_owned(),
    };
    judgement.fails(code, what);
}

fn judge_exit(run: &Run, judgement: &mut Judgement) {
    match run.exit_code {
        Some(0) => {}
        // Another code is success only where it was named before the run.
        Some(_) if expected::names_the_code(run) => {}
        Some(code) => judgement.fails(ReasonCode::NonZeroExit, format!("exited with code {code}")),
        None => judgement.contradicts("says `exited` and has no exit code"),
    }
}

/// Every stage must succeed: the code of a pipeline is only that of its last stage.
fn judge_stages(policy: &GatePolicy, run: &Run, judgement: &mut Judgement) {
    let stages = run.stages.as_deref().unwrap_or_default();
    // The code of the last stage is that of the run.
    let is_expected = |stage: &Stage| {
        stage.signal.is_none() && stage.exit_code == run.exit_code && expected::names_the_code(run)
    };
    let ends_well = |stage: &Stage| succeeded(stage) || is_expected(stage);
    let last_succeeded = stages.last().is_some_and(ends_well);
    let forgiven = policy.sigpipe == Sigpipe::Allow && last_succeeded;
    for (place, stage) in stages.iter().enumerate() {
        let is_last = place + 1 == stages.len();
        let is_fine = if is_last {
            ends_well(stage)
        } else {
            succeeded(stage) || (forgiven && broke_its_pipe(stage))
        };
        if is_fine {
            continue;
        }
        let name = stage.command.as_deref().map(shown::text);
        let name = name.map_or_else(String::new, |name| format!(" `{name}`"));
        let how = match (stage.exit_code, stage.signal) {
            (_, Some(signal)) => format!("was killed by signal {signal}"),
            (Some(code), None) => format!("exited with code {code}"),
            (None, None) => "has no exit code".to_owned(),
        };
        let what = format!("hides a failure: stage {}{name} {how}", place + 1);
        judgement.fails(ReasonCode::StageFailed, what);
    }
    if run
        .clamped
        .as_ref()
        .is_some_and(|clamped| clamped.contains_key("stages"))
    {
        let what = "has more stages than its record holds";
        judgement.fails(ReasonCode::StageFailed, what);
    }
}

fn succeeded(stage: &Stage) -> bool {
    stage.exit_code == Some(0) && stage.signal.is_none()
}

fn broke_its_pipe(stage: &Stage) -> bool {
    match (stage.exit_code, stage.signal) {
        (None, Some(signal)) => signal == SIGPIPE,
        (Some(code), None) => code == SIGPIPE_STATUS,
        (Some(_), Some(_)) | (None, None) => false,
    }
}

/// Finds what no runner writes, so that an edited record does not pass.
fn find_contradictions(run: &Run, judgement: &mut Judgement) {
    let exited = run.outcome == Some(OutcomeKind::Exited);
    let signaled = run.outcome == Some(OutcomeKind::Signaled);
    let died = run.outcome == Some(OutcomeKind::RunnerDied);
    let name = run.outcome.map_or("no outcome", OutcomeKind::as_str);
    let detail = run
        .outcome_detail
        .as_ref()
        .is_some_and(|keys| !keys.is_empty());
    let claims = [
        (
            !exited && run.exit_code.is_some(),
            "has an exit code beside",
        ),
        (!signaled && run.signal.is_some(), "has a signal beside"),
        (signaled && run.signal.is_none(), "has no signal beside"),
        (exited && run.error.is_some(), "has an error beside"),
        (!exited && run.error.is_none(), "has no error beside"),
        (exited && detail, "has an outcome detail beside"),
        (died && run.duration_ms.is_some(), "has a duration beside"),
        (!died && run.duration_ms.is_none(), "has no duration beside"),
    ];
    for (_, claim) in claims.into_iter().filter(|(holds, _)| *holds) {
        judgement.contradicts(format!("{claim} `{name}`"));
    }
    let no_command = run.command.as_ref().is_none_or(Vec::is_empty);
    let started = run.started_at.as_deref().and_then(Timestamp::parse);
    let gaps = [
        (no_command, "command"),
        (run.cwd.is_none(), "cwd"),
        (started.is_none(), "started_at"),
        (run.stdout_tail.is_none(), "stdout_tail"),
        (run.stderr_tail.is_none(), "stderr_tail"),
    ];
    for (_, key) in gaps.into_iter().filter(|(holds, _)| *holds) {
        judgement.contradicts(format!("has no usable `{key}`"));
    }
    let signature = run.failure_signature.as_deref();
    if signature.is_some_and(|signature| !is_signature(signature)) {
        judgement.contradicts("has no usable `failure_signature`");
    }
    if signature.is_some() && judgement.failures.is_empty() && !run.exploration {
        judgement.contradicts("has a failure signature beside a success");
    }
    if run.parent_command_id.as_deref() == Some(run.command_id.as_str()) {
        judgement.contradicts("says that it retries itself");
    }
}

fn is_signature(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 16 && text.bytes().all(is_digit)
}
