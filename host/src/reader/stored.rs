//! One file of a store as it was when the reader opened it, for who copies it.
//!
//! It does not look into a line.

use std::io::{self, Write};
use std::path::Path;

use crate::store::lines::read_range;
use crate::store::system::System;

use super::raw::OpenFile;

const CHUNK: u64 = 64 * 1024;

/// A file of a store, with the size that it had when it was opened.
#[derive(Clone, Copy, Debug)]
pub struct StoredFile<'a> {
    system: &'a dyn System,
    file: &'a OpenFile,
}

impl<'a> StoredFile<'a> {
    pub(super) fn new(system: &'a dyn System, file: &'a OpenFile) -> Self {
        Self { system, file }
    }

    /// Returns where it was found.
    #[must_use]
    pub fn path(&self) -> &'a Path {
        &self.file.path
    }

    /// Returns its place in the rotated set: 0 is the active file, 1 the newest rotated one.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.file.index
    }

    /// Returns its size in bytes, or what stands in its place and was not opened.
    ///
    /// # Errors
    /// It is no regular file.
    pub fn size(&self) -> Result<u64, &'a str> {
        match &self.file.content {
            Ok((_, size)) => Ok(*size),
            Err(why) => Err(why),
        }
    }

    /// Writes its bytes, up to the size that it had, and returns how many there were. There are
    /// fewer where a torn end was cut in the meantime; nothing else ever makes a file shorter.
    ///
    /// # Errors
    /// It cannot be read, or `to` cannot be written.
    pub fn copy_to(&self, to: &mut dyn Write) -> io::Result<u64> {
        let (file, size) = match &self.file.content {
            Ok((file, size)) => (file, (*size).min(file.metadata()?.len())),
            Err(why) => return Err(io::Error::other(why.clone())),
        };
        let mut copied = 0;
        while copied < size {
            let end = size.min(copied.saturating_add(CHUNK));
            to.write_all(&read_range(self.system, file, copied, end)?)?;
            copied = end;
        }
        Ok(copied)
    }
}
