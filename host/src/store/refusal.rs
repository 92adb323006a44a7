//! What makes a store refuse a run before it starts: to find it out at the end would be too late.
//!
//! Nothing is locked, written or repaired here.

use std::fs::File;

use super::Store;
use super::active;
use super::error::StoreError;
use super::lines::after_last_newline;
use super::scribe::Scribe;
use super::system::How;
use super::tail::Tail;

impl Store {
    /// Refuses a store whose newest record belongs to a schema that the component does not know.
    /// Call it before [`Self::begin`]: to find that out only at the end would leave a record that waits.
    ///
    /// # Errors
    /// Such a store, or what stands in the record file's place.
    pub fn refuse_unknown_schema(&self, scribe: &mut dyn Scribe) -> Result<(), StoreError> {
        let Some(file) = self.place.folder.existing(&self.place.active, How::Read)? else {
            return Ok(());
        };
        match self.newest(&file, scribe) {
            Err(error @ StoreError::Schema { .. }) => Err(error),
            // Without the lock the file can change under this look; `finish` takes it.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Looks at everything that finishing will need, so that a run is refused before it starts.
    pub(super) fn refuse_unsafe(&self) -> Result<(), StoreError> {
        self.place.folder.check_file(&self.place.lock)?;
        if let Some(file) = self
            .place
            .folder
            .existing(&self.place.active, How::Append)?
        {
            active::refuse_foreign(&self.place, &file)?;
        }
        Ok(())
    }

    /// Reads where the chain stands, up to the last newline: a writer may be about to go on there.
    pub(super) fn newest(&self, file: &File, scribe: &mut dyn Scribe) -> Result<Tail, StoreError> {
        let folder = &self.place.folder;
        let stat = folder.stat_file(file, &self.place.active)?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let end = after_last_newline(folder.system.as_ref(), file, size)
            .map_err(StoreError::io("read", &self.place.active_path()))?;
        Tail::read(&self.place, file, end, scribe)
    }
}
