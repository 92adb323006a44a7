//! Holds a store against a head that was kept elsewhere.
//!
//! That is the only way to see that the newest records were taken away, or that the whole chain
//! was written anew. Who kept the head, and where, is not known here.

use std::path::{Path, PathBuf};

use super::verify::{Damage, Head};

/// The head, and what became of its line.
pub(super) struct Anchor {
    kept: Head,
    met: Met,
}

enum Met {
    Never,
    Same,
    /// Another line has its number.
    Other(PathBuf, u64),
}

impl Anchor {
    pub(super) fn new(kept: Head) -> Self {
        Self {
            kept,
            met: Met::Never,
        }
    }

    /// Looks at a line.
    pub(super) fn meet(&mut self, seq: u64, hash: &str, file: &Path, line: u64) {
        if seq != self.kept.seq || matches!(self.met, Met::Same) {
            return;
        }
        self.met = if hash == self.kept.hash {
            Met::Same
        } else {
            Met::Other(file.to_path_buf(), line)
        };
    }

    /// Judges what was seen of a store whose records begin at `first` and end at `last`.
    pub(super) fn judge(self, record_file: &Path, first: u64, last: u64) -> Option<Damage> {
        let seq = self.kept.seq;
        let damage = |file, line, what, undecided| {
            Some(Damage {
                file,
                line,
                what,
                undecided,
            })
        };
        let whole = record_file.to_path_buf();
        match self.met {
            Met::Same => None,
            Met::Other(file, line) => {
                let what = format!("is not the line that was kept elsewhere as number {seq}");
                damage(file, line, what, false)
            }
            Met::Never if seq < first => {
                let what = format!(
                    "record {seq} was dropped by rotation, so that it cannot be compared with the one that was kept elsewhere"
                );
                damage(whole, 0, what, true)
            }
            Met::Never if seq > last => {
                let what = format!(
                    "ends at record {last}, but record {seq} was kept elsewhere: the newest records are missing"
                );
                damage(whole, 0, what, false)
            }
            Met::Never => {
                let what = format!("record {seq}, which was kept elsewhere, is missing");
                damage(whole, 0, what, false)
            }
        }
    }
}
