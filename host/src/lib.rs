//! x
pub mod ending;
pub mod pump;
pub mod signal;
pub mod spawn;
pub mod supervise;
mod tree;
