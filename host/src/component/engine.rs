//! Sets up the engine that components run in.
//!
//! It loads none; `load` does.

use wasmtime::{Engine, OptLevel};

use super::config;
use super::load_error::LoadError;

/// An engine for components that someone else wrote: their steps are counted, so that one that
/// never ends stops, and at the same step on every machine.
pub(super) fn counting() -> Result<Engine, LoadError> {
    let mut config = config::config();
    config.consume_fuel(true);
    Engine::new(&config).map_err(|error| LoadError::Engine(format!("{error:#}")))
}

/// The engine for the built-in component.
pub(super) fn plain() -> Result<Engine, LoadError> {
    let mut config = config::config();
    if is_address_space_scarce() {
        // Code for so little reservation checks every access, so it is compiled anew; quickly,
        // as that is done for every run.
        config.memory_reservation(SMALL_RESERVATION);
        config.cranelift_opt_level(OptLevel::None);
    }
    Engine::new(&config).map_err(|error| LoadError::Engine(format!("{error:#}")))
}

/// The engine reserves 4 GiB of addresses for each instance, of which a run has two at once, so that
/// its code need not check where it reads; it uses but a few megabytes of them.
const ENOUGH_ADDRESS_SPACE: u64 = 10 << 30;
/// More than [`super::limits::MEMORY_LIMIT`], so that no memory ever moves.
const SMALL_RESERVATION: u64 = 64 << 20;

fn is_address_space_scarce() -> bool {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As);
    limit
        .current
        .is_some_and(|bytes| bytes < ENOUGH_ADDRESS_SPACE)
}
