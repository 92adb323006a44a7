//! Finds single records of a store: the newest, the newest failure, one by its id.
//!
//! It reads; it judges nothing but whether an exit code is there and 0.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::project::Project;
use crate::reader::{Entry, Reader, Scope};
use crate::store::{Scribe, StoreError, verify_opened};

/// Why there is no such record.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing was ever recorded here.
    #[error("`{}` holds no record", .0.display())]
    Empty(PathBuf),
    /// Behind the newest record that can be read stands something that cannot be read. It may be a
    /// record, so that nothing older may be taken for the newest.
    #[error("`{}` line {line_no}: {what}, so the newest record is not known", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The line in it, from 1; 0 where the whole file is meant.
        line_no: u64,
        /// What is there.
        what: String,
    },
    /// What is there is of no use for the question: every run only explores, or is another
    /// project's.
    #[error("`{}` holds no run that counts{left_out}", file.display())]
    NoneCounts {
        /// The record file.
        file: PathBuf,
        /// What it holds instead.
        left_out: Passed,
    },
    /// The newest record's id stands there with something else as well.
    #[error("`{}` holds two records with the id `{id}` that say different things, so nobody can tell which of them was made", file.display())]
    Doubled {
        /// The record file.
        file: PathBuf,
        /// The id of both.
        id: String,
    },
    /// Every run exited 0.
    #[error("`{}` holds no failure", .0.display())]
    NoFailure(PathBuf),
    /// No record has this id.
    #[error("`{}` holds no record `{id}`", file.display())]
    Unknown {
        /// The record file.
        file: PathBuf,
        /// What was asked for.
        id: String,
    },
    /// Several records fit.
    #[error("`{id}` fits more than one record: `{first}`, `{second}`")]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// The newest that fits.
        first: String,
        /// The next.
        second: String,
    },
}

/// Returns the newest run's record.
///
/// # Errors
/// Where the store cannot be read or is empty, or where its newest line is no record.
pub fn newest(record_file: &Path, scribe: &mut dyn Scribe) -> Result<String, LookupError> {
    let reader = Reader::open(record_file, Scope::All)?;
    for entry in reader.newest_first(scribe) {
        match entry {
            Entry::Line { text, .. } if is_run(&text) => return Ok(text),
            Entry::Line { .. } => {}
            Entry::Damaged {
                file,
                line_no,
                what,
            } => {
                return Err(LookupError::Unreadable {
                    file,
                    line_no,
                    what,
                });
            }
        }
    }
    Err(LookupError::Empty(record_file.to_path_buf()))
}

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

/// Returns the newest run's record that counts for this project, and what is newer and does not:
/// what only explores, and what says that it is another project's.
///
/// # Errors
/// As [`newest`]; and where nothing counts, or the record's id stands there with something else.
pub fn newest_that_counts(
    project: &Project,
    scribe: &mut dyn Scribe,
) -> Result<(String, Passed), LookupError> {
    let file = &project.record_file;
    let reader = Reader::open(file, Scope::All)?;
    let mut passed = Passed::default();
    let mut notices = false;
    let mut entries = reader.every_newest_first(scribe);
    let found = loop {
        match entries.next() {
            Some(Entry::Line { text, checked, .. }) => {
                let Ok(head) = serde_json::from_str::<Head>(&text) else {
                    // No notice, so it must be a run that only the component understands.
                    break Some((text, checked));
                };
                match head.counts_for(project) {
                    Counts::Yes => break Some((text, checked)),
                    Counts::Explores => passed.explorations = passed.explorations.saturating_add(1),
                    Counts::Elsewhere => {
                        passed.other_projects = passed.other_projects.saturating_add(1);
                    }
                    Counts::NoRun => notices = true,
                }
            }
            Some(Entry::Damaged {
                file,
                line_no,
                what,
            }) => {
                return Err(LookupError::Unreadable {
                    file,
                    line_no,
                    what,
                });
            }
            None => break None,
        }
    };
    let Some((line, own)) = found else {
        return Err(if passed == Passed::default() {
            LookupError::Empty(file.clone())
        } else {
            LookupError::NoneCounts {
                file: file.clone(),
                left_out: passed,
            }
        });
    };
    let is_other = |entry: Entry| match entry {
        Entry::Line { text, checked, .. } => {
            checked.command_id == own.command_id && checked.body(&text) != own.body(&line)
        }
        Entry::Damaged { .. } => false,
    };
    if entries.any(is_other) {
        return Err(LookupError::Doubled {
            file: file.clone(),
            id: own.command_id,
        });
    }
    // A store writes a notice before a run's record, and hardly ever as its last line.
    if notices {
        drop(entries);
        let found = verify_opened(&reader, file, scribe);
        if let Some(damage) = found.damages.into_iter().next() {
            return Err(LookupError::Unreadable {
                file: damage.file,
                line_no: damage.line,
                what: damage.what,
            });
        }
    }
    Ok((line, passed))
}

