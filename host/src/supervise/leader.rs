//! The process that was started: learns how it ended without reaping it, and reaps it last.
//!
//! It knows nothing of the leader's descendants.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::ending::{Then, Usage};
use crate::keeper::{Keeper, Used};
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
    /// Its parent, where that is not this process.
    keeper: Option<Keeper>,
    reaped: bool,
    /// What a new process inherits from this one and the system counts as its peak.
    inherited: u64,
}

impl Leader {
    pub(super) fn new(pid: Pid, keeper: Option<Keeper>, inherited: u64) -> Self {
        Self {
            pid,
            pidfd: pidfd(pid),
            keeper,
            reaped: false,
            inherited,
        }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Descriptors that become readable when the process ends; none where the system has none.
    pub(super) fn events(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let own = self.pidfd.as_ref().map(OwnedFd::as_fd);
        own.into_iter()
            .chain(self.keeper.as_ref().map(Keeper::events))
    }

    /// Returns how the process ended, or nothing while it has not. It stays unreaped, so that
    /// its pid and its group's number cannot pass to strangers.
    pub(super) fn peek(&mut self) -> Option<Status> {
        let Some(keeper) = &mut self.keeper else {
            return self.peek_at_child();
        };
        let mut ended = keeper.ended();
        if ended.is_none() && self.pidfd.as_ref().is_some_and(has_ended) {
            // Waited for, so that what has ended in time is never late or cancelled.
            ended = keeper.hear_the_end();
        }
        if ended.is_none() && keeper.is_lost() {
            return Some(Status::Lost);
        }
        ended.map(|(code, status)| told(code, status))
    }

    fn peek_at_child(&self) -> Option<Status> {
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
        let used = match &mut self.keeper {
            Some(keeper) => {
                let used = keeper.reap();
                // Without its keeper, somebody else has reaped it by now or will.
                self.reaped = used.is_some() || keeper.is_gone();
                used
            }
            None => self.reap_child(),
        }?;
        let peak = u64::try_from(used.peak)
            .unwrap_or(0)
            .saturating_mul(RSS_UNIT);
        Some(Usage {
            max_rss_bytes: (peak > self.inherited).then_some(peak),
            user_ms: whole_millis(used.user),
            system_ms: whole_millis(used.system),
        })
    }

    fn reap_child(&mut self) -> Option<Used> {
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
        (found == self.pid.as_raw_pid()).then(|| Used {
            peak: usage.ru_maxrss,
            user: parts(usage.ru_utime),
            system: parts(usage.ru_stime),
        })
    }

    /// Sends the keeper away when everything has been dealt with; what is still alive stays so.
    pub(super) fn dismiss_keeper(&mut self) {
        self.keeper.iter_mut().for_each(Keeper::dismiss);
    }
}

/// Reads what `waitid` told the keeper.
fn told(code: i32, status: i32) -> Status {
    if code == libc::CLD_EXITED
        && let Ok(code) = u8::try_from(status & 0xff)
    {
        return Status::Exited(code);
    }
    Status::Signaled {
        signal: status,
        core_dumped: code == libc::CLD_DUMPED,
    }
}

fn has_ended(pidfd: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
    poll(&mut fds, Some(&timespec(Duration::ZERO))).is_ok_and(|count| count > 0)
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
const DISAPPEARANCE: Duration = Duration::from_secs(2);

/// The unit of the system's peak: Linux counts in KiB, macOS in bytes.
const RSS_UNIT: u64 = if cfg!(target_os = "macos") { 1 } else { 1024 };

#[expect(
    clippy::useless_conversion,
    reason = "macOS counts microseconds in a smaller type"
)]
fn parts(time: libc::timeval) -> (i64, i64) {
    (time.tv_sec, time.tv_usec.into())
}

fn whole_millis((seconds, micros): (i64, i64)) -> u64 {
    let seconds = u64::try_from(seconds).unwrap_or(0);
    let micros = u64::try_from(micros).unwrap_or(0);
    seconds.saturating_mul(1000).saturating_add(micros / 1000)
}
