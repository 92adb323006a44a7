//! Where this process stands, also where its folder has been deleted under it.
//!
//! It changes nothing and looks no further.

use std::path::PathBuf;
use std::{env, io};

/// Returns the working directory, or the path that it had until it was deleted.
///
/// # Errors
/// It cannot be named: neither by a path that is there nor by one that was.
pub(crate) fn current() -> io::Result<PathBuf> {
    env::current_dir().or_else(|error| former().ok_or(error))
}

/// Says whether the working directory cannot be reached by any path any more.
pub(crate) fn is_deleted() -> bool {
    env::current_dir().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// The system goes on naming what it has deleted, and says so.
#[cfg(target_os = "linux")]
fn former() -> Option<PathBuf> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    let link = std::fs::read_link("/proc/self/cwd").ok()?;
    let path = link.as_os_str().as_bytes().strip_suffix(b" (deleted)")?;
    Some(std::ffi::OsString::from_vec(path.to_vec()).into())
        .filter(|path: &PathBuf| path.is_absolute())
}

#[cfg(not(target_os = "linux"))]
fn former() -> Option<PathBuf> {
    None
}
