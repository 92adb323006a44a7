//! What the drop notices in a store say, held against what is there.
//!
//! A store drops its oldest file and then says so. So a notice speaks of records that are older
//! than all that is left, and never of what another notice has told of. That finds most notices
//! that a store did not write; one that tells of older records than every other notice it cannot
//! tell from an honest one, as no chain without a key can.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::verify::Damage;

/// What tells a notice from a run.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    kind: Value,
}

/// The keys that tell how much a drop took. The store had asked for the notice itself.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    first_seq: Value,
    #[serde(default)]
    last_seq: Value,
}

/// A notice that stands in the store.
struct Notice {
    file: PathBuf,
    line: u64,
    /// Its own position.
    seq: u64,
    first: Option<u64>,
    last: Option<u64>,
    /// What should be numbers is something else.
    is_odd: bool,
}

/// All notices of a store, oldest first.
#[derive(Default)]
pub(super) struct Drops {
    notices: Vec<Notice>,
    /// The highest position that a notice tells of.
    dropped: Option<u64>,
    /// True where a notice could not say what was dropped.
    is_unknown: bool,
}

impl Drops {
    /// Takes a record where it is a notice.
    pub(super) fn take(&mut self, text: &str, file: &std::path::Path, line: u64, seq: u64) {
        if let Some(written) = read(text) {
            self.note(&written);
            self.notices.push(Notice {
                file: file.to_path_buf(),
                line,
                seq,
                first: written.first_seq.as_u64(),
                last: written.last_seq.as_u64(),
                is_odd: written.is_odd(),
            });
        }
    }

    /// Takes a notice that waits in the pending folder. What it speaks of may still be there.
    pub(super) fn take_waiting(&mut self, text: &str) {
        if let Some(written) = read(text) {
            self.note(&written);
        }
    }

    fn note(&mut self, written: &Written) {
        match written.last_seq.as_u64() {
            Some(seq) => self.dropped = self.dropped.max(Some(seq)),
            None => self.is_unknown = true,
        }
    }

    /// Returns the highest position that was dropped; 0 where none was.
    pub(super) fn up_to(&self) -> u64 {
        self.dropped.unwrap_or(0)
    }

    /// Says whether a notice could not tell what was dropped.
    pub(super) fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    /// Judges the notices of a store whose oldest record has the position `first`.
    pub(super) fn judge(self, first: u64) -> Vec<Damage> {
        let mut damages = Vec::new();
        let mut told: Vec<RangeInclusive<u64>> = Vec::new();
        for notice in self.notices {
            let what = notice.is_wrong(first).or_else(|| notice.is_again(&told));
            told.extend(notice.range());
            if let Some(what) = what {
                damages.push(Damage {
                    file: notice.file,
                    line: notice.line,
                    what: format!("is a drop notice that no store writes: {what}"),
                    undecided: false,
                });
            }
        }
        damages
    }
}

impl Notice {
    /// The positions that it speaks of, as far as it knows them.
    fn range(&self) -> Option<RangeInclusive<u64>> {
        let last = self.last?;
        Some(self.first.unwrap_or(last)..=last)
    }

    /// Says that another notice has told of the same. One that had to wait can stand behind that of
    /// a later drop.
    fn is_again(&self, told: &[RangeInclusive<u64>]) -> Option<String> {
        let own = self.range()?;
        let overlaps =
            |other: &&RangeInclusive<u64>| own.start() <= other.end() && other.start() <= own.end();
        let other = told.iter().find(overlaps)?;
        let (from, to) = (other.start(), other.end());
        Some(format!("another has told of records {from} to {to}"))
    }

    /// Says what in it cannot be.
    fn is_wrong(&self, first: u64) -> Option<String> {
        if self.is_odd {
            return Some("its numbers are none".to_owned());
        }
        let Some(last) = self.last else {
            // Of a file without one whole record nothing is known, but it was older than the rest.
            return (first <= 1).then(|| "nothing is missing here".to_owned());
        };
        if last == 0 || last >= self.seq || self.first.is_some_and(|own| own == 0 || own > last) {
            return Some(format!("it is number {} and speaks of {last}", self.seq));
        }
        (first <= last).then(|| format!("records up to {last} are still here"))
    }
}

impl Written {
    fn is_odd(&self) -> bool {
        let is_number = |value: &Value| value.is_null() || value.is_u64();
        !is_number(&self.first_seq) || !is_number(&self.last_seq)
    }
}

/// Reads a notice, however its kind is spelled: a letter can be written as an escape.
fn read(text: &str) -> Option<Written> {
    let head: Head = serde_json::from_str(text).ok()?;
    if head.kind != "drop" {
        return None;
    }
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn judged(first: u64, notices: &[(u64, Option<u64>, Option<u64>)]) -> Vec<(u64, String)> {
        let mut drops = Drops::default();
        for (seq, from, to) in notices {
            let text = serde_json::json!({"kind": "drop", "first_seq": from, "last_seq": to});
            drops.take(&text.to_string(), Path::new("x"), *seq, *seq);
        }
        let damages = drops.judge(first).into_iter();
        damages.map(|damage| (damage.line, damage.what)).collect()
    }

    #[test]
    fn what_a_store_writes_is_sound() {
        assert_eq!(judged(11, &[(40, Some(1), Some(10))]), []);
        let three = [
            (40, Some(1), Some(10)),
            (50, Some(11), Some(20)),
            (51, Some(21), Some(25)),
        ];
        assert_eq!(judged(26, &three), []);
        // Of the first nothing could be read; of what was damaged nobody knows all numbers.
        let gaps = [(40, None, None), (50, Some(13), Some(20))];
        assert_eq!(judged(21, &gaps), []);
        let late = [(40, Some(11), Some(20)), (41, Some(1), Some(10))];
        assert_eq!(judged(21, &late), []);
    }

    #[test]
    fn a_notice_that_no_store_writes_is_damage() {
        for (first, notice) in [
            (1, (4, Some(1), Some(3))),
            (1, (4, None, None)),
            (11, (40, Some(1), Some(20))),
            (11, (12, Some(1), Some(12))),
            (11, (40, Some(9), Some(3))),
            (11, (40, Some(0), Some(0))),
        ] {
            let found = judged(first, &[notice]);
            assert_eq!(found.len(), 1, "{first} {notice:?}");
        }
        for odd in [
            r#"{"kind":"dro\u0070","first_seq":1,"last_seq":3}"#,
            r#"{"kind":"drop","first_seq":1,"last_seq":"10"}"#,
            r#"{"kind":"drop","first_seq":-1,"last_seq":10}"#,
        ] {
            let mut drops = Drops::default();
            drops.take(odd, Path::new("x"), 9, 4);
            assert_eq!(drops.judge(2).len(), 1, "{odd}");
        }
        let twice = [(40, Some(1), Some(10)), (60, Some(1), Some(10))];
        let found = judged(11, &twice);
        assert_eq!(found[0].0, 60);
        assert!(found[0].1.contains("another has told"), "{found:?}");
        let inside = [(40, Some(1), Some(10)), (60, None, Some(5))];
        assert_eq!(judged(11, &inside).len(), 1);
    }
}
