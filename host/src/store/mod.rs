//! The store: every run that begins leaves exactly one line in the record file.
//!
//! ```text
//! feedback_record.jsonl          active: appended to, or cut back to its last newline, by a lock holder only
//! feedback_record.jsonl.1 … .4   older; .1 is the newest
//! feedback_record.jsonl.lock     locked, never written, renamed or removed
//! feedback_record.jsonl.pending/<id>.open   one per run, from before its start until its line is in the file
//! feedback_record.jsonl.output/<id>.stdout  the whole redacted output of a run that keeps it, and .stderr
//! ```
//!
//! The chain of `seq` and `prev` shows loss and editing to anyone. It does not stop a process of
//! the same user from rewriting the whole chain: who must know keeps the head elsewhere.
//! The store neither reads nor builds a record: it asks a [`Scribe`].

mod active;
mod anchor;
mod chain;
mod dropped;
mod error;
pub(crate) mod folder;
mod hazard;
mod known;
pub(crate) mod lines;
pub(crate) mod lock;
mod notice;
mod options;
pub(crate) mod output;
pub(crate) mod pending;
pub(crate) mod place;
mod recover;
mod refusal;
mod rotate;
mod run;
pub(crate) mod scribe;
mod session;
pub(crate) mod system;
mod tail;
mod verify;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use error::{FinishError, Hazard, StoreError};
pub use known::Known;
pub use notice::Notice;
pub use options::{Durability, Options};
pub use run::{Appended, OpenRun, Recovered};
pub use scribe::{Checked, DocumentKind, Identity, Scribe, ScribeError};
pub use verify::{Damage, Head, Verification, verify, verify_against, verify_opened};

use folder::Folder;
use pending::LINE_LIMIT;
use place::Place;
use session::{Line, Session};
use system::{Kernel, System, bytes, retry};
use tail::Tail;

/// A record file with everything that belongs to it.
#[derive(Debug)]
pub struct Store {
    place: Place,
    options: Options,
}

impl Store {
    /// Opens the store of a record file. Creates the file's folder where it is missing (but not
    /// its parents); everything else is created when it is needed.
    ///
    /// The folder may be a project's own, which its group may write to. It may be sticky and
    /// writable by all, as `/tmp` is. Every file in it must be ours alone to write.
    ///
    /// # Errors
    /// The folder cannot be opened, is a symbolic link, belongs to another user (unless we are
    /// root), or may be written to by everybody.
    pub fn open(record_file: &Path, options: Options) -> Result<Self, StoreError> {
        Self::open_on(Arc::new(Kernel), record_file, options)
    }

    pub(crate) fn open_on(
        system: Arc<dyn System>,
        record_file: &Path,
        options: Options,
    ) -> Result<Self, StoreError> {
        let place = Place::open(system, record_file, true)?;
        place.folder.check_shared()?;
        Ok(Self { place, options })
    }

    /// Puts the redacted intent of a run on the disk, together with room for its record.
    /// Call it before the command starts.
    ///
    /// # Errors
    /// The record of this run could not be guaranteed: do not run the command.
    pub fn begin(&self, command_id: &str, intent: &str) -> Result<OpenRun, StoreError> {
        check_document("intent", command_id, intent)?;
        self.refuse_unsafe()?;
        let pending = self.pending()?;
        let content = format!("{intent}\n");
        let room = bytes(LINE_LIMIT).saturating_add(1);
        let file = pending::create(&pending, command_id, pending::OPEN, &content, room)?;
        let run = OpenRun {
            command_id: command_id.to_owned(),
            file: Some((file, bytes(content.len()))),
            known: None,
        };
        if let Err(error) = self.secure(&pending, &run) {
            // The command will not run, so nothing may be left that says it did.
            let _ = pending.remove(&pending::name(command_id, pending::OPEN));
            return Err(error);
        }
        Ok(run)
    }

    /// Takes back a run that was begun and whose command was never started.
    ///
    /// # Errors
    /// The pending file could not be removed; the next writer will record that the runner died.
    pub fn abandon(&self, run: OpenRun) -> Result<(), StoreError> {
        let OpenRun {
            command_id, file, ..
        } = run;
        match file {
            None => Ok(()),
            Some(_lock) => self
                .pending()?
                .remove(&pending::name(&command_id, pending::OPEN)),
        }
    }

    /// Brings the record of a run into the file, after those that others left behind.
    ///
    /// # Errors
    /// The record is not in the file. Where `waits` is set, it is whole in the pending folder and
    /// a later run merges it.
    pub fn finish(
        &self,
        run: OpenRun,
        body: &str,
        scribe: &mut dyn Scribe,
    ) -> Result<Appended, FinishError> {
        let mut notices = Vec::new();
        let mut waits = false;
        let outcome = check_document("record", &run.command_id, body).and_then(|()| {
            waits = self.deposit(&run, body, &mut notices);
            let pending = self.pending()?;
            self.enter(&pending, &run, body, scribe, &mut notices)
        });
        self.mark_failed_sync(&mut notices);
        match outcome {
            Ok(line) => Ok(Appended {
                seq: line.seq,
                hash: line.hash,
                line: line.text,
                notices,
            }),
            Err(cause) => {
                self.make_last(&run, &mut notices);
                Err(FinishError {
                    command_id: run.command_id,
                    waits,
                    cause: Box::new(cause),
                    notices,
                })
            }
        }
    }

