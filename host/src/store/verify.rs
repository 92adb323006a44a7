//! Checks every line of a store and the chain that they form.
//!
//! It finds loss, editing, doubling and damage. It cannot find that somebody rewrote the whole
//! chain: for that, compare the head with one that was kept elsewhere.

use std::path::{Path, PathBuf};

use crate::reader::{PendingRun, Reader, Scope};

use super::chain::Chain;
use super::scribe::Scribe;

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
    read(record_file, Chain::default(), scribe)
}

/// As [`verify`], and asks for the line whose head was kept elsewhere.
pub fn verify_against(kept: Head, record_file: &Path, scribe: &mut dyn Scribe) -> Verification {
    read(record_file, Chain::against(kept), scribe)
}

/// Checks a store as it was when the reader opened it.
pub fn verify_opened(reader: &Reader, record_file: &Path, scribe: &mut dyn Scribe) -> Verification {
    Chain::default().check(reader, record_file, scribe)
}

fn read(record_file: &Path, chain: Chain, scribe: &mut dyn Scribe) -> Verification {
    match Reader::open(record_file, Scope::All) {
        Ok(reader) => chain.check(&reader, record_file, scribe),
        Err(error) => chain.refuse(record_file, &error),
    }
}
