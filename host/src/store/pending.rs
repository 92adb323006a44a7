//! The pending folder: what has begun and is not in the record file yet.
//!
//! A file `<id>.open` holds the intent of a run on its first line and, once the run has ended, the
//! body of its record on the second. Its runner holds a lock on it, which the kernel frees when
//! the runner dies. A file `<id>.drop` holds the body of a notice. Nothing is appended here.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::error::StoreError;
use super::folder::Folder;
use super::lines::read_range;
use super::system::{How, bytes, retry};

/// The largest line of a store, in bytes without its newline.
pub(crate) const LINE_LIMIT: usize = 256 * 1024;

/// The suffix of a run's file.
pub(crate) const OPEN: &str = ".open";
/// The suffix of a drop notice's file.
pub(crate) const DROP: &str = ".drop";
/// The suffix of what could not be read and waits for a person.
pub(crate) const SET_ASIDE: &str = ".damaged";
/// The file that says that a sync failed.
pub(crate) const DEGRADED: &str = "degraded";
const UNFINISHED: &str = ".tmp";

/// How often the creation starts again when a cleaner mistook our new file for a dead one.
const CREATE_TRIES: u32 = 16;
/// How long the cleaner gets to be done.
const CREATE_PAUSE: Duration = Duration::from_millis(1);

/// What an unlucky creation has met.
enum Creation {
    Done(File),
    /// A cleaner has taken the file before we had locked it.
    Lost,
}

/// The two lines of a pending file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    /// The intent, or the facts of a drop.
    pub(crate) first: String,
    /// The body. None where it is missing or was torn.
    pub(crate) second: Option<String>,
}

/// Creates `<id><suffix>` with these lines, locked, and with room for a record after them.
///
/// The file appears under its name when it is complete.
pub(crate) fn create(
    folder: &Folder,
    id: &str,
    suffix: &str,
    content: &str,
    room: u64,
) -> Result<File, StoreError> {
    let unfinished = name(id, UNFINISHED);
    for _ in 0..CREATE_TRIES {
        match try_create(folder, &unfinished, &name(id, suffix), content, room)? {
            Creation::Done(file) => return Ok(file),
            Creation::Lost => std::thread::sleep(CREATE_PAUSE),
        }
    }
    Err(StoreError::Locked {
        path: folder.path_of(&unfinished),
        waited: CREATE_PAUSE.saturating_mul(CREATE_TRIES),
    })
}

/// Writes all bytes at a place.
pub(crate) fn write_at(folder: &Folder, file: &File, content: &[u8], start: u64) -> io::Result<()> {
    let end = start.saturating_add(bytes(content.len()));
    if end > folder.system.size_limit() {
        return Err(Errno::FBIG.into());
    }
    let mut written = 0;
    while let Some(rest) = content.get(written..).filter(|rest| !rest.is_empty()) {
        let place = start.saturating_add(bytes(written));
        match retry(|| folder.system.write_at(file, rest, place))? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => written = written.saturating_add(count),
        }
    }
    Ok(())
}

/// Opens a pending file whose owner is gone, locked. None where the owner lives, or where the
/// file is gone.
pub(crate) fn take(folder: &Folder, name: &OsStr) -> Result<Option<File>, StoreError> {
    let Some(file) = folder.existing(name, How::Write)? else {
        return Ok(None);
    };
    match retry(|| {
        folder
            .system
            .lock(&file, FlockOperation::NonBlockingLockExclusive)
    }) {
        // Its owner can have removed it before letting the lock go: then the run was taken back.
        Ok(()) => Ok((folder.stat_file(&file, name)?.st_nlink > 0).then_some(file)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(StoreError::io("lock", &folder.path_of(name))(error)),
    }
}

/// Reads the two lines of a pending file; none where not even the first is whole.
pub(crate) fn read(
    folder: &Folder,
    name: &OsStr,
    file: &File,
) -> Result<Option<Lines>, StoreError> {
    let size = u64::try_from(folder.stat_file(file, name)?.st_size).unwrap_or(0);
    // Two lines of the limit and their newlines; what is longer is not ours.
    let end = size.min(bytes(LINE_LIMIT).saturating_add(1).saturating_mul(2));
    let content = read_range(folder.system.as_ref(), file, 0, end)
        .map_err(StoreError::io("read", &folder.path_of(name)))?;
    let mut lines = content.split_inclusive(|byte| *byte == b'\n').map(|line| {
        line.strip_suffix(b"\n")
            .and_then(|line| str::from_utf8(line).ok())
    });
    let first = lines.next().flatten().map(str::to_owned);
    let second = lines.next().flatten().map(str::to_owned);
    Ok(first.map(|first| Lines { first, second }))
}

/// Removes the files whose creators died before they were complete. No command was started.
pub(crate) fn clean(folder: &Folder) -> Result<(), StoreError> {
    for name in folder.names()? {
        if id_of(&name, UNFINISHED).is_some() && take(folder, &name)?.is_some() {
            folder.remove(&name)?;
        }
    }
    Ok(())
}

/// Returns the name of a pending file.
pub(crate) fn name(id: &str, suffix: &str) -> OsString {
    OsString::from(format!("{id}{suffix}"))
}

/// Returns the id in a pending file's name where it has this suffix.
pub(crate) fn id_of<'a>(name: &'a OsStr, suffix: &str) -> Option<&'a str> {
    name.to_str()?.strip_suffix(suffix)
}

/// Says whether an id can be a file name.
pub(crate) fn is_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn try_create(
    folder: &Folder,
    unfinished: &OsStr,
    finished: &OsStr,
    content: &str,
    room: u64,
) -> Result<Creation, StoreError> {
    let path = folder.path_of(unfinished);
    let file = match folder.create(unfinished, How::Create) {
        Ok(file) => file,
        // The cleaner of an earlier try is not done, or died: be the cleaner.
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
            if take(folder, unfinished)?.is_some() {
                folder.remove(unfinished)?;
            }
            return Ok(Creation::Lost);
        }
        Err(error) => return Err(error),
    };
    match retry(|| {
        folder
            .system
            .lock(&file, FlockOperation::NonBlockingLockExclusive)
    }) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Creation::Lost),
        // Without locks nobody can take the store's lock either, so nobody takes this file for dead.
        Ok(()) | Err(_) => {}
    }
    let filled = fill(folder, &file, content, room).map_err(StoreError::io("write", &path));
    let renamed = filled.and_then(|()| folder.rename(unfinished, finished, false));
    match renamed {
        Ok(()) => Ok(Creation::Done(file)),
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(Creation::Lost)
        }
        Err(error) => {
            // The first failure is the one to report; what is left behind is cleaned later.
            let _ = folder.remove(unfinished);
            Err(error)
        }
    }
}

fn fill(folder: &Folder, file: &File, content: &str, room: u64) -> io::Result<()> {
    let total = bytes(content.len()).saturating_add(room);
    if total > folder.system.size_limit() {
        return Err(Errno::FBIG.into());
    }
    if room > 0 {
        match retry(|| folder.system.reserve(file, total)) {
            Ok(()) => {}
            // Not every file system can reserve. The room is then not certain, and nothing better
            // can be had: zeros would have to be overwritten, which can fail as well.
            Err(error)
                if matches!(
                    error.raw_os_error().map(Errno::from_raw_os_error),
                    Some(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL)
                ) => {}
            Err(error) => return Err(error),
        }
    }
    write_at(folder, file, content.as_bytes(), 0)
}
