//! `feedback gate`: says whether the records show that the work is done.

mod answer;
mod github;
mod junit;
mod since;

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use feedback_host::component::{Component, Decision, ReasonCode, Verdict};
use feedback_host::lookup;
use feedback_host::project::Project;
use feedback_host::review::{ReviewError, Since, review_since};
use feedback_host::run::Runner;
use feedback_host::scribe::ComponentScribe;
use serde_json::{Value, json};

use self::answer::Answer;
use crate::failure::{self, Failure, PASS, REFUSE, UNDECIDED, of_store};
use crate::place::Place;
use crate::show::not_found;
use crate::texts;

/// Decide over the records: exit 0 pass, 1 refuse, 2 cannot decide
///
/// Where the policy has requirements, every one must be met by a run that was started under it,
/// and other runs do not count unless `gate.others` says so. Without requirements the newest
/// attempt of every chain must be a success.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Judge only the newest record: may the agent continue after it?
    #[arg(long)]
    last: bool,
    /// Take as evidence only what began at this time (2026-11-30, 2026-11-30T12:00:00Z), this long
    /// ago (2h), or with this record; all of the store is still checked for damage
    #[arg(long, value_name = "ID|TIME", conflicts_with = "last")]
    since: Option<String>,
    /// Print the verdict as JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// How the verdict is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    place: Place,
}

/// How a verdict is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// JUnit XML, a test case for each requirement; what cannot be decided is an error
    Junit,
    /// Annotations for GitHub Actions; adds a summary to $GITHUB_STEP_SUMMARY where that is set
    Github,
}

/// Prints the verdict.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let given = decide(arguments);
    let format = if arguments.json {
        Format::Json
    } else {
        arguments.format
    };
    let verdict = match (given, format) {
        (Ok(verdict), Format::Text) => {
            failure::answer(&as_text(&verdict))?;
            verdict
        }
        (Ok(verdict), Format::Json) => {
            failure::answer(&as_json(&verdict).to_string())?;
            verdict
        }
        (given, Format::Junit | Format::Github) => report(given, format)?,
        (Err(failure), Format::Json) => {
            failure::answer(&undecided(failure.message()).to_string())?;
            return Err(failure);
        }
        (Err(failure), Format::Text) => return Err(failure),
    };
    Ok(ExitCode::from(match verdict.decision {
        Decision::Pass => PASS,
        Decision::Refuse => REFUSE,
        Decision::Undecided => UNDECIDED,
    }))
}

/// Reports to a CI, also that there is no verdict: it must not find an older report, or none.
fn report(given: Result<Verdict, Failure>, format: Format) -> Result<Verdict, Failure> {
    let (answer, failure) = match given {
        Ok(verdict) => (Answer::Given(verdict), None),
        Err(failure) => (Answer::Failed(failure.message().to_owned()), Some(failure)),
    };
    let shown = if format == Format::Github {
        github::summarise(&answer);
        github::annotations(&answer)
    } else {
        junit::document(&answer)
    };
    failure::answer(&shown)?;
    match (answer, failure) {
        (Answer::Given(verdict), None) => Ok(verdict),
        (Answer::Failed(message), None) => Err(Failure::undecided(message)),
        (Answer::Given(_) | Answer::Failed(_), Some(failure)) => Err(failure),
    }
}

fn decide(arguments: &Arguments) -> Result<Verdict, Failure> {
    let (component, project) = arguments.place.open(Failure::undecided)?;
    if let Some(owner) = project.other_owner().map_err(Failure::undecided)? {
        return Err(Failure::undecided(format!(
            "`{}` belongs to the project in `{}`, whose policy is not in force here; ask from there",
            project.record_file.display(),
            owner.display()
        )));
    }
    match &arguments.since {
        None => judge(component, project, arguments.last),
        Some(text) => {
            let since = since::since(&component, &project, text)?;
            judge_since(&component, &project, &since).map_err(|failure| match since {
                // Which texts are a time the component says, in words for programs.
                Since::Time(_) if failure.message().contains("`since`") => {
                    Failure::undecided(format!("`--since {text}`: {}", since::FORMS))
                }
                Since::Time(_) | Since::Record(_) | Since::Beginning => failure,
            })
        }
    }
}

/// Asks the component about the newest record, or about all.
pub(crate) fn judge(
    component: Component,
    project: Project,
    last: bool,
) -> Result<Verdict, Failure> {
    if !last {
        return judge_since(&component, &project, &Since::Beginning);
    }
    let mut scribe = ComponentScribe::new(component.clone());
    let line = lookup::newest(&project.record_file, &mut scribe).map_err(not_found)?;
    Runner::new(component, project)
        .may_continue(&line)
        .map_err(Failure::undecided)
}

fn judge_since(
    component: &Component,
    project: &Project,
    since: &Since,
) -> Result<Verdict, Failure> {
    review_since(component, project, since).map_err(|error| match error {
        ReviewError::Store(error) => Failure::undecided(of_store(&error)),
        error @ (ReviewError::Policy(_) | ReviewError::Call(_)) => Failure::undecided(error),
    })
}

/// Returns the verdict for a person: the decision, then a line for each reason and its remedy.
pub(crate) fn as_text(verdict: &Verdict) -> String {
    let mut lines = vec![headline(verdict)];
    for reason in &verdict.reasons {
        let subject = match reason.requirement.as_str() {
            "" => String::new(),
            name => format!("{name}: "),
        };
        lines.push(format!(
            "  {subject}{}: {}",
            code(reason.code),
            reason.message
        ));
        if !reason.remedy.is_empty() {
            lines.push(format!("    {}", reason.remedy));
        }
    }
    let met = verdict.evidence.iter();
    lines.extend(met.map(|met| format!("  {}: met by {}", met.requirement, met.message)));
    lines.extend(
        verdict
            .superseded
            .iter()
            .map(|line| format!("  made up for: {line}")),
    );
    lines.join("\n")
}

fn headline(verdict: &Verdict) -> String {
    match verdict.decision {
        Decision::Pass => format!("pass: {} judged", runs(verdict.judged)),
        Decision::Refuse => format!("refuse: {} judged", runs(verdict.judged)),
        Decision::Undecided => "cannot decide".to_owned(),
    }
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
                "requirement": (!reason.requirement.is_empty()).then_some(&reason.requirement),
            })
        })
        .collect();
    let evidence: Vec<Value> = verdict
        .evidence
        .iter()
        .map(|met| {
            json!({
                "requirement": met.requirement,
                "command_id": met.command_id,
                "message": met.message,
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
        "evidence": evidence,
    })
}

/// Returns that there is no verdict, and why, for a program that reads nothing else.
fn undecided(message: &str) -> Value {
    let mut document = as_json(&Verdict {
        decision: Decision::Undecided,
        judged: 0,
        reasons: Vec::new(),
        superseded: Vec::new(),
        evidence: Vec::new(),
    });
    if let Some(keys) = document.as_object_mut() {
        keys.insert("error".to_owned(), json!(texts::redacted(message)));
    }
    document
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
