//! How a store is kept.
//!
//! Where these come from is not known here.

use std::time::Duration;

/// What an acknowledged record survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The power going out.
    #[default]
    Disk,
    /// The death of every process, but not the machine's.
    Process,
}

/// How a store is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The size that a file should not pass, in bytes. It does where rotation fails.
    pub limit: u64,
    /// How many rotated files are kept, at least 1.
    pub keep: u32,
    /// What an acknowledged record survives.
    pub durability: Durability,
    /// How long to wait for the lock.
    pub lock_limit: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limit: 1_000_000,
            keep: 4,
            durability: Durability::Disk,
            lock_limit: Duration::from_secs(10),
        }
    }
}
