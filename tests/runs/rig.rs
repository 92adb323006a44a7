//! What every test uses: a run of the puppet inside this process, and a runner process to signal.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use feedback_host::ending::{Ending, Outcome, Source};
use feedback_host::supervise::{Adoption, Command, Control, Limits, Sink, supervise};
use serde_json::Value;

use crate::hearing::hears_all_signals;

/// Longer than anything takes on a busy machine, shorter than for ever.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the program that the tests start. `cargo test` builds it with the tests.
pub(crate) fn puppet() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let puppet = test
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/puppet");
    assert!(
        puppet.exists(),
        "`{}` is missing; `cargo build --example puppet` makes it",
        puppet.display()
    );
    puppet
}

/// A run to be.
pub(crate) struct Trial {
    pub(crate) command: Command,
    pub(crate) limits: Limits,
    reaction: Option<(String, Reaction)>,
    control: (Control, OwnedFd),
}

type Reaction = Box<dyn FnMut(&str, &OwnedFd)>;

impl Trial {
    /// A run of any argv.
    pub(crate) fn of<A: Into<OsString>>(argv: impl IntoIterator<Item = A>) -> Self {
        let (read, write) = std::io::pipe().unwrap();
        let argv = argv.into_iter().map(Into::into).collect();
        Self {
            command: Command {
                argv,
                ..Command::default()
            },
            limits: Limits::default(),
            reaction: None,
            control: (Control::over(read.into()), write.into()),
        }
    }

    /// A run of the puppet.
    pub(crate) fn puppet<const N: usize>(words: [&str; N]) -> Self {
        Self::of_puppet(&words)
    }

    /// A run of the puppet with any number of words.
    pub(crate) fn of_puppet(words: &[&str]) -> Self {
        Self::of(std::iter::once(puppet().into_os_string()).chain(words.iter().map(Into::into)))
    }

    /// A run of a script with its stages.
    pub(crate) fn shell(script: &str) -> Self {
        let mut trial = Self::of([script]);
        trial.command.shell = true;
        trial
    }

    pub(crate) fn timeout(mut self, millis: u64) -> Self {
        self.limits.timeout = Some(Duration::from_millis(millis));
        self
    }

    pub(crate) fn silence(mut self, millis: u64) -> Self {
        self.limits.silence = Some(Duration::from_millis(millis));
        self
    }

    pub(crate) fn grace(mut self, millis: u64) -> Self {
        self.limits.grace = Duration::from_millis(millis);
        self
    }

    pub(crate) fn drain(mut self, millis: u64) -> Self {
        self.limits.drain = Duration::from_millis(millis);
        self
    }

    pub(crate) fn keep_background(mut self) -> Self {
        self.limits.keep_background = true;
        self
    }

    /// Runs without a control group of the run's own, as where none can be made.
    pub(crate) fn without_group(mut self) -> Self {
        self.limits.control_group = false;
        self
    }

    /// Runs without a helper between this process and the command.
    pub(crate) fn without_helper(mut self) -> Self {
        self.limits.adoption = Adoption::None;
        self
    }

    pub(crate) fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.command.cwd = Some(cwd.into());
        self
    }

    pub(crate) fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.command.env.push((name.into(), Some(value.into())));
        self
    }

    /// Does something once, as soon as stdout holds `text`; given are stdout and the control.
    pub(crate) fn when(
        mut self,
        text: &str,
        reaction: impl FnMut(&str, &OwnedFd) + 'static,
    ) -> Self {
        self.reaction = Some((text.to_owned(), Box::new(reaction)));
        self
    }

    /// Sends signals to the run as soon as stdout holds `text`.
    pub(crate) fn signal_when(self, text: &str, signals: &'static [u8]) -> Self {
        self.when(text, |_, control| send(control, signals))
    }

    /// Sends signals before the run begins.
    pub(crate) fn signal_first(self, signals: &[u8]) -> Self {
        send(&self.control.1, signals);
        self
    }

    pub(crate) fn run(mut self) -> Done {
        let mut seen = Seen {
            stdout: Vec::new(),
            stderr: Vec::new(),
            ends: Vec::new(),
            reaction: self.reaction.take(),
            control: self.control.1,
        };
        let began = Instant::now();
        let ending = supervise(&self.command, &self.limits, &mut self.control.0, &mut seen);
        let took = began.elapsed();
        assert_eq!(ending.stdout.end_seen, seen.ends.contains(&Source::Stdout));
        assert_eq!(ending.stderr.end_seen, seen.ends.contains(&Source::Stderr));
        Done {
            ending,
            stdout: seen.stdout,
            stderr: seen.stderr,
            took,
        }
    }
}

