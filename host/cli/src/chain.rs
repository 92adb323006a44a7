//! `feedback chain`: shows a run and its retries as one story.

use std::collections::HashMap;
use std::process::ExitCode;

use clap::Args;
use feedback_host::chain::{self, ChainError};
use feedback_host::lookup;
use feedback_host::reader::{Reader, Scope};
use feedback_host::scribe::ComponentScribe;
use serde_json::{Value, json};

use crate::artifact::{Exported, Opened};
use crate::failure::{self, Failure, of_store, warn};
use crate::place::Place;
use crate::show::not_found;
use crate::summary::{command, printable};

/// Show a chain: a run and its retries, with every failed attempt and whether it failed the same
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The id of any run of the chain, or as much of its beginning or end as is unique
    /// [default: the newest run]
    id: Option<String>,
    /// Print the chain as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    exported: Exported,
    #[command(flatten)]
    place: Place,
}

/// Prints the chain.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (component, project) = arguments.place.open(Failure::undecided)?;
    let exported = arguments.exported.open(false)?;
    let file = exported
        .as_ref()
        .map_or(project.record_file.as_path(), Opened::record_file);
    let mut scribe = ComponentScribe::new(component.clone());
    let line = match &arguments.id {
        Some(id) => lookup::find(file, id, &mut scribe),
        None => lookup::newest(file, &mut scribe),
    };
    let line = line.map_err(not_found)?;
    let id = arguments.id.is_some().then(|| id_of(&line));
    let reader = Reader::open(file, Scope::All).map_err(|error| of(ChainError::Store(error)))?;
    let chain = chain::chain(&component, &project, &reader, id.as_deref()).map_err(of)?;
    if chain.attempts.is_empty() {
        let named = id.unwrap_or_else(|| "the newest record".to_owned());
        return Err(Failure::undecided(format!(
            "`{named}` belongs to no chain: it is no run that can be judged"
        )));
    }
    if chain.damaged > 0 {
        warn(format_args!(
            "the store holds {} damaged places, so an attempt may be missing here; `feedback verify` says more",
            chain.damaged
        ));
    }
    let shown = if arguments.json {
        json!({ "chain": chain.attempts }).to_string()
    } else {
        as_text(&chain.attempts)
    };
    failure::answer(&shown)?;
    Ok(ExitCode::SUCCESS)
}

fn of(error: ChainError) -> Failure {
    Failure::undecided(match error {
        ChainError::Store(error) => of_store(&error),
        error @ (ChainError::Policy(_) | ChainError::Call(_) | ChainError::Answer(_)) => {
            error.to_string()
        }
    })
}

fn id_of(line: &str) -> String {
    let record: Value = serde_json::from_str(line).unwrap_or_default();
    let id = record.get("command_id").and_then(Value::as_str);
    id.unwrap_or_default().to_owned()
}

/// Returns the chain for a person: a line for each attempt and what is to be said of it, further
/// in where an attempt was retried more than once.
fn as_text(attempts: &[Value]) -> String {
    let mut lines = vec![headline(attempts)];
    let mut children: HashMap<&str, usize> = HashMap::new();
    for attempt in attempts {
        let count = children.entry(text(attempt, "parent_command_id"));
        *count.or_default() += 1;
    }
    let mut depths: HashMap<&str, usize> = HashMap::new();
    let mut before: Option<&Value> = None;
    for attempt in attempts {
        let parent = text(attempt, "parent_command_id");
        let is_branch = children.get(parent).is_some_and(|count| *count > 1);
        let depth = depths.get(parent).copied();
        let depth = depth.map_or(0, |depth| depth.saturating_add(usize::from(is_branch)));
        depths.insert(text(attempt, "command_id"), depth);
        // What was printed last is not the parent: then the eye needs to be told.
        let follows = before.is_none_or(|before| text(before, "command_id") == parent);
        tell(&mut lines, attempt, depth, follows);
        before = Some(attempt);
    }
    lines.join("\n")
}

fn headline(attempts: &[Value]) -> String {
    let count = |standing: &str| {
        let of_standing = |attempt: &&Value| text(attempt, "standing") == standing;
        attempts.iter().filter(of_standing).count()
    };
    let named = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    };
    let failed = count("failed");
    let total = attempts.len() - count("exploration");
    let parts = [
        named(total, "attempt", "attempts"),
        Some(format!("{failed} failed")),
        named(
            count("distrusted"),
            "cannot be trusted",
            "cannot be trusted",
        ),
        named(count("exploration"), "exploration", "explorations"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

fn tell(lines: &mut Vec<String>, attempt: &Value, depth: usize, follows: bool) {
    let indent = "  ".repeat(depth.min(20));
    let number = attempt.get("attempt").and_then(Value::as_u64).unwrap_or(1);
    let took = attempt.get("duration_ms").and_then(Value::as_u64);
    let took = took.map_or_else(String::new, |ms| format!(" after {ms} ms"));
    let ended = match attempt.get("exit_code").and_then(Value::as_i64) {
        Some(code) => format!("exited {code}"),
        None => format!("{}, no exit code", text(attempt, "outcome")),
    };
    let standing = text(attempt, "standing");
    lines.push(format!(
        "{indent}{number}. {standing}: {} {ended}{took}",
        command(attempt.get("command"))
    ));
    let mut say = |what: String| lines.push(format!("{indent}     {}", printable(&what)));
    say(format!(
        "{} at {}",
        text(attempt, "command_id"),
        text(attempt, "started_at")
    ));
    let parent = text(attempt, "parent_command_id");
    if !follows && !parent.is_empty() {
        say(format!("retries {parent}"));
    }
    let note = text(attempt, "agent_note");
    if !note.is_empty() {
        say(format!("expected: {note}"));
    }
    let reasons = attempt.get("reasons").and_then(Value::as_array);
    for reason in reasons.into_iter().flatten().filter_map(Value::as_str) {
        say(reason.to_owned());
    }
    match (
        text(attempt, "same_failure_as"),
        text(attempt, "failure_signature"),
    ) {
        ("", "") => {}
        ("", signature) => say(format!("failure {signature}, new in this chain")),
        (other, signature) => say(format!("failure {signature}, the same as {other}")),
    }
    let by = text(attempt, "made_up_for_by");
    if !by.is_empty() {
        say(format!("made up for by {by}"));
    }
}

fn text<'a>(attempt: &'a Value, key: &str) -> &'a str {
    attempt.get(key).and_then(Value::as_str).unwrap_or_default()
}
