//! The engine's configuration, the same when the component is compiled ahead of time (by the
//! build script, which includes this file) and when it runs.

/// Returns the configuration for the built-in component.
///
/// Traps are handled without native symbolication, and nothing is compiled at start-up.
pub(crate) fn config() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    config.wasm_component_model(true);
    config.wasm_backtrace_max_frames(None);
    // The image of the component's memory would be written into a file in memory, and under a
    // file size limit below its size that ends the process before anything can be said.
    config.memory_init_cow(false);
    config
}
