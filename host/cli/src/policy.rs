//! `feedback policy`: the policy in force, its schema, and whether a file is one.
//!
//! The component reads the policy; this page only shows what it made of it.

mod check;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use feedback_host::component::{CallError, Component, PolicyError, Session};
use feedback_host::project::{
    POLICY_FILE, Project, ProjectError, RECORD_FILE, env_files, read_policy,
};
use serde_json::{Map, Value, json};

use crate::failure::{self, Failure};
use crate::place::Place;
use crate::texts;

/// Show the policy in force: every key of feedback.json, and where its value comes from
///
/// Nothing runs under a policy that is not valid. `--check` says what is wrong: the key, what was
/// expected there, and its line and column. It warns of what is valid and does nothing here:
/// inputs that match no file, folders and files of variables that are not there.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Only check a policy [default: the nearest feedback.json upward]: exit 0 valid, 1 not, 2 there
    /// is none to check
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with = "schema")]
    check: Option<Option<PathBuf>>,
    /// Print the JSON Schema of feedback.json
    #[arg(long, conflicts_with = "json")]
    schema: bool,
    /// Print the policy as JSON
    #[arg(long, conflicts_with = "check")]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Prints what was asked for.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let shown = match &arguments.check {
        Some(file) => check(file.as_deref())?,
        None if arguments.schema => {
            let schema = texts::session_without_policy()?.schema();
            schema.map_err(Failure::undecided)?.trim_end().to_owned()
        }
        None => show(arguments)?,
    };
    failure::answer(&shown)?;
    Ok(ExitCode::SUCCESS)
}

/// Checks a file, or the nearest policy.
fn check(file: Option<&Path>) -> Result<String, Failure> {
    let component = Component::built_in().map_err(Failure::undecided)?;
    let (path, text) = match file {
        Some(path) => (
            path.to_path_buf(),
            read_policy(path).map_err(Failure::undecided)?,
        ),
        None => nearest(&component)?,
    };
    let invalid = |what: &dyn std::fmt::Display| {
        Failure::invalid(format!("policy `{}`: {what}", path.display()))
    };
    let mut session = Session::open(&component, &text, "").map_err(|error| match error {
        error @ PolicyError::Policy(CallError::Refused(_)) => invalid(&error.behind_path()),
        error @ (PolicyError::Policy(_) | PolicyError::Component(_) | PolicyError::Settings(_)) => {
            Failure::undecided(error)
        }
    })?;
    let effective = effective(&mut session)?;
    let folder = path.canonicalize().unwrap_or(path.clone());
    let folder = folder.parent().unwrap_or(Path::new("/"));
    let settings = session.settings().map_err(Failure::undecided)?;
    let env_files = env_files(folder, &settings).map_err(|error| invalid(&error))?;
    let policy: check::Policy = serde_json::from_value(effective)
        .map_err(|error| Failure::undecided(format!("the component's policy: {error}")))?;
    let record_file = policy.record_file.as_deref().unwrap_or(RECORD_FILE);
    let here = check::Here {
        folder,
        record_file: &folder.join(record_file),
    };
    let warnings = check::check(&policy, &here).map_err(|error| invalid(&error))?;
    for warning in check::absent(env_files.absent()).iter().chain(&warnings) {
        failure::warn(format_args!("warning: {warning}"));
    }
    Ok(texts::redacted(&format!("valid: {}", path.display())))
}

fn nearest(component: &Component) -> Result<(PathBuf, String), Failure> {
    match Project::find(component, Path::new("."), None) {
        Ok(project) => match project.policy_file {
            Some(path) => Ok((path, project.policy)),
            None => Err(Failure::undecided(format!(
                "there is no `{POLICY_FILE}` here or above; the defaults serve"
            ))),
        },
        Err(error @ ProjectError::Policy { .. }) => Err(Failure::invalid(error)),
        Err(error) => Err(Failure::undecided(error)),
    }
}

fn effective(session: &mut Session) -> Result<Value, Failure> {
    let effective = session.effective().map_err(Failure::undecided)?;
    serde_json::from_str(&effective)
        .map_err(|error| Failure::undecided(format!("the component's policy: {error}")))
}

fn show(arguments: &Arguments) -> Result<String, Failure> {
    let (component, project) = arguments.place.open(Failure::undecided)?;
    let mut session = Session::open(&component, &project.policy, "").map_err(Failure::undecided)?;
    let effective = effective(&mut session)?;
    let file = project
        .policy_file
        .as_ref()
        .map(|path| path.display().to_string());
    if arguments.json {
        let document = json!({
            "file": file,
            "digest": project.policy_digest(),
            "record_file": project.record_file.display().to_string(),
            "policy": effective,
        });
        return Ok(texts::redacted_document(document).to_string());
    }
    let text = project.policy.trim_start_matches('\u{feff}');
    let written: Value = serde_json::from_str(text).unwrap_or_default();
    let mut rows = Vec::new();
    leaves(&effective, &written, "", &mut rows);
    let width = rows
        .iter()
        .map(|row| row.key.chars().count())
        .max()
        .unwrap_or(0);
    let mut lines = vec![
        format!(
            "policy: {}",
            file.as_deref().unwrap_or("none, the defaults serve")
        ),
        format!("record file: {}", project.record_file.display()),
    ];
    lines.extend(rows.iter().map(|row| {
        let from = if row.written { POLICY_FILE } else { "default" };
        format!("  {:width$}  {}  ({from})", row.key, row.value)
    }));
    Ok(texts::redacted(&lines.join("\n")))
}

/// One key, its value, and whether the file says so.
struct Row {
    key: String,
    value: String,
    written: bool,
}

/// Collects the keys that hold no further keys.
fn leaves(effective: &Value, written: &Value, above: &str, rows: &mut Vec<Row>) {
    let nothing = Map::new();
    for (key, value) in effective.as_object().unwrap_or(&nothing) {
        let path = if above.is_empty() {
            key.clone()
        } else {
            format!("{above}.{key}")
        };
        let here = written.get(key).unwrap_or(&Value::Null);
        if value.is_object() {
            leaves(value, here, &path, rows);
        } else {
            rows.push(Row {
                key: path,
                value: if value.is_null() {
                    "not set".to_owned()
                } else {
                    value.to_string()
                },
                written: !here.is_null(),
            });
        }
    }
}
