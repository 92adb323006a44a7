//! The built-in component and the ones that are refused.

#![expect(clippy::expect_used, reason = "test code: a failure must be loud")]

mod foreign;
mod limits;
mod shipped;
mod stopped;

use feedback_host::component::{Component, Session};

/// Returns the built-in component.
pub(crate) fn built_in() -> Component {
    Component::built_in().expect("the built-in component")
}

/// Returns a session with the default policy and no environment.
pub(crate) fn session() -> Session {
    Session::open(&built_in(), "", "").expect("a session")
}
