//! The files in which runs kept their output, beside the record file that they belong to.
//!
//! It lists them and reads none.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use feedback_host::output;

/// The folders that were listed.
#[derive(Debug, Default)]
pub(super) struct Folders(BTreeSet<PathBuf>);

impl Folders {
    /// Returns the kept outputs beside a record file or one of its rotated files, in order of their
    /// names; nothing where they were listed before, or where there are none.
    ///
    /// # Errors
    /// The folder and why, where it is there and cannot be read.
    pub(super) fn list(
        &mut self,
        record_file: &Path,
    ) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
        let folder = output::folder(record_file);
        if !self.0.insert(folder.clone()) {
            return Ok(Vec::new());
        }
        listed(&folder).map_err(|error| (folder, error))
    }
}

fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        // A store makes regular files only; to open a FIFO would wait for a writer.
        if entry.file_type()?.is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}
