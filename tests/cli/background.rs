//! A runner that is still running: what it has brought about by now, and signals to it.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::hearing::hears_all_signals;
use crate::sandbox::{Called, Sandbox};

/// Longer than anything takes on a busy machine, shorter than for ever.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A `feedback` that was started and not waited for.
pub(crate) struct Background {
    child: Child,
}

impl Background {
    /// Starts `feedback` with these arguments, its output into pipes.
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::start_with(sandbox, arguments, |_| {})
    }

    /// Starts it with something changed.
    pub(crate) fn start_with(
        sandbox: &Sandbox,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let mut command = sandbox.feedback();
        command
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        change(&mut command);
        Self::spawn(command)
    }

    /// Starts a command that hears all signals.
    pub(crate) fn spawn(mut command: Command) -> Self {
        hears_all_signals(&mut command);
        Self {
            child: command.spawn().expect("the binary runs"),
        }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    /// Waits until the runner has said that it will hear signals.
    pub(crate) fn hears_signals(&self) {
        eventually("handlers are installed", || {
            caught(self.pid(), Signal::CONT)
        });
    }

    /// Closes our ends of its output.
    pub(crate) fn nobody_reads(&mut self) {
        self.child.stdout = None;
        self.child.stderr = None;
    }

    /// Waits for the end.
    pub(crate) fn end(self) -> Called {
        Called::from(self.child.wait_with_output().expect("ends"))
    }

    pub(crate) fn wait(&mut self) -> std::process::ExitStatus {
        self.child.wait().expect("ends")
    }
}

pub(crate) fn send(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).expect("a pid"), signal).expect("there is such a process");
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < limit, "never: {what}");
        std::thread::yield_now();
    }
}

/// Waits until the file has a whole line, and returns it.
#[track_caller]
pub(crate) fn line_in(path: &Path) -> String {
    eventually("a line in the file", || holds_a_line(path));
    let text = fs::read_to_string(path).expect("a file");
    text.trim_end().to_owned()
}

/// Says whether the file has a whole line by now.
pub(crate) fn holds_a_line(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))
}

/// Returns the letter of a process's state; nothing where there is no such process.
pub(crate) fn state(pid: i32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

pub(crate) fn is_gone(pid: i32) -> bool {
    matches!(state(pid), None | Some('Z' | 'X'))
}

fn caught(pid: i32, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (signal.as_raw() - 1)) != 0)
}

/// Holds the lock of the sandbox's store until it is dropped: nobody can read or append.
pub(crate) fn hold_the_store(sandbox: &Sandbox) -> File {
    let file = File::options()
        .write(true)
        .open(sandbox.path().join("feedback_record.jsonl.lock"))
        .expect("the lock of a store with a record");
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).expect("the lock");
    file
}

/// Says whether a record waits in the pending folder, whole.
pub(crate) fn a_record_waits(sandbox: &Sandbox) -> bool {
    let pending = sandbox.path().join("feedback_record.jsonl.pending");
    let entries = fs::read_dir(pending).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| fs::read_to_string(entry.path()).ok())
        .any(|text| {
            let written = text.trim_end_matches('\0');
            written.lines().count() == 2 && written.ends_with('\n')
        })
}
