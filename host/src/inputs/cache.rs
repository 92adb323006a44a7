//! What was read before: for each file by its number, size and times, the digest of its content.
//!
//! It holds no name and no content, and can be deleted at any time. Whoever can write it can write
//! the store as well; it guards against nothing.

use std::collections::HashMap;
use std::fs::{self, Metadata, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::content::Item;

/// What a cache of this form begins with.
const HEAD: &[u8] = b"feedback inputs cache 1\n";
const NUMBERS: usize = 7;
const ENTRY: usize = NUMBERS * 8 + 32;
/// Beyond this what is not needed now is forgotten. 44 MB.
const ENTRIES_MAX: usize = 500_000;

/// What changes where a file changes: device, number, size, both times.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stamp([i64; NUMBERS]);

impl Stamp {
    pub(super) fn of(about: &Metadata) -> Self {
        Self([
            about.dev().cast_signed(),
            about.ino().cast_signed(),
            about.size().cast_signed(),
            about.mtime(),
            about.mtime_nsec(),
            about.ctime(),
            about.ctime_nsec(),
        ])
    }
}

/// The cache of one store.
pub(super) struct Cache {
    path: PathBuf,
    known: HashMap<Stamp, [u8; 32]>,
}

impl Cache {
    /// Opens the cache beside a record file. What is no whole cache is empty.
    pub(super) fn open(record_file: &Path) -> Self {
        let mut path = record_file.as_os_str().to_os_string();
        path.push(".inputs");
        let path = PathBuf::from(path);
        let known = load(&path).unwrap_or_default();
        Self { path, known }
    }

    /// Returns the digest of a file that has this stamp.
    pub(super) fn content(&self, stamp: &Stamp) -> Option<[u8; 32]> {
        self.known.get(stamp).copied()
    }

    /// Adds what was read. Where it cannot be written, the next look only takes longer.
    pub(super) fn learn(&mut self, items: &[Item]) {
        let stamped = || {
            let stamped = items.iter();
            stamped.filter_map(|item| Some((item.stamp.clone()?, item.content)))
        };
        if stamped().all(|(stamp, _)| self.known.contains_key(&stamp)) {
            return;
        }
        if self.known.len().saturating_add(items.len()) > ENTRIES_MAX {
            self.known.clear();
        }
        self.known.extend(stamped());
        let _ = self.save();
    }

    fn save(&self) -> std::io::Result<()> {
        let mut bytes = HEAD.to_vec();
        bytes.reserve(self.known.len().saturating_mul(ENTRY));
        for (Stamp(numbers), content) in &self.known {
            numbers
                .iter()
                .for_each(|number| bytes.extend(number.to_le_bytes()));
            bytes.extend(content);
        }
        let sum: [u8; 32] = Sha256::digest(&bytes).into();
        bytes.extend(sum);
        let mut new = self.path.as_os_str().to_os_string();
        new.push(format!(".{}", std::process::id()));
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&new)
            .and_then(|mut file| file.write_all(&bytes))
            .and_then(|()| fs::rename(&new, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written
    }
}

fn load(path: &Path) -> Option<HashMap<Stamp, [u8; 32]>> {
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    let about = file.metadata().ok()?;
    let most = HEAD.len() + ENTRIES_MAX * 2 * ENTRY;
    if !about.is_file() || usize::try_from(about.len()).ok()? > most {
        return None;
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let (content, sum) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
    if Sha256::digest(content).as_slice() != sum {
        return None;
    }
    let entries = content.strip_prefix(HEAD)?.chunks_exact(ENTRY);
    entries.map(entry).collect()
}

fn entry(bytes: &[u8]) -> Option<(Stamp, [u8; 32])> {
    let (numbers, content) = bytes.split_at_checked(NUMBERS * 8)?;
    let mut stamp = [0; NUMBERS];
    for (number, bytes) in stamp.iter_mut().zip(numbers.chunks_exact(8)) {
        *number = i64::from_le_bytes(bytes.try_into().ok()?);
    }
    Some((Stamp(stamp), content.try_into().ok()?))
}
