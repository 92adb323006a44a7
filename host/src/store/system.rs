//! The system calls of the store, as a trait, so that tests can fail or stop each of them.
//!
//! No decision is made here.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
#[cfg(target_vendor = "apple")]
use std::os::fd::AsRawFd;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{self, AtFlags, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// How a file is opened. Never through a symbolic link, never blocking, never inherited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Must exist; for reading.
    Read,
    /// Must exist; for reading, and for writing at a given place.
    Write,
    /// Must exist; for reading, and for writing at the end.
    Append,
    /// Must not exist; as `Write`.
    Create,
    /// Must not exist; as `Append`.
    CreateAppend,
}

/// The calls that a store makes.
pub(crate) trait System: std::fmt::Debug + Send + Sync {
    /// Opens a folder, but not through a symbolic link.
    fn open_folder(&self, path: &Path) -> io::Result<OwnedFd>;
    /// Opens a folder inside a folder, but not through a symbolic link.
    fn open_folder_at(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd>;
    /// Makes a folder that only we may use.
    fn make_folder(&self, path: &Path) -> io::Result<()>;
    /// Makes a folder inside a folder that only we may use.
    fn make_folder_at(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()>;
    /// Opens or creates a file.
    fn open(&self, dir: BorrowedFd<'_>, name: &OsStr, how: How) -> io::Result<File>;
    /// Sets the permissions of what is open.
    fn set_mode(&self, fd: BorrowedFd<'_>, mode: Mode) -> io::Result<()>;
    /// Describes what is open.
    fn stat(&self, fd: BorrowedFd<'_>) -> io::Result<Stat>;
    /// Describes what a name stands for, a symbolic link itself included.
    fn stat_at(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<Stat>;
    /// Locks or unlocks a file.
    fn lock(&self, file: &File, operation: FlockOperation) -> io::Result<()>;
    /// Reserves room without changing the size.
    fn reserve(&self, file: &File, bytes: u64) -> io::Result<()>;
    /// Writes at the end, perhaps only a part.
    fn append(&self, file: &File, bytes: &[u8]) -> io::Result<usize>;
    /// Writes at a place, perhaps only a part.
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Reads at a place, perhaps only a part.
    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Cuts a file to a size.
    fn cut(&self, file: &File, bytes: u64) -> io::Result<()>;
    /// Waits until the content is on the disk.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Waits until the entries of a folder are on the disk.
    fn sync_folder(&self, dir: BorrowedFd<'_>) -> io::Result<()>;
    /// Renames; over what is there only where `replace` is set.
    fn rename(
        &self,
        dir: BorrowedFd<'_>,
        from: &OsStr,
        to: &OsStr,
        replace: bool,
    ) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()>;
    /// Lists a folder.
    fn names(&self, dir: BorrowedFd<'_>) -> io::Result<Vec<OsString>>;
    /// Returns the size that a file of this process may not pass, in bytes.
    ///
    /// Who writes across it gets SIGXFSZ, which by default ends the process in the middle of a
    /// line. The store asks first, so that no signal is sent and no disposition need change.
    fn size_limit(&self) -> u64;
}

/// The kernel.
#[derive(Debug)]
pub(crate) struct Kernel;

impl System for Kernel {
    fn open_folder(&self, path: &Path) -> io::Result<OwnedFd> {
        Ok(fs::open(path, folder_flags(), Mode::empty())?)
    }

    fn open_folder_at(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
        Ok(fs::openat(dir, name, folder_flags(), Mode::empty())?)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        fs::mkdir(path, Mode::RWXU)?;
        // The umask may have taken permissions without which it cannot even be opened.
        Ok(fs::chmod(path, Mode::RWXU)?)
    }

    fn make_folder_at(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        fs::mkdirat(dir, name, Mode::RWXU)?;
        Ok(fs::chmodat(dir, name, Mode::RWXU, AtFlags::empty())?)
    }

    fn open(&self, dir: BorrowedFd<'_>, name: &OsStr, how: How) -> io::Result<File> {
        let common = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let flags = match how {
            How::Read => OFlags::RDONLY,
            How::Write => OFlags::RDWR,
            How::Append => OFlags::RDWR | OFlags::APPEND,
            How::Create => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
            How::CreateAppend => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL,
        };
        let mode = Mode::RUSR | Mode::WUSR;
        Ok(File::from(fs::openat(dir, name, common | flags, mode)?))
    }

    fn set_mode(&self, fd: BorrowedFd<'_>, mode: Mode) -> io::Result<()> {
        Ok(fs::fchmod(fd, mode)?)
    }

    fn stat(&self, fd: BorrowedFd<'_>) -> io::Result<Stat> {
        Ok(fs::fstat(fd)?)
    }

    fn stat_at(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<Stat> {
        Ok(fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    fn lock(&self, file: &File, operation: FlockOperation) -> io::Result<()> {
        Ok(fs::flock(file, operation)?)
    }

    #[cfg(not(target_vendor = "apple"))]
    fn reserve(&self, file: &File, bytes: u64) -> io::Result<()> {
        Ok(fs::fallocate(
            file,
            fs::FallocateFlags::KEEP_SIZE,
            0,
            bytes,
        )?)
    }

    #[cfg(target_vendor = "apple")]
    fn reserve(&self, file: &File, bytes: u64) -> io::Result<()> {
        let store = libc::fstore_t {
            fst_flags: libc::F_ALLOCATEALL,
            fst_posmode: libc::F_PEOFPOSMODE,
            fst_offset: 0,
            fst_length: i64::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?,
            fst_bytesalloc: 0,
        };
        // SAFETY: the descriptor is open, and the command reads one `fstore_t`, which outlives it.
        let answer =
            unsafe { libc::fcntl(file.as_raw_fd(), libc::F_PREALLOCATE, &raw const store) };
        if answer == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn append(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        let mut file = file;
        file.write(bytes)
    }

    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        file.write_at(bytes, offset)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.read_at(buffer, offset)
    }

    fn cut(&self, file: &File, bytes: u64) -> io::Result<()> {
        Ok(fs::ftruncate(file, bytes)?)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    fn sync_folder(&self, dir: BorrowedFd<'_>) -> io::Result<()> {
        Ok(fs::fsync(dir)?)
    }

    fn rename(
        &self,
        dir: BorrowedFd<'_>,
        from: &OsStr,
        to: &OsStr,
        replace: bool,
    ) -> io::Result<()> {
        if replace {
            return Ok(fs::renameat(dir, from, dir, to)?);
        }
        match fs::renameat_with(dir, from, dir, to, fs::RenameFlags::NOREPLACE) {
            // Some file systems cannot refuse. Only lock holders rename, so looking first does.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                match fs::statat(dir, to, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(_) => Err(Errno::EXIST.into()),
                    Err(Errno::NOENT) => Ok(fs::renameat(dir, from, dir, to)?),
                    Err(error) => Err(error.into()),
                }
            }
            other => Ok(other?),
        }
    }

    fn remove(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    fn names(&self, dir: BorrowedFd<'_>) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(dir.as_fd())? {
            let entry = entry?;
            names.push(OsStr::from_bytes(entry.file_name().to_bytes()).to_os_string());
        }
        Ok(names)
    }

    fn size_limit(&self) -> u64 {
        getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX)
    }
}

/// Calls again while a signal interrupts.
pub(crate) fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Returns a length as the kernel counts it.
pub(crate) fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}
