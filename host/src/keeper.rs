//! A process between a library's user and one command: it adopts what the command leaves behind.
//!
//! Nothing that leaves its session and clears its environment is lost then, and the user's own
//! process neither adopts nor reaps a stranger. A keeper is forked and executes nothing; after the
//! fork it makes system calls only, as the other threads of the process that it was are gone. It
//! judges nothing: it tells its runner how the command ended, reaps on request, and ends
//! everything where the runner is gone.

#[cfg(target_os = "linux")]
mod serve;

use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use crate::signal::timespec;
use crate::tree;

/// What a keeper says: what it is about and five numbers.
type Message = [i64; 6];
const MESSAGE_BYTES: usize = 48;

/// The command's process says its pid, just before it executes.
const STARTED: i64 = 1;
/// It could not execute: the error number.
const FAILED: i64 = 2;
/// It has ended and is not reaped: the code and the status of `waitid`.
const ENDED: i64 = 3;
/// It is reaped: peak memory in the system's unit; seconds and microseconds of user and system.
const REAPED: i64 = 4;

/// The order to reap the command.
const REAP: u8 = b'r';
/// The order to go and to leave everything as it is.
const LEAVE: u8 = b'l';

/// A keeper that is gone must not end this process with SIGPIPE.
#[cfg(target_os = "linux")]
const NO_SIGNAL: i32 = libc::MSG_NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const NO_SIGNAL: i32 = 0;

/// How long a keeper may take to answer; it does nothing that takes time.
const PATIENCE: Duration = Duration::from_secs(1);

/// The two ends of the conversation between a runner and a keeper.
#[derive(Debug)]
pub(crate) struct Line {
    runner: UnixStream,
    keeper: UnixStream,
}

impl Line {
    /// Returns a new one, closed in every program that is executed.
    pub(crate) fn new() -> io::Result<Self> {
        let (runner, keeper) = UnixStream::pair()?;
        runner.set_nonblocking(true)?;
        Ok(Self { runner, keeper })
    }

    /// Returns the runner's end and the keeper's.
    pub(crate) fn ends(self) -> (UnixStream, UnixStream) {
        (self.runner, self.keeper)
    }
}

/// Becomes a keeper, in a process that has just been forked, and forks the command's process.
///
/// `image` is what the command's process does: it executes, or returns why it could not. Returns
/// only where there is no keeper.
#[cfg(target_os = "linux")]
pub(crate) fn keep(line: &UnixStream, image: impl FnOnce() -> io::Error) -> io::Error {
    serve::keep(line.as_raw_fd(), image)
}

/// Says from the command's process that it is about to execute.
#[cfg(target_os = "linux")]
pub(crate) fn say_started(line: &UnixStream) {
    serve::say_started(line.as_raw_fd());
}

/// The runner's side of a keeper.
#[derive(Debug)]
pub(crate) struct Keeper {
    line: UnixStream,
    process: Child,
    handle: Option<OwnedFd>,
    leader: Pid,
    ended: Option<(i32, i32)>,
    is_gone: bool,
    is_dismissed: bool,
}

/// What the command had used when it was reaped, in the system's units.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    pub(crate) peak: i64,
    /// Seconds and microseconds.
    pub(crate) user: (i64, i64),
    /// Seconds and microseconds.
    pub(crate) system: (i64, i64),
}

impl Keeper {
    /// Returns the keeper in `process`, once its command has been executed.
    ///
    /// # Errors
    /// The command's process could not execute, or there is none.
    pub(crate) fn meet(line: &UnixStream, process: Child) -> io::Result<Self> {
        let mut keeper = Self {
            line: line.try_clone()?,
            leader: Pid::from_child(&process),
            handle: tree::pidfd(Pid::from_child(&process)),
            process,
            ended: None,
            is_gone: false,
            is_dismissed: false,
        };
        // Both messages were sent before the fork returned: the first by a process that has
        // executed since, or has sent the second and is gone.
        let (mut leader, mut failed) = (None, None);
        while let Some(message) = keeper.message() {
            match message {
                [STARTED, pid, ..] => leader = i32::try_from(pid).ok().and_then(Pid::from_raw),
                [FAILED, errno, ..] => failed = i32::try_from(errno).ok(),
                other => keeper.note(other),
            }
        }
        match (leader, failed) {
            (Some(leader), None) => {
                keeper.leader = leader;
                Ok(keeper)
            }
            (_, failed) => {
                // The same line may serve another attempt, so nothing may be left in it.
                keeper.dismiss();
                Err(failed.map_or_else(
                    || io::Error::other("its process told nothing"),
                    io::Error::from_raw_os_error,
                ))
            }
        }
    }

    /// The process that was started for the command.
    pub(crate) fn leader(&self) -> Pid {
        self.leader
    }

