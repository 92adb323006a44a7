//! Which files are not as they were, between two looks at the same inputs.
//!
//! Whether they changed at all the two digests say; this names them for a person.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use super::Sight;
use super::content::Item;

/// How many of them are named.
const NAMED: usize = 5;

/// The inputs at one moment, file by file.
#[derive(Debug)]
pub struct Look {
    /// What they are, all together.
    pub sight: Sight,
    /// In the order of the bytes of their paths.
    marks: Vec<Mark>,
}

/// Enough of a file to tell it from what it was.
#[derive(Debug)]
struct Mark {
    path: Box<Path>,
    kind: u8,
    /// The start of its content's digest.
    content: u64,
}

/// What is not as it was.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The first of them in the order of their paths.
    pub named: Vec<(PathBuf, How)>,
    /// How many more there are.
    pub omitted: u64,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It is new.
    Added,
    /// It has another content or kind, or may be executed now, or no longer.
    Changed,
    /// It is gone.
    Removed,
}

impl How {
    /// Returns the word that stands for it in a record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

impl Look {
    pub(super) fn new(sight: Sight, items: &[Item]) -> Self {
        let of = |item: &Item| Mark {
            path: item.path.as_path().into(),
            kind: item.kind.letter(),
            content: start(&item.content),
        };
        Self {
            sight,
            marks: items.iter().map(of).collect(),
        }
    }

    /// Returns what is other in a later look.
    #[must_use]
    pub fn changes_to(&self, later: &Self) -> Changes {
        let mut changes = Changes::default();
        let (mut before, mut after) = (self.marks.iter().peekable(), later.marks.iter().peekable());
        loop {
            let order = match (before.peek(), after.peek()) {
                (Some(old), Some(new)) => bytes(old).cmp(bytes(new)),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return changes,
            };
            match order {
                Ordering::Less => changes.add(before.next(), How::Removed),
                Ordering::Greater => changes.add(after.next(), How::Added),
                Ordering::Equal => {
                    let (old, new) = (before.next(), after.next());
                    let is = |mark: Option<&Mark>| mark.map(|mark| (mark.kind, mark.content));
                    if is(old) != is(new) {
                        changes.add(new, How::Changed);
                    }
                }
            }
        }
    }
}

impl Changes {
    fn add(&mut self, mark: Option<&Mark>, how: How) {
        let Some(mark) = mark else {
            return;
        };
        if self.named.len() < NAMED {
            self.named.push((mark.path.to_path_buf(), how));
        } else {
            self.omitted = self.omitted.saturating_add(1);
        }
    }
}

fn bytes(mark: &Mark) -> &[u8] {
    mark.path.as_os_str().as_encoded_bytes()
}

fn start(digest: &[u8; 32]) -> u64 {
    let start = digest.first_chunk().copied().unwrap_or_default();
    u64::from_be_bytes(start)
}
