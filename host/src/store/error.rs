//! What can go wrong in a store: each error names the object, keeps the cause and says who must act.
//!
//! Nothing is printed here, and no exit status is chosen.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use thiserror::Error;

use super::Notice;
use super::scribe::ScribeError;

/// Why a path is not safe to write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Hazard {
    /// Neither a file nor a folder that we would have made.
    #[error("is a symbolic link")]
    SymbolicLink,
    /// A folder where a file must be.
    #[error("is a directory")]
    Directory,
    /// A file where a folder must be.
    #[error("is not a directory")]
    NotDirectory,
    /// A FIFO, a socket or a device.
    #[error("is not a regular file")]
    Special,
    /// The same file has another name elsewhere.
    #[error("has more than one name (hard link)")]
    HardLink,
    /// Somebody else could change it.
    #[error("belongs to another user")]
    OtherOwner,
    /// Somebody else may change it.
    #[error("is writable by other users")]
    OthersMayWrite,
    /// It starts like no file that a store writes.
    #[error("has content, but is not a record file")]
    Foreign,
}

/// An operation on a store failed. The store is as it was before.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A path is not safe to use; it was not touched.
    #[error("`{}` {hazard}", path.display())]
    Unsafe {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        hazard: Hazard,
    },
    /// A file operation failed.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process held the lock for the whole time that we may wait.
    #[error("`{}` was held by another process for {} ms", path.display(), waited.as_millis())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
    },
    /// The file system has no locks, so that nothing may be appended.
    #[error("cannot lock `{}`", path.display())]
    NoLocks {
        /// The lock file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A document cannot be stored.
    #[error("cannot store the {what} of `{command_id}`: {reason}")]
    Document {
        /// `intent`, `record` or `notice`.
        what: &'static str,
        /// Whose document it is.
        command_id: String,
        /// Why.
        reason: &'static str,
    },
    /// The records were written under a schema that the component does not know, so that nothing
    /// may be appended, cut or dropped.
    #[error("`{}` holds records that this version of feedback cannot continue", path.display())]
    Schema {
        /// The record file.
        path: PathBuf,
        /// The component's answer.
        source: ScribeError,
    },
    /// The component refused a document, or failed.
    #[error("cannot {action} the record of `{}`", path.display())]
    Scribe {
        /// What was asked, as a verb.
        action: &'static str,
        /// The file that the document is in or was meant for.
        path: PathBuf,
        /// The component's answer.
        source: ScribeError,
    },
}

impl StoreError {
    /// Returns a function that wraps an I/O error, for `map_err`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    /// Wraps the component's answer about a line that is in the store already.
    pub(crate) fn of_line(action: &'static str, path: PathBuf, source: ScribeError) -> Self {
        match source {
            ScribeError::Unsupported { .. } => Self::Schema { path, source },
            ScribeError::Invalid { .. } | ScribeError::Broken { .. } => Self::Scribe {
                action,
                path,
                source,
            },
        }
    }

    /// Says who must act, and how.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Unsafe { hazard, .. } => hazard.remedy(),
            Self::Io { source, .. } => io_remedy(source),
            Self::Locked { .. } => {
                "find the process that holds the lock (`fuser` names it) and end or continue it"
            }
            Self::NoLocks { .. } => {
                "put the record file on a file system that supports `flock`; waiting records are merged from there"
            }
            Self::Document { .. } => {
                "report this: the runner gave the store an impossible document"
            }
            Self::Schema { .. }
            | Self::Scribe {
                source: ScribeError::Unsupported { .. },
                ..
            } => "use the newer version of feedback that wrote the record file",
            Self::Scribe { .. } => "run `feedback verify`, and check the component in use",
        }
    }

    /// Returns the error number where the cause has one.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Io { source, .. } | Self::NoLocks { source, .. } => source.raw_os_error(),
            Self::Unsafe { .. }
            | Self::Locked { .. }
            | Self::Document { .. }
            | Self::Schema { .. }
            | Self::Scribe { .. } => None,
        }
    }
}

impl Hazard {
    fn remedy(self) -> &'static str {
        match self {
            Self::SymbolicLink => "give the path that the link points to, or remove the link",
            Self::Directory | Self::NotDirectory | Self::Special | Self::Foreign => {
                "choose another record file, or move what is there away"
            }
            Self::HardLink => "remove the other name of the file, or move the file away",
            Self::OtherOwner => {
                "use a record file in a folder of your own, or have its owner move it away"
            }
            Self::OthersMayWrite => {
                "take the write permission from others (`chmod go-w` for a file, `chmod o-w` for a folder)"
            }
        }
    }
}

fn io_remedy(source: &io::Error) -> &'static str {
    match source.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOSPC | Errno::DQUOT) => "make room on the file system; recording then resumes",
        Some(Errno::FBIG) => "raise the file size limit (`ulimit -f`); recording then resumes",
        Some(Errno::ROFS) => "choose a record file on a writable file system",
        Some(Errno::ACCESS | Errno::PERM) => "give yourself write permission on the folder",
        Some(Errno::MFILE | Errno::NFILE) => "raise the limit of open files (`ulimit -n`)",
        Some(Errno::IO) => "check the storage device; its kernel log says more",
        Some(Errno::NOENT) => "create the folder that the record file shall be in",
        _ => "remove the cause and try again",
    }
}

/// A record could not be brought into the file after its run.
#[derive(Debug, Error)]
#[error(
    "the record of `{command_id}` {}",
    if *waits { "waits in the store's pending folder" } else { "could not be written" }
)]
pub struct FinishError {
    /// Whose record it is.
    pub command_id: String,
    /// True where the record is whole in the pending folder, so that a later run merges it.
    /// False where only the intent is there, or nothing.
    pub waits: bool,
    /// Why.
    #[source]
    pub cause: Box<StoreError>,
    /// What else was found and done before it failed.
    pub notices: Vec<Notice>,
}
