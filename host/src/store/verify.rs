//! Checks every line of a store and the chain that they form.
//!
//! It finds loss, editing, doubling and damage. It cannot find that somebody rewrote the whole
//! chain: for that, compare the head with one that was kept elsewhere.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::reader::{Content, PendingRun, Raw, Reader, Scope};

use super::error::StoreError;
use super::lines::digest;
use super::scribe::{Checked, Piece, Scribe, take_apart};

/// Something that is not as a store leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; 0 where the whole file is meant.
    pub line: u64,
    /// What is wrong, without any of its content.
    pub what: String,
    /// True where nothing can be told of what is there, so that it may be sound all the same: it
    /// cannot be read, or belongs to a schema that is not known here.
    pub undecided: bool,
}

/// The newest line. Who keeps it elsewhere can tell later whether the chain was rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its position.
    pub seq: u64,
    /// `sha256:` of the line.
    pub hash: String,
}

/// What checking a store has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Everything that is wrong, oldest first.
    pub damages: Vec<Damage>,
    /// The newest record; none in an empty store.
    pub head: Option<Head>,
    /// How many files there are.
    pub files: usize,
    /// How many whole records there are, doubled ones included.
    pub records: u64,
    /// The position of the oldest record. More than 1 where files were dropped.
    pub first_seq: Option<u64>,
    /// How many records are there twice. Readers give them once, so that is no damage.
    pub doubled: u64,
    /// The runs that are not in the record file yet.
    pub open_runs: Vec<PendingRun>,
    /// Pending files that are no records.
    pub set_aside: Vec<PathBuf>,
    /// The mark that the disk once did not take what was written.
    pub degraded: Option<PathBuf>,
}

impl Verification {
    /// Says whether every record that was ever acknowledged is there, as far as a store can know.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty() && self.set_aside.is_empty() && self.degraded.is_none()
    }

    /// Says whether something is wrong for certain. A store can be neither sound nor damaged:
    /// then nothing is known.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        let certain = self.damages.iter().any(|damage| !damage.undecided);
        certain || !self.set_aside.is_empty() || self.degraded.is_some()
    }
}

/// Checks the store of a record file, without changing anything and without creating it.
pub fn verify(record_file: &Path, scribe: &mut dyn Scribe) -> Verification {
    match Reader::open(record_file, Scope::All) {
        Ok(reader) => verify_opened(&reader, record_file, scribe),
        Err(error) => {
            let mut found = Verification::default();
            found.damages.push(unreadable(record_file, &error));
            found
        }
    }
}

/// Checks a store as it was when the reader opened it.
pub fn verify_opened(reader: &Reader, record_file: &Path, scribe: &mut dyn Scribe) -> Verification {
    let mut chain = Chain::default();
    if let Err(error) = chain.walk(reader, scribe) {
        chain.found.damages.push(unreadable(record_file, &error));
    }
    chain.found
}

/// The key that tells how much a drop took. The store had asked for the notice itself.
#[derive(Deserialize)]
struct DropNotice {
    kind: String,
    last_seq: Option<u64>,
}

/// The walk along the chain.
#[derive(Default)]
struct Chain {
    found: Verification,
    ids: HashSet<String>,
    last_seq: Option<u64>,
    /// The digest of the line before; none at the start or where that line is not known.
    last_hash: Option<String>,
    /// How many lines without a record came since the last one.
    lost: u64,
    /// The highest position that a drop notice tells of.
    dropped: Option<u64>,
    /// True where a notice could not say what was dropped.
    dropped_unknown: bool,
    /// The place of the oldest record.
    first: Option<(PathBuf, u64, Checked)>,
}

impl Chain {
    fn walk(&mut self, reader: &Reader, scribe: &mut dyn Scribe) -> Result<(), StoreError> {
        self.found.files = reader.file_count();
        for raw in reader.raw_lines() {
            self.line(&raw, scribe);
        }
        for body in reader.waiting_drops()? {
            self.note_drop(&body);
        }
        self.judge_start();
        self.found.open_runs = reader.open_runs()?;
        self.found.set_aside = reader.set_aside()?;
        self.found.degraded = reader.degraded()?;
        Ok(())
    }

