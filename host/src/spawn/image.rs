//! What the child executes, prepared so that nothing is left to allocate between fork and exec.
//!
//! It executes the file itself: the C library's search would run a file of unknown format with
//! `/bin/sh`, and a failure would look like a run.

use std::ffi::{CString, OsString, c_char};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal};

use crate::ending::{NotStarted, NotStartedCause};
#[cfg(target_os = "linux")]
use crate::keeper;

/// A program with its arguments and environment, in the form that the kernel takes.
pub(super) struct Image {
    path: CString,
    argv: Strings,
    envp: Strings,
    directory: Option<OwnedFd>,
    kept: Option<OwnedFd>,
    entrance: Option<OwnedFd>,
    line: Option<UnixStream>,
    runner: Option<Pid>,
}

impl Image {
    pub(super) fn new(
        path: &Path,
        argv: &[OsString],
        environment: &[(OsString, OsString)],
    ) -> Result<Self, NotStarted> {
        let variables = environment
            .iter()
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
        Ok(Self {
            path: c_string(path.as_os_str().as_bytes().to_vec())?,
            argv: Strings::new(argv.iter().map(|text| text.as_bytes().to_vec()))?,
            envp: Strings::new(variables)?,
            directory: None,
            kept: None,
            entrance: None,
            line: None,
            runner: Some(rustix::process::getpid()),
        })
    }

    /// Makes the child enter this directory.
    pub(super) fn in_directory(self, directory: OwnedFd) -> Self {
        Self {
            directory: Some(directory),
            ..self
        }
    }

    /// Lets the child keep this descriptor beside the three, under the same number.
    pub(super) fn keeping(self, kept: Option<OwnedFd>) -> Self {
        Self { kept, ..self }
    }

    /// Makes the child enter the control group behind this descriptor before it executes.
    pub(super) fn entering(self, entrance: Option<OwnedFd>) -> Self {
        Self { entrance, ..self }
    }

    /// Puts a keeper at the other end of this line between the runner and the child.
    pub(super) fn kept_over(self, line: Option<UnixStream>) -> Self {
        Self { line, ..self }
    }

    /// Returns the process to spawn.
    pub(super) fn process(
        self,
        stdin: Stdio,
        stdout: OwnedFd,
        stderr: OwnedFd,
    ) -> std::process::Command {
        // The name is never looked up: the hook below either executes the image or fails.
        let mut process = std::process::Command::new("/");
        process.stdin(stdin);
        process.stdout(stdout).stderr(stderr);
        let hook = move || Err(self.become_image_or_keeper());
        // SAFETY: the hook makes system calls only; everything that it points to was allocated
        // before the fork and is owned by the closure.
        unsafe { process.pre_exec(hook) };
        process
    }

