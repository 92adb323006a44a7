//! The product through its own binary, as a person or an agent calls it.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::print_stderr,
    reason = "a test that meets what it does not expect has failed"
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
