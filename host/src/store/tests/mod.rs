//! Tests of the store on a kernel that fails where it is told to.

mod bench;
mod crash;
mod outputs;
mod places;
mod safeguards;
mod schema;
mod shim;
mod tail;

use super as api;

#[path = "../../../../tests/store/scribe.rs"]
mod scribe;
