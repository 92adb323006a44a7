//! What a lock holder does: rotates and appends.
//!
//! Everything here needs the lock, which lives as long as the session.

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use super::active::Active;
use super::error::StoreError;
use super::folder::Folder;
use super::lock::Lock;
use super::output;
use super::pending::{self, DEGRADED, DROP};
use super::place::Place;
use super::rotate::{self, Dropped};
use super::scribe::Scribe;
use super::system::How;
use super::{Notice, Options};

/// A line that was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) seq: u64,
    pub(crate) hash: String,
    pub(crate) text: String,
}

/// The facts that the store keeps beside a drop notice: which file it speaks of.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DropMark {
    pub(crate) index: u32,
    /// As text, since systems disagree about the number's type.
    device: String,
    inode: String,
}

impl DropMark {
    /// Marks the file that will be dropped.
    pub(crate) fn new(index: u32, stat: &Stat) -> Self {
        Self {
            index,
            device: stat.st_dev.to_string(),
            inode: stat.st_ino.to_string(),
        }
    }

    /// Says whether this is the marked file.
    pub(crate) fn is_of(&self, stat: &Stat) -> bool {
        self.device == stat.st_dev.to_string() && self.inode == stat.st_ino.to_string()
    }
}

/// The lock, and what it allows to change.
#[derive(Debug)]
pub(crate) struct Session<'s> {
    pub(crate) active: Active<'s>,
    pub(crate) pending: &'s Folder,
    // Fields are dropped in this order: the lock is the last to go.
    _lock: Lock,
}

impl<'s> Session<'s> {
    /// Takes the lock and opens the active file.
    pub(crate) fn begin(
        place: &'s Place,
        pending: &'s Folder,
        options: Options,
        scribe: &mut dyn Scribe,
        notices: &mut Vec<Notice>,
    ) -> Result<Self, StoreError> {
        let lock = Lock::exclusive(&place.folder, &place.lock, options.lock_limit)?;
        if pending.stat(DEGRADED.as_ref())?.is_some() {
            notices.push(Notice::Degraded {
                path: pending.path_of(DEGRADED.as_ref()),
            });
        }
        let active = Active::open(place, options, scribe, notices)?;
        Ok(Self {
            active,
            pending,
            _lock: lock,
        })
    }

    /// Appends a body, and rotates before it where the file would become too large.
    pub(crate) fn append(
        &mut self,
        body: &str,
        command_id: &str,
        scribe: &mut dyn Scribe,
        notices: &mut Vec<Notice>,
    ) -> Result<Line, StoreError> {
        let mut text = self.active.seal(body, scribe)?;
        if self.active.is_full_for(&text) {
            self.rotate(scribe, notices)?;
            // The notice of a drop may have taken the place in the chain.
            text = self.active.seal(body, scribe)?;
        }
        self.active.write(&text, command_id, notices)?;
        Ok(Line {
            seq: self.active.tail.seq,
            hash: self.active.tail.hash.clone(),
            text,
        })
    }

    /// Rotates. Where that fails, the file grows past its limit rather than lose a record.
    ///
    /// # Errors
    /// Only where nothing may be appended any more.
    fn rotate(
        &mut self,
        scribe: &mut dyn Scribe,
        notices: &mut Vec<Notice>,
    ) -> Result<(), StoreError> {
        match rotate::rotate(&mut self.active, self.pending, scribe) {
            Ok(dropped) => {
                dropped
                    .iter()
                    .try_for_each(|dropped| self.note_drop(dropped, scribe, notices))?;
                if !dropped.is_empty() {
                    self.sweep_outputs(scribe, notices);
                }
                Ok(())
            }
            Err(error) => {
                notices.push(Notice::NotRotated { error });
                Ok(())
            }
        }
    }

    /// Removes the kept outputs whose records are gone.
    pub(crate) fn sweep_outputs(&self, scribe: &mut dyn Scribe, notices: &mut Vec<Notice>) {
        if let Err(error) = output::sweep(self.active.place, self.pending, scribe) {
            notices.push(Notice::OutputsLeft { error });
        }
    }

    /// Appends the notice of a drop. Where that fails, it waits in the pending folder.
    ///
    /// # Errors
    /// The notice is in the file and could not be removed from the pending folder. As with every
    /// pending file, only the last line may be in that state.
    fn note_drop(
        &mut self,
        dropped: &Dropped,
        scribe: &mut dyn Scribe,
        notices: &mut Vec<Notice>,
    ) -> Result<(), StoreError> {
        notices.push(Notice::Dropped {
            path: dropped.path.clone(),
            first_seq: dropped.first_seq,
            last_seq: dropped.last_seq,
        });
        let appended = self
            .active
            .seal(&dropped.body, scribe)
            .and_then(|line| self.active.write(&line, &dropped.command_id, notices));
        match appended {
            Ok(()) => {
                let name = pending::name(&dropped.command_id, DROP);
                self.pending
                    .remove(&name)
                    .inspect_err(|_| self.active.close())
            }
            Err(error) => {
                notices.push(Notice::NotRecovered { error });
                Ok(())
            }
        }
    }
}

/// Leaves the mark that a sync failed, for every later reader to see.
pub(crate) fn mark_degraded(pending: &Folder) -> Result<(), StoreError> {
    let name = DEGRADED.as_ref();
    let (file, created) = pending.existing_or_new(name, How::Write)?;
    if created {
        pending::write_at(pending, &file, b"a sync of the record file failed\n", 0)
            .map_err(StoreError::io("write", &pending.path_of(name)))?;
    }
    Ok(())
}
