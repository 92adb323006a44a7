//! Runs end as they really ended: one test, at least, for every situation that a command can
//! bring about, and for every way in which comparable tools have got it wrong.
//!
//! The tests run a puppet (`puppet.rs`) that misbehaves on request; what concerns a whole runner
//! process (signals, adoption, its own death) uses a puppet that drives a run itself.
//!
//! | situation | where |
//! |---|---|
//! | every exit code and signal; a shell's own 137; resource use; texts that speak of failure | `exits` |
//! | deadline, silence, grace, a stopped command, bounded time | `limits` |
//! | background children, daemons, strangers, what hides, storms of forks | `tree` |
//! | what keeps a program from being started | `starts` |
//! | signals to the runner, pausing, its death, the death of its helper | `signals` |
//! | standard input, large and binary output | `streams` |
//! | pipelines | `shell` |
//! | many runs at once | `storm` |
//!
//! The same situations from the command line, with their records and exit statuses, are in
//! `tests/cli/endings.rs`, which lists where.
//!
//! Runs in this process have a helper, as a library's do; `drive` adopts, as the command line
//! does. Both have a control group where this machine allows one; the tests that matter for it
//! are made with and without.
//!
//! What cannot be brought about here, and why:
//!
//! - A process that SIGKILL does not end (state D): needs a broken device. The same code is
//!   reached with a process of another user, in `tree`, where the tests run as root.
//! - EAGAIN and ENOMEM at fork: limits on processes do not bind root, and a machine without
//!   memory would take the tests along. EMFILE takes the same path, in `starts`.
//! - The out-of-memory killer: needs a limit on memory of one's own, which only some machines
//!   let a test set. The reading of its evidence is tested beside its code.
//! - `memory.events` of a run's own control group, and a group without `cgroup.kill`: depend on
//!   the system's set-up and age. Their code is tested on folders that look like such groups.
//! - The reuse of a pid while a group is signalled: the pid cannot be reused before the leader
//!   is reaped. That the group is still reached after the leader's end is tested in `tree`.
//! - A record that cannot be written after the run belongs to the store's tests.
//! - Signals 17, 18, 23 and 28 (ignored by default) and 19 to 22 (which stop) end no process; a
//!   stopped command is in `limits`.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect has failed"
)]

mod hearing;
mod rig;
mod time;

mod exits;
mod limits;
mod shell;
mod signals;
mod starts;
mod storm;
mod streams;
mod tree;
