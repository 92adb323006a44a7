//! Reads a store: every record of it, oldest or newest first, and the runs that are still open.
//!
//! It changes nothing, repairs nothing, and looks into no record.

mod entries;
mod raw;
mod stored;

use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::FlockOperation;

use crate::store::folder::Folder;
use crate::store::lock::Lock;
use crate::store::pending::{self, DEGRADED, DROP, OPEN, SET_ASIDE};
use crate::store::place::Place;
use crate::store::system::{How, Kernel, System, retry};
use crate::store::{Checked, Scribe, StoreError};

pub use entries::{Entries, NewestFirst};
pub(crate) use raw::{Content, Raw, unended};
pub use stored::StoredFile;

use raw::{OpenFile, RawLines};

/// How long a reader waits for a writer. Then it reads without the lock: files only ever move to
/// higher numbers, so opening them from the newest to the oldest misses none.
const LOCK_LIMIT: Duration = Duration::from_secs(1);

/// Which files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The rotated files and the active one.
    All,
    /// The active file alone.
    Active,
}

/// What stands in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A whole record.
    Line {
        /// The file that it is in.
        file: PathBuf,
        /// The line in that file, from 1.
        line_no: u64,
        /// The record, byte for byte.
        text: String,
        /// Its place in the store.
        checked: Checked,
    },
    /// Something that is no record.
    Damaged {
        /// The file that it is in.
        file: PathBuf,
        /// The line in that file, from 1; 0 where the whole file is meant.
        line_no: u64,
        /// What is wrong, without any of its content.
        what: String,
    },
}

/// How far a run in the pending folder has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingState {
    /// Its runner lives.
    Running,
    /// It has ended; its record waits for the next writer.
    Waiting,
    /// Its runner died; the next writer records that.
    Died,
}

/// A run that is not in the record file yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingRun {
    /// The run.
    pub command_id: String,
    /// Its intent; empty where it cannot be read.
    pub intent: String,
    /// Its record where that waits, without its place in the store.
    pub body: Option<String>,
    /// How far it has come.
    pub state: PendingState,
}

/// A store, opened for reading at one moment. What is appended later is not seen.
#[derive(Debug)]
pub struct Reader {
    /// Oldest first.
    files: Vec<OpenFile>,
    pending: Option<Folder>,
    system: Arc<dyn System>,
}

impl Reader {
    /// Opens the files of a store. A missing record file is an empty store.
    ///
    /// # Errors
    /// The folder or the active file cannot be opened, or is not what a store would have there.
    pub fn open(record_file: &Path, scope: Scope) -> Result<Self, StoreError> {
        let system: Arc<dyn System> = Arc::new(Kernel);
        let place = Place::open(Arc::clone(&system), record_file, false)?;
        // Held only while opening. A lock that cannot be had is no reason not to read.
        let _lock = Lock::shared(&place.folder, &place.lock, LOCK_LIMIT);
        let mut indexes = vec![0];
        if scope == Scope::All {
            indexes.extend(place.rotated_indexes()?);
        }
        let mut files = VecDeque::new();
        let mut seen = HashSet::new();
        for index in indexes {
            let name = place.rotated(index);
            let content = match place.folder.existing(&name, How::Read) {
                Ok(Some(file)) => {
                    let stat = place.folder.stat_file(&file, &name)?;
                    if !seen.insert((stat.st_dev, stat.st_ino)) {
                        continue;
                    }
                    Ok((file, u64::try_from(stat.st_size).unwrap_or(0)))
                }
                Ok(None) => continue,
                // What somebody has put in a rotated file's place must not hide the others.
                Err(StoreError::Unsafe { hazard, .. }) if index > 0 => Err(hazard.to_string()),
                Err(error) => return Err(error),
            };
            files.push_front(OpenFile {
                path: place.folder.path_of(&name).into(),
                content,
                index,
            });
        }
        Ok(Self {
            files: files.into(),
            pending: place.folder.existing_folder(&place.pending)?,
            system,
        })
    }

    /// Returns every entry, oldest first. A record that is there twice is given once.
    pub fn entries<'a>(&'a self, scribe: &'a mut dyn Scribe) -> Entries<'a> {
        Entries::new(self, scribe)
    }

