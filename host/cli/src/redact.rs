//! `feedback redact`: a filter, text in, redacted text with the same lines out.
//!
//! It keeps no record.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::failure::Failure;
use crate::texts::{self, Input, Onward};

/// Print a text without its secrets, line for line
///
/// The policy of the nearest feedback.json applies, and the secret ones among this process's
/// own variables are hidden wherever their values stand. What is not UTF-8 is printed as U+FFFD;
/// every other byte that is no secret stays. It guards against accident, not against a program
/// that hides its output on purpose.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// How much a finding takes [default: the policy's, else standard]
    #[arg(long, value_enum)]
    mode: Option<Mode>,
    /// The text [default: standard input]
    file: Option<PathBuf>,
}

/// How much a finding takes.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    /// The five base rules take the line, every other rule the secret
    Standard,
    /// Every rule takes the secret
    Span,
    /// Every rule takes the line
    Line,
}

impl Mode {
    const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Span => "span",
            Self::Line => "line",
        }
    }
}

/// Filters the text. Where the component stops, nothing more is printed.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut session = texts::session(arguments.mode.map(Mode::name))?;
    let mut input = Input::plain(arguments.file.as_deref())?;
    let filter = session.start_filter().map_err(Failure::undecided)?;
    let onward = input.each(|bytes| {
        let text = session.filter(&filter, bytes).map_err(Failure::undecided)?;
        texts::print(&text)
    })?;
    if onward == Onward::Yes {
        let rest = session.finish_filter(filter).map_err(Failure::undecided)?;
        texts::print(&rest)?;
    }
    Ok(ExitCode::SUCCESS)
}
