//! What was found or done beside what was asked, and that a person may want to know.
//!
//! Nothing is printed here.

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
    /// Outputs that were kept for records that are gone could not all be removed; the next
    /// rotation or recovery does it.
    OutputsLeft {
        /// Why.
        error: StoreError,
    },
    /// The records that were there when the run began are gone. The chain goes on behind them, so
    /// that every reader sees the gap.
    StoreLost {
        /// The record file.
        path: PathBuf,
        /// The position of the newest record that was there.
        last_seq: u64,
    },
    /// The line is in the file, but its pending file could not be removed; the next run does it.
    LeftBehind {
        /// Why.
        error: StoreError,
    },
}
