//! `feedback verify`: checks every line of a store and the chain that they form.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use feedback_host::scribe::ComponentScribe;
use feedback_host::store::verify;

use crate::failure::{DAMAGED, Failure, UNDECIDED, warn};
use crate::place::Place;
use crate::verification::{State, as_json, as_text};

/// Check every record and their chain: exit 0 sound, 1 damaged, 2 cannot tell
///
/// It finds what is missing, changed, doubled or torn, and prints the head: number and hash of
/// the newest record. Nothing in a store stops a process of the same user from writing the whole
/// chain anew; keep the head elsewhere, in a CI log for instance, and compare.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Prints the findings.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (component, project) = arguments
        .place
        .open(|message| Failure::undecided(message))?;
    let file = &project.record_file;
    let found = verify(file, &mut ComponentScribe::new(component));
    let shown = if arguments.json {
        as_json(&found, &|path| path.display().to_string()).to_string()
    } else {
        as_text(&found)
    };
    let _ = writeln!(io::stdout().lock(), "{shown}");
    Ok(ExitCode::from(match State::of(&found) {
        State::Sound => 0,
        State::Damaged => DAMAGED,
        State::Unknown => {
            warn(match found.damages.first() {
                None => format!(
                    "`{}` holds no record that could be checked; `feedback run` makes one",
                    file.display()
                ),
                Some(damage) => format!(
                    "cannot tell whether `{}` is sound: {}",
                    file.display(),
                    damage.what
                ),
            });
            UNDECIDED
        }
    }))
}
