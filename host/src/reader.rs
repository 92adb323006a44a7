//! Reads a store: every record of it, oldest or newest first, and the runs that are still open.
//!
//! It changes nothing, repairs nothing, and looks into no record.

use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::FlockOperation;

use crate::store::folder::Folder;
use crate::store::lines::read_range;
use crate::store::lock::Lock;
use crate::store::pending::{self, DEGRADED, DROP, OPEN, SET_ASIDE};
use crate::store::place::Place;
use crate::store::scribe::{Piece, take_apart};
use crate::store::system::{How, Kernel, System, bytes, retry};
use crate::store::{Checked, Scribe, StoreError};

/// How long a reader waits for a writer. Then it reads without the lock: files only ever move to
/// higher numbers, so opening them from the newest to the oldest misses none.
const LOCK_LIMIT: Duration = Duration::from_secs(1);

const CHUNK: u64 = 64 * 1024;

/// The largest line that is looked at, in bytes. A store writes no more than a quarter of it.
const LONGEST_LINE: usize = 1024 * 1024;

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
    /// Its intent.
    pub intent: String,
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

/// A file and the size that it had.
#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    /// The file and its size, or why it is not read.
    content: Result<(File, u64), String>,
    active: bool,
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
                path: place.folder.path_of(&name),
                content,
                active: index == 0,
            });
        }
        Ok(Self {
            files: files.into(),
            pending: place.folder.existing_private(&place.pending)?,
            system,
        })
    }

    /// Returns every entry, oldest first. A record that is there twice is given once.
    pub fn entries<'a>(&'a self, scribe: &'a mut dyn Scribe) -> Entries<'a> {
        Entries {
            reader: self,
            scribe,
            next_file: 0,
            lines: None,
            ready: VecDeque::new(),
            seen: HashSet::new(),
        }
    }

    /// Returns every entry, newest first. Holds the entries of one file at a time in memory.
    pub fn newest_first<'a>(&'a self, scribe: &'a mut dyn Scribe) -> NewestFirst<'a> {
        NewestFirst {
            reader: self,
            scribe,
            files_left: self.files.len(),
            ready: Vec::new(),
            seen: HashSet::new(),
        }
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
            let Some(lines) = pending::read(folder, &name, &file)? else {
                continue;
            };
            let state = match (&locked, &lines.second) {
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
                intent: lines.first,
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

/// The entries of a store, oldest first.
pub struct Entries<'a> {
    reader: &'a Reader,
    scribe: &'a mut dyn Scribe,
    next_file: usize,
    lines: Option<RawLines<'a>>,
    ready: VecDeque<Entry>,
    seen: HashSet<String>,
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            while let Some(entry) = self.ready.pop_front() {
                if is_new(&entry, &mut self.seen) {
                    return Some(entry);
                }
            }
            let raw = self.lines.as_mut().and_then(Iterator::next);
            match raw {
                Some(raw) => self.ready.extend(raw.entries(self.scribe)),
                None => {
                    let file = self.reader.files.get(self.next_file)?;
                    self.next_file = self.next_file.saturating_add(1);
                    self.lines = Some(RawLines::new(self.reader.system.as_ref(), file));
                }
            }
        }
    }
}

/// The entries of a store, newest first.
pub struct NewestFirst<'a> {
    reader: &'a Reader,
    scribe: &'a mut dyn Scribe,
    files_left: usize,
    ready: Vec<Entry>,
    seen: HashSet<String>,
}

impl Iterator for NewestFirst<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            while let Some(entry) = self.ready.pop() {
                if is_new(&entry, &mut self.seen) {
                    return Some(entry);
                }
            }
            self.files_left = self.files_left.checked_sub(1)?;
            let file = self.reader.files.get(self.files_left)?;
            for raw in RawLines::new(self.reader.system.as_ref(), file) {
                self.ready.extend(raw.entries(self.scribe));
            }
        }
    }
}

/// A line as it stands in a file.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub(crate) file: PathBuf,
    pub(crate) line_no: u64,
    pub(crate) content: Content,
}

/// What a line holds.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A line with its newline, which is not in here.
    Complete(Vec<u8>),
    /// The end of the active file after its last newline. A writer may be about to go on there,
    /// or has died there: it is no damage, and only a whole record in it counts.
    Unfinished(Vec<u8>),
    /// What cannot be looked at, and why.
    Unreadable(String),
}

