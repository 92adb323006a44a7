//! The entries of a store in order, each record once.
//!
//! Nothing is held but what is being given: one line, or for the newest first one file.

use std::collections::{HashSet, VecDeque};

use crate::store::Scribe;

use super::raw::RawLines;
use super::{Entry, Reader};

/// The entries of a store, oldest first.
pub struct Entries<'a> {
    reader: &'a Reader,
    scribe: &'a mut dyn Scribe,
    next_file: usize,
    lines: Option<RawLines<'a>>,
    ready: VecDeque<Entry>,
    seen: HashSet<String>,
    with_doubles: bool,
}

impl<'a> Entries<'a> {
    pub(super) fn new(reader: &'a Reader, scribe: &'a mut dyn Scribe) -> Self {
        Self {
            reader,
            scribe,
            next_file: 0,
            lines: None,
            ready: VecDeque::new(),
            seen: HashSet::new(),
            with_doubles: false,
        }
    }

    pub(super) fn with_doubles(self) -> Self {
        Self {
            with_doubles: true,
            ..self
        }
    }
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            while let Some(entry) = self.ready.pop_front() {
                if self.with_doubles || is_new(&entry, &mut self.seen) {
                    return Some(entry);
                }
            }
            let raw = self.lines.as_mut().and_then(Iterator::next);
            match raw {
                Some(raw) => self.ready.extend(raw.entries(self.scribe)),
                None => {
                    let file = self.reader.files.get(self.next_file)?;
                    self.next_file = self.next_file.saturating_add(1);
                    self.lines = Some(RawLines::new(self.reader.system.as_ref(), file));
                }
            }
        }
    }
}

/// The entries of a store, newest first.
pub struct NewestFirst<'a> {
    reader: &'a Reader,
    scribe: &'a mut dyn Scribe,
    files_left: usize,
    ready: Vec<Entry>,
    seen: HashSet<String>,
}

impl<'a> NewestFirst<'a> {
    pub(super) fn new(reader: &'a Reader, scribe: &'a mut dyn Scribe) -> Self {
        Self {
            reader,
            scribe,
            files_left: reader.files.len(),
            ready: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// Takes an entry. Of damaged lines that follow each other the last stands for all: there can
    /// be millions of them, and they are told of elsewhere.
    fn hold(&mut self, entry: Entry) {
        let is_damaged = |entry: &Entry| matches!(entry, Entry::Damaged { .. });
        match self.ready.last_mut() {
            Some(last) if is_damaged(last) && is_damaged(&entry) => *last = entry,
            Some(_) | None => self.ready.push(entry),
        }
    }
}

impl Iterator for NewestFirst<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            while let Some(entry) = self.ready.pop() {
                if is_new(&entry, &mut self.seen) {
                    return Some(entry);
                }
            }
            self.files_left = self.files_left.checked_sub(1)?;
            let file = self.reader.files.get(self.files_left)?;
            for raw in RawLines::new(self.reader.system.as_ref(), file) {
                for entry in raw.entries(self.scribe) {
                    self.hold(entry);
                }
            }
        }
    }
}

/// Says whether an entry was not given before. A power cut can bring a pending file back whose
/// line is in the file already, and then the record is there twice.
fn is_new(entry: &Entry, seen: &mut HashSet<String>) -> bool {
    match entry {
        Entry::Line { checked, .. } => seen.insert(checked.command_id.clone()),
        Entry::Damaged { .. } => true,
    }
}
