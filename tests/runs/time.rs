//! Time that a test gives to a command: as little as possible, and more where a machine is slow.
//!
//! Included by the tests of the library and by those of the binary.

/// The first time that is given, in milliseconds: enough on an idle machine.
const FIRST: u64 = 250;
/// The last one: more than a machine ever takes that can run tests at all.
const LAST: u64 = 64_000;

/// Tries with a short time, then with twice that and so on, until `attempt` says that the time,
/// in milliseconds, was enough for what had to happen within it.
///
/// What a test claims has to hold in the attempt that counts, and as far as it can in those before
/// it; only "too early to tell" is tried again. So no claim depends on how fast the machine is.
#[track_caller]
pub(crate) fn in_time<T>(mut attempt: impl FnMut(u64) -> Option<T>) -> T {
    let mut millis = FIRST;
    loop {
        if let Some(outcome) = attempt(millis) {
            return outcome;
        }
        assert!(millis < LAST, "{millis} ms were not enough");
        millis *= 2;
    }
}
