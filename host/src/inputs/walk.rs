//! Goes through a folder and collects the files that a filter wants.
//!
//! It follows no symbolic link, so it goes in no circle.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::InputsError;

/// What is collected, and what is passed by with all that is in it.
pub(super) struct Filter<'a> {
    pub(super) wanted: &'a dyn Fn(&Path) -> bool,
    pub(super) unwanted: &'a dyn Fn(&Path) -> bool,
}

/// Adds the wanted files at and below `start`, relative to `folder`. What vanishes is passed by.
pub(super) fn walk(
    folder: &Path,
    start: &Path,
    filter: &Filter<'_>,
    all: &mut Vec<PathBuf>,
) -> Result<(), InputsError> {
    let whole = folder.join(start);
    let Some(about) = present(&whole, fs::symlink_metadata(&whole))? else {
        return Ok(());
    };
    if start
        .ancestors()
        .any(|part| part != Path::new("") && (filter.unwanted)(part))
    {
        return Ok(());
    }
    let mut open = Vec::new();
    take(start.to_path_buf(), about.is_dir(), filter, all, &mut open);
    while let Some(path) = open.pop() {
        let whole = folder.join(&path);
        let Some(entries) = present(&whole, fs::read_dir(&whole))? else {
            continue;
        };
        for entry in entries {
            let Some(entry) = present(&whole, entry)? else {
                continue;
            };
            let below = path.join(entry.file_name());
            let Some(kind) = present(&entry.path(), entry.file_type())? else {
                continue;
            };
            if !(filter.unwanted)(&below) {
                take(below, kind.is_dir(), filter, all, &mut open);
            }
        }
    }
    Ok(())
}

fn take(
    path: PathBuf,
    is_folder: bool,
    filter: &Filter<'_>,
    all: &mut Vec<PathBuf>,
    open: &mut Vec<PathBuf>,
) {
    if is_folder {
        open.push(path);
    } else if (filter.wanted)(&path) {
        all.push(path);
    }
}

/// What is there, or nothing where it is not there (any more).
pub(super) fn present<T>(path: &Path, result: io::Result<T>) -> Result<Option<T>, InputsError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(source) => Err(InputsError::Read {
            path: path.to_path_buf(),
            source,
        }),
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
