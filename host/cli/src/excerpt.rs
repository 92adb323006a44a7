//! `feedback excerpt`: what a record would keep of a text, and the numbers behind it.
//!
//! It keeps no record.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use feedback_host::component::Session;
use feedback_host::ending::Source;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::budget::Budget;
use crate::failure::Failure;
use crate::summary::printable;
use crate::texts::{self, Input, Onward};

/// Print what a record would keep of a text
///
/// The text is taken as one stream, with the whole budget. gzip is unpacked.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    budget: Budget,
    /// Print the excerpt and its numbers as JSON
    #[arg(long)]
    json: bool,
    /// Print only the numbers, a line for each file
    #[arg(long, requires = "files")]
    stats: bool,
    /// The text [default: standard input]; with --stats, as many as you like
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// What a capture gives for one stream.
#[derive(Debug, Deserialize)]
struct Kept {
    stdout_tail: String,
    stdout: Value,
    redactions: Option<Value>,
}

/// Prints the excerpt, or a table of numbers.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if !arguments.stats && arguments.files.len() > 1 {
        return Err(Failure::undecided(
            "an excerpt is made of one file; give --stats for a table over many",
        ));
    }
    let mut session = texts::session(None)?;
    if arguments.stats {
        return stats(arguments, &mut session);
    }
    let kept = excerpt(
        &mut session,
        arguments,
        arguments.files.first().map(PathBuf::as_path),
    )?;
    let mut shown = if arguments.json {
        json!({
            "text": kept.stdout_tail,
            "numbers": kept.stdout,
            "redactions": kept.redactions,
        })
        .to_string()
    } else {
        kept.stdout_tail
    };
    if !shown.is_empty() {
        shown.push('\n');
    }
    texts::print(&shown)?;
    Ok(ExitCode::SUCCESS)
}

/// Makes the excerpt of one text.
fn excerpt(
    session: &mut Session,
    arguments: &Arguments,
    path: Option<&Path>,
) -> Result<Kept, Failure> {
    let capture = session
        .start_capture(&arguments.budget.options())
        .map_err(Failure::undecided)?;
    Input::unpacked(path, |reader| reader)?.each(|bytes| {
        session
            .push(&capture, Source::Stdout, bytes)
            .map_err(Failure::undecided)?;
        Ok(Onward::Yes)
    })?;
    session
        .end(&capture, Source::Stdout)
        .map_err(Failure::undecided)?;
    let kept = session
        .finish_capture(capture)
        .map_err(Failure::undecided)?;
    serde_json::from_str(&kept)
        .map_err(|error| Failure::undecided(format!("the component's excerpt: {error}")))
}

/// The numbers of one file.
struct Row {
    file: String,
    lines: u64,
    bytes: u64,
    lines_kept: u64,
    bytes_kept: u64,
    lines_clamped: u64,
    redacted: u64,
}

impl Row {
    fn of(file: String, kept: &Kept) -> Self {
        let number = |key: &str| kept.stdout.get(key).and_then(Value::as_u64).unwrap_or(0);
        let redacted = kept
            .redactions
            .as_ref()
            .and_then(|redactions| redactions.get("count"))
            .and_then(Value::as_u64);
        Self {
            file,
            lines: number("lines"),
            bytes: number("bytes"),
            lines_kept: number("lines").saturating_sub(number("lines_omitted")),
            bytes_kept: u64::try_from(kept.stdout_tail.len()).unwrap_or(u64::MAX),
            lines_clamped: number("lines_clamped"),
            redacted: redacted.unwrap_or(0),
        }
    }

    fn as_json(&self) -> Value {
        json!({
            "file": self.file,
            "lines": self.lines,
            "bytes": self.bytes,
            "lines_kept": self.lines_kept,
            "bytes_kept": self.bytes_kept,
            "lines_clamped": self.lines_clamped,
            "redacted": self.redacted,
        })
    }

    fn as_text(&self) -> String {
        format!(
            "{:>10} {:>12} {:>8} {:>8} {:>8} {:>8}  {}",
            self.lines,
            self.bytes,
            self.lines_kept,
            self.bytes_kept,
            self.lines_clamped,
            self.redacted,
            printable(&self.file)
        )
    }
}

/// Prints a line of numbers for each file. One that cannot be read is told, and the others are
/// still shown.
fn stats(arguments: &Arguments, session: &mut Session) -> Result<ExitCode, Failure> {
    // A budget that is not accepted is told once, not for each file.
    session
        .start_capture(&arguments.budget.options())
        .map_err(Failure::undecided)?;
    let mut rows = Vec::new();
    let mut status = ExitCode::SUCCESS;
    for path in &arguments.files {
        match excerpt(session, arguments, Some(path)) {
            Ok(kept) => {
                let file = session
                    .redact(&path.to_string_lossy())
                    .map_err(Failure::undecided)?;
                rows.push(Row::of(file, &kept));
            }
            Err(failure) => status = failure.report(),
        }
    }
    let shown = if arguments.json {
        let rows: Vec<Value> = rows.iter().map(Row::as_json).collect();
        format!("{}\n", Value::Array(rows))
    } else {
        table(&rows)
    };
    texts::print(&shown)?;
    Ok(status)
}

fn table(rows: &[Row]) -> String {
    let mut lines = vec![format!(
        "{:>10} {:>12} {:>8} {:>8} {:>8} {:>8}  file",
        "lines", "bytes", "kept", "bytes", "clamped", "redacted"
    )];
    lines.extend(rows.iter().map(Row::as_text));
    let sum = |number: fn(&Row) -> u64| rows.iter().map(number).fold(0, u64::saturating_add);
    if rows.len() > 1 {
        let all = Row {
            file: format!("all {} files", rows.len()),
            lines: sum(|row| row.lines),
            bytes: sum(|row| row.bytes),
            lines_kept: sum(|row| row.lines_kept),
            bytes_kept: sum(|row| row.bytes_kept),
            lines_clamped: sum(|row| row.lines_clamped),
            redacted: sum(|row| row.redacted),
        };
        lines.push(all.as_text());
    }
    lines.join("\n") + "\n"
}
