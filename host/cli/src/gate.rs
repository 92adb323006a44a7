//! `feedback gate`: says whether the records show that the work is done.

use std::process::ExitCode;

use clap::Args;
use feedback_host::component::{Component, Decision, ReasonCode, Verdict};
use feedback_host::lookup;
use feedback_host::project::Project;
use feedback_host::review::{ReviewError, review};
use feedback_host::run::Runner;
use feedback_host::scribe::ComponentScribe;
use serde_json::{Value, json};

use crate::failure::{self, Failure, PASS, REFUSE, UNDECIDED, of_store};
use crate::place::Place;
use crate::show::not_found;

/// Decide over the records: exit 0 pass, 1 refuse, 2 cannot decide
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Judge only the newest record: may the agent continue after it?
    #[arg(long)]
    last: bool,
    /// Print the verdict as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Prints the verdict.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (component, project) = arguments.place.open(Failure::undecided)?;
    let verdict = judge(component, project, arguments.last)?;
    let shown = if arguments.json {
        as_json(&verdict).to_string()
    } else {
        as_text(&verdict)
    };
    failure::answer(&shown)?;
    Ok(ExitCode::from(match verdict.decision {
        Decision::Pass => PASS,
        Decision::Refuse => REFUSE,
        Decision::Undecided => UNDECIDED,
    }))
}

/// Asks the component about the newest record, or about all.
pub(crate) fn judge(
    component: Component,
    project: Project,
    last: bool,
) -> Result<Verdict, Failure> {
    if !last {
        return review(&component, &project).map_err(|error| match error {
            ReviewError::Store(error) => Failure::undecided(of_store(&error)),
            error @ (ReviewError::Policy(_) | ReviewError::Call(_)) => Failure::undecided(error),
        });
    }
    let mut scribe = ComponentScribe::new(component.clone());
    let line = lookup::newest(&project.record_file, &mut scribe).map_err(not_found)?;
    Runner::new(component, project)
        .may_continue(&line)
        .map_err(Failure::undecided)
}

/// Returns the verdict for a person: the decision, then a line for each reason and its remedy.
pub(crate) fn as_text(verdict: &Verdict) -> String {
    let mut lines = vec![match verdict.decision {
        Decision::Pass => format!("pass: {} judged", runs(verdict.judged)),
        Decision::Refuse => format!("refuse: {} judged", runs(verdict.judged)),
        Decision::Undecided => "cannot decide".to_owned(),
    }];
    for reason in &verdict.reasons {
        lines.push(format!("  {}: {}", code(reason.code), reason.message));
        if !reason.remedy.is_empty() {
            lines.push(format!("    {}", reason.remedy));
        }
    }
    lines.extend(
        verdict
            .superseded
            .iter()
            .map(|line| format!("  made up for: {line}")),
    );
    lines.join("\n")
}

fn runs(count: u32) -> String {
    if count == 1 {
        "1 run".to_owned()
    } else {
        format!("{count} runs")
    }
}

/// Returns the verdict for a program.
pub(crate) fn as_json(verdict: &Verdict) -> Value {
    let reasons: Vec<Value> = verdict
        .reasons
        .iter()
        .map(|reason| {
            json!({
                "code": code(reason.code),
                "command_id": (!reason.command_id.is_empty()).then_some(&reason.command_id),
                "message": reason.message,
                "remedy": reason.remedy,
            })
        })
        .collect();
    json!({
        "decision": match verdict.decision {
            Decision::Pass => "pass",
            Decision::Refuse => "refuse",
            Decision::Undecided => "undecided",
        },
        "judged": verdict.judged,
        "reasons": reasons,
        "superseded": verdict.superseded,
    })
}

/// Returns the name of a reason as the contract spells it.
fn code(code: ReasonCode) -> &'static str {
    match code {
        ReasonCode::NoRecords => "no-records",
        ReasonCode::NeverRun => "never-run",
        ReasonCode::OpenRun => "open-run",
        ReasonCode::NonZeroExit => "non-zero-exit",
        ReasonCode::Signaled => "signaled",
        ReasonCode::TimedOut => "timed-out",
        ReasonCode::Cancelled => "cancelled",
        ReasonCode::NotStarted => "not-started",
        ReasonCode::RunnerDied => "runner-died",
        ReasonCode::StageFailed => "stage-failed",
        ReasonCode::UnmetExpectation => "unmet-expectation",
        ReasonCode::Stale => "stale",
        ReasonCode::ChangedDuringRun => "changed-during-run",
        ReasonCode::SameFailure => "same-failure",
        ReasonCode::StoreDamaged => "store-damaged",
        ReasonCode::UnknownComponent => "unknown-component",
        ReasonCode::FallbackRecord => "fallback-record",
        ReasonCode::ContradictoryRecord => "contradictory-record",
        ReasonCode::UnsupportedSchema => "unsupported-schema",
        ReasonCode::FromTheFuture => "from-the-future",
    }
}