/// Returns the newest record whose exit code is not 0 or is missing.
///
/// # Errors
/// Where the store cannot be read or holds no failure.
pub fn newest_failure(record_file: &Path, scribe: &mut dyn Scribe) -> Result<String, LookupError> {
    first(record_file, scribe, |head| {
        head.is_run() && head.exit_code != Some(0)
    })?
    .ok_or_else(|| LookupError::NoFailure(record_file.to_path_buf()))
}

/// Returns the record with this id, or the only one whose id begins or ends with it.
///
/// # Errors
/// Where the store cannot be read, or no record or more than one fits.
pub fn find(record_file: &Path, id: &str, scribe: &mut dyn Scribe) -> Result<String, LookupError> {
    let reader = Reader::open(record_file, Scope::All)?;
    let mut found: Option<(String, String)> = None;
    for (command_id, line) in lines(&reader, scribe) {
        if command_id == id {
            return Ok(line);
        }
        if !id.is_empty() && (command_id.starts_with(id) || command_id.ends_with(id)) {
            if let Some((first, _)) = found {
                return Err(LookupError::Ambiguous {
                    id: id.to_owned(),
                    first,
                    second: command_id,
                });
            }
            found = Some((command_id, line));
        }
    }
    found
        .map(|(_, line)| line)
        .ok_or_else(|| LookupError::Unknown {
            file: record_file.to_path_buf(),
            id: id.to_owned(),
        })
}

/// What tells a run from a notice, and a success from a failure.
#[derive(Deserialize)]
struct Head {
    kind: String,
    #[serde(default)]
    exit_code: Option<i64>,
    #[serde(default)]
    exploration: Option<bool>,
    #[serde(default)]
    project: Option<String>,
}

/// Whether a record is one that is asked for.
enum Counts {
    Yes,
    Explores,
    Elsewhere,
    NoRun,
}

impl Head {
    fn is_run(&self) -> bool {
        self.kind != "drop"
    }

    /// As the component's gate has it: what does not say clearly that it does not count, counts.
    fn counts_for(&self, project: &Project) -> Counts {
        let is_elsewhere = match (project.owner_of_some(), &self.project) {
            (Some(own), Some(named)) => *own != **named && !named.contains("[REDACTED"),
            (Some(_) | None, Some(_) | None) => false,
        };
        if !self.is_run() {
            Counts::NoRun
        } else if is_elsewhere {
            Counts::Elsewhere
        } else if self.exploration == Some(true) && self.kind == "run" {
            Counts::Explores
        } else {
            Counts::Yes
        }
    }
}

fn is_run(line: &str) -> bool {
    serde_json::from_str(line).is_ok_and(|head: Head| head.is_run())
}

fn first(
    record_file: &Path,
    scribe: &mut dyn Scribe,
    wanted: impl Fn(&Head) -> bool,
) -> Result<Option<String>, LookupError> {
    let reader = Reader::open(record_file, Scope::All)?;
    Ok(lines(&reader, scribe)
        .map(|(_, line)| line)
        .find(|line| serde_json::from_str(line).is_ok_and(|head| wanted(&head))))
}

/// Returns the whole records, newest first, with their ids.
fn lines<'a>(
    reader: &'a Reader,
    scribe: &'a mut dyn Scribe,
) -> impl Iterator<Item = (String, String)> + 'a {
    reader.newest_first(scribe).filter_map(|entry| match entry {
        Entry::Line { text, checked, .. } => Some((checked.command_id, text)),
        Entry::Damaged { .. } => None,
    })
}
