//! The component: loading, limits and calls. Everything that interprets bytes happens behind it.
//!
//! It decides nothing itself: a fault of the component is handed on, a trap is named and the
//! instance is given up.

pub(crate) mod config;

mod bindings;
mod cache;
mod engine;
mod limits;
mod load;
mod load_error;
mod session;

pub use bindings::{
    Audited, Decision, Evidence, Fault, FaultCode, Reason, ReasonCode, Sighting, Verdict,
};
pub use limits::{MEMORY_LIMIT, OUTPUT_LIMIT, STEP_LIMIT, Trap};
pub use load::{Component, Description, Origin, SOURCES_DIGEST, TOOLCHAIN, VERSION};
pub use load_error::LoadError;
pub use session::{
    Audit, CallError, Capture, Checked, DocumentKind, Filter, History, Identity, Passage,
    PolicyError, Review, Session,
};
