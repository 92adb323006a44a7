//! What makes a path unsafe for a store.
//!
//! It only judges; nothing is opened or changed here.

use std::io;
use std::path::Path;

use rustix::fs::{FileType, Mode, Stat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::error::{Hazard, StoreError};
use super::system::How;

/// Says what is wrong with the folder that a store is in.
///
/// Usually it is a project's folder, which is not ours to change. We ask that
/// - it belongs to us or to root (root may use anybody's: a checkout that is mounted into a
///   container), and
/// - not everybody may write to it, unless it is sticky, where others can neither remove nor
///   rename what is ours.
///
/// A folder that its group may write to (0775, as a umask of 002 makes it) is accepted: the group
/// can change the project itself. What a member could do is to remove or swap whole files; a
/// swapped file is not ours and is refused, a removed one breaks the chain of `seq` and `prev`.
pub(crate) fn shared_folder_hazard(stat: &Stat) -> Option<Hazard> {
    let me = geteuid();
    let mode = permissions(stat);
    if stat.st_uid != me.as_raw() && stat.st_uid != 0 && !me.is_root() {
        Some(Hazard::OtherOwner)
    } else if mode.contains(Mode::WOTH) && !mode.contains(Mode::SVTX) {
        Some(Hazard::OthersMayWrite)
    } else {
        None
    }
}

/// Says what is wrong with a folder that a store has made for itself.
pub(crate) fn private_folder_hazard(stat: &Stat) -> Option<Hazard> {
    if stat.st_uid != geteuid().as_raw() {
        Some(Hazard::OtherOwner)
    } else if permissions(stat).intersects(Mode::WGRP | Mode::WOTH) {
        Some(Hazard::OthersMayWrite)
    } else {
        None
    }
}

/// Says what is wrong with a file. Who only reads needs a regular file and no more: an artifact
/// that was copied from elsewhere has another owner.
pub(crate) fn file_hazard(stat: &Stat, how: How) -> Option<Hazard> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Some(Hazard::SymbolicLink),
        FileType::Directory => return Some(Hazard::Directory),
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => return Some(Hazard::Special),
    }
    if how == How::Read {
        None
    } else if stat.st_nlink > 1 {
        Some(Hazard::HardLink)
    } else if stat.st_uid != geteuid().as_raw() {
        Some(Hazard::OtherOwner)
    } else if permissions(stat).intersects(Mode::WGRP | Mode::WOTH) {
        Some(Hazard::OthersMayWrite)
    } else {
        None
    }
}

/// Tells a link and a file in a folder's place apart from other failures. The kernel says
/// `ENOTDIR` for both.
pub(crate) fn folder_error(
    path: &Path,
    error: io::Error,
    is_link: impl FnOnce(&Path) -> bool,
) -> StoreError {
    let hazard = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::LOOP) => Hazard::SymbolicLink,
        Some(Errno::NOTDIR) if is_link(path) => Hazard::SymbolicLink,
        Some(Errno::NOTDIR) => Hazard::NotDirectory,
        _ => return StoreError::io("open", path)(error),
    };
    StoreError::Unsafe {
        path: path.to_path_buf(),
        hazard,
    }
}

fn permissions(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode)
}
