//! A run between its beginning and its end, and what its end brings.
//!
//! It does nothing by itself: its lock lives as long as it does.

use std::fs::File;

use super::{Known, Notice};

/// A run that has begun. Where it is dropped without [`Store::finish`](super::Store::finish), the next writer records
/// that its runner died.
#[derive(Debug)]
pub struct OpenRun {
    pub(super) command_id: String,
    /// The pending file, locked for as long as we live, and the length of the intent in there.
    pub(super) file: Option<(File, u64)>,
    /// What stood in the store before.
    pub(super) known: Option<Known>,
}

impl OpenRun {
    /// Returns a run that left no intent, for who asked to run even where the store refuses.
    /// If the runner dies, nobody will know of it.
    #[must_use]
    pub fn unannounced(command_id: &str) -> Self {
        Self {
            command_id: command_id.to_owned(),
            file: None,
            known: None,
        }
    }

    /// Returns whose run it is.
    #[must_use]
    pub fn command_id(&self) -> &str {
        &self.command_id
    }
}

/// A record that is in the file.
#[derive(Debug)]
pub struct Appended {
    /// Its position in the store.
    pub seq: u64,
    /// `sha256:` of its line.
    pub hash: String,
    /// The line, without its newline.
    pub line: String,
    /// What else was found and done.
    pub notices: Vec<Notice>,
}

/// What recovery found and did.
#[derive(Debug)]
pub struct Recovered {
    /// Everything worth telling.
    pub notices: Vec<Notice>,
}
