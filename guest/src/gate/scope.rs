//! What a verdict does not rest on: how many runs were left out, and why.
//!
//! It decides nothing; whoever reads a pass can see how much it covers.

use serde::Serialize;

/// What was given and is not judged. Every run is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Scope {
    /// How many requirements the policy has. Without any, every run counts and none is needed.
    pub(super) requirements: usize,
    /// Runs that stand before where evidence begins.
    pub(super) before_since: usize,
    /// Runs of other projects that keep their records in the same store.
    pub(super) other_projects: usize,
    /// Runs that only explore.
    pub(super) explorations: usize,
    /// Runs that meet no requirement, where only those count that do.
    pub(super) not_required: usize,
}
