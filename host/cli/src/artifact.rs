//! An exported store as a folder or a `.tar.gz`: making one, and opening one again.
//!
//! What goes into it is chosen elsewhere.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Deserialize;
use tempfile::TempDir;

use crate::failure::Failure;

/// The name that the record file has in every export; the rotated ones have theirs behind it.
pub(crate) const RECORD_FILE: &str = "feedback_record.jsonl";
/// The folder of the kept outputs in every export.
pub(crate) const OUTPUTS: &str = "feedback_record.jsonl.output";
/// The list of what is in an export. It is written last: without it, an export is not complete.
pub(crate) const INDEX: &str = "index.json";
/// What stands in the index under `format`.
pub(crate) const FORMAT: &str = "feedback-export/1";

/// The folder that everything is in, inside of an archive.
const TOP: &str = "feedback-export";
/// What an archive may hold when it is unpacked, in bytes. A store has 5 MB without kept outputs.
const UNPACKED_LIMIT: u64 = 1 << 30;
/// The same, with the kept outputs of its runs.
const UNPACKED_LIMIT_WITH_OUTPUTS: u64 = 1 << 40;
/// Endings of archives that are not made here. A folder of that name would surprise.
const OTHER_ARCHIVES: [&str; 6] = [".zip", ".tar", ".gz", ".xz", ".zst", ".bz2"];

/// An export in the making.
pub(crate) struct Artifact {
    path: PathBuf,
    form: Form,
}

enum Form {
    Folder,
    Archive(Box<tar::Builder<GzEncoder<File>>>),
}

impl Artifact {
    /// Makes an empty export, and replaces nothing: neither a file nor a link, wherever it points.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let name = path.to_string_lossy();
        let made = if is_archive(&name) {
            new_file(path).map(|file| {
                let packed = GzEncoder::new(file, Compression::default());
                Form::Archive(Box::new(tar::Builder::new(packed)))
            })
        } else if OTHER_ARCHIVES.iter().any(|ending| name.ends_with(ending)) {
            return Err(Failure::undecided(format!(
                "`{name}` is no kind of archive that is made here; give a folder or a name that ends in .tar.gz"
            )));
        } else {
            let mut folder = fs::DirBuilder::new();
            folder.mode(0o700).create(path).map(|()| Form::Folder)
        };
        match made {
            Ok(form) => Ok(Self {
                path: path.to_path_buf(),
                form,
            }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Failure::undecided(
                format!("`{name}` is there already and is not replaced; give another name"),
            )),
            Err(error) => Err(Failure::undecided(format!(
                "cannot create `{name}`: {error}"
            ))),
        }
    }

    /// Adds a file.
    pub(crate) fn add(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        match &mut self.form {
            Form::Folder => new_file(&self.path.join(name))?.write_all(content),
            Form::Archive(archive) => {
                let mut header = header(u64::try_from(content.len()).map_err(io::Error::other)?);
                archive.append_data(&mut header, format!("{TOP}/{name}"), content)
            }
        }
    }

    /// Adds a folder, for files with names in it.
    pub(crate) fn add_folder(&mut self, name: &str) -> io::Result<()> {
        match &mut self.form {
            Form::Folder => fs::DirBuilder::new()
                .mode(0o700)
                .create(self.path.join(name)),
            // Names of files bring their folders.
            Form::Archive(_) => Ok(()),
        }
    }

    /// Adds a file of this size, as it is read.
    pub(crate) fn add_from(
        &mut self,
        name: &str,
        size: u64,
        from: &mut impl Read,
    ) -> io::Result<()> {
        let mut from = from.take(size);
        match &mut self.form {
            Form::Folder => io::copy(&mut from, &mut new_file(&self.path.join(name))?).map(drop),
            Form::Archive(archive) => {
                let mut header = header(size);
                archive.append_data(&mut header, format!("{TOP}/{name}"), from)
            }
        }
    }

    /// Completes it.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        match &mut self.form {
            Form::Folder => File::open(&self.path)?.sync_all(),
            Form::Archive(archive) => {
                archive.finish()?;
                archive.get_mut().try_finish()?;
                archive.get_ref().get_ref().sync_all()
            }
        }
    }

    /// Takes away what was made of an export that could not be completed.
    pub(crate) fn discard(self, names: &[String]) {
        // The failure before this one is what is told.
        match self.form {
            Form::Folder => {
                // A folder comes before what is in it.
                for name in names.iter().rev() {
                    let path = self.path.join(name);
                    let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
                }
                let _ = fs::remove_dir(&self.path);
            }
            Form::Archive(archive) => {
                drop(archive);
                let _ = fs::remove_file(&self.path);
            }
        }
    }
}

