//! Runs one command to its end, in bounded time, and says how it ended.
//!
//! It interprets no byte of the output and writes nothing. It blocks the calling thread. With
//! [`Adoption::Helper`] everything that the command started ends with the calling process; else
//! the command alone does, with the calling thread.

mod clock;
mod leader;
mod oom;
mod parting;
mod run;
mod stopping;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::ending::{Ending, NotStarted, NotStartedCause, Source};
use crate::spawn::Surroundings;
use crate::tree::Cgroup;
use crate::{signal, spawn};

pub use crate::pump::Sink;
pub use crate::signal::Control;
pub use crate::spawn::{Command, RUN_ID, Stdin, environment, shown_argv};
pub use crate::tree::Adoption;

/// How long a run may take, and what happens to what it leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The time for the command; unlimited where absent.
    pub timeout: Option<Duration>,
    /// The longest time without a byte on either stream; unlimited where absent.
    pub silence: Option<Duration>,
    /// The time between asking a process to end and SIGKILL.
    pub grace: Duration,
    /// How long streams are still read after the command has exited while others hold them open.
    pub drain: Duration,
    /// Whether processes that outlive the command are left running.
    pub keep_background: bool,
    /// Whether this process adopts orphans of the run.
    pub adoption: Adoption,
    /// Whether the run gets a control group of its own where one can be made.
    pub control_group: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: None,
            silence: None,
            grace: Duration::from_secs(5),
            drain: Duration::from_millis(300),
            keep_background: false,
            adoption: Adoption::default(),
            control_group: true,
        }
    }
}

/// Runs the command and returns how it ended. Never fails: what could not be started has an
/// ending too.
///
/// `control` brings signals: SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on to the command's group and cancel the run,
/// a second one kills at once. SIGTSTP stops the group and the limits' clock until SIGCONT
/// comes; with [`Adoption::Subreaper`] the calling process stops itself as well.
pub fn supervise(
    command: &Command,
    limits: &Limits,
    control: &mut Control,
    sink: &mut dyn Sink,
) -> Ending {
    let began = Instant::now();
    if let Some(signal) = control.untaken() {
        return without_process(
            Ending::cancelled_before_start(signal, began.elapsed()),
            sink,
        );
    }
    if let Err(refusal) = prepare_process(limits.adoption) {
        return without_process(Ending::not_started(refusal, began.elapsed()), sink);
    }
    let (command, run_id) = marked(command);
    let cgroup = limits.control_group.then(Cgroup::make).flatten();
    let oom = oom::OomWatch::start(cgroup.as_ref());
    let around = Surroundings {
        entrance: cgroup.as_ref().map(Cgroup::entrance),
        is_kept: cfg!(target_os = "linux") && limits.adoption == Adoption::Helper,
    };
    match spawn::start(&command, around) {
        Ok(started) => {
            run::Run::new(started, cgroup, &run_id, limits, control, sink).end(&command, &oom)
        }
        Err(refusal) => without_process(Ending::not_started(refusal, began.elapsed()), sink),
    }
}

/// No stream was opened, so none is still open.
fn without_process(ending: Ending, sink: &mut dyn Sink) -> Ending {
    sink.end(Source::Stdout);
    sink.end(Source::Stderr);
    ending
}

/// Returns the command with a run id, and the id.
fn marked(command: &Command) -> (Cow<'_, Command>, String) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if let Some(run_id) = &command.run_id {
        return (Cow::Borrowed(command), run_id.clone());
    }
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let run_id = format!("{}-{count}-{}", std::process::id(), now.as_nanos());
    (
        Cow::Owned(Command {
            run_id: Some(run_id.clone()),
            ..command.clone()
        }),
        run_id,
    )
}

/// Makes sure that this process will learn how its children end.
fn prepare_process(adoption: Adoption) -> Result<(), NotStarted> {
    if signal::ignores_dead_children() {
        if adoption == Adoption::Helper && cfg!(target_os = "linux") {
            // The helper heeds its own.
            return Ok(());
        }
        if adoption != Adoption::Subreaper {
            let error = "this process ignores SIGCHLD, so no exit code can be learnt";
            return Err(NotStarted::new(NotStartedCause::Other, None, error));
        }
        // Inherited from whoever started the runner.
        signal::heed_dead_children();
    }
    if adoption == Adoption::Subreaper {
        adopt_orphans();
    }
    Ok(())
}

/// Off Linux, and where the system refuses, orphans are found by session, group and mark alone.
fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}
