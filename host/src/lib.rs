//! Runs commands, keeps their records and asks the embedded component what they prove.

pub mod reader;
pub mod store;
