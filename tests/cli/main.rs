//! The product through its own binary, as a person or an agent calls it.

mod sandbox;
mod sealed;

mod bad_input;
mod demo;
mod excerpts;
mod export;
mod gate;
mod guarantee;
mod real_tools;
mod recipe;
mod recover;
mod redaction;
mod runs;
mod schema;
mod show;
mod store;
mod verify;
