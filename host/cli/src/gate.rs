//! `feedback gate`: says whether the records show that the work is done.

mod answer;
mod coverage;
mod github;
mod junit;
mod since;

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use feedback_host::component::{Component, Decision, ReasonCode, Verdict};
use feedback_host::lookup;
use feedback_host::project::Project;
use feedback_host::review::{ReviewError, Reviewed, Since, review_since};
use feedback_host::run::Runner;
use feedback_host::scribe::ComponentScribe;
use serde_json::{Value, json};

use self::answer::Answer;
use self::coverage::Coverage;
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
    /// Judge only the newest run that counts: may the agent continue after it? What only explores is
    /// passed over, and so are runs of other projects in the same record file
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

/// A verdict, and how much it covers.
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    coverage: Coverage,
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
    let judged = match (given, format) {
        (Ok(judged), Format::Text) => {
            failure::answer(&as_text(&judged))?;
            judged
        }
        (Ok(judged), Format::Json) => {
            let mut document = as_json(&judged.verdict);
            judged.coverage.add_to(&mut document);
            failure::answer(&document.to_string())?;
            judged
        }
        (given, Format::Junit | Format::Github) => report(given, format)?,
        (Err(failure), Format::Json) => {
            failure::answer(&undecided(failure.message()).to_string())?;
            return Err(failure);
        }
        (Err(failure), Format::Text) => return Err(failure),
    };
    Ok(ExitCode::from(match judged.verdict.decision {
        Decision::Pass => PASS,
        Decision::Refuse => REFUSE,
        Decision::Undecided => UNDECIDED,
    }))
}

/// Reports to a CI, also that there is no verdict: it must not find an older report, or none.
fn report(given: Result<Judged, Failure>, format: Format) -> Result<Judged, Failure> {
    let (answer, failure) = match given {
        Ok(judged) => (Answer::Given(Box::new(judged)), None),
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
        (Answer::Given(judged), None) => Ok(*judged),
        (Answer::Failed(message), None) => Err(Failure::undecided(message)),
        (Answer::Given(_) | Answer::Failed(_), Some(failure)) => Err(failure),
    }
}

fn decide(arguments: &Arguments) -> Result<Judged, Failure> {
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
            let reviewed = review_since(&component, &project, &since);
            let judged = reviewed.map(Judged::of_all);
            judged.map_err(|error| match error {
                // Which texts are a time the component says, in words for programs.
                ReviewError::Since(_) => {
                    Failure::undecided(format!("`--since {text}`: {}", since::FORMS))
                }
                error @ (ReviewError::Store(_) | ReviewError::Policy(_) | ReviewError::Call(_)) => {
                    unanswered(error)
                }
            })
        }
    }
}

/// Asks the component about the newest run that counts, or about all.
pub(crate) fn judge(component: Component, project: Project, last: bool) -> Result<Judged, Failure> {
    if !last {
        let reviewed = review_since(&component, &project, &Since::Beginning);
        return reviewed.map(Judged::of_all).map_err(unanswered);
    }
    let mut scribe = ComponentScribe::new(component.clone());
    let found = lookup::newest_that_counts(&project, &mut scribe);
    let (line, passed) = found.map_err(not_found)?;
    let verdict = Runner::new(component, project)
        .may_continue(&line)
        .map_err(Failure::undecided)?;
    Ok(Judged {
        verdict,
        coverage: Coverage::of_last(&line, passed),
    })
}

impl Judged {
    fn of_all(reviewed: Reviewed) -> Self {
        let coverage = Coverage::of_all(&reviewed);
        Self {
            verdict: reviewed.verdict,
            coverage,
        }
    }
}

/// Says why there is no verdict.
fn unanswered(error: ReviewError) -> Failure {
    match error {
        ReviewError::Store(error) => Failure::undecided(of_store(&error)),
        error @ (ReviewError::Policy(_) | ReviewError::Call(_) | ReviewError::Since(_)) => {
            Failure::undecided(error)
        }
    }
}

/// Returns the verdict for a person: the decision, then a line for each reason and its remedy.
pub(crate) fn as_text(judged: &Judged) -> String {
    let verdict = &judged.verdict;
    let mut lines = vec![headline(judged)];
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
    let set_aside = judged.coverage.set_aside().into_iter();
    lines.extend(set_aside.map(|line| format!("  set aside: {line}")));
    lines.join("\n")
}

fn headline(judged: &Judged) -> String {
    let decided = match judged.verdict.decision {
        Decision::Pass => format!("pass: {} judged", runs(judged.verdict.judged)),
        Decision::Refuse => format!("refuse: {} judged", runs(judged.verdict.judged)),
        Decision::Undecided => "cannot decide".to_owned(),
    };
    let covered = judged.coverage.as_text(judged.verdict.decision);
    format!("{decided}{covered}")
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
    Coverage::default().add_to(&mut document);
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
