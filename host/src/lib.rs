//! Runs commands, keeps one honest record of each, and asks the embedded component what the
//! records prove.
//!
//! The host moves bytes: it starts processes, reads pipes, writes and rotates files. It never
//! interprets captured bytes and never edits what the component made. Data flows one way:
//! spawn → capture → component → store, then reader → component → verdict; [`run`] composes it.

pub mod digest;
pub mod ending;
mod keeper;
pub mod pump;
pub mod signal;
pub mod spawn;
pub mod supervise;
mod tree;

pub mod component;
pub mod fallback;
mod keep;
mod recording;
mod relay;
pub mod scribe;

mod folder;
#[cfg(test)]
mod forks;
pub mod inputs;
pub mod lookup;
pub mod output;
pub mod reader;
pub mod store;

pub mod chain;
pub mod known;
mod plan;
pub mod project;
pub mod review;
pub mod run;
mod watch;

/// The examples of the README are compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
