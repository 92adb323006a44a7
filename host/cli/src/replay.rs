//! `feedback replay`: makes a record's excerpt and verdict anew from the output, and compares.
//!
//! It runs nothing and keeps no record.

mod difference;
mod source;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use feedback_host::component::{Component, Session, Verdict};
use feedback_host::ending;
use feedback_host::lookup;
use feedback_host::project::Project;
use feedback_host::scribe::ComponentScribe;
use serde_json::{Value, json};

use crate::budget::Budget;
use crate::failure::{self, DIFFERENT, Failure};
use crate::gate;
use crate::place::{self, Place};
use crate::show::not_found;
use crate::texts::{self, Onward};

use difference::Difference;
use source::Source;

/// What is said where everything is the same but how much of it is kept.
const OTHER_LIMITS: &str = "the output is the same, and another part of it is kept: the run had other limits; give its `--max-bytes`, `--head` and `--tail` again";

/// Make a record's excerpt and verdict anew: exit 0 identical, 1 different, 2 cannot decide
///
/// The output goes through the same component, or through the one that `--component` names, under
/// the policy and with the secrets of the environment as they are now. Where the run had
/// `--max-bytes`, `--head` or `--tail`, give them again.
///
/// Without `--with` it is what the run kept of its output (`feedback run --keep-output`). That text
/// is redacted and normalised already, so only the excerpt, the numbers of its lines and the verdict
/// are compared: what was redacted, and how many bytes the command printed, cannot be seen in it.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The command id, or as much of its beginning or end as is unique
    id: String,
    /// What the command printed: its standard output, and its standard error where it has one
    /// [default: what the run kept]
    #[arg(long, value_name = "FILE", num_args = 1..=2)]
    with: Vec<PathBuf>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    budget: Budget,
    #[command(flatten)]
    place: Place,
}

/// Prints whether both are the same.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (component, project) = arguments.place.open(Failure::undecided)?;
    place::warn_of_absent_files(&project);
    let line = find(&project, &arguments.id)?;
    let record: Value = serde_json::from_str(&line)
        .map_err(|error| Failure::undecided(format!("record `{}`: {error}", arguments.id)))?;
    if record.get("kind").and_then(Value::as_str) != Some("run") {
        return Err(Failure::undecided(format!(
            "record `{}` holds no excerpt that a component made",
            arguments.id
        )));
    }
    let mut source = Source::of(&arguments.with, &project.record_file, &line)?;
    let mut session = texts::session_of(&component, &project)?;
    let made = rebuild(&mut session, &mut source, &arguments.budget)?;
    let rebuilt = difference::replace(&record, &made, source.is_raw());
    let verdicts = (
        judge(&project, &record, &line)?,
        session
            .may_continue(&rebuilt.to_string())
            .map_err(Failure::undecided)?,
    );
    let found = difference::first(&record, &rebuilt)
        .or_else(|| difference::of_redactions(&record, &made).filter(|_| source.is_raw()))
        .or_else(|| of_verdicts(&verdicts));
    let is_under = |key: &str, now: String| record.get(key).and_then(Value::as_str) == Some(&now);
    let is_same_judge = is_under("component", component.digest().to_owned())
        && is_under("policy", project.policy_digest());
    let limits_differ =
        found.is_some() && is_same_judge && difference::is_of_choice(&record, &rebuilt);
    let answer = json!({
        "command_id": record.get("command_id"),
        "identical": found.is_none(),
        "difference": found.as_ref().map(Difference::as_json),
        "cause": limits_differ.then_some(OTHER_LIMITS),
        "verdict": gate::as_json(&verdicts.1),
        "output": source.name(),
        "component": component.digest(),
        "component_of_record": record.get("component"),
        "policy": project.policy_digest(),
        "policy_of_record": record.get("policy"),
    });
    let shown = if arguments.json {
        answer.to_string()
    } else {
        as_text(&answer, found.as_ref())
    };
    failure::answer(&texts::redacted(&shown))?;
    Ok(ExitCode::from(if found.is_some() { DIFFERENT } else { 0 }))
}

/// Finds the record. The store is always read by the built-in component: another one need not know
/// how to.
fn find(project: &Project, id: &str) -> Result<String, Failure> {
    let mut scribe = ComponentScribe::new(Component::built_in().map_err(Failure::undecided)?);
    lookup::find(&project.record_file, id, &mut scribe).map_err(not_found)
}

/// Makes the excerpt.
fn rebuild(session: &mut Session, source: &mut Source, budget: &Budget) -> Result<Value, Failure> {
    let capture = session
        .start_capture(&budget.options())
        .map_err(Failure::undecided)?;
    for (stream, input) in source.inputs() {
        input.each(|bytes| {
            session
                .push(&capture, *stream, bytes)
                .map_err(Failure::undecided)?;
            Ok(Onward::Yes)
        })?;
    }
    for stream in [ending::Source::Stdout, ending::Source::Stderr] {
        session.end(&capture, stream).map_err(Failure::undecided)?;
    }
    let kept = session
        .finish_capture(capture)
        .map_err(Failure::undecided)?;
    serde_json::from_str(&kept)
        .map_err(|error| Failure::undecided(format!("the component's excerpt: {error}")))
}

/// Returns the verdict on the record as it is, by the component that built it where that is at
/// hand, which is the built-in one.
fn judge(project: &Project, record: &Value, line: &str) -> Result<Verdict, Failure> {
    let built_in = Component::built_in().map_err(Failure::undecided)?;
    let by = record.get("component").and_then(Value::as_str);
    let component = if by == Some(built_in.digest()) {
        built_in
    } else {
        crate::place::component().map_err(Failure::undecided)?
    };
    texts::session_of(&component, project)?
        .may_continue(line)
        .map_err(Failure::undecided)
}

fn of_verdicts((kept, rebuilt): &(Verdict, Verdict)) -> Option<Difference> {
    let (kept, rebuilt) = (gate::as_json(kept), gate::as_json(rebuilt));
    Difference::of("verdict", &kept, &rebuilt)
}

fn as_text(answer: &Value, found: Option<&Difference>) -> String {
    let said = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or("unknown");
    let mut lines = vec![match found {
        None => format!(
            "identical: excerpt, numbers and verdict of `{}`",
            said("command_id")
        ),
        Some(difference) => format!("different: {}", difference.as_text()),
    }];
    if let Some(cause) = answer.get("cause").and_then(Value::as_str) {
        lines.push(format!("  cause: {cause}"));
    }
    lines.push(format!("  output: {}", said("output")));
    for what in ["component", "policy"] {
        let (now, then) = (said(what), said(&format!("{what}_of_record")).to_owned());
        lines.push(if now == then {
            format!("  {what}: the record's, {now}")
        } else {
            format!("  {what}: {now}, the record has {then}")
        });
    }
    lines.join("\n")
}
