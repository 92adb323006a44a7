//! Turns the signals that the runner receives into bytes on a pipe, from its first moment to its last.
//!
//! It acts on none of them: the run does, and whoever chooses the exit status.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;

/// What the runner hears; SIGTSTP and SIGCONT pause and resume, the others cancel.
const HEARD: [Signal; 6] = [
    Signal::INT,
    Signal::TERM,
    Signal::HUP,
    Signal::QUIT,
    Signal::TSTP,
    Signal::CONT,
];

/// The reading end of the pipe. The handlers stay for the life of the process.
#[derive(Debug)]
pub(crate) struct Signals {
    pipe: OwnedFd,
}

impl Signals {
    /// Installs the handlers. What was ignored when the process started stays ignored, as
    /// `nohup` and background jobs want it.
    ///
    /// # Errors
    /// The system has no descriptors left, or refuses a handler.
    pub(crate) fn install() -> io::Result<Self> {
        let (pipe, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let writer = Arc::new(writer);
        let ignored = ignored_signals();
        for signal in HEARD.iter().map(|signal| signal.as_raw()) {
            let is_ignored = ignored & (1 << (signal - 1)) != 0;
            if is_ignored && signal != Signal::CONT.as_raw() {
                continue;
            }
            let writer = Arc::clone(&writer);
            let byte = u8::try_from(signal).map_err(io::Error::other)?;
            // SAFETY: the handler makes one system call on a descriptor that it owns; it
            // allocates nothing and takes no lock.
            unsafe {
                signal_hook::low_level::register(signal, move || {
                    // A full pipe holds more requests than anybody reads.
                    let _ = rustix::io::write(&writer, &[byte]);
                })?;
            }
        }
        Ok(Self { pipe })
    }

    /// Returns what a run takes as its control.
    pub(crate) fn control(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Returns the first request to end that no run has taken, for instance one that came while
    /// a record was being written. Never waits.
    pub(crate) fn untaken(&self) -> Option<i32> {
        let mut first = None;
        let mut bytes = [0; 16];
        while self.is_readable() {
            let Ok(count) = rustix::io::read(&self.pipe, &mut bytes) else {
                break;
            };
            let numbers = bytes.iter().take(count).map(|byte| i32::from(*byte));
            let job_control = [Signal::TSTP.as_raw(), Signal::CONT.as_raw()];
            first = first.or_else(|| {
                numbers
                    .into_iter()
                    .find(|number| !job_control.contains(number))
            });
        }
        first
    }

    fn is_readable(&self) -> bool {
        let mut fds = [PollFd::new(&self.pipe, PollFlags::IN)];
        matches!(poll(&mut fds, Some(&Timespec::default())), Ok(count) if count > 0)
    }
}

/// Returns the mask of the signals that this process ignores; bit 0 is signal 1.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
