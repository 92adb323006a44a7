//! The ways to take the output of `cat FILE`: through the runner, and through what only copies.
//!
//! It measures; what the numbers mean is not known here.

use std::fs::File;
use std::io::Read;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long one took, and what its process took of memory and of a processor.
pub(crate) struct Took {
    pub(crate) time: Duration,
    pub(crate) peak_bytes: Option<u64>,
    /// Time on a processor, of the runner and of what it ran.
    pub(crate) cpu: Option<Duration>,
}

/// One way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `feedback run -- cat FILE`
    Run,
    /// The same with `--keep-output`.
    Keep,
    /// `cat FILE | tee /dev/null > /dev/null`
    Tee,
    /// `cat FILE | tee LOG > /dev/null`, as people keep what a command prints.
    TeeFile,
    /// `cat FILE` into a pipe that somebody empties.
    Pipe,
    /// `script -q -c 'cat FILE' /dev/null`
    Script,
    /// `cat FILE | ts > /dev/null`
    Ts,
}

impl Way {
    /// Returns the ways that this machine has.
    pub(crate) fn present() -> Vec<Self> {
        let all = [
            Self::Run,
            Self::Keep,
            Self::Tee,
            Self::TeeFile,
            Self::Pipe,
            Self::Script,
            Self::Ts,
        ];
        all.into_iter()
            .filter(|way| way.program().is_none_or(is_there))
            .collect()
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Run => "feedback run",
            Self::Keep => "feedback run --keep-output",
            Self::Tee => "tee /dev/null",
            Self::TeeFile => "tee LOG",
            Self::Pipe => "a pipe",
            Self::Script => "script",
            Self::Ts => "ts",
        }
    }

    fn program(self) -> Option<&'static str> {
        match self {
            Self::Run | Self::Keep | Self::Tee | Self::TeeFile | Self::Pipe => None,
            Self::Script => Some("script"),
            Self::Ts => Some("ts"),
        }
    }

    /// Takes the output once.
    pub(crate) fn take(self, path: &Path, folder: &Path) -> Took {
        let started = Instant::now();
        let used = match self {
            Self::Run => Some(feedback(&[], &["cat".as_ref(), path], folder)),
            Self::Keep => {
                let used = feedback(&["--keep-output"], &["cat".as_ref(), path], folder);
                Some(used)
            }
            Self::Tee => {
                through(path, Command::new("tee").arg("/dev/null"));
                None
            }
            Self::TeeFile => {
                let log = folder.join("tee.log");
                through(path, Command::new("tee").arg(&log));
                // What was written once must be written anew, as a new log is.
                std::fs::remove_file(log).unwrap();
                None
            }
            Self::Ts => {
                through(path, &mut Command::new("ts"));
                None
            }
            Self::Pipe => {
                empty(path);
                None
            }
            Self::Script => {
                let command = format!("cat '{}'", path.display());
                let mut script = Command::new("script");
                let script = script.args(["-q", "-c", &command, "/dev/null"]);
                let script = script.stdin(Stdio::null()).stdout(Stdio::null());
                assert!(script.status().unwrap().success());
                None
            }
        };
        Took::new(started.elapsed(), used)
    }
}

/// Streams what this program generates through the runner.
pub(crate) fn stream(this: &Path, name: &str, bytes: u64, folder: &Path) -> Took {
    let bytes = bytes.to_string();
    let argv = [this, "generate".as_ref(), name.as_ref(), bytes.as_ref()];
    let started = Instant::now();
    let used = feedback(&[], &argv, folder);
    Took::new(started.elapsed(), Some(used))
}

impl Took {
    fn new(time: Duration, used: Option<(u64, Duration)>) -> Self {
        Self {
            time,
            peak_bytes: used.map(|(peak, _)| peak),
            cpu: used.map(|(_, cpu)| cpu),
        }
    }
}

/// Runs a command through the runner and returns what was used: peak memory in bytes, and time on
/// a processor.
#[expect(
    clippy::zombie_processes,
    reason = "`used_by` waits for it, and learns more than `Child::wait` tells"
)]
fn feedback(options: &[&str], argv: &[&Path], folder: &Path) -> (u64, Duration) {
    let child = Command::new(env!("CARGO_BIN_EXE_feedback"))
        .arg("run")
        .args(options)
        .arg("--")
        .args(argv)
        .current_dir(folder)
        .env_remove("FEEDBACK_RECORD_FILE")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Kept outputs would fill the disk of who measures.
    let used = used_by(&child);
    let _ = std::fs::remove_dir_all(folder.join("feedback_record.jsonl.output"));
    used
}

/// Waits for a child and returns what it used. This program is small, and what a child has
/// before it becomes another program counts for it.
fn used_by(child: &Child) -> (u64, Duration) {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let pid = i32::try_from(child.id()).unwrap();
    // SAFETY: both pointers are to locals that live longer than the call, which fills them.
    let (waited, usage) = unsafe {
        let waited = libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr());
        (waited, usage.assume_init())
    };
    assert_eq!((waited, status), (pid, 0), "the run succeeds");
    let time = |time: libc::timeval| {
        Duration::from_secs(u64::try_from(time.tv_sec).unwrap())
            + Duration::from_micros(u64::try_from(time.tv_usec).unwrap())
    };
    let cpu = time(usage.ru_utime) + time(usage.ru_stime);
    (u64::try_from(usage.ru_maxrss).unwrap() * 1024, cpu)
}

fn through(path: &Path, command: &mut Command) {
    let mut cat = Command::new("cat")
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = cat.stdout.take().unwrap();
    let status = command.stdin(pipe).stdout(Stdio::null()).status().unwrap();
    assert!(status.success() && cat.wait().unwrap().success());
}

/// Empties the pipe of `cat FILE` with reads as large as the runner's.
pub(crate) fn empty(path: &Path) {
    let mut cat = Command::new("cat")
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = cat.stdout.take().unwrap();
    let mut buffer = vec![0; 256 * 1024];
    while pipe.read(&mut buffer).unwrap() > 0 {}
    assert!(cat.wait().unwrap().success());
}

fn is_there(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let in_folder = |folder: PathBuf| File::open(folder.join(program)).is_ok();
    std::env::split_paths(&paths).any(in_folder)
}
