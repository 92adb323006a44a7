//! Reads what runs have kept of their output: finds a record's files and holds them against the
//! digests in it.
//!
//! A file is found by the id of its run, never by the path that a record gives. Nothing is changed
//! here.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memchr_iter;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::ending::Source;
use crate::reader::{Entry, Reader, Scope};
use crate::store::folder::Folder;
use crate::store::output::name;
use crate::store::place::{Place, output_folder};
use crate::store::system::{How, Kernel};
use crate::store::{Damage, Scribe, StoreError};

/// How much is read at once, in bytes.
const PIECE: usize = 64 * 1024;

/// What a record says that was kept of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Whose output it is.
    pub command_id: String,
    /// Which stream.
    pub source: Source,
    /// Bytes in the file.
    pub bytes: u64,
    /// Bytes of the redacted text that are not in the file.
    pub bytes_omitted: u64,
    /// Lines of which nothing is in the file.
    pub lines_omitted: u64,
    /// `sha256:` of the file; none where there is no file, or where the runner died and told none.
    pub sha256: Option<String>,
    /// Why not all that was asked for is in the file, where the reason is not the bound.
    pub error: Option<String>,
    /// The runner died, so that nothing is known but the file itself.
    pub of_dead_runner: bool,
}

/// Why a kept output cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// There is no file.
    #[error("`{}` is missing", .0.display())]
    Missing(PathBuf),
    /// The file is not as the run left it.
    #[error("`{}` was changed after its run: it does not match the digest in the record", .0.display())]
    Changed(PathBuf),
    /// It cannot be read, or is not what a store would have there.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A kept output that is as its run left it, to be read from its start.
#[derive(Debug)]
pub struct Whole {
    /// The file.
    pub file: File,
    /// Its path.
    pub path: PathBuf,
    /// Its size, in bytes.
    pub bytes: u64,
    /// Lines in it; the part of a line counts.
    pub lines: u64,
    /// `sha256:` of it.
    pub sha256: String,
}

/// The keys of a record that are looked at.
#[derive(Deserialize)]
struct Record {
    #[serde(default)]
    command_id: String,
    #[serde(default)]
    outcome: String,
    #[serde(default)]
    stdout: Stream,
    #[serde(default)]
    stderr: Stream,
}

#[derive(Default, Deserialize)]
struct Stream {
    #[serde(default)]
    kept: Option<Facts>,
}

#[derive(Deserialize)]
struct Facts {
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    bytes_omitted: u64,
    #[serde(default)]
    lines_omitted: u64,
    #[serde(default)]
    sha256: Option<String>,
    #[serde(default)]
    error: Option<String>,
}

/// Returns what a record says that was kept, stdout first; nothing where nothing was.
#[must_use]
pub fn kept(record: &str) -> Vec<Kept> {
    let Ok(record) = serde_json::from_str::<Record>(record) else {
        return Vec::new();
    };
    let of_dead_runner = record.outcome == "runner-died";
    let streams = [
        (Source::Stdout, record.stdout),
        (Source::Stderr, record.stderr),
    ];
    let of = |(source, stream): (Source, Stream)| {
        let nothing = of_dead_runner.then_some(Facts {
            bytes: 0,
            bytes_omitted: 0,
            lines_omitted: 0,
            sha256: None,
            error: None,
        });
        let facts = stream.kept.or(nothing)?;
        Some(Kept {
            command_id: record.command_id.clone(),
            source,
            bytes: facts.bytes,
            bytes_omitted: facts.bytes_omitted,
            lines_omitted: facts.lines_omitted,
            sha256: facts.sha256,
            error: facts.error,
            of_dead_runner,
        })
    };
    streams.into_iter().filter_map(of).collect()
}

/// Returns the folder in which the runs of a record file, or of one of its rotated files, kept
/// their output; it may be absent.
#[must_use]
pub fn folder(record_file: &Path) -> PathBuf {
    output_folder(record_file)
}

/// The kept outputs of one store.
#[derive(Debug)]
pub struct Outputs {
    folder: Option<Folder>,
    path: PathBuf,
}

