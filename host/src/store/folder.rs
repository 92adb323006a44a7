//! A folder that is held open, and which files in it are safe to use.
//!
//! Everything goes through the held descriptor, so that swapping the folder's path under us
//! changes nothing. What a file contains is not looked at here.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, Mode, Stat};
use rustix::io::Errno;

use super::error::{Hazard, StoreError};
use super::hazard::{file_hazard, folder_error, private_folder_hazard, shared_folder_hazard};
use super::system::{How, System, retry};

/// A folder, held open.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) system: Arc<dyn System>,
    fd: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder that a store is in, and creates it where asked; not its parents.
    pub(crate) fn open(
        system: Arc<dyn System>,
        path: &Path,
        create: bool,
    ) -> Result<Self, StoreError> {
        let fd = match retry(|| system.open_folder(path)) {
            Err(error) if create && error.kind() == io::ErrorKind::NotFound => {
                match retry(|| system.make_folder(path)) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(StoreError::io("create", path)(error));
                    }
                    _ => retry(|| system.open_folder(path)),
                }
            }
            other => other,
        };
        let fd = fd.map_err(|error| {
            folder_error(path, error, |p| {
                std::fs::symlink_metadata(p).is_ok_and(|m| m.is_symlink())
            })
        })?;
        Ok(Self {
            system,
            fd,
            path: path.to_path_buf(),
        })
    }

    /// Refuses to write into a folder that others could play with.
    pub(crate) fn check_shared(&self) -> Result<(), StoreError> {
        match shared_folder_hazard(&self.stat_self()?) {
            None => Ok(()),
            Some(hazard) => Err(self.hazard(hazard)),
        }
    }

    /// Opens or creates a folder inside of this one that is ours alone. The second value says
    /// whether it was created.
    pub(crate) fn private(&self, name: &OsStr) -> Result<(Self, bool), StoreError> {
        match self.existing_private(name)? {
            Some(folder) => Ok((folder, false)),
            None => {
                let path = self.path_of(name);
                match retry(|| self.system.make_folder_at(self.fd.as_fd(), name)) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(StoreError::io("create", &path)(error));
                    }
                    _ => {}
                }
                self.existing_private(name)?
                    .map(|folder| (folder, true))
                    .ok_or_else(|| StoreError::io("open", &path)(Errno::NOENT.into()))
            }
        }
    }

    /// Opens a folder inside of this one that is ours alone; none where there is none.
    pub(crate) fn existing_private(&self, name: &OsStr) -> Result<Option<Self>, StoreError> {
        let Some(folder) = self.existing_folder(name)? else {
            return Ok(None);
        };
        match private_folder_hazard(&folder.stat_self()?) {
            None => Ok(Some(folder)),
            Some(hazard) => Err(folder.hazard(hazard)),
        }
    }

    /// Opens a folder inside of this one for reading, whosever it is; none where there is none.
    pub(crate) fn existing_folder(&self, name: &OsStr) -> Result<Option<Self>, StoreError> {
        let path = self.path_of(name);
        let fd = match retry(|| self.system.open_folder_at(self.fd.as_fd(), name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|error| {
                folder_error(&path, error, |_| {
                    self.stat(name).is_ok_and(|stat| {
                        stat.is_some_and(|s| FileType::from_raw_mode(s.st_mode).is_symlink())
                    })
                })
            })?,
        };
        Ok(Some(Self {
            system: Arc::clone(&self.system),
            fd,
            path,
        }))
    }

    /// Opens a file that is safe to use; none where there is none.
    pub(crate) fn existing(&self, name: &OsStr, how: How) -> Result<Option<File>, StoreError> {
        // A look before the opening, since opening a device can do things.
        let Some(stat) = self.stat(name)? else {
            return Ok(None);
        };
        self.refuse(name, &stat, how)?;
        let file = match retry(|| self.system.open(self.fd.as_fd(), name, how)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                return Err(StoreError::Unsafe {
                    path: self.path_of(name),
                    hazard: Hazard::SymbolicLink,
                });
            }
            other => other.map_err(StoreError::io("open", &self.path_of(name)))?,
        };
        let stat = self.stat_file(&file, name)?;
        self.refuse(name, &stat, how)?;
        Ok(Some(file))
    }

    /// Refuses a name that stands for something unsafe; a missing one is fine.
    pub(crate) fn check_file(&self, name: &OsStr) -> Result<(), StoreError> {
        match self.stat(name)? {
            Some(stat) => self.refuse(name, &stat, How::Write),
            None => Ok(()),
        }
    }

    /// Creates a file that only we may use, whatever the umask.
    pub(crate) fn create(&self, name: &OsStr, how: How) -> Result<File, StoreError> {
        let path = self.path_of(name);
        let file = retry(|| self.system.open(self.fd.as_fd(), name, how))
            .map_err(StoreError::io("create", &path))?;
        match retry(|| self.system.set_mode(file.as_fd(), Mode::RUSR | Mode::WUSR)) {
            Ok(()) => Ok(file),
            Err(error) => {
                // Half a creation is none. The first failure is the one to report.
                let _ = self.remove(name);
                Err(StoreError::io("set the permissions of", &path)(error))
            }
        }
    }

    /// Opens a file, or creates it. The second value says whether it was created.
    pub(crate) fn existing_or_new(
        &self,
        name: &OsStr,
        how: How,
    ) -> Result<(File, bool), StoreError> {
        let create = match how {
            How::Append | How::CreateAppend => How::CreateAppend,
            How::Read | How::Write | How::Create => How::Create,
        };
        // Another writer can create it between our two looks.
        loop {
            if let Some(file) = self.existing(name, how)? {
                return Ok((file, false));
            }
            match self.create(name, create) {
                Ok(file) => return Ok((file, true)),
                Err(StoreError::Io { source, .. })
                    if source.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Describes what a name stands for; none where there is nothing.
    pub(crate) fn stat(&self, name: &OsStr) -> Result<Option<Stat>, StoreError> {
        match retry(|| self.system.stat_at(self.fd.as_fd(), name)) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("look at", &self.path_of(name))(error)),
        }
    }

    /// Describes an open file of this folder.
    pub(crate) fn stat_file(&self, file: &File, name: &OsStr) -> Result<Stat, StoreError> {
        retry(|| self.system.stat(file.as_fd()))
            .map_err(StoreError::io("look at", &self.path_of(name)))
    }

    /// Renames a file; over what is there only where `replace` is set.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr, replace: bool) -> Result<(), StoreError> {
        retry(|| self.system.rename(self.fd.as_fd(), from, to, replace))
            .map_err(StoreError::io("rename", &self.path_of(from)))
    }

    /// Removes a file. One that is gone already is as good.
    pub(crate) fn remove(&self, name: &OsStr) -> Result<(), StoreError> {
        match retry(|| self.system.remove(self.fd.as_fd(), name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io("remove", &self.path_of(name))(error))
            }
            _ => Ok(()),
        }
    }

    /// Waits until the folder's entries are on the disk.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        retry(|| self.system.sync_folder(self.fd.as_fd()))
            .map_err(StoreError::io("sync", &self.path))
    }

    /// Lists the folder, in order of names.
    pub(crate) fn names(&self) -> Result<Vec<OsString>, StoreError> {
        let mut names = retry(|| self.system.names(self.fd.as_fd()))
            .map_err(StoreError::io("list", &self.path))?;
        names.sort();
        Ok(names)
    }

    /// Returns the path of a file of this folder, for messages.
    pub(crate) fn path_of(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    fn stat_self(&self) -> Result<Stat, StoreError> {
        retry(|| self.system.stat(self.fd.as_fd())).map_err(StoreError::io("look at", &self.path))
    }

    fn hazard(&self, hazard: Hazard) -> StoreError {
        StoreError::Unsafe {
            path: self.path.clone(),
            hazard,
        }
    }

    fn refuse(&self, name: &OsStr, stat: &Stat, how: How) -> Result<(), StoreError> {
        match file_hazard(stat, how) {
            None => Ok(()),
            Some(hazard) => Err(StoreError::Unsafe {
                path: self.path_of(name),
                hazard,
            }),
        }
    }
}
