//! Finds single records of a store: the newest, the newest failure, one by its id.
//!
//! It reads; what a failure is, it takes from what the component wrote into the record.

mod counting;
mod survey;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::reader::{Entry, Reader, Scope};
use crate::store::{Checked, Scribe, StoreError};

pub use counting::{Passed, newest_that_counts};
pub use survey::is_doubled;

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
    /// A run began after the newest record's and has left none yet.
    #[error(
        "the run `{id}` began later and has not ended, so what came of the newest run is not known"
    )]
    StillOpen {
        /// Its id.
        id: String,
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
        let (text, _) = readable(entry)?;
        if is_run(&text) {
            return Ok(text);
        }
    }
    Err(LookupError::Empty(record_file.to_path_buf()))
}

/// Returns the newest record of a failure: one whose command failed, or of which something that
/// was expected does not hold. What only explores fails nothing.
///
/// # Errors
/// Where the store cannot be read or holds no failure.
pub fn newest_failure(record_file: &Path, scribe: &mut dyn Scribe) -> Result<String, LookupError> {
    first(record_file, scribe, Head::is_failure)?
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

/// Returns a record, or what stands where one may have been.
fn readable(entry: Entry) -> Result<(String, Checked), LookupError> {
    match entry {
        Entry::Line { text, checked, .. } => Ok((text, checked)),
        Entry::Damaged {
            file,
            line_no,
            what,
        } => Err(LookupError::Unreadable {
            file,
            line_no,
            what,
        }),
    }
}

/// What tells a run from a notice, and a success from a failure.
#[derive(Deserialize)]
struct Head {
    kind: String,
    #[serde(default)]
    exit_code: Option<i64>,
    #[serde(default)]
    exploration: bool,
    #[serde(default)]
    failure_signature: Option<IgnoredAny>,
    #[serde(default)]
    expectations: Vec<IgnoredAny>,
}

impl Head {
    fn is_run(&self) -> bool {
        self.kind != "drop"
    }

    /// A failure has a signature; where nothing can have one (the runner died, a fallback record),
    /// the exit code tells, unless another one was expected.
    fn is_failure(&self) -> bool {
        let is_unexplained = self.exit_code != Some(0) && self.expectations.is_empty();
        self.is_run() && !self.exploration && (self.failure_signature.is_some() || is_unexplained)
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
