//! The product through its own binary, as a person or an agent calls it.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::as_conversions,
    reason = "test code: a failure must be loud"
)]

mod sandbox;

mod bad_input;
mod demo;
mod excerpts;
mod gate;
mod real_tools;
mod redaction;
mod runs;
mod show;
mod store;
