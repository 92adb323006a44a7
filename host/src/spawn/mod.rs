//! Starts a command: a new session, no descriptors but the three, and a precise reason if it fails.
//!
//! It neither reads output nor waits.

mod diagnose;
mod header;
mod image;
mod lookup;
mod shell;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::Pid;

use crate::ending::{NotStarted, NotStartedCause};
use crate::keeper::{Keeper, Line};
use crate::tree;
use image::Image;

pub(crate) use shell::stages;

/// The variable that marks every process of a run, so that those which leave its session are found.
pub const RUN_ID: &str = "FEEDBACK_RUN_ID";

/// What to run, and in which surroundings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments; no shell reads them.
    pub argv: Vec<OsString>,
    /// The working directory; the runner's own where absent.
    pub cwd: Option<PathBuf>,
    /// Where the command reads from.
    pub stdin: Stdin,
    /// Changes to the environment, in order; no value removes the variable.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Whether to start from an empty environment instead of the runner's.
    pub env_clear: bool,
    /// Whether `argv[0]` is a script for bash and the rest are its positional parameters.
    pub shell: bool,
    /// The value of [`RUN_ID`] for the command; one is made up where it is absent.
    pub run_id: Option<String>,
}

/// Where a command reads its input from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stdin {
    /// From nowhere: the first read sees the end.
    #[default]
    Null,
    /// From the runner's own standard input.
    Inherit,
}

/// Returns the whole environment that the command will get, sorted by name.
///
/// The [`RUN_ID`] is among it only where the command names one.
#[must_use]
pub fn environment(command: &Command) -> Vec<(OsString, OsString)> {
    let mut variables = BTreeMap::new();
    if !command.env_clear {
        variables.extend(std::env::vars_os());
    }
    for (name, value) in &command.env {
        match value {
            Some(value) => variables.insert(name.clone(), value.clone()),
            None => variables.remove(name),
        };
    }
    if let Some(run_id) = &command.run_id {
        variables.insert(RUN_ID.into(), run_id.into());
    }
    variables.into_iter().collect()
}

/// Returns the argv as a record shows it: what is executed, without the runner's own additions.
#[must_use]
pub fn shown_argv(command: &Command) -> Vec<OsString> {
    if command.shell {
        shell::plain_argv(&command.argv)
    } else {
        command.argv.clone()
    }
}

/// A process that was started, and the ends of the pipes that it writes to.
#[derive(Debug)]
pub(crate) struct Started {
    /// The command's process.
    pub(crate) leader: Pid,
    /// Its parent, where that is not the runner.
    pub(crate) keeper: Option<Keeper>,
    /// Just before the fork.
    pub(crate) at: Instant,
    /// The memory that the fork copied, in bytes.
    pub(crate) copied: u64,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// Where bash reports the status of every stage; only for a shell command.
    pub(crate) stages: Option<OwnedFd>,
}

/// A fresh script may still be open for writing in a process that is about to close it.
const BUSY_RETRIES: u32 = 5;
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// What a command's process is put into.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Surroundings<'a> {
    /// Where a process enters a control group of the run's own.
    pub(crate) entrance: Option<BorrowedFd<'a>>,
    /// Whether a keeper stands between the runner and the command.
    pub(crate) is_kept: bool,
}

/// Starts the command. What can fail is done first, so that a failure leaves nothing behind.
pub(crate) fn start(command: &Command, around: Surroundings<'_>) -> Result<Started, NotStarted> {
    let environment = environment(command);
    check_texts(command, &environment)?;
    let directory = lookup::enter(command.cwd.as_deref())?;
    let stages = if command.shell {
        let (read, write) = pipe("stages")?;
        Some((read, shell::out_of_reach(write)))
    } else {
        None
    };
    let argv = match &stages {
        Some((_, write)) => shell::argv(&command.argv, write),
        None => command.argv.clone(),
    };
    let program = lookup::locate(&argv, &environment, &directory).map_err(|refusal| {
        if command.shell {
            shell::without_bash(refusal)
        } else {
            refusal
        }
    })?;
    let (stages, stages_write) = stages.unzip();
    let (line, keepers_end) = line(around.is_kept)?.unzip();
    let image = Image::new(&program, &argv, &environment)?
        .in_directory(directory)
        .keeping(stages_write)
        .entering(around.entrance.and_then(|fd| fd.try_clone_to_owned().ok()))
        .kept_over(keepers_end);
    let (stdout, stdout_write) = pipe("stdout")?;
    let (stderr, stderr_write) = pipe("stderr")?;
    let mut process = image.process(stdin(command.stdin)?, stdout_write, stderr_write);
    let copied = image::memory_that_a_fork_copies();
    let run_id = command.run_id.as_deref().unwrap_or_default();
    let (leader, born) = spawn(&mut process, run_id, line.as_ref()).map_err(|error| {
        diagnose::failed_start(
            &error,
            &program,
            &argv,
            &environment,
            command.cwd.as_deref(),
        )
    })?;
    Ok(Started {
        leader,
        keeper: born.keeper,
        at: born.at,
        copied: copied.max(image::memory_that_a_fork_copies()),
        stdout,
        stderr,
        stages,
    })
}

/// What there is of a process beside its pid.
struct Born {
    keeper: Option<Keeper>,
    at: Instant,
}

