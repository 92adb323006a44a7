//! The process that was started: learns how it ended without reaping it, and reaps it last.
//!
//! It knows nothing of the leader's descendants.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::ending::{Then, Usage};
use crate::signal::timespec;
use crate::tree::pidfd;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Exited(u8),
    Signaled {
        signal: i32,
        core_dumped: bool,
    },
    /// Another part of this process has collected it. Then its pid may be a stranger's by now.
    Lost,
}

impl Status {
    pub(super) fn then(self) -> Option<Then> {
        match self {
            Self::Exited(code) => Some(Then::ExitCode(code)),
            Self::Signaled { signal, .. } => Some(Then::Signal(signal)),
            Self::Lost => None,
        }
    }
}

/// The started process, until it is reaped.
#[derive(Debug)]
pub(super) struct Leader {
    pid: Pid,
    pidfd: Option<OwnedFd>,
    reaped: bool,
    /// What a new process inherits from this one and the system counts as its peak.
    inherited: u64,
}

impl Leader {
    pub(super) fn new(pid: Pid, inherited: u64) -> Self {
        Self {
            pid,
            pidfd: pidfd(pid),
            reaped: false,
            inherited,
        }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// A descriptor that becomes readable when the process ends, where the system has it.
    pub(super) fn pidfd(&self) -> Option<&OwnedFd> {
        self.pidfd.as_ref()
    }

    /// Returns how the process ended, or nothing while it has not. It stays unreaped, so that
    /// its pid and its group's number cannot pass to strangers.
    pub(super) fn peek(&self) -> Option<Status> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = match waitid(WaitId::Pid(self.pid), options) {
            Ok(status) => status?,
            Err(Errno::CHILD) => return Some(Status::Lost),
            Err(_) => return None,
        };
        let code = status
            .exit_status()
            .and_then(|code| u8::try_from(code & 0xff).ok())
            .map(Status::Exited);
        code.or_else(|| {
            let signal = status.terminating_signal()?;
            Some(Status::Signaled {
                signal,
                core_dumped: status.dumped(),
            })
        })
    }

    /// Reaps the process if it has ended, and returns what it used.
    pub(super) fn reap(&mut self) -> Option<Usage> {
        if self.reaped {
            return None;
        }
        let mut status = 0;
        // SAFETY: `rusage` is plain numbers, for which all zeros is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to live values that the call may write.
        let found = unsafe {
            libc::wait4(
                self.pid.as_raw_pid(),
                &raw mut status,
                libc::WNOHANG,
                &raw mut usage,
            )
        };
        // Anything but "not yet" means that there is nothing left to reap.
        self.reaped = found != 0;
        if found != self.pid.as_raw_pid() {
            return None;
        }
        let peak = u64::try_from(usage.ru_maxrss)
            .unwrap_or(0)
            .saturating_mul(RSS_UNIT);
        Some(Usage {
            max_rss_bytes: (peak > self.inherited).then_some(peak),
            user_ms: whole_millis(usage.ru_utime),
            system_ms: whole_millis(usage.ru_stime),
        })
    }
}

impl Drop for Leader {
    /// A sink that panics must not leave a process behind.
    fn drop(&mut self) {
        if !self.reaped {
            let _ = kill_process_group(self.pid, Signal::KILL);
            if let Some(pidfd) = &self.pidfd {
                let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
                let _ = poll(&mut fds, Some(&timespec(DISAPPEARANCE)));
            }
            let _ = self.reap();
        }
    }
}

/// How long a killed leader may take to end while a panic is on its way.
const DISAPPEARANCE: Duration = Duration::from_millis(200);

/// The unit of the system's peak: Linux counts in KiB, macOS in bytes.
const RSS_UNIT: u64 = if cfg!(target_os = "macos") { 1 } else { 1024 };

fn whole_millis(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    seconds.saturating_mul(1000).saturating_add(micros / 1000)
}
