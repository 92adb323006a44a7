//! `feedback run`: runs a command and leaves its record.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use feedback_host::run::{Finished, NotStored, Request, RunError, Runner, Silent};
use feedback_host::supervise::{Adoption, Command, Stdin};

use crate::budget::Budget;
use crate::failure::{self, Failure, of_store, warn, with_causes};
use crate::notices;
use crate::place::Place;
use crate::signals;
use crate::summary;

/// Run a command and leave one record of it
///
/// The command is executed directly, without a shell. Its own exit code is passed on; 124 means
/// timed out, 125 that the runner failed or the record is in doubt, 126 not executable, 127 not
/// found, 128+n ended by signal n.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// What you expect, in one line, before you see it
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// The command id of the attempt that this run retries
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// End the command after this time, for instance 90s or 5m [default: the policy's, else none]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
    /// The time between SIGTERM and SIGKILL [default: the policy's, else 5s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    grace: Option<Duration>,
    /// The working directory of the command
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Let the command read this terminal or pipe instead of nothing
    #[arg(long)]
    stdin: bool,
    /// Run even where no record can be guaranteed, with a warning
    #[arg(long)]
    best_effort: bool,
    /// Print the record's line even on a terminal
    #[arg(long, conflicts_with = "text")]
    json: bool,
    /// Print a readable summary even where the output is not a terminal
    #[arg(long)]
    text: bool,
    #[command(flatten)]
    budget: Budget,
    #[command(flatten)]
    place: Place,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "ARGV")]
    argv: Vec<OsString>,
}

fn duration(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("a duration above zero is needed".to_owned()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(format!("{error}; write for instance 90s, 5m or 1h30m")),
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let fail = |message: String| Failure::runner(message);
    let mut control =
        signals::control().map_err(|error| Failure::runner(format!("signals: {error}")))?;
    let (component, project) = arguments.place.open(fail)?;
    let runner = Runner::new(component, project);
    let mut limits = runner.limits();
    limits.timeout = arguments.timeout.or(limits.timeout);
    limits.grace = arguments.grace.unwrap_or(limits.grace);
    // This process has no children but the command's, so it may adopt every orphan of the run.
    limits.adoption = Adoption::Subreaper;

    let request = Request {
        command: Command {
            argv: arguments.argv.clone(),
            cwd: arguments.cwd.clone(),
            stdin: if arguments.stdin {
                Stdin::Inherit
            } else {
                Stdin::Null
            },
            ..Command::default()
        },
        limits,
        note: arguments.note.clone(),
        parent: arguments.parent.clone(),
        capture_options: arguments.budget.options(),
        best_effort: arguments.best_effort,
        ..Request::default()
    };
    let finished = runner
        .execute(&request, &mut control, &mut Silent)
        .map_err(not_started)?;

    let as_text = arguments.text || (!arguments.json && io::stdout().is_terminal());
    let shown = if as_text {
        summary::of(&finished.record)
    } else {
        finished.record.clone()
    };
    // The command has run and its record is kept: a reader that went away changes nothing.
    let _ = writeln!(io::stdout().lock(), "{shown}");
    let status = status(&finished);
    // A request to end that came when the command had already exited still ends the runner.
    let interrupted = finished.ending.interrupted.or_else(|| control.untaken());
    Ok(ExitCode::from(match interrupted {
        Some(signal) if status != failure::RUNNER => failure::signal_status(signal),
        Some(_) | None => status,
    }))
}

/// Says why nothing was started, and what to do.
fn not_started(error: RunError) -> Failure {
    Failure::runner(format!(
        "not started: {}",
        match error {
            RunError::Store(error) => of_store(&error),
            error @ (RunError::Policy(_)
            | RunError::Intent(_)
            | RunError::CaptureOptions(_)
            | RunError::Parent { .. }
            | RunError::WorkingDirectory(_)) => with_causes(&error),
        }
    ))
}

/// Tells on standard error what is in doubt, and returns the exit status.
fn status(finished: &Finished) -> u8 {
    let mut in_doubt = false;
    if let Some(cause) = &finished.fallback {
        warn(format_args!(
            "{cause}; the record holds nothing that the command printed, and the gate refuses it"
        ));
        in_doubt = true;
    }
    match &finished.stored {
        Ok(appended) => appended.notices.iter().map(notices::text).for_each(warn),
        Err(NotStored::Refused(error)) => {
            warn(format_args!("no record is kept: {}", of_store(error)));
            in_doubt = true;
        }
        Err(NotStored::Waiting(error)) => {
            error.notices.iter().map(notices::text).for_each(warn);
            warn(format_args!(
                "{}; {}",
                with_causes(error),
                error.cause.remedy()
            ));
            in_doubt = true;
        }
    }
    if in_doubt {
        warn(format_args!(
            "the command itself: {}",
            finished.ending.outcome
        ));
        return failure::RUNNER;
    }
    failure::status_of(&finished.ending.outcome)
}