fn send(control: &OwnedFd, signals: &[u8]) {
    rustix::io::write(control, signals).unwrap();
}

/// A run that was.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) ending: Ending,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) took: Duration,
}

impl Done {
    #[track_caller]
    pub(crate) fn exited(&self, code: u8) -> &Self {
        assert_eq!(self.ending.outcome, Outcome::Exited { code }, "{self:?}");
        assert_eq!(self.ending.exit_code(), Some(code));
        self
    }

    /// The document that the component gets.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.ending.to_json()).unwrap()
    }

    pub(crate) fn outcome(&self) -> Value {
        self.json()["outcome"].clone()
    }

    #[track_caller]
    pub(crate) fn not_started(&self, cause: &str, errno: &str) -> String {
        assert_eq!(
            self.outcome(),
            serde_json::json!({"kind": "not-started", "cause": cause, "errno": errno}),
            "{self:?}"
        );
        assert_eq!(self.ending.exit_code(), None);
        assert!(self.stdout.is_empty() && self.stderr.is_empty());
        self.ending.error.clone().unwrap()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }
}

struct Seen {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    ends: Vec<Source>,
    reaction: Option<(String, Reaction)>,
    control: OwnedFd,
}

impl Sink for Seen {
    fn bytes(&mut self, source: Source, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        match source {
            Source::Stdout => self.stdout.extend_from_slice(bytes),
            Source::Stderr => self.stderr.extend_from_slice(bytes),
        }
        let text = String::from_utf8_lossy(&self.stdout);
        if let Some((_, mut reaction)) = self
            .reaction
            .take_if(|(needle, _)| text.contains(needle.as_str()))
        {
            reaction(&text, &self.control);
        }
    }

    fn end(&mut self, source: Source) {
        self.ends.push(source);
    }
}

/// A runner process.
pub(crate) struct Driver {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Driver {
    /// Starts a runner with options for it, and the puppet's words.
    pub(crate) fn start(options: &[&str], words: &[&str]) -> Self {
        Self::start_with(options, words, |_| {})
    }

    pub(crate) fn start_with(
        options: &[&str],
        words: &[&str],
        change: impl FnOnce(&mut std::process::Command),
    ) -> Self {
        let mut command = std::process::Command::new(puppet());
        command.arg("drive").args(options).arg(puppet()).args(words);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        hears_all_signals(&mut command);
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Returns the next line of the command's output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub(crate) fn signal(&self, signal: i32) {
        kill(self.pid(), signal);
    }

    /// Waits for the runner and returns its ending.
    pub(crate) fn ending(mut self) -> Value {
        let ending = loop {
            let line = self.line();
            if let Some(json) = line.strip_prefix("ENDING ") {
                break serde_json::from_str(json).unwrap();
            }
            assert!(!line.is_empty(), "the runner died");
        };
        assert!(self.child.wait().unwrap().success());
        ending
    }
}

/// Signals one process.
pub(crate) fn kill(pid: i32, signal: i32) {
    // SAFETY: passes two numbers.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0, "no process {pid}");
}

/// Says whether runs get control groups here: they do where this process may make one below its
/// own, which a folder that it may write shows.
pub(crate) fn has_groups() -> bool {
    Trial::of(["sh", "-c", "exec cat /proc/self/cgroup"])
        .run()
        .text()
        .contains("feedback-run-")
}

/// Returns the state letter of a process, or nothing if there is none.
pub(crate) fn state(pid: i32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

pub(crate) fn is_alive(pid: i32) -> bool {
    !matches!(state(pid), None | Some('Z' | 'X'))
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

/// Returns the number in a file that the puppet has written.
pub(crate) fn pid_in(file: &Path) -> i32 {
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

/// Makes a program with this content.
///
/// Another process writes it: what this one has open for writing, a child that another test starts
/// at this moment has too until it executes, and a program that is open for writing is busy.
pub(crate) fn program(path: &Path, content: &[u8]) {
    let text = path.with_extension("text");
    std::fs::write(&text, content).unwrap();
    install(&text, path, "755");
}

/// Copies a program to where this mode is its own.
pub(crate) fn install(from: &Path, to: &Path, mode: &str) {
    let mut install = std::process::Command::new("install");
    let status = install.args(["-m", mode]).arg(from).arg(to).status();
    assert!(status.unwrap().success());
}

/// A folder for one test.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Returns a path as a word for the puppet.
pub(crate) fn word(path: &Path) -> &str {
    path.to_str().unwrap()
}
