//! The lines of a file as they stand there, and what is on them.
//!
//! What is no record is reported without any of its content.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::store::Scribe;
use crate::store::lines::read_range;
use crate::store::scribe::{Piece, take_apart};
use crate::store::system::{System, bytes};

use super::Entry;

const CHUNK: u64 = 64 * 1024;

/// The largest line that is looked at, in bytes. A store writes no more than a quarter of it.
const LONGEST_LINE: usize = 1024 * 1024;

/// A file and the size that it had.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) path: Arc<Path>,
    /// The file and its size, or why it is not read.
    pub(crate) content: Result<(File, u64), String>,
    /// Its place in the rotated set; 0 is the active file.
    pub(crate) index: u32,
}

/// A line as it stands in a file.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub(crate) file: Arc<Path>,
    pub(crate) line_no: u64,
    pub(crate) content: Content,
}

/// What a line holds.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A line with its newline, which is not in here.
    Complete(Vec<u8>),
    /// The end of the active file after its last newline. A writer may be about to go on there,
    /// or has died there: it is no damage, and only a whole record in it counts.
    Unfinished(Vec<u8>),
    /// What cannot be looked at, and why.
    Unreadable(String),
    /// The file could not be read on from here, and why. Nothing is known about the rest.
    Unread(String),
}

/// Says what an unfinished line is that no writer will go on with.
pub(crate) fn unended(length: usize) -> String {
    format!("ends without a newline: {length} bytes are no record")
}

impl Raw {
    /// Returns the records on the line, and what is between them.
    pub(crate) fn entries(self, scribe: &mut dyn Scribe) -> Vec<Entry> {
        let (line, complete) = match &self.content {
            Content::Complete(line) => (line, true),
            Content::Unfinished(line) => (line, false),
            Content::Unreadable(why) | Content::Unread(why) => {
                return vec![self.damaged(why.clone())];
            }
        };
        // A torn character only ever stands in a fragment, and only that is changed here.
        let text = String::from_utf8_lossy(line);
        if text.is_empty() {
            return vec![self.damaged("is empty".into())];
        }
        let pieces = match take_apart(&text, scribe) {
            Ok(pieces) => pieces,
            Err(error) => return vec![self.damaged(error.to_string())],
        };
        if !complete && !matches!(pieces.last(), Some(Piece::Record(..))) {
            return Vec::new();
        }
        let entry = |piece| match piece {
            Piece::Record(checked, range) => Entry::Line {
                file: self.file.to_path_buf(),
                line_no: self.line_no,
                text: text.get(range).unwrap_or_default().to_owned(),
                checked,
            },
            Piece::Fragment(range) => self.damaged(format!("{} bytes are no record", range.len())),
        };
        pieces.into_iter().map(entry).collect()
    }

    fn damaged(&self, what: String) -> Entry {
        Entry::Damaged {
            file: self.file.to_path_buf(),
            line_no: self.line_no,
            what,
        }
    }
}

/// The lines of one file, read in chunks.
#[derive(Debug)]
pub(crate) struct RawLines<'a> {
    system: &'a dyn System,
    file: &'a OpenFile,
    read: u64,
    line_no: u64,
    buffer: Vec<u8>,
    /// How much of the buffer has been given.
    given: usize,
    /// Up to where the buffer holds no further newline for sure.
    searched: usize,
    /// True inside of a line that is too long to be looked at.
    skipping: bool,
    ended: bool,
}

impl<'a> RawLines<'a> {
    pub(crate) fn new(system: &'a dyn System, file: &'a OpenFile) -> Self {
        Self {
            system,
            file,
            read: 0,
            line_no: 0,
            buffer: Vec::new(),
            given: 0,
            searched: 0,
            skipping: false,
            ended: false,
        }
    }

    /// Takes the next complete line out of the buffer.
    fn take_line(&mut self) -> Option<Vec<u8>> {
        let rest = self.buffer.get(self.searched..)?;
        let Some(at) = rest.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let end = self.searched.saturating_add(at);
        let line = self.buffer.get(self.given..end)?.to_vec();
        self.given = end.saturating_add(1);
        self.searched = self.given;
        Some(line)
    }

    /// Forgets what was given. Once for each chunk, since the rest is moved.
    fn forget(&mut self, up_to: usize) {
        self.buffer.drain(..up_to.min(self.buffer.len()));
        self.given = 0;
        self.searched = self.buffer.len();
    }

    /// Reads on. Returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let Ok((file, size)) = &self.file.content else {
            return Ok(false);
        };
        let size = *size;
        let end = size.min(self.read.saturating_add(CHUNK));
        if end == self.read {
            return Ok(false);
        }
        let chunk = read_range(self.system, file, self.read, end)?;
        self.forget(self.given);
        self.read = self.read.saturating_add(bytes(chunk.len()));
        self.buffer.extend(chunk);
        if self.buffer.len() > LONGEST_LINE && self.searched > LONGEST_LINE {
            self.skipping = true;
            let searched = self.searched;
            self.forget(searched);
            self.searched = 0;
        }
        Ok(true)
    }

    fn raw(&mut self, content: Content) -> Raw {
        self.line_no = self.line_no.saturating_add(1);
        Raw {
            file: Arc::clone(&self.file.path),
            line_no: self.line_no,
            content,
        }
    }

    fn too_long(&mut self) -> Raw {
        self.skipping = false;
        self.raw(Content::Unreadable("is longer than any record".into()))
    }

    fn last(&mut self) -> Option<Raw> {
        self.ended = true;
        if let Err(why) = &self.file.content {
            return Some(self.raw(Content::Unreadable(why.clone())));
        }
        self.forget(self.given);
        let rest = std::mem::take(&mut self.buffer);
        if self.skipping {
            return Some(self.too_long());
        }
        if rest.is_empty() {
            return None;
        }
        if self.file.index == 0 {
            return Some(self.raw(Content::Unfinished(rest)));
        }
        Some(self.raw(Content::Complete(rest)))
    }
}

impl Iterator for RawLines<'_> {
    type Item = Raw;

    fn next(&mut self) -> Option<Raw> {
        while !self.ended {
            if let Some(line) = self.take_line() {
                if self.skipping {
                    return Some(self.too_long());
                }
                return Some(self.raw(Content::Complete(line)));
            }
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return self.last(),
                Err(error) => {
                    self.ended = true;
                    return Some(self.raw(Content::Unread(format!("cannot be read: {error}"))));
                }
            }
        }
        None
    }
}
