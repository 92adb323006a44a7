//! `feedback verify`: checks every line of a store and the chain that they form.

use std::process::ExitCode;

use clap::Args;
use feedback_host::output::verify_outputs;
use feedback_host::reader::{Reader, Scope};
use feedback_host::scribe::ComponentScribe;
use feedback_host::store::{Head, verify, verify_against};

use crate::artifact::{Exported, Opened};
use crate::failure::{self, DAMAGED, Failure, UNDECIDED, warn};
use crate::place::Place;
use crate::texts;
use crate::verification::{State, as_json, as_text};

/// Check every record and their chain: exit 0 sound, 1 damaged, 2 cannot tell
///
/// It finds what is missing, changed, doubled or torn, outputs included that records name as
/// kept, and prints the head: number and hash of
/// the newest record. Nothing in a store stops a process of the same user from writing the whole
/// chain anew or from taking the newest records away; keep the head elsewhere, in a CI log for
/// instance, and give it back with `--head`.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// A head that was printed before and kept elsewhere: its record must still be there, unchanged
    #[arg(long, value_name = "NUMBER:HASH", value_parser = head)]
    head: Option<Head>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    exported: Exported,
    #[command(flatten)]
    place: Place,
}

fn head(text: &str) -> Result<Head, String> {
    let is_hex = |digits: &str| {
        let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        digits.len() == 64 && digits.bytes().all(lower)
    };
    text.split_once(':')
        .and_then(|(seq, hash)| Some((seq.parse().ok()?, hash)))
        .filter(|(_, hash)| hash.strip_prefix("sha256:").is_some_and(is_hex))
        .map(|(seq, hash)| Head {
            seq,
            hash: hash.to_owned(),
        })
        .ok_or_else(|| "write it as `feedback verify` prints it, 12:sha256:…".to_owned())
}

/// Prints the findings.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (component, project) = arguments.place.open(Failure::undecided)?;
    let exported = arguments.exported.open(true)?;
    let file = exported
        .as_ref()
        .map_or(project.record_file.as_path(), Opened::record_file);
    let mut scribe = ComponentScribe::new(component);
    let mut found = match &arguments.head {
        Some(kept) => verify_against(kept.clone(), file, &mut scribe),
        None => verify(file, &mut scribe),
    };
    // A store that cannot be opened has been told of.
    if let Ok(reader) = Reader::open(file, Scope::All) {
        let damages = verify_outputs(&reader, file, &mut scribe);
        found.damages.extend(damages);
    }
    let shown = if arguments.json {
        let document = as_json(&found, &|path| path.display().to_string());
        texts::redacted_document(document).to_string()
    } else {
        texts::redacted(&as_text(&found))
    };
    failure::answer(&shown)?;
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