fn spawn(
    process: &mut std::process::Command,
    run_id: &str,
    line: Option<&UnixStream>,
) -> io::Result<(Pid, Born)> {
    let mut attempt = 0;
    loop {
        match tree::enrol(run_id, || spawn_once(process, line)) {
            Err(error) if error.raw_os_error() == Some(libc::ETXTBSY) && attempt < BUSY_RETRIES => {
                attempt += 1;
                std::thread::sleep(BUSY_PAUSE);
            }
            outcome => return outcome,
        }
    }
}

/// Returns the runner's child, which is the command or the keeper of the command, and the command.
///
/// Only one start at a time comes here, so that the clock begins when the waiting for others is
/// over, and no other run's child gets a copy of what is closed before this returns.
fn spawn_once(
    process: &mut std::process::Command,
    line: Option<&UnixStream>,
) -> io::Result<(Pid, (Pid, Born))> {
    let at = Instant::now();
    let child = process.spawn()?;
    let pid = Pid::from_child(&child);
    let keeper = match line {
        None => None,
        Some(line) => Some(Keeper::meet(line, child)?),
    };
    // The command object still holds the writing ends; with them open, no end would ever be seen.
    process.stdout(Stdio::null()).stderr(Stdio::null());
    let leader = keeper.as_ref().map_or(pid, Keeper::leader);
    Ok((pid, (leader, Born { keeper, at })))
}

/// Returns both ends of a line to a keeper where one is wanted.
fn line(is_kept: bool) -> Result<Option<(UnixStream, UnixStream)>, NotStarted> {
    let line = is_kept.then(Line::new).transpose().map_err(|error| {
        let text = format!("no line to the command's keeper: {error}");
        NotStarted::new(NotStartedCause::ResourceLimit, error.raw_os_error(), text)
    })?;
    Ok(line.map(Line::ends))
}

fn check_texts(command: &Command, environment: &[(OsString, OsString)]) -> Result<(), NotStarted> {
    let refuse = |error: String| {
        Err(NotStarted::new(
            NotStartedCause::InvalidArgument,
            Some(libc::EINVAL),
            error,
        ))
    };
    if command.argv.is_empty() {
        return refuse("no command was given".to_owned());
    }
    if let Some(position) = command.argv.iter().position(|text| has_nul(text)) {
        return refuse(format!("argument {position} has a NUL byte in it"));
    }
    if command
        .cwd
        .as_ref()
        .is_some_and(|cwd| has_nul(cwd.as_os_str()))
    {
        return refuse("the working directory has a NUL byte in it".to_owned());
    }
    // A removal that cannot be carried out is refused too: the caller believes the variable gone.
    let changed = command.env.iter().map(|(name, _)| name);
    for name in changed.chain(environment.iter().map(|(name, _)| name)) {
        let bytes = name.as_bytes();
        // A name that the runner itself inherited may begin with `=`.
        let inherited = environment.iter().any(|(known, _)| known == name)
            && command.env.iter().all(|(changed, _)| changed != name);
        if !inherited && (bytes.is_empty() || bytes.contains(&b'=') || bytes.contains(&0)) {
            // What stands behind the sign may be a value, and that a secret.
            let before = bytes.split(|byte| *byte == b'=').next().unwrap_or_default();
            return refuse(format!(
                "not a name of an environment variable: `{}`",
                shown(OsStr::from_bytes(before))
            ));
        }
    }
    match environment.iter().find(|(_, value)| has_nul(value)) {
        Some((name, _)) => refuse(format!(
            "the environment variable `{}` has a NUL byte in its value",
            shown(name)
        )),
        None => Ok(()),
    }
}

fn has_nul(text: &OsStr) -> bool {
    text.as_bytes().contains(&0)
}

/// Returns a text as an error sentence shows it: one line, with control characters visible.
/// Everything else stays as it is: in another spelling no secret would be found in it.
fn shown(text: &OsStr) -> String {
    let mut shown = String::new();
    for letter in text.to_string_lossy().chars() {
        if letter.is_control() {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Opened here, so that its absence is not taken for the program's.
fn stdin(stdin: Stdin) -> Result<Stdio, NotStarted> {
    const NOTHING: &str = "/dev/null";
    match stdin {
        Stdin::Inherit => Ok(Stdio::inherit()),
        Stdin::Null => File::open(NOTHING).map(Stdio::from).map_err(|error| {
            let text = format!("standard input: `{NOTHING}` cannot be opened: {error}");
            NotStarted::new(
                lookup::cause_of_shortage(&error),
                error.raw_os_error(),
                text,
            )
        }),
    }
}

fn pipe(purpose: &str) -> Result<(OwnedFd, OwnedFd), NotStarted> {
    let (read, write) = io::pipe().map_err(|error| {
        let text = format!("no pipe for {purpose}: {error}");
        NotStarted::new(NotStartedCause::ResourceLimit, error.raw_os_error(), text)
    })?;
    Ok((read.into(), write.into()))
}

/// Opens a directory only to be entered or searched, where the system can.
fn open_directory(path: &std::path::Path) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    let flags = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let flags = OFlags::RDONLY;
    rustix::fs::openat(
        CWD,
        path,
        flags | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )
}
