//! The entries of a store in order, each record once.
//!
//! Nothing is held but what is being given: one line, or for the newest first one file.

use std::collections::{HashSet, VecDeque};

use crate::store::Scribe;

use super::raw::{Raw, RawLines};
use super::{Entry, Reader};

/// How many of the newest lines of a file wait as they are, until somebody asks for them. What is
/// on a line is dear to tell, and who looks for a new record asks for few.
const LINES_WAITING: usize = 100_000;

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
    /// The entries of the line that is being given, the newest last.
    line: Vec<Entry>,
    /// The newest lines of the file, which nobody has looked at.
    waiting: VecDeque<Raw>,
    /// The entries of the lines before those.
    ready: Vec<Entry>,
    /// What was given last of this file is damage.
    after_damage: bool,
    seen: HashSet<String>,
}

impl<'a> NewestFirst<'a> {
    pub(super) fn new(reader: &'a Reader, scribe: &'a mut dyn Scribe) -> Self {
        Self {
            reader,
            scribe,
            files_left: reader.files.len(),
            line: Vec::new(),
            waiting: VecDeque::new(),
            ready: Vec::new(),
            after_damage: false,
            seen: HashSet::new(),
        }
    }

    /// Takes a line, and looks at the oldest of those that wait where they become too many.
    fn hold(&mut self, raw: Raw) {
        self.waiting.push_back(raw);
        if self.waiting.len() <= LINES_WAITING {
            return;
        }
        let Some(oldest) = self.waiting.pop_front() else {
            return;
        };
        for entry in oldest.entries(self.scribe) {
            match self.ready.last_mut() {
                Some(last) if is_damaged(last) && is_damaged(&entry) => *last = entry,
                Some(_) | None => self.ready.push(entry),
            }
        }
    }

    /// Returns the next entry of the file. Of damaged lines that follow each other the last stands
    /// for all: there can be millions of them, and they are told of elsewhere.
    fn next_of_file(&mut self) -> Option<Entry> {
        loop {
            if let Some(entry) = self.line.pop() {
                return Some(entry);
            }
            match self.waiting.pop_back() {
                Some(raw) => self.line = raw.entries(self.scribe),
                None => return self.ready.pop(),
            }
        }
    }
}

impl Iterator for NewestFirst<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            while let Some(entry) = self.next_of_file() {
                let is_told = self.after_damage && is_damaged(&entry);
                self.after_damage = is_damaged(&entry);
                if !is_told && is_new(&entry, &mut self.seen) {
                    return Some(entry);
                }
            }
            self.after_damage = false;
            self.files_left = self.files_left.checked_sub(1)?;
            let file = self.reader.files.get(self.files_left)?;
            for raw in RawLines::new(self.reader.system.as_ref(), file) {
                self.hold(raw);
            }
        }
    }
}

fn is_damaged(entry: &Entry) -> bool {
    matches!(entry, Entry::Damaged { .. })
}

/// Says whether an entry was not given before. A power cut can bring a pending file back whose
/// line is in the file already, and then the record is there twice.
fn is_new(entry: &Entry, seen: &mut HashSet<String>) -> bool {
    match entry {
        Entry::Line { checked, .. } => seen.insert(checked.command_id.clone()),
        Entry::Damaged { .. } => true,
    }
}
