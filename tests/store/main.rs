//! The store under real processes: killed, stopped, out of room, and many at once.
//!
//! `FEEDBACK_STORE_KILLS` sets how many writers are killed at random (500 where it is not set).

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "test code: a failure must be loud"
)]

use feedback_host::store as api;

mod field;
mod kills;
mod limits;
mod many;
mod points;
mod scribe;