    /// The keeper's own process.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// What becomes readable when the command has ended, or the keeper has.
    pub(crate) fn events(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }

    /// Returns how the command has ended, as `waitid` tells it; nothing while it has not. The
    /// command stays unreaped.
    pub(crate) fn ended(&mut self) -> Option<(i32, i32)> {
        while self.ended.is_none()
            && let Some(message) = self.message()
        {
            self.note(message);
        }
        self.ended
    }

    /// Says whether the keeper ended before it could tell how the command did.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_gone && self.ended.is_none()
    }

    /// Says whether the keeper has ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Returns the same of a command that has ended, which the keeper tells at once; or as soon
    /// as it goes on, where the command has stopped it.
    pub(crate) fn hear_the_end(&mut self) -> Option<(i32, i32)> {
        self.wake();
        wait_for(self.line.as_fd(), PATIENCE);
        self.ended()
    }

    /// Has the command reaped if it has ended, and returns what it used.
    pub(crate) fn reap(&mut self) -> Option<Used> {
        self.ended()?;
        if self.order(REAP).is_none() {
            self.is_gone = true;
        }
        loop {
            match self.await_message()? {
                [REAPED, peak, user, user_micros, system, system_micros] => {
                    return Some(Used {
                        peak,
                        user: (user, user_micros),
                        system: (system, system_micros),
                    });
                }
                other => self.note(other),
            }
        }
    }

    /// Sends the keeper away and leaves everything as it is.
    pub(crate) fn dismiss(&mut self) {
        if !self.is_dismissed {
            self.is_dismissed = true;
            let _ = self.order(LEAVE);
            self.see_off();
        }
    }

    /// Lets a keeper go on that somebody has stopped.
    fn wake(&self) {
        if let Some(handle) = &self.handle {
            tree::send(handle, Signal::CONT);
        }
    }

    fn order(&mut self, order: u8) -> Option<()> {
        self.wake();
        // SAFETY: the byte lives during the call.
        let sent = unsafe {
            let line = self.line.as_raw_fd();
            libc::send(line, (&raw const order).cast(), 1, NO_SIGNAL)
        };
        (sent == 1).then_some(())
    }

    fn note(&mut self, message: Message) {
        if let [ENDED, code, status, ..] = message {
            let number = |number| i32::try_from(number).unwrap_or(0);
            self.ended = Some((number(code), number(status)));
        }
    }

    /// Returns the next message; never waits.
    fn message(&mut self) -> Option<Message> {
        let mut bytes = [0; MESSAGE_BYTES];
        loop {
            match self.line.read(&mut bytes) {
                Ok(MESSAGE_BYTES) => return Some(decoded(&bytes)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                // The end, or half a message, which no keeper sends.
                Ok(_) | Err(_) => {
                    self.is_gone = true;
                    return None;
                }
            }
        }
    }

    fn await_message(&mut self) -> Option<Message> {
        wait_for(self.line.as_fd(), PATIENCE);
        self.message()
    }

    /// Collects the keeper's process, in bounded time where the system can tell of its end.
    /// Somebody else may have collected it.
    fn see_off(&mut self) {
        let patience = match &self.handle {
            Some(handle) => {
                wait_for(handle.as_fd(), PATIENCE);
                WaitOptions::NOHANG
            }
            None => WaitOptions::empty(),
        };
        let _ = waitpid(Some(self.pid()), patience);
        while self.message().is_some() {}
    }
}

impl Drop for Keeper {
    /// A keeper that was not sent away takes its end of the line for the runner's death, and ends
    /// everything.
    fn drop(&mut self) {
        if !self.is_dismissed {
            let _ = self.line.shutdown(std::net::Shutdown::Both);
            self.wake();
            self.see_off();
        }
    }
}

fn wait_for(fd: BorrowedFd<'_>, time: Duration) {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    // An interruption only makes the wait shorter.
    let _ = poll(&mut fds, Some(&timespec(time)));
}

#[cfg(any(target_os = "linux", test))]
fn encoded(message: Message) -> [u8; MESSAGE_BYTES] {
    let mut bytes = [0; MESSAGE_BYTES];
    for (place, number) in bytes.chunks_exact_mut(8).zip(message) {
        place.copy_from_slice(&number.to_ne_bytes());
    }
    bytes
}

fn decoded(bytes: &[u8; MESSAGE_BYTES]) -> Message {
    let mut message = [0; 6];
    for (number, place) in message.iter_mut().zip(bytes.chunks_exact(8)) {
        *number = place.try_into().map_or(0, i64::from_ne_bytes);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_survives_the_line() {
        let message = [1, -2, i64::MAX, i64::MIN, 0, 5];
        assert_eq!(decoded(&encoded(message)), message);
    }
}