    #[cfg(target_os = "linux")]
    fn become_image_or_keeper(&self) -> io::Error {
        match &self.line {
            Some(line) => {
                let keeper = Some(rustix::process::getpid());
                keeper::keep(line, || self.become_image(keeper))
            }
            None => self.become_image(self.runner),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn become_image_or_keeper(&self) -> io::Error {
        self.become_image(self.runner)
    }

    /// Runs in the child. Returns only if the image could not be executed.
    fn become_image(&self, parent: Option<Pid>) -> io::Error {
        match self.prepare(parent) {
            Ok(()) => {
                self.say_started();
                // SAFETY: the path and both arrays are NUL-terminated and live as long as `self`.
                unsafe { libc::execve(self.path.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr()) };
                io::Error::last_os_error()
            }
            Err(error) => error,
        }
    }

    #[cfg(target_os = "linux")]
    fn say_started(&self) {
        self.line.iter().for_each(keeper::say_started);
    }

    #[cfg(not(target_os = "linux"))]
    fn say_started(&self) {
        let _ = &self.line;
    }

    fn prepare(&self, parent: Option<Pid>) -> io::Result<()> {
        if let Some(entrance) = &self.entrance {
            // Refused is as good as not asked for: the tree is found without it too.
            let _ = rustix::io::write(entrance, b"0");
        }
        if let Some(directory) = &self.directory {
            rustix::process::fchdir(directory)?;
        }
        // A session of its own: it has no terminal to ask a password on, its processes can be
        // told from strangers, and what it does to its own group does not reach the runner.
        rustix::process::setsid()?;
        reset_signals();
        die_with(parent)?;
        close_on_exec();
        if let Some(kept) = &self.kept {
            // SAFETY: the descriptor is open; the call changes a flag of it.
            unsafe { libc::fcntl(kept.as_raw_fd(), libc::F_SETFD, 0) };
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn die_with(parent: Option<Pid>) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // A parent that died before the call above sends nothing any more.
    if rustix::process::getppid() == parent {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::ESRCH))
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with(parent: Option<Pid>) -> io::Result<()> {
    let _ = (parent, Signal::KILL);
    Ok(())
}

/// Gives every signal its default action and lets it through: what the runner ignores, a command must not inherit.
fn reset_signals() {
    for signal in 1..=64 {
        // SAFETY: setting a default action runs no code of ours. Signals that may not be changed
        // are refused by the system, which is as good.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    reset_reserved_signals();
    // SAFETY: the set is a live value that the calls fill and read.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// The C library keeps two signals to itself and refuses to touch them, but passes on that
/// somebody had them ignored.
#[cfg(target_os = "linux")]
fn reset_reserved_signals() {
    const MASK_BYTES: usize = 8;
    // All zeros: the default action, no flags, nothing blocked. Longer than any system's structure.
    let default = [0_u64; 8];
    for signal in [32, 33] {
        // SAFETY: the structure lives during the call, and no old one is asked for.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                std::ptr::null::<u64>(),
                MASK_BYTES,
            )
        };
    }
}

#[cfg(not(target_os = "linux"))]
fn reset_reserved_signals() {}

/// Marks every descriptor beside the three, so that none of a stranger's is held open by a run.
#[cfg(target_os = "linux")]
fn close_on_exec() {
    // An old kernel refuses; then only descriptors that the runner inherited get through.
    // SAFETY: the call takes three numbers and closes nothing in this process image.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
}

#[cfg(not(target_os = "linux"))]
fn close_on_exec() {}

/// Returns the bytes that a new process seems to have used before it executes anything.
///
/// A fork copies what is anonymous, and of the files that a process maps only the few pages that
/// lie beside something anonymous.
pub(super) fn memory_that_a_fork_copies() -> u64 {
    const BESIDE: u64 = 4 << 20;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bytes = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        let kib = line.and_then(|line| line.trim_end_matches("kB").trim().parse::<u64>().ok());
        kib.unwrap_or(0).saturating_mul(1024)
    };
    bytes("RssAnon:").saturating_add(bytes("RssFile:").min(BESIDE))
}

/// Texts and the array of pointers to them that ends with a null pointer.
struct Strings {
    pointers: Vec<*const c_char>,
    _texts: Vec<CString>,
}

// SAFETY: the pointers are to heap memory that the same value owns and never changes.
unsafe impl Send for Strings {}
// SAFETY: as above; nothing is mutable.
unsafe impl Sync for Strings {}

impl Strings {
    fn new(texts: impl Iterator<Item = Vec<u8>>) -> Result<Self, NotStarted> {
        let texts = texts.map(c_string).collect::<Result<Vec<_>, _>>()?;
        let pointers = texts
            .iter()
            .map(|text| text.as_ptr())
            .chain([std::ptr::null()])
            .collect();
        Ok(Self {
            pointers,
            _texts: texts,
        })
    }

    fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

fn c_string(bytes: Vec<u8>) -> Result<CString, NotStarted> {
    CString::new(bytes).map_err(|_| {
        NotStarted::new(
            NotStartedCause::InvalidArgument,
            Some(libc::EINVAL),
            "an argument has a NUL byte in it",
        )
    })
}
