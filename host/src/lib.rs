//! x
pub mod ending;
mod pump;
pub mod signal;
mod spawn;
pub mod supervise;
mod tree;
