//! A kernel that can be told to fail, to stop for ever at a call, or to leave a safeguard out.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;

use rustix::fs::{FlockOperation, Mode, Stat};
use rustix::io::Errno;

use crate::store::system::{How, Kernel, System};

/// What happens at the chosen call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// The call fails once.
    Once(Errno),
    /// This call and every later one that takes room fails.
    NoRoom,
    /// The process is gone: neither this call nor any later one has an effect.
    Die,
    /// The process is gone after it has written so many bytes of this call.
    DieWithin(usize),
}

/// A safeguard that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Off {
    Lock,
    Unlock,
    Repair,
    Sync,
}

#[derive(Debug, Default)]
struct State {
    calls: u64,
    dead: bool,
    full: bool,
    struck: Option<&'static str>,
    /// How much of each file is on the disk, by inode.
    synced: HashMap<u64, u64>,
    /// Copies of locked descriptors, as a child that is being started has them.
    copies: Vec<File>,
}

/// The kernel with one fault, or one safeguard less.
#[derive(Debug)]
pub(crate) struct Shim {
    at: u64,
    fault: Option<Fault>,
    off: Option<Off>,
    copy_locks: bool,
    limit: u64,
    state: Mutex<State>,
}

impl Shim {
    /// A kernel without any fault.
    pub(crate) fn sound() -> Self {
        Self {
            at: u64::MAX,
            fault: None,
            off: None,
            copy_locks: false,
            limit: u64::MAX,
            state: Mutex::default(),
        }
    }

    /// A kernel that fails at the nth call, from 1.
    pub(crate) fn failing(at: u64, fault: Fault) -> Self {
        Self {
            at,
            fault: Some(fault),
            ..Self::sound()
        }
    }

    /// A kernel without a safeguard.
    pub(crate) fn without(off: Option<Off>) -> Self {
        Self {
            off,
            ..Self::sound()
        }
    }

    /// A kernel in which every locked descriptor has a copy that stays open.
    pub(crate) fn copying(off: Option<Off>) -> Self {
        Self {
            copy_locks: true,
            ..Self::without(off)
        }
    }

    /// A kernel with a limit for the size of files.
    pub(crate) fn limited(limit: u64) -> Self {
        Self {
            limit,
            ..Self::sound()
        }
    }

    /// The name of the call that the fault has struck.
    pub(crate) fn struck(&self) -> Option<&'static str> {
        self.state.lock().unwrap().struck
    }

    /// How many calls were made.
    pub(crate) fn calls(&self) -> u64 {
        self.state.lock().unwrap().calls
    }

    /// Takes away from every file what was not synced.
    pub(crate) fn cut_power(&self, dir: &Path) {
        let state = self.state.lock().unwrap();
        for entry in std::fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            if meta.is_file() {
                let kept = state.synced.get(&meta.ino()).copied().unwrap_or(0);
                let file = File::options().write(true).open(entry.path()).unwrap();
                file.set_len(kept.min(meta.len())).unwrap();
            }
        }
    }

    fn step(&self, name: &'static str, takes_room: bool) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.calls += 1;
        if state.dead {
            return Err(Errno::OWNERDEAD.into());
        }
        if state.full && takes_room {
            return Err(Errno::NOSPC.into());
        }
        if state.calls != self.at {
            return Ok(());
        }
        state.struck = Some(name);
        match self.fault {
            Some(Fault::Once(errno)) => Err(errno.into()),
            Some(Fault::NoRoom) => {
                state.full = true;
                if takes_room {
                    return Err(Errno::NOSPC.into());
                }
                Ok(())
            }
            Some(Fault::Die | Fault::DieWithin(_)) => {
                state.dead = true;
                Err(Errno::OWNERDEAD.into())
            }
            None => Ok(()),
        }
    }

    /// As `step`, for a call that a kill can cut short.
    fn write_step<'b>(
        &self,
        name: &'static str,
        content: &'b [u8],
    ) -> Result<&'b [u8], (io::Error, &'b [u8])> {
        match self.step(name, true) {
            Ok(()) => Ok(content),
            Err(error) => {
                let written = match self.fault {
                    Some(Fault::DieWithin(count)) if self.calls() == self.at => {
                        &content[..count.min(content.len())]
                    }
                    _ => &[],
                };
                Err((error, written))
            }
        }
    }
}

