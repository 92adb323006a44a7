//! The folder of kept outputs: `<id>.stdout` and `<id>.stderr` of each run that keeps them.
//!
//! It knows whose a file is by its name, and when nobody's. What stands in one is not looked at.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;

use super::error::StoreError;
use super::folder::Folder;
use super::lines::read_range;
use super::pending;
use super::place::Place;
use super::scribe::{Piece, Scribe, take_apart_or_skip};
use super::system::{How, System, bytes, retry};
use super::{Durability, OpenRun, Store};
use crate::ending::Source;

/// A kept output while its run goes on.
#[derive(Debug)]
pub(crate) struct OutputFile {
    system: Arc<dyn System>,
    file: File,
    path: PathBuf,
}

impl OutputFile {
    /// Writes all bytes at the end, or as many as can be. Returns how many were written, and why
    /// not all.
    pub(crate) fn append(&self, content: &[u8], size: u64) -> (u64, Option<io::Error>) {
        // Who writes across the limit is ended by a signal.
        let room = self.system.size_limit().saturating_sub(size);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let (content, over) = content.split_at_checked(room).unwrap_or((content, &[]));
        let mut written = 0;
        while let Some(rest) = content.get(written..).filter(|rest| !rest.is_empty()) {
            let error = match retry(|| self.system.append(&self.file, rest)) {
                Ok(0) => io::ErrorKind::WriteZero.into(),
                Ok(count) => {
                    written = written.saturating_add(count);
                    continue;
                }
                Err(error) => error,
            };
            return (bytes(written), Some(error));
        }
        let error = (!over.is_empty()).then(|| Errno::FBIG.into());
        (bytes(written), error)
    }

    /// Cuts the file to a size.
    pub(crate) fn cut(&self, size: u64) -> io::Result<()> {
        retry(|| self.system.cut(&self.file, size))
    }

    /// Waits until the content is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        retry(|| self.system.sync(&self.file))
    }

    /// Returns the file's path, for messages.
    pub(crate) fn path(&self) -> &std::path::Path {
        &self.path
    }
}

impl Store {
    /// Creates the file for the output of one stream of a run that has begun.
    pub(crate) fn create_output(
        &self,
        run: &OpenRun,
        source: Source,
    ) -> Result<OutputFile, StoreError> {
        let (folder, created) = self.place.folder.private(&self.place.output)?;
        if created && self.options.durability == Durability::Disk {
            self.place.folder.sync()?;
        }
        let name = name(run.command_id(), source);
        let file = folder.create(&name, How::CreateAppend)?;
        Ok(OutputFile {
            system: Arc::clone(&folder.system),
            file,
            path: folder.path_of(&name),
        })
    }

    /// Makes the kept files themselves survive the power going out, where that was asked for.
    pub(crate) fn secure_outputs(&self, files: &[&OutputFile]) -> Result<(), StoreError> {
        if self.options.durability == Durability::Process || files.is_empty() {
            return Ok(());
        }
        for file in files {
            file.sync().map_err(StoreError::io("sync", file.path()))?;
        }
        match self.place.folder.existing_private(&self.place.output)? {
            Some(folder) => folder.sync(),
            None => Ok(()),
        }
    }

    /// Removes what was kept of a run whose record does not name it.
    pub(crate) fn remove_outputs(&self, run_id: &str) -> Result<(), StoreError> {
        let Some(folder) = self.place.folder.existing_private(&self.place.output)? else {
            return Ok(());
        };
        folder.remove(&name(run_id, Source::Stdout))?;
        folder.remove(&name(run_id, Source::Stderr))
    }

    /// Returns the path of a kept file relative to the folder of the record file.
    pub(crate) fn output_path(&self, run_id: &str, source: Source) -> String {
        let folder = self.place.output.to_string_lossy();
        format!("{folder}/{}", name(run_id, source).to_string_lossy())
    }
}

/// Returns the name of a kept file.
pub(crate) fn name(id: &str, source: Source) -> OsString {
    pending::name(id, suffix(source))
}

/// Removes the kept files of runs that have no record any more and do not go on.
///
/// Only for the holder of the lock: a run's record comes in, and its pending file goes, under it.
pub(crate) fn sweep(
    place: &Place,
    pending: &Folder,
    scribe: &mut dyn Scribe,
) -> Result<(), StoreError> {
    let Some(folder) = place.folder.existing_private(&place.output)? else {
        return Ok(());
    };
    // Listed before the pending folder: who writes a kept file has a pending file already.
    let names = folder.names()?;
    let mut unnamed: BTreeSet<String> = names.iter().filter_map(|name| id_of(name)).collect();
    for name in pending.names()? {
        if let Some((id, _)) = name.to_str().and_then(|name| name.split_once('.')) {
            unnamed.remove(id);
        }
    }
    if unnamed.is_empty() {
        return Ok(());
    }
    strike_named(place, &mut unnamed, scribe)?;
    for id in &unnamed {
        for source in [Source::Stdout, Source::Stderr] {
            folder.remove(&name(id, source))?;
        }
    }
    Ok(())
}

/// Takes the ids out that a record has, or that stand in what can no longer be read.
fn strike_named(
    place: &Place,
    unnamed: &mut BTreeSet<String>,
    scribe: &mut dyn Scribe,
) -> Result<(), StoreError> {
    let indexes = std::iter::once(0).chain(place.rotated_indexes()?);
    for index in indexes {
        let name = place.rotated(index);
        let path = place.folder.path_of(&name);
        // What cannot be opened may hold a record of each: the error keeps all files.
        let Some(file) = place.folder.existing(&name, How::Read)? else {
            continue;
        };
        let size = u64::try_from(place.folder.stat_file(&file, &name)?.st_size).unwrap_or(0);
        let content = read_range(place.folder.system.as_ref(), &file, 0, size)
            .map_err(StoreError::io("read", &path))?;
        for line in content.split(|byte| *byte == b'\n') {
            let text = String::from_utf8_lossy(line);
            let pieces = take_apart_or_skip(&text, scribe)
                .map_err(|source| StoreError::of_line("check", path.clone(), source))?;
            for piece in pieces {
                match piece {
                    Piece::Record(checked, _) => {
                        unnamed.remove(&checked.command_id);
                    }
                    Piece::Fragment(range) => {
                        let fragment = text.get(range).unwrap_or(&text);
                        unnamed.retain(|id| !fragment.contains(id.as_str()));
                    }
                }
            }
        }
    }
    Ok(())
}

fn suffix(source: Source) -> &'static str {
    match source {
        Source::Stdout => ".stdout",
        Source::Stderr => ".stderr",
    }
}

/// Returns whose a file is; nothing for what is not ours.
fn id_of(name: &OsStr) -> Option<String> {
    let of = |source| pending::id_of(name, suffix(source));
    of(Source::Stdout)
        .or_else(|| of(Source::Stderr))
        .filter(|id| pending::is_id(id))
        .map(str::to_owned)
}
