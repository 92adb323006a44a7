//! Finds the newest run that counts, and what is newer and does not.
//!
//! Whether that run was a success is the component's to say.

use std::fmt;

use serde::Deserialize;

use super::survey::survey;
use super::{LookupError, readable};
use crate::project::Project;
use crate::reader::{Reader, Scope};
use crate::store::{Checked, Scribe, verify_opened};

/// How many newer runs were passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Runs that only explore.
    pub explorations: u64,
    /// Runs of other projects.
    pub other_projects: u64,
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "; not counted are";
        for (count, what) in [
            (self.explorations, "that only explore"),
            (self.other_projects, "of other projects"),
        ] {
            if count > 0 {
                write!(f, "{before} {count} {what}")?;
                before = " and";
            }
        }
        Ok(())
    }
}

/// Returns the newest run's record that counts for this project, and how many are newer and do
/// not: what only explores, and what says that it is another project's.
///
/// # Errors
/// As [`newest`](super::newest); and where nothing counts, where a later run that counts has left no
/// record yet, or where the record's id stands in the store with something else as well.
pub fn newest_that_counts(
    project: &Project,
    scribe: &mut dyn Scribe,
) -> Result<(String, Passed), LookupError> {
    let file = &project.record_file;
    let reader = Reader::open(file, Scope::All)?;
    let own = project.owner_of_some();
    // A record has such a name on one line, which is not this text.
    let own =
        own.filter(|own| !own.contains(|c: char| c.is_control() || "\u{2028}\u{2029}".contains(c)));
    let walked = walk(&reader, own.as_deref(), scribe)?;
    let found = walked.found.as_ref();
    let surveyed = survey(&reader, found.map(|(line, own)| (&**line, own)), scribe);
    if let Some(cut) = surveyed.cut_off {
        return Err(cut);
    }
    let newest = walked.found.as_ref().map(|(_, found)| &found.command_id);
    if let Some(id) = still_open(&reader, own.as_deref(), newest)? {
        return Err(LookupError::StillOpen { id });
    }
    // A store writes a notice before a run's record, and hardly ever as its last line.
    if walked.met_notice {
        let found = verify_opened(&reader, file, scribe);
        if let Some(damage) = found.damages.into_iter().next() {
            return Err(LookupError::Unreadable {
                file: damage.file,
                line_no: damage.line,
                what: damage.what,
            });
        }
    }
    let passed = walked.passed;
    match walked.found {
        Some((_, own)) if surveyed.is_doubled => Err(LookupError::Doubled {
            file: file.clone(),
            id: own.command_id,
        }),
        Some((line, _)) => Ok((line, passed)),
        None if passed == Passed::default() => Err(LookupError::Empty(file.clone())),
        None => Err(LookupError::NoneCounts {
            file: file.clone(),
            left_out: passed,
        }),
    }
}

/// What stands between the end of a store and the newest run that counts.
#[derive(Default)]
struct Walked {
    found: Option<(String, Checked)>,
    passed: Passed,
    met_notice: bool,
}

fn walk(
    reader: &Reader,
    project: Option<&str>,
    scribe: &mut dyn Scribe,
) -> Result<Walked, LookupError> {
    let mut walked = Walked::default();
    let passed = &mut walked.passed;
    for entry in reader.newest_first(scribe) {
        let (text, checked) = readable(entry)?;
        match Counts::of(&text, project) {
            Counts::Yes => {
                walked.found = Some((text, checked));
                break;
            }
            Counts::Explores => passed.explorations = passed.explorations.saturating_add(1),
            Counts::Elsewhere => passed.other_projects = passed.other_projects.saturating_add(1),
            Counts::NoRun => walked.met_notice = true,
        }
    }
    Ok(walked)
}

/// Returns the newest run that counts, began after the newest record's and has left no record: it
/// runs, or its runner died, or its record waits. Ids sort by time.
fn still_open(
    reader: &Reader,
    project: Option<&str>,
    newest: Option<&String>,
) -> Result<Option<String>, LookupError> {
    let runs = reader.open_runs()?.into_iter();
    let later = runs.filter(|run| newest.is_none_or(|newest| run.command_id > *newest));
    let counting = later.filter(|run| matches!(Counts::of(&run.intent, project), Counts::Yes));
    Ok(counting.map(|run| run.command_id).max())
}

/// What tells whether a record is asked for.
#[derive(Deserialize)]
struct Head {
    kind: String,
    #[serde(default)]
    exploration: Option<bool>,
    #[serde(default)]
    project: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
}

/// The length from which a record may hold but the start of a name, in characters.
const NAME_CHARS: usize = 1_000;

/// Whether the name of a project is what it was: neither redacted nor cut.
fn is_whole(name: &str) -> bool {
    !name.contains("[REDACTED") && name.chars().count() < NAME_CHARS
}

/// Whether a record is one that is asked for.
enum Counts {
    Yes,
    Explores,
    Elsewhere,
    NoRun,
}

impl Counts {
    /// As the component's gate has it: what does not say clearly that it does not count, counts.
    fn of(line: &str, project: Option<&str>) -> Self {
        let Ok(head) = serde_json::from_str::<Head>(line) else {
            return Self::Yes;
        };
        let is_elsewhere = match (project, &head.project) {
            // What ran in this very folder counts, whatever policy is below it.
            (Some(own), Some(named)) if is_whole(named) => {
                own != named && head.cwd.as_deref() != Some(own)
            }
            (Some(_) | None, Some(_) | None) => false,
        };
        match head.kind.as_str() {
            "drop" => Self::NoRun,
            _ if is_elsewhere => Self::Elsewhere,
            "run" if head.exploration == Some(true) => Self::Explores,
            _ => Self::Yes,
        }
    }
}
