//! The product through its own binary, as a person or an agent calls it.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::as_conversions,
    reason = "test code: a failure must be loud"
)]

mod background;
mod sandbox;
mod terminal;

mod bad_input;
mod demo;
mod endings;
mod excerpts;
mod gate;
mod live;
mod options;
mod real_tools;
mod redaction;
mod runs;
mod show;
mod signals;
mod starts;
mod store;
mod storm;
