//! What a lock holder does: recovers what others left, rotates, and appends.
//!
//! Everything here needs the lock, which lives as long as the session.

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use super::active::Active;
use super::error::StoreError;
use super::folder::Folder;
use super::lock::Lock;
use super::pending::{self, DEGRADED, DROP, OPEN, SET_ASIDE};
use super::place::Place;
use super::rotate::{self, Dropped};
use super::scribe::{DocumentKind, Scribe, ScribeError};
use super::system::{How, retry};
use super::{Durability, Notice, Options};

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
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl DropMark {
    /// Marks the file that will be dropped.
    pub(crate) fn new(index: u32, stat: &Stat) -> Self {
        Self {
            index,
            device: stat.st_dev,
            inode: stat.st_ino,
        }
    }
}

/// What a pending file turned out to be.
enum Found {
    /// A record's or a notice's body, and whether the runner died before it could build it.
    Body { body: String, died: bool },
    /// Nothing to append, now or ever.
    Void,
    /// Nothing that could be read, now or ever.
    Damaged(String),
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

    /// Brings in what other runs left in the pending folder, but not the own run.
    ///
    /// # Errors
    /// Only where nothing may be appended any more. What cannot be brought in now stays, and is
    /// told as a notice.
    pub(crate) fn recover(
        &mut self,
        own: Option<&str>,
        scribe: &mut dyn Scribe,
        notices: &mut Vec<Notice>,
    ) -> Result<(), StoreError> {
        self.settle_last(notices)?;
        if let Err(error) = pending::clean(self.pending) {
            notices.push(Notice::NotRecovered { error });
        }
        let names = self.pending.names()?;
        for suffix in [DROP, OPEN] {
            for name in &names {
                let Some(id) = pending::id_of(name, suffix) else {
                    continue;
                };
                if own != Some(id) && !self.bring_in(id, suffix, scribe, notices)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Removes the pending file of the last line: its writer died, or failed, in between.
    ///
    /// No other line can be in this state, since this comes before anything is appended. Its lock
    /// does not matter: the line is there, so the file is done with.
    fn settle_last(&mut self, notices: &mut Vec<Notice>) -> Result<(), StoreError> {
        let Some(id) = self.active.tail.last_id.clone() else {
            return Ok(());
        };
        for suffix in [OPEN, DROP] {
            let name = pending::name(&id, suffix);
            if !pending::is_id(&id) || self.pending.stat(&name)?.is_none() {
                continue;
            }
            // Whoever wrote the line did not live to sync it.
            if self.active.options.durability == Durability::Disk {
                let path = self.active.place.active_path();
                retry(|| self.pending.system.sync(&self.active.file)).map_err(|error| {
                    notices.push(Notice::SyncFailed { path: path.clone() });
                    StoreError::io("sync", &path)(error)
                })?;
            }
            self.pending.remove(&name)?;
            notices.push(Notice::AlreadyRecorded {
                command_id: id.clone(),
            });
        }
        Ok(())
    }

    /// Brings in one pending file. Returns false where no further one can be.
    fn bring_in(
        &mut self,
        id: &str,
        suffix: &str,
        scribe: &mut dyn Scribe,
        notices: &mut Vec<Notice>,
    ) -> Result<bool, StoreError> {
        let name = pending::name(id, suffix);
        // The lock on the file is held until its line is in and it is gone.
        let file = match pending::take(self.pending, &name) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(true),
            Err(error) => {
                notices.push(Notice::NotRecovered { error });
                return Ok(true);
            }
        };
        let lines = pending::read(self.pending, &name, &file)?;
        let found = match suffix {
            DROP => self.read_drop(lines),
            _ => read_run(id, lines, scribe).map_err(self.active.scribe_error("recover")),
        };
        match found {
            Ok(Found::Body { body, died }) => match self.append(&body, id, scribe, notices) {
                Ok(_) => {
                    self.pending.remove(&name)?;
                    notices.push(Notice::Recovered {
                        command_id: id.to_owned(),
                        died,
                    });
                    Ok(true)
                }
                Err(StoreError::Scribe {
                    source: ScribeError::Invalid { message },
                    ..
                }) => self.set_aside(id, suffix, message, notices),
                Err(error) if self.active.is_closed() => Err(error),
                Err(error) => {
                    notices.push(Notice::NotRecovered { error });
                    Ok(false)
                }
            },
            Ok(Found::Void) => self.pending.remove(&name).map(|()| true),
            Ok(Found::Damaged(why)) => self.set_aside(id, suffix, why, notices),
            Err(error) => {
                notices.push(Notice::NotRecovered { error });
                Ok(true)
            }
        }
    }

    /// Keeps what cannot become a record, for a person to look at.
    fn set_aside(
        &self,
        id: &str,
        suffix: &str,
        why: String,
        notices: &mut Vec<Notice>,
    ) -> Result<bool, StoreError> {
        let to = pending::name(id, SET_ASIDE);
        self.pending.rename(&pending::name(id, suffix), &to, true)?;
        notices.push(Notice::SetAside {
            path: self.pending.path_of(&to),
            why,
        });
        Ok(true)
    }

    /// Reads a drop notice. It counts only if the file that it speaks of is gone.
    fn read_drop(&self, lines: Option<pending::Lines>) -> Result<Found, StoreError> {
        let Some(lines) = lines else {
            return Ok(Found::Damaged("no line in it is whole".into()));
        };
        let (Ok(mark), Some(body)) = (serde_json::from_str::<DropMark>(&lines.first), lines.second)
        else {
            return Ok(Found::Damaged("it is no drop notice".into()));
        };
        let place = self.active.place;
        let there = place.folder.stat(&place.rotated(mark.index))?;
        if there.is_some_and(|stat| stat.st_ino == mark.inode && stat.st_dev == mark.device) {
            return Ok(Found::Void);
        }
        Ok(Found::Body { body, died: false })
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
            Ok(dropped) => dropped
                .iter()
                .try_for_each(|dropped| self.note_drop(dropped, scribe, notices)),
            Err(error) => {
                notices.push(Notice::NotRotated { error });
                Ok(())
            }
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

/// Finds out how far a run came.
fn read_run(
    id: &str,
    lines: Option<pending::Lines>,
    scribe: &mut dyn Scribe,
) -> Result<Found, ScribeError> {
    let Some(lines) = lines else {
        return Ok(Found::Damaged("no line in it is whole".into()));
    };
    if let Some(body) = lines.second {
        match scribe.identify(&body) {
            Ok(identity) if identity.command_id == id && identity.kind == DocumentKind::Body => {
                return Ok(Found::Body { body, died: false });
            }
            Ok(_) | Err(ScribeError::Invalid { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    match scribe.identify(&lines.first) {
        Ok(identity) if identity.command_id == id && identity.kind == DocumentKind::Intent => {}
        Ok(_) => return Ok(Found::Damaged("it is not the intent of this run".into())),
        Err(ScribeError::Invalid { message }) => return Ok(Found::Damaged(message)),
        Err(error) => return Err(error),
    }
    match scribe.recover(&lines.first) {
        Ok(body) => Ok(Found::Body { body, died: true }),
        Err(ScribeError::Invalid { message }) => Ok(Found::Damaged(message)),
        Err(error) => Err(error),
    }
}

/// Leaves the mark that a sync failed, for every later reader to see.
pub(crate) fn mark_degraded(pending: &Folder, reason: &StoreError) -> Result<(), StoreError> {
    let name = DEGRADED.as_ref();
    let (file, created) = pending.existing_or_new(name, How::Write)?;
    if created {
        // Only the kernel's words: a path could hold what may not be written unredacted.
        let number = reason.errno().unwrap_or(0);
        let text = format!("a sync failed with error number {number}\n");
        pending::write_at(pending, &file, text.as_bytes(), 0)
            .map_err(StoreError::io("write", &pending.path_of(name)))?;
    }
    Ok(())
}
