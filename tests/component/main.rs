//! The built-in component and the ones that are refused.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    reason = "test code: a failure must be loud"
)]

mod patch;
#[allow(dead_code, reason = "not every crate of tests needs each")]
mod tools;

mod contract;
mod foreign;
mod limits;
mod reproducible;
mod rogue;
mod shipped;
mod stopped;
mod vectors;

use feedback_host::component::{Component, Session};

/// Returns the built-in component.
pub(crate) fn built_in() -> Component {
    Component::built_in().expect("the built-in component")
}

/// Returns a session with the default policy and no environment.
pub(crate) fn session() -> Session {
    Session::open(&built_in(), "", "").expect("a session")
}
