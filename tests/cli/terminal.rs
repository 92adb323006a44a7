//! A terminal of our own, with `feedback` as the program that a person has started on it.

use std::ffi::CStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};

use rustix::event::{PollFd, PollFlags};

use crate::background::Background;

/// The terminal's side that a person sits at.
pub(crate) struct Terminal {
    person: File,
    seen: Vec<u8>,
    pub(crate) runner: Background,
}

pub(crate) const CTRL_C: u8 = 3;
pub(crate) const CTRL_Z: u8 = 26;
pub(crate) const CTRL_BACKSLASH: u8 = 28;

impl Terminal {
    /// Starts the command with all three descriptors on a new terminal, which it controls.
    pub(crate) fn start(mut command: Command) -> Self {
        let (person, program) = pair();
        let copy = || program.try_clone().expect("a descriptor");
        command
            .env("TERM", "xterm")
            .stdin(copy())
            .stdout(copy())
            .stderr(program);
        let take_the_terminal = || {
            rustix::process::setsid()?;
            // SAFETY: descriptor 0 is the terminal, and the call takes a number.
            match unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        // SAFETY: the hook makes two system calls.
        unsafe { command.pre_exec(take_the_terminal) };
        // The command keeps our copies of the program's side; it goes at the end of this call.
        let runner = Background::spawn(command);
        Self {
            person: person.into(),
            seen: Vec::new(),
            runner,
        }
    }

    /// Types one key.
    pub(crate) fn press(&mut self, key: u8) {
        self.person.write_all(&[key]).expect("typed");
    }

    /// Types a line.
    pub(crate) fn enter(&mut self, line: &str) {
        writeln!(self.person, "{line}").expect("typed");
    }

    /// Looks at the terminal until this is to be seen.
    #[track_caller]
    pub(crate) fn watch_for(&mut self, text: &str) {
        while !self.seen().contains(text) {
            assert!(self.read(), "`{text}` was never seen in: {:?}", self.seen());
        }
    }

    /// Looks at the terminal until its program has ended; returns the status, and all that was
    /// seen.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        while self.read() {}
        (self.runner.wait(), self.seen())
    }

    /// Closes the window.
    pub(crate) fn close(self) -> Background {
        self.runner
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// Returns whether there was more, and not the end.
    fn read(&mut self) -> bool {
        let patience = rustix::event::Timespec {
            tv_sec: 60,
            tv_nsec: 0,
        };
        let mut fds = [PollFd::new(&self.person, PollFlags::IN)];
        let ready = rustix::event::poll(&mut fds, Some(&patience)).expect("polled");
        assert_eq!(ready, 1, "nothing more is seen after {:?}", self.seen());
        let mut bytes = [0; 4096];
        match self.person.read(&mut bytes) {
            Ok(count) if count > 0 => {
                self.seen.extend_from_slice(&bytes[..count]);
                true
            }
            Ok(_) | Err(_) => false,
        }
    }
}

/// Returns both sides of a new terminal with 24 lines of 80 columns.
fn pair() -> (OwnedFd, OwnedFd) {
    // Closed in every program that another test starts: it would keep the terminal open.
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    let mut name = [0; 64];
    // SAFETY: the calls take numbers, and an array with its length; the descriptor is nobody
    // else's.
    let person = unsafe {
        let person = libc::posix_openpt(flags);
        assert!(person >= 0, "a terminal");
        assert_eq!(libc::unlockpt(person), 0);
        assert_eq!(
            libc::ptsname_r(person, name.as_mut_ptr().cast(), name.len()),
            0
        );
        OwnedFd::from_raw_fd(person)
    };
    let name = CStr::from_bytes_until_nul(&name).expect("a name");
    let program = File::options()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOCTTY)
        .open(name.to_str().expect("a path"))
        .expect("the other side");
    let size = rustix::termios::Winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    rustix::termios::tcsetwinsize(&program, size).expect("a size");
    (person, program.into())
}
