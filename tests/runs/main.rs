//! Runs end as they really ended: one test, at least, for every situation that a command can
//! bring about, and for every way in which comparable tools have got it wrong.
//!
//! The tests run a puppet (`puppet.rs`) that misbehaves on request; what concerns a whole runner
//! process (signals, adoption, its own death) uses a puppet that drives a run itself.
//!
//! | situation | where |
//! |---|---|
//! | exit codes, signals, resource use | `exits` |
//! | deadline, silence, grace, bounded time | `limits` |
//! | background children, daemons, strangers | `tree` |
//! | what keeps a program from being started | `starts` |
//! | signals to the runner, pausing, its death | `signals` |
//! | standard input, large and binary output | `streams` |
//! | pipelines | `shell` |
//! | many runs at once | `storm` |
//!
//! What cannot be brought about here, and why:
//!
//! - A process that SIGKILL does not end (state D): needs a broken device. The same code is
//!   reached with a process of another user, in `tree`, where the tests run as root.
//! - EAGAIN and ENOMEM at fork: limits on processes do not bind root, and a machine without
//!   memory would take the tests along. EMFILE takes the same path, in `starts`.
//! - The out-of-memory killer: needs a cgroup of one's own. The reading of its evidence is
//!   tested beside its code.
//! - The reuse of a pid while a group is signalled: the pid cannot be reused before the leader
//!   is reaped. That the group is still reached after the leader's end is tested in `tree`.
//! - A record that cannot be written after the run belongs to the store's tests.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect has failed"
)]

mod rig;

mod exits;
mod limits;
mod shell;
mod signals;
mod starts;
mod storm;
mod streams;
mod tree;