/// The option that every command over a store or an export shares.
#[derive(Args, Debug)]
pub(crate) struct Exported {
    /// Look into what `feedback export` made, a folder or a .tar.gz
    #[arg(long, value_name = "DEST", conflicts_with = "record_file")]
    from: Option<PathBuf>,
}

impl Exported {
    /// Opens the export, where one is named; kept outputs are unpacked only where they are wanted.
    pub(crate) fn open(&self, with_outputs: bool) -> Result<Option<Opened>, Failure> {
        let from = self.from.as_deref();
        from.map(|path| Opened::open(path, with_outputs))
            .transpose()
    }
}

/// An export that can be read like a store.
pub(crate) struct Opened {
    record_file: PathBuf,
    /// What an archive was unpacked into; it goes with the value.
    _unpacked: Option<TempDir>,
}

impl Opened {
    /// Opens a folder or a `.tar.gz`; kept outputs are unpacked only where they are wanted.
    fn open(path: &Path, with_outputs: bool) -> Result<Self, Failure> {
        let name = path.display();
        let fail = |error: io::Error| {
            Failure::undecided(format!("`{name}` cannot be read as an export: {error}"))
        };
        let about = fs::symlink_metadata(path).map_err(fail)?;
        let (folder, unpacked) = if about.is_dir() {
            (path.to_path_buf(), None)
        } else if about.is_file() {
            let folder = unpack(path, with_outputs).map_err(fail)?;
            (folder.path().to_path_buf(), Some(folder))
        } else {
            return Err(Failure::undecided(format!(
                "`{name}` is neither a folder nor a file; give what `feedback export` made"
            )));
        };
        know_index(&folder).map_err(fail)?;
        Ok(Self {
            record_file: folder.join(RECORD_FILE),
            _unpacked: unpacked,
        })
    }

    /// Returns the record file in it.
    pub(crate) fn record_file(&self) -> &Path {
        &self.record_file
    }
}

#[derive(Deserialize)]
struct Index {
    format: String,
}

/// Refuses what is no complete export, or one of a kind that is not known.
fn know_index(folder: &Path) -> io::Result<()> {
    let text = fs::read_to_string(folder.join(INDEX))
        .map_err(|error| io::Error::new(error.kind(), format!("`{INDEX}`: {error}")))?;
    let index: Index = serde_json::from_str(&text)
        .map_err(|error| io::Error::other(format!("`{INDEX}`: {error}")))?;
    if index.format == FORMAT {
        Ok(())
    } else {
        Err(io::Error::other(format!("`{INDEX}`: not {FORMAT}")))
    }
}

/// Unpacks the record files, the index and, where asked, the kept outputs of an archive into a
/// folder of its own. Nothing else is taken, and no name of it is trusted: it may come from
/// anywhere.
fn unpack(path: &Path, with_outputs: bool) -> io::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    let outputs = folder.path().join(OUTPUTS);
    if with_outputs {
        fs::DirBuilder::new().mode(0o700).create(&outputs)?;
    }
    let limit = if with_outputs {
        UNPACKED_LIMIT_WITH_OUTPUTS
    } else {
        UNPACKED_LIMIT
    };
    let bounded = GzDecoder::new(File::open(path)?).take(limit);
    let mut archive = tar::Archive::new(bounded);
    for entry in archive.entries().map_err(no_archive)? {
        let mut entry = entry.map_err(no_archive)?;
        let place = entry.path()?.into_owned();
        let Some(name) = place.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if !entry.header().entry_type().is_file() {
            continue;
        }
        if is_wanted(name) {
            io::copy(&mut entry, &mut new_file(&folder.path().join(name))?)?;
        } else if with_outputs && is_output(name) {
            io::copy(&mut entry, &mut new_file(&outputs.join(name))?)?;
        }
    }
    Ok(folder)
}

/// Says so without the bytes that the cause would quote: they are of any file.
fn no_archive(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(_) => error,
        None => io::Error::other("it is no .tar.gz, or a broken one"),
    }
}

fn is_wanted(name: &str) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let is_rotated = |rest: &str| rest.strip_prefix('.').is_some_and(is_number);
    name == INDEX
        || name
            .strip_prefix(RECORD_FILE)
            .is_some_and(|rest| rest.is_empty() || is_rotated(rest))
}

/// Says whether a name is that of a kept output.
fn is_output(name: &str) -> bool {
    let id = name
        .strip_suffix(".stdout")
        .or(name.strip_suffix(".stderr"));
    let is_of_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    id.is_some_and(|id| !id.is_empty() && id.bytes().all(is_of_id))
}

fn header(size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o600);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    header.set_mtime(since.map_or(0, |since| since.as_secs()));
    header
}

fn is_archive(name: &str) -> bool {
    name.ends_with(".tar.gz") || name.ends_with(".tgz")
}

/// Creates a file that was not there, and never through a link.
fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}
