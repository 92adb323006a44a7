//! `feedback rules`: the redaction rules in force, as documentation.
//!
//! Examples are shown as redaction leaves them, so that no listing holds what looks like a
//! live secret.

use std::process::ExitCode;

use clap::Args;
use feedback_host::component::Session;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::summary::printable;
use crate::texts;

/// List the redaction rules in force, the policy's own included
///
/// Each rule is shown with a text in which it finds something, as redaction leaves it, and with
/// a text that looks alike and stays as it is.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Print the rules as a JSON list
    #[arg(long)]
    json: bool,
}

/// One rule, as the component lists it and as it is shown.
#[derive(Debug, Deserialize, Serialize)]
struct Rule {
    id: String,
    /// Whose rule it is: `built-in`, or `policy`.
    #[serde(default)]
    origin: String,
    description: String,
    scope: String,
    example: String,
    counter_example: String,
}

/// Prints the rules.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    // By span, so that an example shows which part of it is the secret.
    let mut session = texts::session(Some("span"))?;
    let mut rules = list(&mut session)?;
    let built_in = list(&mut texts::session_without_policy()?)?;
    for rule in &mut rules {
        let is_built_in = built_in.iter().any(|known| known.id == rule.id);
        rule.origin = if is_built_in { "built-in" } else { "policy" }.to_owned();
        let mut texts = vec![&mut rule.example, &mut rule.counter_example];
        // What the built-in rules say of themselves holds no secret; a policy's may.
        if !is_built_in {
            texts.push(&mut rule.description);
        }
        for text in texts {
            *text = session.redact(text).map_err(Failure::undecided)?;
        }
    }
    let mut shown = if arguments.json {
        serde_json::to_string(&rules).map_err(Failure::undecided)?
    } else {
        as_text(&rules)
    };
    shown.push('\n');
    texts::print(&shown)?;
    Ok(ExitCode::SUCCESS)
}

fn list(session: &mut Session) -> Result<Vec<Rule>, Failure> {
    let listed = session.rules().map_err(Failure::undecided)?;
    serde_json::from_str(&listed)
        .map_err(|error| Failure::undecided(format!("the component's rules: {error}")))
}

fn as_text(rules: &[Rule]) -> String {
    let one = |rule: &Rule| {
        let mut told = format!(
            "{} ({}, {})\n  {}",
            rule.id,
            rule.scope,
            rule.origin,
            printable(&rule.description)
        );
        // What known values are depends on the environment.
        for (word, text) in [
            ("hides  ", &rule.example),
            ("leaves ", &rule.counter_example),
        ] {
            if !text.is_empty() {
                let text = printable(&text.replace('\n', "\\n"));
                told.push_str(&format!("\n  {word} {text}"));
            }
        }
        told
    };
    let all: Vec<String> = rules.iter().map(one).collect();
    format!("{}\n\n{} rules", all.join("\n\n"), rules.len())
}
