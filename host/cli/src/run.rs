//! `feedback run`: runs a command and leaves its record.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use feedback_host::component::{Decision, ReasonCode};
use feedback_host::run::{Finished, NotStored, Observer, Request, RunError, Runner, Silent};
use feedback_host::store::Options;

use crate::budget::Budget;
use crate::expectations::Expectations;
use crate::failure::{self, Failure, of_store, warn, with_causes};
use crate::inputs;
use crate::invocation::Invocation;
use crate::live::Live;
use crate::notices;
use crate::place::{self, Place};
use crate::signals;
use crate::summary;
use crate::tee::Tee;

/// Run a command and leave one record of it
///
/// The command is executed directly, without a shell. Its own exit code is passed on, but for 0
/// where `--expect-exit` names it; 123 means that something else that was expected does not hold, 124
/// timed out, 125 that the runner failed or the record is in doubt, 126 not executable, 127 not
/// found, 128+n ended by signal n. Where a `--shell` pipeline exits 0 and hides the failure of a
/// stage, that stage's code is passed on.
///
/// On a terminal, one line on standard error shows how far the command is.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// What you expect, in one line, before you see it
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// The command id of the attempt that this run retries
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// Retry the newest failed run of this very command in this very directory
    #[arg(long, conflicts_with = "parent")]
    retry: bool,
    /// Only look: the run is no evidence, and its failure refuses nothing
    #[arg(long)]
    explore: bool,
    /// Show the command's lines, redacted, as they come; each stream only where it is a terminal
    #[arg(long)]
    tee: bool,
    /// Keep the whole output, redacted, in files beside the record; `feedback show --full` prints it
    #[arg(long)]
    keep_output: bool,
    /// Keep no output but the excerpt, whatever the policy says
    #[arg(long, conflicts_with = "keep_output")]
    no_keep_output: bool,
    /// Run even where no record can be guaranteed, with a warning; the gate will not know of it
    #[arg(long)]
    best_effort: bool,
    /// A file, folder or glob that the run depends on, `git` for all that git tracks or would add,
    /// `!GLOB` to leave something out; may be given more than once
    ///
    /// They are digested before and after the run; the gate refuses where they moved meanwhile or
    /// since. Quote a glob, so that the shell leaves it alone. Without a `/` it means this folder
    /// alone: `src/**/*.rs` looks deeper than `*.rs`.
    #[arg(long, value_name = "GLOB")]
    inputs: Vec<String>,
    /// What a record survives once it is acknowledged
    #[arg(long, value_enum, default_value_t = Durability::Disk)]
    durability: Durability,
    /// Print the record's line even on a terminal
    #[arg(long, conflicts_with = "text")]
    json: bool,
    /// Print a readable summary even where the output is not a terminal
    #[arg(long)]
    text: bool,
    #[command(flatten)]
    expectations: Expectations,
    #[command(flatten)]
    budget: Budget,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    invocation: Invocation,
}

/// What an acknowledged record survives.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Durability {
    /// The power going out: the runner waits for the disk, some milliseconds
    Disk,
    /// The death of every process, but not the machine's
    Process,
}

impl From<Durability> for Options {
    fn from(durability: Durability) -> Self {
        use feedback_host::store::Durability as Kept;
        Self {
            durability: match durability {
                Durability::Disk => Kept::Disk,
                Durability::Process => Kept::Process,
            },
            ..Self::default()
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let fail = |message: String| Failure::runner(message);
    let checked = arguments.invocation.check();
    checked.map_err(|what| Failure::runner(format!("not started: {what}")))?;
    let mut control =
        signals::control().map_err(|error| Failure::runner(format!("signals: {error}")))?;
    let (component, project) = arguments.place.open(fail)?;
    place::warn_of_absent_files(&project);
    let inputs = inputs::relative(&project, &arguments.inputs)?;
    let runner = Runner::new(component, project).with_store_options(arguments.durability.into());
    let expect = arguments.expectations.list().map_err(Failure::runner)?;
    let request = Request {
        command: arguments.invocation.command(),
        limits: arguments.invocation.limits(&runner.limits()),
        note: arguments.note.clone(),
        parent: arguments.parent.clone(),
        retry: arguments.retry,
        exploration: arguments.explore,
        expect,
        capture_options: arguments.budget.options(),
        inputs,
        best_effort: arguments.best_effort,
        keep_output: match (arguments.keep_output, arguments.no_keep_output) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            (false, false) => None,
        },
    };
    let mut observer = observer(arguments.tee);
    let finished = runner.execute(&request, &mut control, observer.as_mut());
    // What a person watches is gone from the terminal before anything else is said there.
    drop(observer);
    let finished = finished.map_err(not_started)?;

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

/// Returns what a person watches: the lines where they are asked for, else one line of numbers.
fn observer(tee: bool) -> Box<dyn Observer> {
    let watched: Option<Box<dyn Observer>> = if tee {
        boxed(Tee::start())
    } else {
        boxed(Live::start())
    };
    watched.unwrap_or_else(|| Box::new(Silent))
}

fn boxed<O: Observer + 'static>(observer: Option<O>) -> Option<Box<dyn Observer>> {
    match observer {
        Some(observer) => Some(Box::new(observer)),
        None => None,
    }
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
            | RunError::Plan(_)
            | RunError::Chain(_)
            | RunError::Forbidden(_)
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
        // That was wanted, and is in no doubt: nothing is kept, and the gate will not see this run.
        Err(NotStored::Refused(error)) => {
            warn(format_args!("no record is kept: {}", of_store(error)));
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
    tell_of_moved_inputs(finished);
    if let Some(status) = hidden_failure(finished) {
        return status;
    }
    expected_status(finished).unwrap_or_else(|| failure::status_of(&finished.ending.outcome))
}

/// Says that the run is no evidence for its inputs, though the command may have exited 0: who reads
/// only the status would learn that from the gate.
fn tell_of_moved_inputs(finished: &Finished) {
    let Ok(verdict) = &finished.verdict else {
        return;
    };
    let mut reasons = verdict.reasons.iter();
    let moved = reasons.find(|reason| reason.code == ReasonCode::ChangedDuringRun);
    if let Some(reason) = moved {
        warn(format_args!(
            "the gate will refuse this run: {}",
            reason.message
        ));
    }
}

/// Returns the status where what was expected decides it: 0 for a code that was named, and one of
/// its own where the command ended as it should and something else does not hold.
fn expected_status(finished: &Finished) -> Option<u8> {
    finished.ending.exit_code()?;
    let verdict = finished.verdict.as_ref().ok()?;
    if verdict.decision == Decision::Pass {
        return Some(failure::PASS);
    }
    let is = |code: ReasonCode| {
        verdict
            .reasons
            .iter()
            .filter(move |reason| reason.code == code)
    };
    if is(ReasonCode::NonZeroExit).next().is_some() {
        return None;
    }
    let mut unmet = is(ReasonCode::UnmetExpectation).peekable();
    unmet.peek()?;
    unmet.for_each(|reason| warn(&reason.message));
    Some(failure::UNMET)
}

/// Tells of a stage that failed in a pipeline that exited 0, and returns the status of that.
fn hidden_failure(finished: &Finished) -> Option<u8> {
    if finished.ending.exit_code() != Some(0) {
        return None;
    }
    let reasons = &finished.verdict.as_ref().ok()?.reasons;
    let mut hidden = reasons
        .iter()
        .filter(|reason| reason.code == ReasonCode::StageFailed)
        .peekable();
    hidden.peek()?;
    hidden.for_each(|reason| warn(&reason.message));
    Some(failure::status_of_stages(&finished.ending.stages))
}
