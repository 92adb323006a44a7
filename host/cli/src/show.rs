//! `feedback show`: prints one record.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use feedback_host::lookup::{self, LookupError};
use feedback_host::scribe::ComponentScribe;

use crate::artifact::{Exported, Opened};
use crate::failure::{self, Failure, of_store};
use crate::output::{self, Stream, Wanted};
use crate::place::Place;
use crate::summary;

/// Show a record: the newest, the newest failure, or one by its id
///
/// With `--full`, `--lines` or `--grep` it prints the run's output instead, where that was kept:
/// redacted, without escape sequences, each line with the number that the record counts. Where
/// both streams have text, each has its name above it.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The command id, or as much of its beginning or end as is unique
    #[arg(conflicts_with = "failed")]
    id: Option<String>,
    /// The newest failure: the command failed, or something that was expected does not hold
    #[arg(long)]
    failed: bool,
    /// Print the record's line even on a terminal
    #[arg(long, conflicts_with_all = ["text", "output"])]
    json: bool,
    /// Print a readable summary even where the output is not a terminal
    #[arg(long, conflicts_with = "output")]
    text: bool,
    #[command(flatten)]
    output: Wanted,
    /// Print only this stream of the kept output [default: both, stdout first]
    #[arg(long, value_enum, requires = "output")]
    stream: Option<Stream>,
    #[command(flatten)]
    exported: Exported,
    #[command(flatten)]
    place: Place,
}

/// Prints the record.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (component, project) = arguments.place.open(Failure::undecided)?;
    let mut scribe = ComponentScribe::new(component);
    let with_outputs = arguments.output.is_any();
    let exported = arguments.exported.open(with_outputs)?;
    let file = exported
        .as_ref()
        .map_or(project.record_file.as_path(), Opened::record_file);
    let found = match (&arguments.id, arguments.failed) {
        (Some(id), _) => lookup::find(file, id, &mut scribe),
        (None, true) => lookup::newest_failure(file, &mut scribe),
        (None, false) => lookup::newest(file, &mut scribe),
    };
    let line = found.map_err(not_found)?;
    tell_of_double(file, &line, &mut scribe)?;
    if with_outputs {
        output::print(file, &line, &arguments.output, arguments.stream)?;
        return Ok(ExitCode::SUCCESS);
    }
    let as_text = arguments.text || (!arguments.json && io::stdout().is_terminal());
    let shown = if as_text { summary::of(&line) } else { line };
    failure::answer(&shown)?;
    Ok(ExitCode::SUCCESS)
}

/// Says that another record has the same id: which of them was made, nobody can tell.
fn tell_of_double(file: &Path, line: &str, scribe: &mut ComponentScribe) -> Result<(), Failure> {
    if lookup::is_doubled(file, line, scribe).map_err(not_found)? {
        failure::warn(format_args!(
            "warning: `{}` holds another record with this id that says something else; shown is the newest, and `feedback verify` says more",
            file.display()
        ));
    }
    Ok(())
}

/// Says why there is no such record, and what to do.
pub(crate) fn not_found(error: LookupError) -> Failure {
    Failure::undecided(match error {
        LookupError::Store(error) => of_store(&error),
        error @ LookupError::Empty(_) => format!("{error}; `feedback run` makes one"),
        error @ LookupError::Unreadable { .. } => {
            format!("{error}; `feedback verify` says more")
        }
        error @ LookupError::NoneCounts { .. } => {
            format!("{error}; run what is to be judged without `--explore`, in this project")
        }
        error @ LookupError::Doubled { .. } => {
            format!("{error}; let a person look at what `feedback verify` finds")
        }
        error @ LookupError::StillOpen { .. } => {
            format!(
                "{error}; wait for it, or where its runner died, `feedback recover` makes its record"
            )
        }
        error @ LookupError::Ambiguous { .. } => format!("{error}; give more of it"),
        error @ (LookupError::NoFailure(_) | LookupError::Unknown { .. }) => error.to_string(),
    })
}
