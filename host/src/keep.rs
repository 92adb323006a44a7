//! Keeps the redacted text of a run's streams in files beside the record file, as the run goes on.
//!
//! It takes only what the component has redacted, holds none of it, and costs no run: what cannot
//! be written is told in the record.

use memchr::{memchr_iter, memrchr};
use rustix::io::Errno;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::component::Passage;
use crate::ending::Source;
use crate::store::output::OutputFile;
use crate::store::{OpenRun, Store, StoreError};

/// How much is given back at least where the disk is full, in bytes, so that the record of the
/// run can be appended: more than the longest line of a store.
const GIVEN_BACK: u64 = 1 << 20;

/// Both streams of one run.
#[derive(Debug)]
pub(crate) struct Keeper {
    stdout: Side,
    stderr: Side,
}

/// What was kept, as the component takes it.
#[derive(Debug, Serialize)]
pub(crate) struct KeptStreams {
    stdout: Kept,
    stderr: Kept,
}

/// What was kept of one stream.
#[derive(Debug, Serialize)]
struct Kept {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    bytes: u64,
    lines: u64,
    bytes_omitted: u64,
    lines_omitted: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Keeper {
    /// Creates the files of a run that has begun; at most `bound` bytes go into each.
    pub(crate) fn start(store: &Store, run: &OpenRun, bound: u64) -> Self {
        let side = |source| {
            let file = store.create_output(run, source);
            Side::new(file, store.output_path(run.command_id(), source), bound)
        };
        Self {
            stdout: side(Source::Stdout),
            stderr: side(Source::Stderr),
        }
    }

    /// Takes what the component gave of a stream.
    pub(crate) fn take(&mut self, source: Source, passage: &Passage) {
        let side = match source {
            Source::Stdout => &mut self.stdout,
            Source::Stderr => &mut self.stderr,
        };
        side.take_back(passage.taken_back);
        side.add(&passage.text);
    }

    /// Ends both files, and returns what the record shall say of them.
    pub(crate) fn finish(mut self, store: &Store) -> KeptStreams {
        for side in [&mut self.stdout, &mut self.stderr] {
            let file = side.file.as_ref();
            let secured = store.secure_outputs(&file.into_iter().collect::<Vec<_>>());
            if let Err(error) = secured {
                side.error.get_or_insert(described(&error));
            }
        }
        KeptStreams {
            stdout: self.stdout.kept(),
            stderr: self.stderr.kept(),
        }
    }
}

/// One stream on its way into its file.
#[derive(Debug)]
struct Side {
    name: String,
    /// None where it could not be created.
    file: Option<OutputFile>,
    bound: u64,
    /// Nothing more goes into the file.
    closed: bool,
    error: Option<String>,
    /// Everything that came and was not taken back.
    came: Count,
    /// The same, up to the start of the line that is open.
    came_before_line: u64,
    /// What is in the file.
    kept: Mark,
    /// What was in it when the line that is open began.
    line: Mark,
    /// Two earlier states, at starts of lines and `GIVEN_BACK` apart.
    newer: Mark,
    older: Mark,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    bytes: u64,
    newlines: u64,
    /// The last byte is no newline.
    is_open: bool,
}

/// A state that a file can be cut back to.
#[derive(Clone, Debug, Default)]
struct Mark {
    count: Count,
    digest: Sha256,
}

impl Side {
    fn new(file: Result<OutputFile, StoreError>, name: String, bound: u64) -> Self {
        let (file, error) = match file {
            Ok(file) => (Some(file), None),
            Err(error) => (None, Some(described(&error))),
        };
        Self {
            name,
            closed: file.is_none(),
            file,
            bound,
            error,
            came: Count::default(),
            came_before_line: 0,
            kept: Mark::default(),
            line: Mark::default(),
            newer: Mark::default(),
            older: Mark::default(),
        }
    }

