//! The lock of a store: who holds it may append, cut back, rename and remove.
//!
//! It protects against other writers, not against a hostile process of the same user.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;

use super::error::StoreError;
use super::folder::Folder;
use super::system::{How, System, retry};

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// The lock, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    system: Arc<dyn System>,
    file: File,
}

impl Lock {
    /// Takes the exclusive lock, and creates its file where there is none.
    pub(crate) fn exclusive(
        folder: &Folder,
        name: &OsStr,
        limit: Duration,
    ) -> Result<Self, StoreError> {
        let operation = FlockOperation::NonBlockingLockExclusive;
        wait(folder, name, operation, limit, || {
            folder
                .existing_or_new(name, How::Write)
                .map(|(file, _)| Some(file))
        })?
        .ok_or_else(|| {
            StoreError::io("open", &folder.path_of(name))(io::ErrorKind::NotFound.into())
        })
    }

    /// Takes the shared lock for reading; none where there is no lock file.
    pub(crate) fn shared(
        folder: &Folder,
        name: &OsStr,
        limit: Duration,
    ) -> Result<Option<Self>, StoreError> {
        let operation = FlockOperation::NonBlockingLockShared;
        wait(folder, name, operation, limit, || {
            folder.existing(name, How::Read)
        })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child that is being started may hold a copy of the
        // descriptor. There is nobody to tell a failure to, and the end of the process frees it.
        let _ = retry(|| self.system.lock(&self.file, FlockOperation::Unlock));
    }
}

fn wait(
    folder: &Folder,
    name: &OsStr,
    operation: FlockOperation,
    limit: Duration,
    mut open: impl FnMut() -> Result<Option<File>, StoreError>,
) -> Result<Option<Lock>, StoreError> {
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let Some(file) = open()? else {
            return Ok(None);
        };
        match retry(|| folder.system.lock(&file, operation)) {
            Ok(()) => {
                let lock = Lock {
                    system: Arc::clone(&folder.system),
                    file,
                };
                if is_at(folder, name, &lock.file)? {
                    return Ok(Some(lock));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(source) => {
                return Err(StoreError::NoLocks {
                    path: folder.path_of(name),
                    source,
                });
            }
        }
        let waited = started.elapsed();
        if waited >= limit {
            return Err(StoreError::Locked {
                path: folder.path_of(name),
                waited,
            });
        }
        std::thread::sleep(pause.min(limit.saturating_sub(waited)));
        pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
    }
}

/// Says whether the file is still the one at the path. Who locks a file that was removed or
/// replaced holds nothing.
fn is_at(folder: &Folder, name: &OsStr, file: &File) -> Result<bool, StoreError> {
    let held = folder.stat_file(file, name)?;
    let named = folder.stat(name)?;
    Ok(named.is_some_and(|named| named.st_ino == held.st_ino && named.st_dev == held.st_dev))
}