impl Raw {
    /// Returns the records on the line, and what is between them.
    fn entries(self, scribe: &mut dyn Scribe) -> Vec<Entry> {
        let (line, complete) = match &self.content {
            Content::Complete(line) => (line, true),
            Content::Unfinished(line) => (line, false),
            Content::Unreadable(why) => return vec![self.damaged(why.clone())],
        };
        // A torn character only ever stands in a fragment, and only that is changed here.
        let text = String::from_utf8_lossy(line);
        if text.is_empty() {
            return vec![self.damaged("is empty".into())];
        }
        let pieces = match take_apart(&text, scribe) {
            Ok(pieces) => pieces,
            Err(error) => return vec![self.damaged(error.to_string())],
        };
        if !complete && !matches!(pieces.last(), Some(Piece::Record(..))) {
            return Vec::new();
        }
        let entry = |piece| match piece {
            Piece::Record(checked, range) => Entry::Line {
                file: self.file.clone(),
                line_no: self.line_no,
                text: text.get(range).unwrap_or_default().to_owned(),
                checked,
            },
            Piece::Fragment(range) => self.damaged(format!("{} bytes are no record", range.len())),
        };
        pieces.into_iter().map(entry).collect()
    }

    fn damaged(&self, what: String) -> Entry {
        Entry::Damaged {
            file: self.file.clone(),
            line_no: self.line_no,
            what,
        }
    }
}

/// The lines of one file, read in chunks.
#[derive(Debug)]
struct RawLines<'a> {
    system: &'a dyn System,
    file: &'a OpenFile,
    read: u64,
    line_no: u64,
    buffer: Vec<u8>,
    /// How much of the buffer holds no newline for sure.
    searched: usize,
    /// True inside of a line that is too long to be looked at.
    skipping: bool,
    ended: bool,
}

impl<'a> RawLines<'a> {
    fn new(system: &'a dyn System, file: &'a OpenFile) -> Self {
        Self {
            system,
            file,
            read: 0,
            line_no: 0,
            buffer: Vec::new(),
            searched: 0,
            skipping: false,
            ended: false,
        }
    }

    /// Takes the next complete line out of the buffer.
    fn take_line(&mut self) -> Option<Vec<u8>> {
        let rest = self.buffer.get(self.searched..)?;
        let Some(at) = rest.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let end = self.searched.saturating_add(at);
        let rest = self.buffer.split_off(end.saturating_add(1));
        let mut line = std::mem::replace(&mut self.buffer, rest);
        line.truncate(end);
        self.searched = 0;
        Some(line)
    }

    /// Reads on. Returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let (file, size) = match &self.file.content {
            Ok((file, size)) => (file, *size),
            Err(why) => return Err(io::Error::other(why.clone())),
        };
        let end = size.min(self.read.saturating_add(CHUNK));
        if end == self.read {
            return Ok(false);
        }
        let chunk = read_range(self.system, file, self.read, end)?;
        self.read = self.read.saturating_add(bytes(chunk.len()));
        self.buffer.extend(chunk);
        if self.buffer.len() > LONGEST_LINE && self.searched > LONGEST_LINE {
            self.skipping = true;
            self.buffer = self.buffer.split_off(self.searched);
            self.searched = 0;
        }
        Ok(true)
    }

    fn raw(&mut self, content: Content) -> Raw {
        self.line_no = self.line_no.saturating_add(1);
        Raw {
            file: self.file.path.clone(),
            line_no: self.line_no,
            content,
        }
    }

    fn too_long(&mut self) -> Raw {
        self.skipping = false;
        self.raw(Content::Unreadable("is longer than any record".into()))
    }

    fn last(&mut self) -> Option<Raw> {
        self.ended = true;
        let rest = std::mem::take(&mut self.buffer);
        if self.skipping {
            return Some(self.too_long());
        }
        if rest.is_empty() {
            return None;
        }
        if self.file.active {
            return Some(self.raw(Content::Unfinished(rest)));
        }
        Some(self.raw(Content::Complete(rest)))
    }
}

impl Iterator for RawLines<'_> {
    type Item = Raw;

    fn next(&mut self) -> Option<Raw> {
        while !self.ended {
            if let Some(line) = self.take_line() {
                if self.skipping {
                    return Some(self.too_long());
                }
                return Some(self.raw(Content::Complete(line)));
            }
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return self.last(),
                Err(error) => {
                    self.ended = true;
                    return Some(self.raw(Content::Unreadable(format!("cannot be read: {error}"))));
                }
            }
        }
        None
    }
}

/// Says whether an entry was not given before. A power cut can bring a pending file back whose
/// line is in the file already, and then the record is there twice.
fn is_new(entry: &Entry, seen: &mut HashSet<String>) -> bool {
    match entry {
        Entry::Line { checked, .. } => seen.insert(checked.command_id.clone()),
        Entry::Damaged { .. } => true,
    }
}
