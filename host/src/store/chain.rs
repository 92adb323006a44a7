//! The walk along all lines of a store: each against its checksum, its number and the line before.
//!
//! What the findings come to is not judged here.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::reader::{Content, Raw, Reader, unended};

use super::anchor::Anchor;
use super::dropped::Drops;
use super::error::StoreError;
use super::lines::digest;
use super::scribe::{Checked, Piece, Scribe, take_apart};
use super::verify::{Damage, Head, Verification};

/// The most places that are told one by one. Who destroys a store can make millions of them.
const TOLD: usize = 100;

/// What is wrong beside the places that are told one by one.
#[derive(Default)]
struct Untold {
    places: u64,
    /// True where something among them is wrong for certain.
    is_certain: bool,
    /// The last of the files that they are in.
    file: PathBuf,
}

/// The walk along the chain.
#[derive(Default)]
pub(super) struct Chain {
    found: Verification,
    /// For every id: the position of its first record, and a fingerprint of what that says.
    ids: HashMap<String, (u64, u64)>,
    last_seq: Option<u64>,
    /// The digest of the line before; none at the start or where that line is not known.
    last_hash: Option<String>,
    /// How many lines without a record came since the last one.
    lost: u64,
    drops: Drops,
    untold: Untold,
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
            self.drops.take_waiting(&body);
        }
        self.judge_start();
        let first = self.found.first_seq.unwrap_or(0);
        for damage in std::mem::take(&mut self.drops).judge(first) {
            self.push(damage);
        }
        self.found.open_runs = reader.open_runs()?;
        self.judge_end();
        self.judge_untold();
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
            self.unfinished = Some((raw.file.to_path_buf(), raw.line_no, line.len()));
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
                    self.record(raw, &checked, text.get(range).unwrap_or_default());
                }
            }
        }
        if records == 0 {
            self.lost = self.lost.saturating_add(1);
            // Behind a lost line nothing is compared, so its digest is not needed.
            self.last_hash = None;
            return;
        }
        let hash = digest(line);
        if let Some(seq) = self.last_seq {
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

    fn record(&mut self, raw: &Raw, checked: &Checked, text: &str) {
        self.found.records = self.found.records.saturating_add(1);
        let content = fingerprint(checked.body(text));
        match self.ids.get(&checked.command_id).copied() {
            None => {
                let known = (checked.seq, content);
                self.ids.insert(checked.command_id.clone(), known);
                let (file, line) = (&raw.file, raw.line_no);
                self.drops.take(text, file, line, checked.seq);
            }
            Some((_, same)) if same == content => {
                self.found.doubled = self.found.doubled.saturating_add(1);
            }
            Some((first, _)) => {
                let what = format!("has the id of number {first}, and says something else");
                self.damage(raw, what);
            }
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
            self.first = Some((raw.file.to_path_buf(), raw.line_no, checked.clone()));
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

    /// Judges whether the store begins where it should: at 1, or behind what was dropped.
    fn judge_start(&mut self) {
        let Some((file, line, first)) = self.first.take() else {
            return;
        };
        let before = first.seq.saturating_sub(1);
        let what = if before == 0 && !first.prev.is_empty() {
            "is the first record, but follows another".to_owned()
        } else if before > self.drops.up_to() && !self.drops.is_unknown() {
            let from = self.drops.up_to().saturating_add(1);
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
                what: unended(length),
                undecided,
            });
        }
    }

    fn damage(&mut self, raw: &Raw, what: String) {
        self.tell(raw, what, false);
    }

    fn tell(&mut self, raw: &Raw, what: String, undecided: bool) {
        self.push(Damage {
            file: raw.file.to_path_buf(),
            line: raw.line_no,
            what,
            undecided,
        });
    }

    fn push(&mut self, damage: Damage) {
        if self.found.damages.len() < TOLD {
            self.found.damages.push(damage);
            return;
        }
        self.untold.places = self.untold.places.saturating_add(1);
        self.untold.is_certain |= !damage.undecided;
        self.untold.file = damage.file;
    }

    /// Says how many places were not told one by one.
    fn judge_untold(&mut self) {
        let Untold {
            places,
            is_certain,
            file,
        } = std::mem::take(&mut self.untold);
        if places > 0 {
            self.found.damages.push(Damage {
                file,
                line: 0,
                what: format!("{places} more places, up to here, are not as a store leaves them"),
                undecided: !is_certain,
            });
        }
    }
}

fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
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
