//! Turns the signals that the runner receives into bytes on a pipe, from its first moment to its last.
//!
//! It acts on none of them: the run does, and whoever chooses the exit status.

use std::io;
use std::sync::Arc;

use feedback_host::supervise::Control;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
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

/// Installs handlers that stay for the life of the process, and returns what they write to.
///
/// What was ignored when the process started stays ignored, as `nohup` and background jobs
/// want it.
///
/// # Errors
/// The system has no descriptors left, or refuses a handler.
pub(crate) fn control() -> io::Result<Control> {
    let (pipe, writer) = io::pipe()?;
    // A handler must never wait.
    fcntl_setfl(&writer, fcntl_getfl(&writer)? | OFlags::NONBLOCK)?;
    let writer = Arc::new(writer);
    let ignored = ignored_signals();
    for signal in HEARD.iter().map(|signal| signal.as_raw()) {
        let is_ignored = ignored & (1 << (signal - 1)) != 0;
        if is_ignored && signal != Signal::CONT.as_raw() {
            continue;
        }
        let writer = Arc::clone(&writer);
        let byte = u8::try_from(signal).map_err(io::Error::other)?;
        // SAFETY: the handler makes one system call on a descriptor that it owns; it allocates
        // nothing and takes no lock.
        unsafe {
            signal_hook::low_level::register(signal, move || {
                // A full pipe holds more requests than anybody reads.
                let _ = rustix::io::write(&writer, &[byte]);
            })?;
        }
    }
    Ok(Control::over(pipe.into()))
}

/// Returns the mask of the signals that this process ignores; bit 0 is signal 1.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
