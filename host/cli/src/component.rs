//! `feedback component`: what the component is, what it may use, and what it uses.

mod contract;
mod extract;
mod typical;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use feedback_host::component::{Component, MEMORY_LIMIT, OUTPUT_LIMIT, Origin};
use serde_json::{Value, json};

use crate::failure::{self, Failure};
use crate::place;

/// Show what decides: imports, exports, digest, limits, and what a record uses of them
///
/// It looks at the component that would be used here: `--component`, else the policy's, else the
/// built-in one.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    /// Print it as JSON, with the whole documentation of every function
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand, Debug)]
enum Action {
    Extract(extract::Arguments),
}

/// Prints what there is to know, or writes the component out.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let component = place::component().map_err(Failure::undecided)?;
    if let Some(Action::Extract(arguments)) = &arguments.action {
        return extract::run(&component, arguments);
    }
    let known = describe(&component)?;
    let shown = if arguments.json {
        known.to_string()
    } else {
        as_text(&known)
    };
    failure::answer(&shown)?;
    Ok(ExitCode::SUCCESS)
}

fn describe(component: &Component) -> Result<Value, Failure> {
    let about = component.describe().map_err(Failure::undecided)?;
    let origin = match component.origin() {
        Origin::Source => "built in, from source",
        Origin::Shipped => "built in, from the shipped bytes",
        Origin::Given => "given",
    };
    Ok(json!({
        "name": about.name,
        "version": about.version,
        "contract": about.contract,
        "record_schema": about.record_schema,
        "rule_set": about.rule_set,
        "digest": component.digest(),
        "origin": origin,
        "bytes": component.bytes().len(),
        "imports": component.imports(),
        "limits": {
            "memory_bytes": MEMORY_LIMIT,
            "output_bytes": OUTPUT_LIMIT,
            "steps": component.step_limit(),
        },
        "typical_record": typical::measure(component)?,
        "exports": exports(component),
    }))
}

/// Returns every interface and function with what the contract says of it.
fn exports(component: &Component) -> Vec<Value> {
    let contract = contract::read();
    let one = |(name, functions): (String, Vec<String>)| {
        let known = contract.interface(&name);
        let functions: Vec<Value> = functions
            .iter()
            .map(|function| {
                let known = known.and_then(|known| known.function(function));
                json!({
                    "name": known.map_or(function.as_str(), |known| &known.name),
                    "signature": known.map(|known| &known.signature),
                    "documentation": known.map(|known| &known.documentation),
                })
            })
            .collect();
        json!({
            "interface": name,
            "documentation": known.map(|known| &known.documentation),
            "functions": functions,
        })
    };
    component.exports().into_iter().map(one).collect()
}

fn as_text(known: &Value) -> String {
    let text = |key: &str| known.get(key).and_then(Value::as_str).unwrap_or_default();
    let number = |pointer: &str| known.pointer(pointer).and_then(Value::as_u64);
    let count = |pointer: &str| number(pointer).map_or("not counted".to_owned(), grouped);
    let imports = known.get("imports").and_then(Value::as_array);
    let mut lines = vec![
        format!("{} {}", text("name"), text("version")),
        format!("  digest    {}", text("digest")),
        format!("  origin    {}", text("origin")),
        format!("  size      {} bytes", count("/bytes")),
        format!("  contract  {}", text("contract")),
        format!("  records   {}", text("record_schema")),
        format!("  rules     {}", text("rule_set")),
        // Loading refuses a component that imports anything.
        format!("  imports   {}", imports.map_or(0, Vec::len))
            .replace("imports   0", "imports   none"),
        String::new(),
        "limits, and what a typical record uses of them".to_owned(),
        format!(
            "  memory    {} of {} bytes",
            count("/typical_record/memory_bytes"),
            count("/limits/memory_bytes")
        ),
        format!(
            "  output    {} of {} bytes a call",
            count("/typical_record/output_bytes"),
            count("/limits/output_bytes")
        ),
        number("/limits/steps").map_or(
            "  steps     not counted, since it is built in".to_owned(),
            |steps| {
                let used = count("/typical_record/steps_of_a_call");
                format!("  steps     {used} of {} a call", grouped(steps))
            },
        ),
        format!(
            "  time      {} µs for {} calls over {} bytes of output",
            count("/typical_record/time_us"),
            count("/typical_record/calls"),
            count("/typical_record/captured_bytes")
        ),
        String::new(),
        "exports".to_owned(),
    ];
    for interface in known
        .get("exports")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        lines.push(format!("  {}", said(interface, "interface")));
        lines.push(format!("    {}", first_sentence(interface)));
        for function in interface
            .get("functions")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            lines.push(format!(
                "    {}: {}",
                said(function, "name"),
                said(function, "signature")
            ));
            lines.push(format!("      {}", first_sentence(function)));
        }
    }
    lines.join("\n")
}

fn said<'a>(item: &'a Value, key: &str) -> &'a str {
    item.get(key)
        .and_then(Value::as_str)
        .unwrap_or("not in the contract")
}

fn first_sentence(item: &Value) -> String {
    let paragraph = said(item, "documentation")
        .split("\n\n")
        .next()
        .unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => line,
    }
}

/// Returns a number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && digits.len().saturating_sub(index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}
