//! The types and calls that `wit/` gives, as wasmtime's macro writes them.

wasmtime::component::bindgen!({
    path: "../wit",
    world: "policy-component",
});

pub use exports::feedback::policy::gate::{Decision, Evidence, Reason, ReasonCode, Verdict};
pub use exports::feedback::policy::redaction::{Audited, Sighting};
pub use exports::feedback::policy::types::{Fault, FaultCode};
