//! What each input holds, read by several threads, or known already.
//!
//! What is no plain file is never opened: a pipe would wait for a writer.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{panic, thread};

use sha2::{Digest, Sha256};

use super::InputsError;
use super::cache::{Cache, Stamp};
use super::walk::present;

/// How much is read at once, and how many files are one piece of work for a thread.
const CHUNK: usize = 128 * 1024;
const BATCH: usize = 64;
/// More threads gain nothing: the disk is the limit.
const THREADS: usize = 8;

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Executable,
    Link,
    Pipe,
    Socket,
    CharacterDevice,
    BlockDevice,
}

impl Kind {
    /// The letter that stands for it in a digest.
    pub(super) fn letter(self) -> u8 {
        match self {
            Self::File => b'f',
            Self::Executable => b'x',
            Self::Link => b'l',
            Self::Pipe => b'p',
            Self::Socket => b's',
            Self::CharacterDevice => b'c',
            Self::BlockDevice => b'b',
        }
    }
}

/// One input.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    /// The SHA-256 of its content.
    pub(super) content: [u8; 32],
    /// When it, or what is known about it, changed last.
    pub(super) changed: SystemTime,
    /// What tells whether it is as it was; absent where that cannot be told.
    pub(super) stamp: Option<Stamp>,
}

/// Reads the files at `paths`, which are relative to `folder`. What is not there is left out.
pub(super) fn read_all(
    folder: &Path,
    paths: &[PathBuf],
    cache: &Cache,
) -> Result<Vec<Item>, InputsError> {
    let batches: Vec<&[PathBuf]> = paths.chunks(BATCH).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            for path in *batch {
                done.extend(read(folder, path, cache)?);
            }
        }
        Ok::<_, InputsError>(done)
    };
    let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let helpers = processors.min(THREADS).min(batches.len()).saturating_sub(1);
    let mut items = thread::scope(|scope| {
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
        let mut all = work()?;
        for helper in helpers {
            match helper.join() {
                Ok(done) => all.append(&mut done?),
                Err(panicked) => panic::resume_unwind(panicked),
            }
        }
        Ok::<_, InputsError>(all)
    })?;
    items.sort_unstable_by(|a, b| bytes(a).cmp(bytes(b)));
    Ok(items)
}

fn bytes(item: &Item) -> &[u8] {
    item.path.as_os_str().as_bytes()
}

fn read(folder: &Path, path: &Path, cache: &Cache) -> Result<Option<Item>, InputsError> {
    let whole = folder.join(path);
    let Some(about) = present(&whole, fs::symlink_metadata(&whole))? else {
        return Ok(None);
    };
    let kind = about.file_type();
    let item = |kind, content| Item {
        path: path.to_path_buf(),
        kind,
        content,
        changed: changed(&about),
        stamp: None,
    };
    let without_content = |kind| Ok(Some(item(kind, Sha256::digest([]).into())));
    if kind.is_symlink() {
        let target = present(&whole, fs::read_link(&whole))?;
        return Ok(target.map(|target| {
            let digest = Sha256::digest(target.as_os_str().as_bytes());
            item(Kind::Link, digest.into())
        }));
    }
    if kind.is_fifo() {
        return without_content(Kind::Pipe);
    }
    if kind.is_socket() {
        return without_content(Kind::Socket);
    }
    if kind.is_char_device() {
        return without_content(Kind::CharacterDevice);
    }
    if kind.is_block_device() {
        return without_content(Kind::BlockDevice);
    }
    if !kind.is_file() {
        // A folder took the place of a file; what is in there was not listed.
        return Ok(None);
    }
    let file_kind = if about.mode() & 0o100 == 0 {
        Kind::File
    } else {
        Kind::Executable
    };
    let stamp = Stamp::of(&about);
    if let Some(content) = cache.content(&stamp) {
        return Ok(Some(Item {
            stamp: Some(stamp),
            ..item(file_kind, content)
        }));
    }
    let read = present(&whole, digest(&whole, &stamp))?;
    Ok(read.map(|(content, stamp)| Item {
        stamp,
        ..item(file_kind, content)
    }))
}

/// Digests a plain file. Its stamp is worth something only where it is old enough that a later
/// change would get another one, and still the same after the reading.
fn digest(path: &Path, stamp: &Stamp) -> io::Result<([u8; 32], Option<Stamp>)> {
    let began = SystemTime::now();
    let mut file = OpenOptions::new()
        .read(true)
        // It may have become a pipe or a link in between.
        .custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it changed its kind while it was read"));
    }
    let content = digest_of(&mut file)?;
    let after = file.metadata()?;
    let settled = began
        .duration_since(changed(&after))
        .is_ok_and(|age| age > SETTLED);
    let kept = (settled && Stamp::of(&after) == *stamp).then(|| stamp.clone());
    Ok((content, kept))
}

/// The coarsest clock of a file system that is in use (FAT) ticks every two seconds. What changed
/// less than that before it was read may change again and keep its times.
const SETTLED: Duration = Duration::from_millis(2_100);

fn digest_of(file: &mut File) -> io::Result<[u8; 32]> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(digest.finalize().into()),
            Ok(count) => digest.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The later of the times of content and of everything else; the second cannot be set back.
fn changed(about: &Metadata) -> SystemTime {
    let time = |seconds: i64, nanos: i64| {
        let seconds = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        let nanos = Duration::from_nanos(u64::try_from(nanos).unwrap_or_default());
        UNIX_EPOCH + seconds + nanos
    };
    let content = time(about.mtime(), about.mtime_nsec());
    content.max(time(about.ctime(), about.ctime_nsec()))
}
