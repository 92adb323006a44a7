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
#[path = "../runs/hearing.rs"]
mod hearing;
#[path = "../component/patch.rs"]
mod patch;
mod sandbox;
mod sealed;
mod terminal;
#[path = "../runs/time.rs"]
mod time;
#[allow(dead_code, reason = "not every crate of tests needs each")]
#[path = "../component/tools.rs"]
mod tools;

mod adversary;
mod audit;
mod bad_input;
mod chains;
mod component;
mod demo;
mod endings;
mod excerpts;
mod expectations;
mod export;
mod foreign;
mod gate;
mod guarantee;
mod hosts;
mod inputs;
mod known_values;
mod live;
mod lost_store;
mod options;
mod output;
mod policy;
mod real_tools;
mod recipe;
mod recover;
mod redaction;
mod replay;
mod reports;
mod requirements;
mod runs;
mod sarif;
mod schema;
mod secret_places;
mod secrets;
mod show;
mod signals;
mod starts;
mod stopped;
mod store;
mod storm;
mod texts;
mod told;
mod user_rules;
mod verify;
