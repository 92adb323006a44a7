//! Recovery: what other runs left in the pending folder comes into the record file, exactly once.
//!
//! It needs the lock, and comes before anything else is appended.

use std::fs::File;

use super::Notice;
use super::error::StoreError;
use super::pending::{self, DROP, OPEN, SET_ASIDE};
use super::scribe::{DocumentKind, Scribe, ScribeError};
use super::session::{DropMark, Session};

/// What a pending file turned out to be.
enum Found {
    /// A record's or a notice's body, and whether the runner died before it could build it.
    Body { body: String, died: bool },
    /// Nothing to append, now or ever.
    Void,
    /// Nothing that could be read, now or ever.
    Damaged(String),
}

impl Session<'_> {
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
        let names = match self.pending.names() {
            Ok(names) => names,
            // What waits goes on waiting; that is no reason to lose the next record.
            Err(error) => {
                notices.push(Notice::NotRecovered { error });
                return Ok(());
            }
        };
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
            self.active.sync(notices)?;
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
        let (_file, found) = match self.look_at(id, suffix, scribe) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(true),
            Err(error) => {
                notices.push(Notice::NotRecovered { error });
                return Ok(true);
            }
        };
        let (body, died) = match found {
            Found::Body { body, died } => (body, died),
            Found::Void => {
                if let Err(error) = self.pending.remove(&name) {
                    notices.push(Notice::LeftBehind { error });
                }
                return Ok(true);
            }
            Found::Damaged(why) => {
                self.set_aside(id, suffix, why, notices);
                return Ok(true);
            }
        };
        match self.append(&body, id, scribe, notices) {
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
            }) => {
                self.set_aside(id, suffix, message, notices);
                Ok(true)
            }
            Err(error) if self.active.is_closed() => Err(error),
            Err(error) => {
                notices.push(Notice::NotRecovered { error });
                Ok(false)
            }
        }
    }

    /// Takes a pending file whose owner is gone, and finds out what it is; none where the owner
    /// lives.
    fn look_at(
        &self,
        id: &str,
        suffix: &str,
        scribe: &mut dyn Scribe,
    ) -> Result<Option<(File, Found)>, StoreError> {
        let name = pending::name(id, suffix);
        let Some(file) = pending::take(self.pending, &name)? else {
            return Ok(None);
        };
        let lines = pending::read(self.pending, &name, &file)?;
        let found = match suffix {
            DROP => self.read_drop(lines)?,
            _ => read_run(id, lines, scribe).map_err(self.active.scribe_error("recover"))?,
        };
        Ok(Some((file, found)))
    }

    /// Keeps what cannot become a record, for a person to look at.
    fn set_aside(&self, id: &str, suffix: &str, why: String, notices: &mut Vec<Notice>) {
        let to = pending::name(id, SET_ASIDE);
        notices.push(
            match self.pending.rename(&pending::name(id, suffix), &to, true) {
                Ok(()) => Notice::SetAside {
                    path: self.pending.path_of(&to),
                    why,
                },
                Err(error) => Notice::NotRecovered { error },
            },
        );
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
        if there.is_some_and(|stat| mark.is_of(&stat)) {
            return Ok(Found::Void);
        }
        Ok(Found::Body { body, died: false })
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
