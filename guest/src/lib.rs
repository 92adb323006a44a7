//! The pure half of feedback: what a record says and what the records show.
//!
//! No I/O, no clock, no randomness. Data flows one way: decode → normalise → redact → cut →
//! build, and records → gate → verdict. The host uses this crate only as a component;
//! the Rust API is for tests.

pub mod document;
pub mod fault;
pub mod outcome;
pub mod policy;
pub mod timestamp;

pub mod capture;
pub mod excerpt;
pub mod redact;
pub mod text;

pub mod gate;
pub mod record;