impl System for Shim {
    fn open_folder(&self, path: &Path) -> io::Result<OwnedFd> {
        self.step("open_folder", false)?;
        Kernel.open_folder(path)
    }

    fn open_folder_at(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
        self.step("open_folder_at", false)?;
        Kernel.open_folder_at(dir, name)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.step("make_folder", true)?;
        Kernel.make_folder(path)
    }

    fn make_folder_at(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        self.step("make_folder_at", true)?;
        Kernel.make_folder_at(dir, name)
    }

    fn open(&self, dir: BorrowedFd<'_>, name: &OsStr, how: How) -> io::Result<File> {
        self.step("open", false)?;
        Kernel.open(dir, name, how)
    }

    fn set_mode(&self, fd: BorrowedFd<'_>, mode: Mode) -> io::Result<()> {
        self.step("set_mode", false)?;
        Kernel.set_mode(fd, mode)
    }

    fn stat(&self, fd: BorrowedFd<'_>) -> io::Result<Stat> {
        self.step("stat", false)?;
        Kernel.stat(fd)
    }

    fn stat_at(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<Stat> {
        self.step("stat_at", false)?;
        Kernel.stat_at(dir, name)
    }

    fn lock(&self, file: &File, operation: FlockOperation) -> io::Result<()> {
        self.step("lock", false)?;
        if operation == FlockOperation::Unlock {
            if self.off == Some(Off::Unlock) {
                return Ok(());
            }
        } else if self.off == Some(Off::Lock) {
            return Ok(());
        } else if self.copy_locks {
            let copy = file.try_clone()?;
            self.state.lock().unwrap().copies.push(copy);
        }
        Kernel.lock(file, operation)
    }

    fn reserve(&self, file: &File, bytes: u64) -> io::Result<()> {
        self.step("reserve", true)?;
        Kernel.reserve(file, bytes)
    }

    fn append(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        match self.write_step("append", bytes) {
            Ok(bytes) => Kernel.append(file, bytes),
            Err((error, bytes)) => {
                Kernel.append(file, bytes).unwrap();
                Err(error)
            }
        }
    }

    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        // What was reserved is there on a full disk, so this takes no room.
        match self.step("write_at", false) {
            Ok(()) => Kernel.write_at(file, bytes, offset),
            Err(error) => Err(error),
        }
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.step("read_at", false)?;
        Kernel.read_at(file, buffer, offset)
    }

    fn cut(&self, file: &File, bytes: u64) -> io::Result<()> {
        self.step("cut", false)?;
        if self.off == Some(Off::Repair) {
            return Ok(());
        }
        Kernel.cut(file, bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.step("sync", false)?;
        if self.off != Some(Off::Sync) {
            let meta = file.metadata()?;
            let mut state = self.state.lock().unwrap();
            state.synced.insert(meta.ino(), meta.len());
        }
        Ok(())
    }

    fn sync_folder(&self, _: BorrowedFd<'_>) -> io::Result<()> {
        self.step("sync_folder", false)
    }

    fn rename(
        &self,
        dir: BorrowedFd<'_>,
        from: &OsStr,
        to: &OsStr,
        replace: bool,
    ) -> io::Result<()> {
        self.step("rename", false)?;
        Kernel.rename(dir, from, to, replace)
    }

    fn remove(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        self.step("remove", false)?;
        Kernel.remove(dir, name)
    }

    fn names(&self, dir: BorrowedFd<'_>) -> io::Result<Vec<OsString>> {
        self.step("names", false)?;
        Kernel.names(dir)
    }

    fn size_limit(&self) -> u64 {
        self.limit
    }
}