    fn line(&mut self, raw: &Raw, scribe: &mut dyn Scribe) {
        let (line, complete) = match &raw.content {
            Content::Complete(line) => (line, true),
            Content::Unfinished(line) => (line, false),
            Content::Unreadable(why) | Content::Unread(why) => {
                let undecided = matches!(raw.content, Content::Unread(_));
                self.tell(raw, why.clone(), undecided);
                self.lost = self.lost.saturating_add(1);
                self.last_hash = None;
                return;
            }
        };
        let text = String::from_utf8_lossy(line);
        let pieces = match take_apart(&text, scribe) {
            Ok(pieces) => pieces,
            Err(error) => {
                self.tell(raw, error.to_string(), true);
                Vec::new()
            }
        };
        if !complete && !matches!(pieces.last(), Some(Piece::Record(..))) {
            return;
        }
        if text.is_empty() {
            self.damage(raw, "is empty".into());
        }
        let mut records: u64 = 0;
        for piece in pieces {
            match piece {
                Piece::Fragment(range) => {
                    self.damage(raw, format!("{} bytes are no record", range.len()));
                }
                Piece::Record(checked, range) => {
                    records = records.saturating_add(1);
                    // Behind another record on one line, the line before is not known.
                    if records > 1 {
                        self.last_hash = None;
                    }
                    self.note_drop(text.get(range).unwrap_or_default());
                    self.record(raw, &checked);
                }
            }
        }
        let hash = digest(line);
        if records == 0 {
            self.lost = self.lost.saturating_add(1);
        } else if let Some(seq) = self.last_seq {
            self.found.head = Some(Head {
                seq,
                hash: hash.clone(),
            });
        }
        self.last_hash = Some(hash);
    }

    fn record(&mut self, raw: &Raw, checked: &Checked) {
        self.found.records = self.found.records.saturating_add(1);
        if !self.ids.insert(checked.command_id.clone()) {
            self.found.doubled = self.found.doubled.saturating_add(1);
        }
        if let Some(last) = self.last_seq {
            let expected = last.saturating_add(1).saturating_add(self.lost);
            if checked.seq > expected {
                let until = checked.seq.saturating_sub(1);
                self.damage(
                    raw,
                    format!("records {expected} to {until} are missing before it"),
                );
            } else if checked.seq < expected {
                self.damage(
                    raw,
                    format!("is number {}, where {expected} was due", checked.seq),
                );
            } else if self.lost == 0
                && self
                    .last_hash
                    .as_ref()
                    .is_some_and(|hash| *hash != checked.prev)
            {
                self.damage(raw, "follows another line than the one before it".into());
            }
        } else {
            self.found.first_seq = Some(checked.seq);
            self.first = Some((raw.file.clone(), raw.line_no, checked.clone()));
            // Damaged lines before it had positions of their own.
            self.first_position(checked.seq);
        }
        self.last_seq = Some(checked.seq);
        self.lost = 0;
    }

    fn first_position(&mut self, seq: u64) {
        if let Some((_, _, first)) = &mut self.first {
            first.seq = seq.saturating_sub(self.lost);
            if self.lost > 0 {
                first.prev = String::new();
            }
        }
    }

    fn note_drop(&mut self, text: &str) {
        // Most lines are no notices, and need not be parsed.
        if !text.contains("\"drop\"") {
            return;
        }
        match serde_json::from_str::<DropNotice>(text) {
            Ok(notice) if notice.kind == "drop" => match notice.last_seq {
                Some(seq) => self.dropped = self.dropped.max(Some(seq)),
                None => self.dropped_unknown = true,
            },
            Ok(_) | Err(_) => {}
        }
    }

    /// Judges whether the store begins where it should: at 1, or behind what was dropped.
    fn judge_start(&mut self) {
        let Some((file, line, first)) = self.first.take() else {
            return;
        };
        let before = first.seq.saturating_sub(1);
        let what = if before == 0 && !first.prev.is_empty() {
            "is the first record, but follows another".to_owned()
        } else if before > self.dropped.unwrap_or(0) && !self.dropped_unknown {
            let from = self.dropped.unwrap_or(0).saturating_add(1);
            format!("records {from} to {before} are missing before it")
        } else {
            return;
        };
        let damage = Damage {
            file,
            line,
            what,
            undecided: false,
        };
        self.found.damages.insert(0, damage);
    }

    fn damage(&mut self, raw: &Raw, what: String) {
        self.tell(raw, what, false);
    }

    fn tell(&mut self, raw: &Raw, what: String, undecided: bool) {
        self.found.damages.push(Damage {
            file: raw.file.clone(),
            line: raw.line_no,
            what,
            undecided,
        });
    }
}

/// Tells of a store that could not be looked at, or not to its end.
fn unreadable(record_file: &Path, error: &StoreError) -> Damage {
    Damage {
        file: record_file.to_path_buf(),
        line: 0,
        what: describe(error),
        undecided: true,
    }
}

fn describe(error: &StoreError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
