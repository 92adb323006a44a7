//! The pure half of feedback: what a record says and what the records show.
//!
//! No I/O, no clock, no randomness. Data flows one way: decode → normalise → redact → cut →
//! build, and records → gate → verdict. The host uses this crate only as a component;
//! the Rust API is for tests.

pub mod fault;

pub mod policy;

pub mod capture;
pub mod excerpt;
pub mod expect;
pub mod filter;
mod lanes;
pub mod passage;
pub mod redact;
mod sift;
pub mod text;

pub mod document;
pub mod outcome;
pub mod record;
pub mod seal;
pub mod signature;
pub mod timestamp;

pub mod requirement;

pub mod gate;

#[cfg(target_family = "wasm")]
mod component;
