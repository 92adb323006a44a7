//! The files that a run depends on: finds them and digests them, fast enough to do it twice a run.
//!
//! It compares nothing; whether two digests make a run evidence is the component's to say.
//!
//! The digest is the SHA-256, in this order, of `feedback inputs 1` and a newline, and then for
//! each file in the order of its path's bytes: one letter (`f` a file, `x` an executable one, `l` a
//! symbolic link, `p` a named pipe, `s` a socket, `c` and `b` devices), the length of its path as
//! eight bytes, the smallest first, the path relative to the folder, and the SHA-256 of its content
//! or of a link's target (of nothing for the others, which are never opened). A file that is not
//! there is not in it, so that a deletion shows like any other change.

mod cache;
mod changes;
mod content;
mod found;
mod git;
mod relative;
mod walk;

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use cache::Cache;
use content::Item;

pub use changes::{Changes, How, Look};
pub use relative::relative_to;

/// The word for the files that git knows or would add.
const GIT: &str = "git";

/// How many of the files that changed last are told.
const NEWEST: usize = 5;

/// What the inputs are at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    /// `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// How many files there are.
    pub files: u64,
    /// The files that changed last, the newest first, relative to the folder.
    pub newest: Vec<(PathBuf, SystemTime)>,
}

/// Why the inputs cannot be digested. Whoever named them must act.
#[derive(Debug, thiserror::Error)]
pub enum InputsError {
    /// A pattern is none.
    #[error("inputs `{pattern}`: {source}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why.
        source: globset::Error,
    },
    /// A digest of nothing would show nothing.
    #[error("inputs `{pattern}`: no file in `{}` matches", folder.display())]
    Nothing {
        /// The pattern.
        pattern: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// Git does not answer.
    #[error("inputs `git`: {what}")]
    Git {
        /// What is in the way.
        what: String,
    },
    /// A file or folder is there and cannot be read.
    #[error("inputs: `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Where inputs are looked for.
#[derive(Clone, Debug)]
pub struct Inputs {
    folder: PathBuf,
    record_file: PathBuf,
}

impl Inputs {
    /// Inputs below `folder`. The files of the store are never among them, and beside it stands a
    /// cache that saves reading what has not changed.
    #[must_use]
    pub fn new(folder: &Path, record_file: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
            record_file: record_file.to_path_buf(),
        }
    }

    /// Digests the files that the patterns name: `git`, globs relative to the folder, and
    /// `!GLOB` for what is left out. A pattern that names a folder names all that is in it.
    /// Symbolic links are not followed, and `.git` is not looked into.
    ///
    /// # Errors
    /// Where a pattern is none or matches nothing, git does not answer, or a file cannot be read.
    pub fn look(&self, patterns: &[String]) -> Result<Look, InputsError> {
        let paths = self.paths(patterns)?;
        let mut cache = Cache::open(&self.record_file);
        let items = content::read_all(&self.folder, &paths, &cache)?;
        if items.is_empty() {
            return Err(InputsError::Nothing {
                pattern: patterns.join(" "),
                folder: self.folder.clone(),
            });
        }
        cache.learn(&items);
        Ok(Look::new(sight(&items), &items))
    }

    /// Looks for the files that the patterns name, and opens none.
    ///
    /// # Errors
    /// Where a pattern is none or matches nothing, git does not answer, or a folder cannot be read.
    pub fn find(&self, patterns: &[String]) -> Result<(), InputsError> {
        self.paths(patterns).map(drop)
    }

    fn paths(&self, patterns: &[String]) -> Result<Vec<PathBuf>, InputsError> {
        found::find(&self.folder, &self.record_file, patterns)
    }
}

/// Checks that patterns can be used, without looking at any file.
///
/// # Errors
/// Where one is none.
pub fn check(patterns: &[String]) -> Result<(), InputsError> {
    found::check(patterns)
}

fn sight(items: &[Item]) -> Sight {
    let mut digest = Sha256::new_with_prefix(b"feedback inputs 1\n");
    for item in items {
        let path = item.path.as_os_str().as_encoded_bytes();
        digest.update([item.kind.letter()]);
        digest.update(u64::try_from(path.len()).unwrap_or(u64::MAX).to_le_bytes());
        digest.update(path);
        digest.update(item.content);
    }
    let mut by_age: Vec<&Item> = items.iter().collect();
    by_age.sort_by_key(|item| std::cmp::Reverse(item.changed));
    let newest = by_age.into_iter().take(NEWEST);
    Sight {
        digest: crate::digest::named(&digest.finalize()),
        files: u64::try_from(items.len()).unwrap_or(u64::MAX),
        newest: newest
            .map(|item| (item.path.clone(), item.changed))
            .collect(),
    }
}

#[cfg(test)]
mod tests;
