//! Rotation: active → `.1` → `.2` …, one atomic rename at a time.
//!
//! A crash between two renames leaves one hole, which the next rotation fills instead of
//! dropping a file. Nothing is appended here.

use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::json;

use super::Durability;
use super::active::Active;
use super::error::StoreError;
use super::folder::Folder;
use super::lines::read_range;
use super::pending::{self, DROP};
use super::place::Place;
use super::scribe::{Piece, Scribe, take_apart_or_skip};
use super::session::DropMark;
use super::system::How;

/// A file that was dropped, and the notice that the first line after it must give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// The id of the notice.
    pub(crate) command_id: String,
    /// The body of the notice.
    pub(crate) body: String,
    /// The file that went.
    pub(crate) path: PathBuf,
    /// The first position in it; none where no line of it was whole.
    pub(crate) first_seq: Option<u64>,
    /// The last position in it.
    pub(crate) last_seq: Option<u64>,
}

/// Moves every file one place on, up to the first hole, and starts a new active file. Where there
/// is no hole, the oldest file goes, and so do those that a larger `keep` once kept.
///
/// # Errors
/// The store is whole then, but the active file is still the old one. What went before the
/// failure is told from the pending folder.
pub(crate) fn rotate(
    active: &mut Active<'_>,
    pending: &Folder,
    scribe: &mut dyn Scribe,
) -> Result<Vec<Dropped>, StoreError> {
    let place = active.place;
    if place.folder.stat(&place.active)?.is_none() {
        // An earlier rotation came as far as the last rename.
        active.start_anew()?;
        return Ok(Vec::new());
    }
    let keep = active.options.keep.max(1);
    let mut dropped = Vec::new();
    match first_hole(place, keep)? {
        Some(hole) => shift(place, hole)?,
        None => {
            let indexes = place.rotated_indexes()?;
            for index in indexes.into_iter().rev().filter(|index| *index > keep) {
                let gone = announce_drop(active, pending, index, scribe)?;
                let removed = place.folder.remove(&place.rotated(index));
                dropped.push(or_take_back(removed, gone, pending)?);
            }
            let gone = announce_drop(active, pending, keep, scribe)?;
            let renamed = shift_last(place, keep);
            dropped.push(or_take_back(renamed, gone, pending)?);
            shift(place, keep.saturating_sub(1))?;
        }
    }
    active.start_anew()?;
    if active.options.durability == Durability::Disk {
        place.folder.sync()?;
    }
    Ok(dropped)
}

/// Returns the smallest free index; none where all are taken.
fn first_hole(place: &Place, keep: u32) -> Result<Option<u32>, StoreError> {
    for index in 1..=keep {
        let name = place.rotated(index);
        if place.folder.stat(&name)?.is_none() {
            return Ok(Some(index));
        }
        // What is in the way and is not ours is neither moved nor overwritten.
        place.folder.check_file(&name)?;
    }
    Ok(None)
}

/// Renames hole−1 → hole, … , active → `.1`, and overwrites nothing.
fn shift(place: &Place, hole: u32) -> Result<(), StoreError> {
    for to in (1..=hole).rev() {
        let from = place.rotated(to.saturating_sub(1));
        place.folder.rename(&from, &place.rotated(to), false)?;
    }
    Ok(())
}

/// Moves the neighbour of the oldest file onto it, so that one step drops the one and keeps the other.
fn shift_last(place: &Place, keep: u32) -> Result<(), StoreError> {
    let from = place.rotated(keep.saturating_sub(1));
    place.folder.rename(&from, &place.rotated(keep), true)
}

/// Takes the notice back where nothing went. Recovery would find that out too.
fn or_take_back(
    done: Result<(), StoreError>,
    gone: Dropped,
    pending: &Folder,
) -> Result<Dropped, StoreError> {
    match done {
        Ok(()) => Ok(gone),
        Err(error) => {
            let _ = pending.remove(&pending::name(&gone.command_id, DROP));
            Err(error)
        }
    }
}

/// Puts the notice into the pending folder before the file goes, so that no crash can part them.
fn announce_drop(
    active: &Active<'_>,
    pending: &Folder,
    index: u32,
    scribe: &mut dyn Scribe,
) -> Result<Dropped, StoreError> {
    let place = active.place;
    let name = place.rotated(index);
    let path = place.folder.path_of(&name);
    let stat = place
        .folder
        .stat(&name)?
        .ok_or_else(|| StoreError::io("look at", &path)(std::io::ErrorKind::NotFound.into()))?;
    let (first_seq, last_seq) = positions(active, index, scribe)?;
    let command_id = uuid::Uuid::now_v7().to_string();
    let at = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let facts = json!({
        "command_id": command_id,
        "at": at,
        "files": 1,
        "first_seq": first_seq,
        "last_seq": last_seq,
    });
    let body = scribe
        .note_drop(&facts.to_string())
        .map_err(active.scribe_error("note the dropped file in"))?;
    let mark = DropMark::new(index, &stat);
    let mark = serde_json::to_string(&mark)
        .map_err(|error| StoreError::io("describe", &path)(error.into()))?;
    let content = format!("{mark}\n{body}\n");
    let created = pending::create(pending, &command_id, DROP, &content, 0);
    let gone = Dropped {
        command_id,
        body,
        path,
        first_seq,
        last_seq,
    };
    let is_safe = created.and_then(|file| {
        if active.options.durability == Durability::Process {
            return Ok(());
        }
        let name = pending::name(&gone.command_id, DROP);
        let synced = super::system::retry(|| pending.system.sync(&file));
        synced.map_err(StoreError::io("sync", &pending.path_of(&name)))
    });
    // Where it is not, the old file stays; when it goes one day another notice tells of it, and no
    // two may.
    or_take_back(is_safe, gone, pending)
}

/// Returns the positions of the first and the last whole record of a rotated file.
fn positions(
    active: &Active<'_>,
    index: u32,
    scribe: &mut dyn Scribe,
) -> Result<(Option<u64>, Option<u64>), StoreError> {
    let folder = &active.place.folder;
    let name = active.place.rotated(index);
    let path = folder.path_of(&name);
    let Some(file) = folder.existing(&name, How::Read)? else {
        return Ok((None, None));
    };
    let size = u64::try_from(folder.stat_file(&file, &name)?.st_size).unwrap_or(0);
    let content = read_range(folder.system.as_ref(), &file, 0, size)
        .map_err(StoreError::io("read", &path))?;
    let lines: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
    let first = first_position(active, lines.iter().copied(), scribe)?;
    let last = first_position(active, lines.iter().rev().copied(), scribe)?;
    Ok((first, last))
}

fn first_position<'a>(
    active: &Active<'_>,
    lines: impl Iterator<Item = &'a [u8]>,
    scribe: &mut dyn Scribe,
) -> Result<Option<u64>, StoreError> {
    for line in lines {
        let text = String::from_utf8_lossy(line);
        let pieces = take_apart_or_skip(&text, scribe).map_err(active.scribe_error("check"))?;
        let found = pieces.into_iter().find_map(|piece| match piece {
            Piece::Record(checked, _) => Some(checked.seq),
            Piece::Fragment(_) => None,
        });
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
