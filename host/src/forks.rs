//! In the unit tests alone: keeps the starts of processes apart from the tests of the store.
//!
//! Until it executes, a child that is being started holds copies of all that this process has
//! open, locks included. A runner that dies leaves no such copy; one whose death is only played,
//! in a process that starts a child at this moment, does, and then seems to be alive.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many tests must not meet a start.
static QUIET: Mutex<usize> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();

/// A time without starts; they wait for its end.
pub(crate) struct Quiet(());

impl Quiet {
    pub(crate) fn begin() -> Self {
        *quiet() += 1;
        Self(())
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        *quiet() -= 1;
        CHANGED.notify_all();
    }
}

/// Starts a process, or several one after another, when nobody minds.
pub(crate) fn start<T>(start: impl FnOnce() -> T) -> T {
    let _nobody = CHANGED
        .wait_while(quiet(), |count| *count > 0)
        .unwrap_or_else(PoisonError::into_inner);
    start()
}

fn quiet() -> MutexGuard<'static, usize> {
    // A test that has failed has changed the number as it should.
    QUIET.lock().unwrap_or_else(PoisonError::into_inner)
}
