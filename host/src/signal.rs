//! Names of signals and error numbers, and the pipe through which signals reach a run.
//!
//! It installs no handlers: whoever owns the process does.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// SIGTSTP: pause the run.
pub(crate) const PAUSE: i32 = rustix::process::Signal::TSTP.as_raw();
/// SIGCONT: resume it.
pub(crate) const RESUME: i32 = rustix::process::Signal::CONT.as_raw();

/// Returns the name of a signal, such as `SIGKILL`, or nothing for a signal without one.
#[must_use]
pub fn name(signal: i32) -> Option<&'static str> {
    SIGNALS
        .iter()
        .find(|(number, _)| *number == signal)
        .map(|(_, name)| *name)
}

/// Returns what a sentence calls a signal: its name, or `signal 40`.
#[must_use]
pub fn label(signal: i32) -> String {
    name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
}

/// Returns the name of an error number, such as `ENOENT`, or `errno n` for a rare one.
#[must_use]
pub fn errno_name(errno: i32) -> String {
    let known = ERRNOS.iter().find(|(number, _)| *number == errno);
    known.map_or_else(|| format!("errno {errno}"), |(_, name)| (*name).to_owned())
}

/// The reading end of a pipe that carries one byte per signal to the runner: its number.
///
/// SIGINT, SIGTERM, SIGHUP and SIGQUIT (and any other number) cancel the run, SIGTSTP pauses it
/// until SIGCONT comes.
#[derive(Debug)]
pub struct Control {
    pipe: Option<OwnedFd>,
}

impl Control {
    /// Returns a control through which nothing ever comes.
    #[must_use]
    pub fn none() -> Self {
        Self { pipe: None }
    }

    /// Returns a control over the reading end of a pipe.
    #[must_use]
    pub fn over(pipe: OwnedFd) -> Self {
        Self { pipe: Some(pipe) }
    }

    /// Returns the first request to end that no run has taken, for instance one that came while
    /// the record was being written. Never waits.
    pub fn untaken(&mut self) -> Option<i32> {
        self.arrived()
            .into_iter()
            .find(|signal| is_request_to_end(*signal))
    }

    /// The descriptor to wait for, while the other end is open.
    pub(crate) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(OwnedFd::as_fd)
    }

    /// Returns the signals that have arrived. Never waits, even on a blocking pipe.
    pub(crate) fn arrived(&mut self) -> Vec<i32> {
        let mut signals = Vec::new();
        while let Some(pipe) = self.pipe.as_ref().filter(|pipe| is_readable(pipe)) {
            let mut bytes = [0; 16];
            match rustix::io::read(pipe, &mut bytes) {
                Ok(0) => self.pipe = None,
                Ok(count) => signals.extend(bytes.iter().take(count).map(|byte| i32::from(*byte))),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => self.pipe = None,
            }
        }
        signals
    }
}

/// Says whether a signal is anything but job control.
pub(crate) fn is_request_to_end(signal: i32) -> bool {
    signal != PAUSE && signal != RESUME
}

fn is_readable(pipe: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(pipe, PollFlags::IN)];
    matches!(poll(&mut fds, Some(&Timespec::default())), Ok(count) if count > 0)
}

/// Says whether this process ignores SIGCHLD, so that the system throws away how children end.
pub(crate) fn ignores_dead_children() -> bool {
    // SAFETY: the structure is plain numbers; nothing is set, only the old action is returned.
    let old = unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut old);
        old
    };
    old.sa_sigaction == libc::SIG_IGN
}

/// Gives SIGCHLD its default action.
pub(crate) fn heed_dead_children() {
    // SAFETY: a default action runs no code of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Returns a poll timeout that is never shorter than `wait`.
pub(crate) fn timespec(wait: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: wait.subsec_nanos().into(),
    }
}

const SIGNALS: &[(i32, &str)] = &[
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGKILL, "SIGKILL"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGUSR2, "SIGUSR2"),
    (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGALRM, "SIGALRM"),
    (libc::SIGTERM, "SIGTERM"),
    #[cfg(target_os = "linux")]
    (libc::SIGSTKFLT, "SIGSTKFLT"),
    (libc::SIGCHLD, "SIGCHLD"),
    (libc::SIGCONT, "SIGCONT"),
    (libc::SIGSTOP, "SIGSTOP"),
    (libc::SIGTSTP, "SIGTSTP"),
    (libc::SIGTTIN, "SIGTTIN"),
    (libc::SIGTTOU, "SIGTTOU"),
    (libc::SIGURG, "SIGURG"),
    (libc::SIGXCPU, "SIGXCPU"),
    (libc::SIGXFSZ, "SIGXFSZ"),
    (libc::SIGVTALRM, "SIGVTALRM"),
    (libc::SIGPROF, "SIGPROF"),
    (libc::SIGWINCH, "SIGWINCH"),
    (libc::SIGIO, "SIGIO"),
    #[cfg(target_os = "linux")]
    (libc::SIGPWR, "SIGPWR"),
    (libc::SIGSYS, "SIGSYS"),
];

const ERRNOS: &[(i32, &str)] = &[
    (libc::EPERM, "EPERM"),
    (libc::ENOENT, "ENOENT"),
    (libc::EIO, "EIO"),
    (libc::E2BIG, "E2BIG"),
    (libc::ENOEXEC, "ENOEXEC"),
    (libc::EAGAIN, "EAGAIN"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EACCES, "EACCES"),
    (libc::EFAULT, "EFAULT"),
    (libc::EBUSY, "EBUSY"),
    (libc::ENODEV, "ENODEV"),
    (libc::ENOTDIR, "ENOTDIR"),
    (libc::EISDIR, "EISDIR"),
    (libc::EINVAL, "EINVAL"),
    (libc::ENFILE, "ENFILE"),
    (libc::EMFILE, "EMFILE"),
    (libc::ETXTBSY, "ETXTBSY"),
    (libc::ENOSPC, "ENOSPC"),
    (libc::EROFS, "EROFS"),
    (libc::EPIPE, "EPIPE"),
    (libc::ENAMETOOLONG, "ENAMETOOLONG"),
    (libc::ENOSYS, "ENOSYS"),
    (libc::ELOOP, "ELOOP"),
    (libc::ESTALE, "ESTALE"),
    (libc::ETIMEDOUT, "ETIMEDOUT"),
    (libc::ENOTCONN, "ENOTCONN"),
    #[cfg(target_os = "linux")]
    (libc::ELIBBAD, "ELIBBAD"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_standard_signal_has_a_name_and_no_real_time_one_has() {
        assert!((1..=31).all(|signal| name(signal).is_some()));
        assert!((32..=64).all(|signal| name(signal).is_none()));
    }

    #[test]
    fn a_control_pipe_gives_every_signal_once_and_notices_its_end() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        let mut control = Control::over(read);
        assert_eq!(control.arrived(), Vec::<i32>::new());
        rustix::io::write(&write, &[2, 15]).unwrap();
        assert_eq!(control.arrived(), [2, 15]);
        drop(write);
        assert_eq!(control.arrived(), Vec::<i32>::new());
        assert!(control.pipe().is_none());
    }

    #[test]
    fn a_rare_error_number_keeps_its_number() {
        assert_eq!(errno_name(libc::ENOENT), "ENOENT");
        assert_eq!(errno_name(4000), "errno 4000");
    }
}