impl Outputs {
    /// Opens the folder of the outputs that are kept beside a record file, if there is one.
    ///
    /// # Errors
    /// The folder cannot be opened, or is not what a store would have there.
    pub fn open(record_file: &Path) -> Result<Self, StoreError> {
        let place = Place::open(Arc::new(Kernel), record_file, false)?;
        Ok(Self {
            folder: place.folder.existing_folder(&place.output)?,
            path: place.folder.path_of(&place.output),
        })
    }

    /// Opens a kept output, once it was read to its end and found to be what the record says.
    ///
    /// # Errors
    /// It is missing, was changed, or cannot be read.
    pub fn open_whole(&self, kept: &Kept) -> Result<Whole, OutputError> {
        let name = name(&kept.command_id, kept.source);
        let path = self.path.join(&name);
        let missing = || OutputError::Missing(path.clone());
        let folder = self.folder.as_ref().ok_or_else(missing)?;
        let mut file = folder.existing(&name, How::Read)?.ok_or_else(missing)?;
        let read = measure(&mut file).map_err(StoreError::io("read", &path))?;
        if kept
            .sha256
            .as_ref()
            .is_some_and(|told| *told != read.sha256)
        {
            return Err(OutputError::Changed(path));
        }
        Ok(Whole {
            file,
            path,
            bytes: read.bytes,
            lines: read.lines,
            sha256: read.sha256,
        })
    }
}

/// Holds every output that the records of a store name against its digest.
///
/// It reads all of them, so that it takes as long as that does.
pub fn verify_outputs(reader: &Reader, record_file: &Path, scribe: &mut dyn Scribe) -> Vec<Damage> {
    let mut damages = Vec::new();
    let outputs = match Outputs::open(record_file) {
        Ok(outputs) => outputs,
        Err(error) => return vec![damage(record_file, described(&error), true)],
    };
    for entry in reader.entries(scribe) {
        let Entry::Line { text, checked, .. } = entry else {
            // The walk along the chain tells of damage.
            continue;
        };
        for kept in kept(&text).iter().filter(|kept| kept.sha256.is_some()) {
            let path = outputs.path.join(name(&kept.command_id, kept.source));
            let seq = checked.seq;
            match outputs.open_whole(kept) {
                Ok(_) => {}
                // A rotation may have dropped the record since it was read.
                Err(OutputError::Missing(_)) if !is_there(record_file, &kept.command_id) => {}
                Err(OutputError::Missing(_)) => {
                    let what = format!("is missing, and record {seq} names it");
                    damages.push(damage(&path, what, false));
                }
                Err(OutputError::Changed(_)) => {
                    let what = format!("does not match its digest in record {seq}");
                    damages.push(damage(&path, what, false));
                }
                Err(OutputError::Store(error)) => {
                    damages.push(damage(&path, described(&error), true));
                }
            }
        }
    }
    damages
}

/// Says whether a record with this id is still there. Who cannot look says so.
fn is_there(record_file: &Path, command_id: &str) -> bool {
    let Ok(reader) = Reader::open(record_file, Scope::All) else {
        return true;
    };
    reader.files().any(|file| {
        let mut content = Vec::new();
        file.copy_to(&mut content).is_err()
            || memchr::memmem::find(&content, command_id.as_bytes()).is_some()
    })
}

struct Measured {
    bytes: u64,
    lines: u64,
    sha256: String,
}

/// Reads a file to its end and goes back to its start.
fn measure(file: &mut File) -> io::Result<Measured> {
    let mut digest = Sha256::new();
    let (mut bytes, mut lines, mut is_open) = (0_u64, 0_u64, false);
    let mut piece = vec![0; PIECE];
    loop {
        let count = match file.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let read = piece.get(..count).unwrap_or_default();
        digest.update(read);
        let length = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        bytes = bytes.saturating_add(length(count));
        lines = lines.saturating_add(length(memchr_iter(b'\n', read).count()));
        is_open = read.last().is_some_and(|byte| *byte != b'\n');
    }
    file.rewind()?;
    Ok(Measured {
        bytes,
        lines: lines.saturating_add(u64::from(is_open)),
        sha256: crate::digest::named(&digest.finalize()),
    })
}

fn damage(file: &Path, what: String, undecided: bool) -> Damage {
    Damage {
        file: file.to_path_buf(),
        line: 0,
        what,
        undecided,
    }
}

fn described(error: &StoreError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