    /// Returns every entry, oldest first, also records that are there twice: whether they are one
    /// is for the component to say.
    pub fn every_entry<'a>(&'a self, scribe: &'a mut dyn Scribe) -> Entries<'a> {
        Entries::new(self, scribe).with_doubles()
    }

    /// Returns every entry, newest first. Holds the entries of one file at a time in memory.
    pub fn newest_first<'a>(&'a self, scribe: &'a mut dyn Scribe) -> NewestFirst<'a> {
        NewestFirst::new(self, scribe)
    }

    /// Returns the newest whole record.
    pub fn newest(&self, scribe: &mut dyn Scribe) -> Option<Entry> {
        self.newest_first(scribe)
            .find(|entry| matches!(entry, Entry::Line { .. }))
    }

    /// Lists the runs that are not in the record file yet, oldest first.
    ///
    /// # Errors
    /// The pending folder cannot be read.
    pub fn open_runs(&self) -> Result<Vec<PendingRun>, StoreError> {
        let mut runs = Vec::new();
        let Some(folder) = &self.pending else {
            return Ok(runs);
        };
        for name in folder.names()? {
            let Some(command_id) = pending::id_of(&name, OPEN) else {
                continue;
            };
            // Gone in the meantime: its line is in the file.
            let Some(file) = folder.existing(&name, How::Read)? else {
                continue;
            };
            let lock = FlockOperation::NonBlockingLockShared;
            let locked = retry(|| self.system.lock(&file, lock));
            let lines = pending::read(folder, &name, &file)?;
            let body = lines.as_ref().and_then(|lines| lines.second.as_ref());
            let state = match (&locked, body) {
                (Err(error), _) if error.kind() == io::ErrorKind::WouldBlock => {
                    PendingState::Running
                }
                (_, Some(_)) => PendingState::Waiting,
                (_, None) => PendingState::Died,
            };
            if locked.is_ok() {
                // Only for politeness: the lock would go with the file, at the end of this turn.
                let _ = retry(|| self.system.lock(&file, FlockOperation::Unlock));
            }
            runs.push(PendingRun {
                command_id: command_id.to_owned(),
                body: body.cloned(),
                intent: lines.map(|lines| lines.first).unwrap_or_default(),
                state,
            });
        }
        Ok(runs)
    }

    /// Lists what recovery has set aside because it is no record.
    ///
    /// # Errors
    /// The pending folder cannot be read.
    pub fn set_aside(&self) -> Result<Vec<PathBuf>, StoreError> {
        let Some(folder) = &self.pending else {
            return Ok(Vec::new());
        };
        let names = folder.names()?;
        Ok(names
            .iter()
            .filter(|name| pending::id_of(name, SET_ASIDE).is_some())
            .map(|name| folder.path_of(name))
            .collect())
    }

    /// Returns the mark that says that the disk once did not take what was written.
    ///
    /// # Errors
    /// The pending folder cannot be read.
    pub fn degraded(&self) -> Result<Option<PathBuf>, StoreError> {
        let Some(folder) = &self.pending else {
            return Ok(None);
        };
        let mark = folder.stat(DEGRADED.as_ref())?;
        Ok(mark.map(|_| folder.path_of(DEGRADED.as_ref())))
    }

    /// Returns the files, oldest first, for who copies them as they are.
    pub fn files(&self) -> impl Iterator<Item = StoredFile<'_>> {
        let of = |file| StoredFile::new(self.system.as_ref(), file);
        self.files.iter().map(of)
    }

    /// Returns how many files were opened.
    #[must_use]
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Returns the bodies of the drop notices that wait.
    pub(crate) fn waiting_drops(&self) -> Result<Vec<String>, StoreError> {
        let Some(folder) = &self.pending else {
            return Ok(Vec::new());
        };
        let mut bodies = Vec::new();
        for name in folder.names()? {
            if pending::id_of(&name, DROP).is_none() {
                continue;
            }
            if let Some(file) = folder.existing(&name, How::Read)?
                && let Some(lines) = pending::read(folder, &name, &file)?
            {
                bodies.extend(lines.second);
            }
        }
        Ok(bodies)
    }

    /// Returns the lines of all files as they are, oldest first.
    pub(crate) fn raw_lines(&self) -> impl Iterator<Item = Raw> {
        self.files
            .iter()
            .flat_map(|file| RawLines::new(self.system.as_ref(), file))
    }
}
