//! The product through its own binary, as a person or an agent calls it.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "test code: a failure must be loud"
)]

mod background;
mod sandbox;
mod sealed;
mod terminal;

mod audit;
mod bad_input;
mod demo;
mod endings;
mod excerpts;
mod export;
mod gate;
mod guarantee;
mod known_values;
mod live;
mod options;
mod real_tools;
mod recipe;
mod recover;
mod redaction;
mod runs;
mod schema;
mod secrets;
mod show;
mod signals;
mod starts;
mod stopped;
mod store;
mod storm;
mod texts;
mod user_rules;
mod verify;
