//! The product through its own binary, as a person or an agent calls it.

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
