//! What a run knows of the store when it begins, so that it notices at its end that the store was
//! taken away meanwhile: a command can delete the folder that its own records are in.
//!
//! Nothing is locked, written or repaired here.

use super::active::Active;
use super::run::OpenRun;
use super::system::How;
use super::{Notice, Scribe, Store, StoreError, Tail};

/// The newest record when a run began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    seq: u64,
    hash: String,
}

impl Store {
    /// Returns what stands in the store now, or nothing where it is empty or cannot be read.
    ///
    /// # Errors
    /// What stands in the record file's place.
    pub fn known(&self, scribe: &mut dyn Scribe) -> Result<Option<Known>, StoreError> {
        let Some(file) = self.place.folder.existing(&self.place.active, How::Read)? else {
            return Ok(None);
        };
        // Without the lock the file can change under this look; then less is known.
        Ok(self.newest(&file, scribe).ok().and_then(|tail| {
            let Tail { seq, hash, .. } = tail;
            (seq > 0).then_some(Known { seq, hash })
        }))
    }
}

impl OpenRun {
    /// Returns the run with what stood in the store before it.
    #[must_use]
    pub fn knowing(mut self, known: Option<Known>) -> Self {
        self.known = known;
        self
    }
}

impl Known {
    /// Has the chain go on behind the record that was there, where it is there no longer: then
    /// the gap stays visible to every reader, and no new beginning hides it.
    pub(super) fn keep_the_gap(&self, active: &mut Active<'_>, notices: &mut Vec<Notice>) {
        let tail = &active.tail;
        let is_there = tail.seq > self.seq || (tail.seq == self.seq && tail.hash == self.hash);
        if is_there {
            return;
        }
        notices.push(Notice::StoreLost {
            path: active.place.active_path(),
            last_seq: self.seq,
        });
        active.tail = Tail {
            seq: self.seq,
            hash: self.hash.clone(),
            last_id: None,
        };
    }
}
