//! The product through its own binary, as a person or an agent calls it.

mod sandbox;

mod audit;
mod bad_input;
mod demo;
mod excerpts;
mod gate;
mod real_tools;
mod redaction;
mod runs;
mod secrets;
mod show;
mod store;
mod texts;
mod user_rules;
