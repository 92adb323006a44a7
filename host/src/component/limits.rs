//! What an instance may use, and what it means when it stops.

use std::fmt;

use wasmtime::ResourceLimiter;

/// The most linear memory that all memories of one instance may have together, in bytes.
///
/// A capture needs a few hundred kilobytes whatever the command prints; the largest texts that
/// cross the boundary are an argument list (2 MiB on Linux) and a record line (256 KiB).
pub const MEMORY_LIMIT: usize = 32 << 20;

/// The most elements that all tables of one instance may have together.
const TABLE_LIMIT: usize = 20_000;

/// The most that one call may hand out, in bytes.
///
/// The longest texts that are asked for are redactions of pieces of 64 KiB and record lines.
pub const OUTPUT_LIMIT: usize = 16 << 20;

/// The most steps that one call into a component of others may take, in wasmtime's fuel: about a
/// second. The built-in component is not counted; that would cost it a quarter of its speed.
pub const STEP_LIMIT: u64 = 2_000_000_000;

/// Holds an instance to [`MEMORY_LIMIT`].
#[derive(Debug, Default)]
pub(super) struct Limiter {
    memory: usize,
    table: usize,
}

impl Limiter {
    /// Returns how much linear memory the instance has, in bytes. It never gives any back.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }
}

/// The instance asked for more memory than it may have.
#[derive(Debug)]
struct MemoryExceeded;

impl fmt::Display for MemoryExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {MEMORY_LIMIT} bytes of memory")
    }
}

impl std::error::Error for MemoryExceeded {}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.memory.saturating_sub(current).saturating_add(desired);
        if total > MEMORY_LIMIT {
            return Err(MemoryExceeded.into());
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.table.saturating_sub(current).saturating_add(desired);
        if total > TABLE_LIMIT {
            return Ok(false);
        }
        self.table = total;
        Ok(true)
    }
}

/// Why an instance stopped in the middle of a call. It is not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// It gave up by itself: a panic, or an allocation that failed.
    Unreachable,
    /// It reached past its memory.
    OutOfBounds,
    /// Its calls were nested too deeply.
    StackOverflow,
    /// It asked for more than [`MEMORY_LIMIT`].
    Memory,
    /// It handed out more than [`OUTPUT_LIMIT`] in one call.
    Output,
    /// It took more than [`STEP_LIMIT`] steps in one call.
    OutOfFuel,
    /// It was interrupted from outside.
    Interrupted,
    /// Arithmetic without a result: division by zero, a conversion out of range.
    Arithmetic,
    /// It broke the rules of the component model: a bad pointer, text that is not UTF-8, a
    /// resource that is not there.
    Contract,
}

impl Trap {
    /// Classifies the error of a call.
    pub(super) fn of(error: &wasmtime::Error) -> Self {
        if error.downcast_ref::<MemoryExceeded>().is_some() {
            return Self::Memory;
        }
        // wasmtime keeps the type of this error to itself.
        if error
            .chain()
            .any(|cause| cause.to_string().contains("allocated for hostcalls"))
        {
            return Self::Output;
        }
        // The list of wasmtime's traps is open, so what it does not name here is a broken contract.
        match error.downcast_ref::<wasmtime::Trap>() {
            Some(wasmtime::Trap::UnreachableCodeReached) => Self::Unreachable,
            Some(wasmtime::Trap::MemoryOutOfBounds | wasmtime::Trap::HeapMisaligned) => {
                Self::OutOfBounds
            }
            Some(wasmtime::Trap::StackOverflow) => Self::StackOverflow,
            Some(wasmtime::Trap::OutOfFuel) => Self::OutOfFuel,
            Some(wasmtime::Trap::Interrupt) => Self::Interrupted,
            Some(
                wasmtime::Trap::IntegerOverflow
                | wasmtime::Trap::IntegerDivisionByZero
                | wasmtime::Trap::BadConversionToInteger,
            ) => Self::Arithmetic,
            Some(_) | None => Self::Contract,
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("it gave up (a panic or a failed allocation)"),
            Self::OutOfBounds => f.write_str("it reached past its memory"),
            Self::StackOverflow => f.write_str("its calls were nested too deeply"),
            Self::Memory => write!(f, "it asked for {MemoryExceeded}"),
            Self::Output => write!(
                f,
                "it handed out more than {OUTPUT_LIMIT} bytes in one call"
            ),
            Self::OutOfFuel => write!(f, "it took more than {STEP_LIMIT} steps in one call"),
            Self::Interrupted => f.write_str("it was interrupted"),
            Self::Arithmetic => f.write_str("arithmetic without a result"),
            Self::Contract => f.write_str("it broke the contract of the component model"),
        }
    }
}
