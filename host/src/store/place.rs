//! The names of a store's files and how they are reached from the record file's path.
//!
//! Nothing is read or written here but the list of the folder.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{Hazard, StoreError};
use super::folder::Folder;
use super::system::System;

/// What the folder of kept outputs has behind the name of the record file.
const OUTPUT: &str = ".output";

/// A store's folder and the names of its files in there.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: Folder,
    /// The active file.
    pub(crate) active: OsString,
    /// The file that is locked, and never anything else.
    pub(crate) lock: OsString,
    /// The folder of the records that are not in a file yet.
    pub(crate) pending: OsString,
    /// The folder of kept outputs.
    pub(crate) output: OsString,
}

impl Place {
    /// Opens the folder of a record file.
    pub(crate) fn open(
        system: Arc<dyn System>,
        record_file: &Path,
        create: bool,
    ) -> Result<Self, StoreError> {
        let Some(active) = record_file.file_name().map(OsStr::to_os_string) else {
            return Err(StoreError::Unsafe {
                path: record_file.to_path_buf(),
                hazard: Hazard::Directory,
            });
        };
        let parent = record_file.parent().filter(|path| *path != Path::new(""));
        let folder = Folder::open(system, parent.unwrap_or(Path::new(".")), create)?;
        Ok(Self {
            folder,
            lock: with_suffix(&active, ".lock"),
            pending: with_suffix(&active, ".pending"),
            output: with_suffix(&active, OUTPUT),
            active,
        })
    }

    /// Returns the name of a rotated file; 0 is the active one.
    pub(crate) fn rotated(&self, index: u32) -> OsString {
        if index == 0 {
            self.active.clone()
        } else {
            with_suffix(&self.active, &format!(".{index}"))
        }
    }

    /// Lists the indexes of the rotated files that exist, newest first.
    pub(crate) fn rotated_indexes(&self) -> Result<Vec<u32>, StoreError> {
        let names = self.folder.names()?;
        let mut indexes: Vec<u32> = names
            .iter()
            .filter_map(|name| {
                let suffix = name
                    .as_encoded_bytes()
                    .strip_prefix(self.active.as_encoded_bytes())?;
                let digits = str::from_utf8(suffix).ok()?.strip_prefix('.')?;
                let index: u32 = digits.parse().ok()?;
                (index > 0 && index.to_string() == digits).then_some(index)
            })
            .collect();
        indexes.sort_unstable();
        Ok(indexes)
    }

    /// Returns the path of the active file, for messages.
    pub(crate) fn active_path(&self) -> PathBuf {
        self.folder.path_of(&self.active)
    }
}

/// Returns the folder of kept outputs of a record file. A rotated file, whose name ends with a
/// number, shares that of the active one.
pub(crate) fn output_folder(record_file: &Path) -> PathBuf {
    let is_number = |end: &OsStr| end.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let active = match record_file.extension() {
        Some(end) if is_number(end) => record_file.with_extension(""),
        Some(_) | None => record_file.to_path_buf(),
    };
    PathBuf::from(with_suffix(active.as_os_str(), OUTPUT))
}

fn with_suffix(name: &OsStr, suffix: &str) -> OsString {
    let mut name = name.to_os_string();
    name.push(suffix);
    name
}