    /// Brings in the records of all runs that have ended or whose runners died.
    ///
    /// # Errors
    /// The lock could not be had, or nothing could be appended.
    pub fn recover(&self, scribe: &mut dyn Scribe) -> Result<Recovered, StoreError> {
        let mut notices = Vec::new();
        self.refuse_unsafe()?;
        let pending = self.pending()?;
        let outcome = Session::begin(&self.place, &pending, self.options, scribe, &mut notices)
            .and_then(|mut session| {
                session.recover(None, scribe, &mut notices)?;
                session.sweep_outputs(scribe, &mut notices);
                Ok(())
            });
        self.mark_failed_sync(&mut notices);
        outcome.map(|()| Recovered { notices })
    }

    /// Checks every line, and the chain that they form, without changing anything.
    pub fn verify(&self, scribe: &mut dyn Scribe) -> Verification {
        verify(&self.place.active_path(), scribe)
    }

    /// Returns the path of the active file.
    #[must_use]
    pub fn record_file(&self) -> PathBuf {
        self.place.active_path()
    }

    fn pending(&self) -> Result<Folder, StoreError> {
        let (pending, created) = self.place.folder.private(&self.place.pending)?;
        if created && self.options.durability == Durability::Disk {
            self.place.folder.sync()?;
        }
        Ok(pending)
    }

    /// Writes the body behind the intent, and says whether it is there.
    ///
    /// It needs nothing but the descriptor that is open since the beginning.
    fn deposit(&self, run: &OpenRun, body: &str, notices: &mut Vec<Notice>) -> bool {
        let Some((file, intent_bytes)) = &run.file else {
            return false;
        };
        let line = format!("{body}\n");
        match pending::write_at(&self.place.folder, file, line.as_bytes(), *intent_bytes) {
            Ok(()) => true,
            Err(error) => {
                let path = self
                    .place
                    .folder
                    .path_of(&self.place.pending)
                    .join(pending::name(&run.command_id, pending::OPEN));
                notices.push(Notice::NotDeposited {
                    error: StoreError::io("write", &path)(error),
                });
                false
            }
        }
    }

    /// Appends the record under the lock, and removes its pending file.
    fn enter(
        &self,
        pending: &Folder,
        run: &OpenRun,
        body: &str,
        scribe: &mut dyn Scribe,
        notices: &mut Vec<Notice>,
    ) -> Result<Line, StoreError> {
        let mut session = Session::begin(&self.place, pending, self.options, scribe, notices)?;
        if let Some(known) = &run.known {
            known.keep_the_gap(&mut session.active, notices);
        }
        session.recover(Some(&run.command_id), scribe, notices)?;
        let line = session.append(body, &run.command_id, scribe, notices)?;
        if run.file.is_some() {
            let name = pending::name(&run.command_id, pending::OPEN);
            if let Err(error) = pending.remove(&name) {
                notices.push(Notice::LeftBehind { error });
            }
        }
        Ok(line)
    }

    /// Does what can be done for a record that must wait. The first failure is the one reported.
    fn make_last(&self, run: &OpenRun, notices: &mut Vec<Notice>) {
        let secured = self
            .pending()
            .and_then(|pending| self.secure(&pending, run));
        if let Err(error) = secured {
            notices.push(Notice::NotDeposited { error });
        }
    }

    /// Marks the store where the disk did not take what was written.
    fn mark_failed_sync(&self, notices: &mut Vec<Notice>) {
        let sync_failed = |notice: &Notice| matches!(notice, Notice::SyncFailed { .. });
        if !notices.iter().any(sync_failed) {
            return;
        }
        let marked = self
            .pending()
            .and_then(|pending| session::mark_degraded(&pending));
        if let Err(error) = marked {
            notices.push(Notice::LeftBehind { error });
        }
    }

    /// Makes a pending file survive the power going out.
    fn secure(&self, pending: &Folder, run: &OpenRun) -> Result<(), StoreError> {
        let Some((file, _)) = &run.file else {
            return Ok(());
        };
        if self.options.durability == Durability::Process {
            return Ok(());
        }
        let name = pending::name(&run.command_id, pending::OPEN);
        retry(|| pending.system.sync(file))
            .map_err(StoreError::io("sync", &pending.path_of(&name)))?;
        pending.sync()
    }
}

fn check_document(what: &'static str, command_id: &str, document: &str) -> Result<(), StoreError> {
    let reason = if !pending::is_id(command_id) {
        "its id is no UUID"
    } else if document.is_empty() {
        "it is empty"
    } else if document.contains('\n') {
        "it is more than one line"
    } else if document.len() > LINE_LIMIT {
        "it is over 256 KiB"
    } else {
        return Ok(());
    };
    Err(StoreError::Document {
        what,
        command_id: command_id.to_owned(),
        reason,
    })
}
