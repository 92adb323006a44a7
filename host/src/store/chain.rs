//! The walk along all lines of a store: each against its checksum, its number and the line before.
//!
//! What the findings come to is not judged here.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::reader::{Content, Raw, Reader};

use super::anchor::Anchor;
use super::error::StoreError;
use super::lines::digest;
use super::scribe::{Checked, Piece, Scribe, take_apart};
use super::verify::{Damage, Head, Verification};

/// The key that tells how much a drop took. The store had asked for the notice itself.
#[derive(Deserialize)]
struct DropNotice {
    kind: String,
    last_seq: Option<u64>,
}

/// The walk along the chain.
#[derive(Default)]
pub(super) struct Chain {
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
    /// What was kept elsewhere.
    anchor: Option<Anchor>,
    /// A last line without a newline that is no record: its place and length.
    unfinished: Option<(PathBuf, u64, usize)>,
    /// The place of the oldest record.
    first: Option<(PathBuf, u64, Checked)>,
}

impl Chain {
    /// Returns a walk that asks for the line whose head was kept elsewhere.
    pub(super) fn against(kept: Head) -> Self {
        Self {
            anchor: Some(Anchor::new(kept)),
            ..Self::default()
        }
    }

    /// Tells of a store that could not be opened.
    pub(super) fn refuse(mut self, record_file: &Path, error: &StoreError) -> Verification {
        self.found.damages.push(unreadable(record_file, error));
        self.found
    }

    /// Walks along the whole chain, and judges it.
    pub(super) fn check(
        mut self,
        reader: &Reader,
        record_file: &Path,
        scribe: &mut dyn Scribe,
    ) -> Verification {
        if let Err(error) = self.walk(reader, scribe) {
            self.found.damages.push(unreadable(record_file, &error));
        }
        if let Some(anchor) = self.anchor.take() {
            let first = self.found.first_seq.unwrap_or(0);
            let last = self.last_seq.unwrap_or(0);
            // Among what cannot be read, the record may be.
            let unsure = self.found.damages.iter().any(|damage| damage.undecided);
            let judged = anchor.judge(record_file, first, last);
            self.found.damages.extend(judged.map(|damage| Damage {
                undecided: damage.undecided || unsure,
                ..damage
            }));
        }
        self.found
    }

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
        self.judge_end();
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
            self.unfinished = Some((raw.file.clone(), raw.line_no, line.len()));
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
            if let Some(anchor) = &mut self.anchor {
                anchor.meet(seq, &hash, &raw.file, raw.line_no);
            }
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

    /// A run that is open may be writing its line, or has died over it; both are told as open. Where
    /// there is none, nobody will complete the line.
    fn judge_end(&mut self) {
        let open = !self.found.open_runs.is_empty();
        // A newer version may end its file in another way.
        let undecided = self.found.damages.iter().any(|damage| damage.undecided);
        if let Some((file, line, length)) = self.unfinished.take().filter(|_| !open) {
            self.found.damages.push(Damage {
                file,
                line,
                what: format!("ends without a newline: {length} bytes are no record"),
                undecided,
            });
        }
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
