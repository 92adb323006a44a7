//! What was found or done beside what was asked, and that a person may want to know.
//!
//! Nothing is printed here.

use std::fmt;
use std::path::PathBuf;

use super::error::StoreError;

/// Something that was found or done beside what was asked, and that a person may want to know.
#[derive(Debug)]
pub enum Notice {
    /// The record file ended in a torn line, which was cut; its pending file still has the record.
    TailCut {
        /// The record file.
        path: PathBuf,
        /// How much was cut.
        bytes: u64,
    },
    /// The record file ended in a whole record without a newline, which was added.
    TailCompleted {
        /// The record file.
        path: PathBuf,
    },
    /// A line was in the file already, and its pending file was removed.
    AlreadyRecorded {
        /// Whose line.
        command_id: String,
    },
    /// A record that waited was appended.
    Recovered {
        /// Whose record.
        command_id: String,
        /// True where its runner died before the run had ended, so that there is no exit code.
        died: bool,
    },
    /// Something that waits could not be appended now, and goes on waiting.
    NotRecovered {
        /// Why.
        error: StoreError,
    },
    /// A pending file is no record and never will be; it was kept under another name.
    SetAside {
        /// The new name.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The record file could not be rotated and grows past its limit.
    NotRotated {
        /// Why.
        error: StoreError,
    },
    /// The oldest file was dropped.
    Dropped {
        /// The file.
        path: PathBuf,
        /// The first position in it, where it could be read.
        first_seq: Option<u64>,
        /// The last position in it, where it could be read.
        last_seq: Option<u64>,
    },
    /// The disk did not take the record file's content.
    SyncFailed {
        /// The record file.
        path: PathBuf,
        /// The error number, where there is one.
        errno: Option<i32>,
    },
    /// At some time, the disk did not take a store file's content. Remove the mark when the disk
    /// is well again.
    Degraded {
        /// The mark.
        path: PathBuf,
    },
    /// The body could not be written beside its intent, so that only the append can save it.
    NotDeposited {
        /// Why.
        error: StoreError,
    },
    /// The line is in the file, but its pending file could not be removed; the next run does it.
    LeftBehind {
        /// Why.
        error: StoreError,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TailCut { path, bytes } => {
                write!(
                    f,
                    "cut a torn line of {bytes} bytes off `{}`",
                    path.display()
                )
            }
            Self::TailCompleted { path } => {
                write!(f, "added the last newline to `{}`", path.display())
            }
            Self::AlreadyRecorded { command_id } => {
                write!(
                    f,
                    "`{command_id}` was recorded by a runner that died afterwards"
                )
            }
            Self::Recovered { command_id, died } if *died => {
                write!(f, "recorded that the runner of `{command_id}` died")
            }
            Self::Recovered { command_id, .. } => {
                write!(f, "recorded `{command_id}`, which had waited")
            }
            Self::NotRecovered { error } => write!(f, "a waiting record goes on waiting: {error}"),
            Self::SetAside { path, why } => {
                write!(
                    f,
                    "set `{}` aside, which is no record: {why}",
                    path.display()
                )
            }
            Self::NotRotated { error } => {
                write!(f, "the record file grows past its limit: {error}")
            }
            Self::Dropped {
                path,
                first_seq: Some(first),
                last_seq: Some(last),
            } => write!(
                f,
                "dropped records {first} to {last} with `{}`",
                path.display()
            ),
            Self::Dropped { path, .. } => {
                write!(
                    f,
                    "dropped `{}`, no line of which was whole",
                    path.display()
                )
            }
            Self::SyncFailed { path, .. } => {
                write!(
                    f,
                    "the disk did not take the content of `{}`",
                    path.display()
                )
            }
            Self::Degraded { path } => write!(
                f,
                "the disk once failed, and records may be lost; remove `{}` when it is well",
                path.display()
            ),
            Self::NotDeposited { error } => {
                write!(f, "the record could not be put beside its intent: {error}")
            }
            Self::LeftBehind { error } => write!(f, "something is left behind: {error}"),
        }
    }
}
