//! Where the chain of lines stands, read from the newest lines alone.
//!
//! Nothing is repaired here.

use std::fs::File;

use super::error::StoreError;
use super::lines::{Backward, after_last_newline, digest};
use super::place::Place;
use super::scribe::{Piece, Scribe, take_apart_or_skip};
use super::system::How;

/// Where the chain of lines stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The position of the last line; 0 in an empty store.
    pub(crate) seq: u64,
    /// The digest of the last line; empty in an empty store.
    pub(crate) hash: String,
    /// The `command_id` of the last line where it is whole.
    pub(crate) last_id: Option<String>,
}

impl Tail {
    /// Reads the newest lines of the active file, and of rotated files if need be.
    pub(crate) fn read(
        place: &Place,
        active: &File,
        size: u64,
        scribe: &mut dyn Scribe,
    ) -> Result<Self, StoreError> {
        let mut walk = Walk::default();
        if walk.back(place, active, size, scribe)? {
            return Ok(walk.tail);
        }
        for index in place.rotated_indexes()? {
            let name = place.rotated(index);
            let file = match place.folder.existing(&name, How::Read) {
                Ok(Some(file)) => file,
                // What somebody else has put there is no part of the chain; readers report it.
                Ok(None) | Err(StoreError::Unsafe { .. }) => continue,
                Err(error) => return Err(error),
            };
            let stat = place.folder.stat_file(&file, &name)?;
            let size = u64::try_from(stat.st_size).unwrap_or(0);
            let end = after_last_newline(place.folder.system.as_ref(), &file, size)
                .map_err(StoreError::io("read", &place.folder.path_of(&name)))?;
            if walk.back(place, &file, end, scribe)? {
                break;
            }
        }
        Ok(walk.tail)
    }
}

/// A walk from the newest line to the newest whole record.
#[derive(Default)]
struct Walk {
    tail: Tail,
    started: bool,
}

impl Walk {
    /// Goes back through one file, and says whether a whole record was found.
    fn back(
        &mut self,
        place: &Place,
        file: &File,
        end: u64,
        scribe: &mut dyn Scribe,
    ) -> Result<bool, StoreError> {
        let path = place.active_path();
        let mut lines = Backward::new(place.folder.system.as_ref(), file, end);
        while let Some(line) = lines.next_line().map_err(StoreError::io("read", &path))? {
            let text = String::from_utf8_lossy(&line);
            let pieces = take_apart_or_skip(&text, scribe)
                .map_err(|source| StoreError::of_line("check", path.clone(), source))?;
            let newest = pieces.into_iter().rev().find_map(|piece| match piece {
                Piece::Record(checked, _) => Some(checked),
                Piece::Fragment(_) => None,
            });
            if !self.started {
                self.started = true;
                self.tail.hash = digest(&line);
                self.tail.last_id = newest.as_ref().map(|checked| checked.command_id.clone());
            }
            if let Some(checked) = newest {
                // Damaged lines behind the record keep their positions.
                self.tail.seq = self.tail.seq.saturating_add(checked.seq);
                return Ok(true);
            }
            self.tail.seq = self.tail.seq.saturating_add(1);
        }
        Ok(false)
    }
}