    /// Takes back the line that is open: all of it, as the contract says.
    fn take_back(&mut self, taken_back: u64) {
        if taken_back == 0 {
            return;
        }
        let open = self.came.bytes.saturating_sub(self.came_before_line);
        if taken_back != open {
            // Where a line begins is then not known any more.
            return self.close("the component took back what it had not given".to_owned());
        }
        self.came.bytes = self.came_before_line;
        self.came.is_open = false;
        // Otherwise nothing of this line has come into the file.
        if self.kept.count.bytes > self.came.bytes {
            let line = self.line.clone();
            self.cut_to(line);
        }
        if self.error.is_none() && self.file.is_some() {
            // All before the line is in the file, so that there may be room for what follows.
            self.closed = self.kept.count.bytes < self.came.bytes;
        }
    }

    fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let before = self.came.bytes;
        self.came.add(text.as_bytes());
        if let Some(last) = memrchr(b'\n', text.as_bytes()) {
            self.came_before_line = before.saturating_add(length(last)).saturating_add(1);
        }
        if self.closed {
            return;
        }
        let room = self.bound.saturating_sub(self.kept.count.bytes);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let fits = if text.len() > room {
            self.closed = true;
            text.get(..text.floor_char_boundary(room)).unwrap_or("")
        } else {
            text
        };
        let end = memrchr(b'\n', fits.as_bytes()).map_or(0, |at| at.saturating_add(1));
        let (lines, open) = fits.split_at_checked(end).unwrap_or(("", fits));
        if !lines.is_empty() && self.write(lines) {
            self.line = self.kept.clone();
            let since = self.line.count.bytes.saturating_sub(self.newer.count.bytes);
            if since >= GIVEN_BACK {
                self.older = std::mem::replace(&mut self.newer, self.line.clone());
            }
        }
        if !open.is_empty() && self.error.is_none() {
            self.write(open);
        }
    }

    /// Appends to the file. Where that fails, the file is closed and says why.
    fn write(&mut self, text: &str) -> bool {
        let Some(file) = &self.file else { return false };
        let (written, error) = file.append(text.as_bytes(), self.kept.count.bytes);
        let Some(error) = error else {
            self.kept.add(text.as_bytes());
            return true;
        };
        let is_full = matches!(
            error.raw_os_error().map(Errno::from_raw_os_error),
            Some(Errno::NOSPC | Errno::DQUOT)
        );
        let error = described(&StoreError::io("write", file.path())(error));
        if is_full {
            // The record needs room as well, and is worth more.
            let older = self.older.clone();
            self.cut_to(older);
        } else {
            let count = usize::try_from(written).unwrap_or(usize::MAX);
            let whole = text.floor_char_boundary(count);
            self.kept
                .add(text.as_bytes().get(..whole).unwrap_or_default());
            let kept = self.kept.clone();
            self.cut_to(kept);
        }
        self.close(error);
        false
    }

    fn cut_to(&mut self, mark: Mark) {
        let Some(file) = &self.file else { return };
        let size = mark.count.bytes;
        if let Err(error) = file.cut(size) {
            let error = StoreError::io("cut back", file.path())(error);
            // Nothing is known of the file now; a reader will see that its digest is another.
            self.close(described(&error));
        }
        self.kept = mark;
    }

    fn close(&mut self, error: String) {
        self.closed = true;
        self.error.get_or_insert(error);
    }

    fn kept(self) -> Kept {
        let kept = self.kept.count;
        let digest = self.kept.digest.finalize();
        Kept {
            bytes: kept.bytes,
            lines: kept.lines(),
            bytes_omitted: self.came.bytes.saturating_sub(kept.bytes),
            lines_omitted: self.came.lines().saturating_sub(kept.lines()),
            sha256: self.file.is_some().then(|| crate::digest::named(&digest)),
            file: self.file.is_some().then_some(self.name),
            error: self.error,
        }
    }
}

impl Count {
    fn add(&mut self, text: &[u8]) {
        self.bytes = self.bytes.saturating_add(length(text.len()));
        let newlines = memchr_iter(b'\n', text).count();
        self.newlines = self.newlines.saturating_add(length(newlines));
        self.is_open = text.last().is_some_and(|byte| *byte != b'\n');
    }

    /// Lines, where the part of one counts.
    fn lines(self) -> u64 {
        self.newlines.saturating_add(u64::from(self.is_open))
    }
}

impl Mark {
    fn add(&mut self, text: &[u8]) {
        if !text.is_empty() {
            self.count.add(text);
            self.digest.update(text);
        }
    }
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Returns an error with its cause; the component redacts it.
fn described(error: &StoreError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
