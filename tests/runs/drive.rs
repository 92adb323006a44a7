//! A runner process as small as can be: signals, one run with adoption, and the ending as JSON.

use std::fs;
use std::time::Duration;

use feedback_host::ending::{Ending, Source};
use feedback_host::supervise::{Adoption, Command, Control, Limits, Sink, Stdin, supervise};

use super::signals;

/// Runs the first word that is no option, with the rest. The command's stdout is passed on at
/// once; the last line is the ending.
pub(crate) fn drive(words: &[&str]) {
    let mut control = signals::control().unwrap();
    let mut limits = Limits {
        adoption: Adoption::Subreaper,
        ..Limits::default()
    };
    let mut command = Command::default();
    let mut sink = Passing {
        passes: true,
        bytes: 0,
    };
    let mut ballast = Vec::new();
    let mut files = None;
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut number = || words.next().unwrap().parse::<u64>().unwrap();
        match word {
            "--timeout" => limits.timeout = Some(Duration::from_millis(number())),
            "--grace" => limits.grace = Duration::from_millis(number()),
            "--adopt-nothing" => limits.adoption = Adoption::None,
            "--with-helper" => limits.adoption = Adoption::Helper,
            "--no-group" => limits.control_group = false,
            "--keep" => limits.keep_background = true,
            "--stdin" => command.stdin = Stdin::Inherit,
            "--quiet" => sink.passes = false,
            "--ballast" => ballast = vec![1_u8; usize::try_from(number()).unwrap() << 20],
            "--files" => files = Some(number()),
            _ => {
                command.argv = std::iter::once(word)
                    .chain(words.by_ref())
                    .map(Into::into)
                    .collect();
            }
        }
    }
    let most = limit_files(files);
    let ending = supervise(&command, &limits, &mut control, &mut sink);
    limit_files(most);
    let mut json = serde_json::to_value(&ending).unwrap();
    json["interrupted"] = ending.interrupted.into();
    json["untaken"] = control.untaken().into();
    json["children"] = children().into();
    json["bytes"] = sink.bytes.into();
    json["peak_kib"] = peak_kib().into();
    json["ballast"] = ballast.len().into();
    super::say(&format!("ENDING {json}"));
}

/// Runs many commands, eight at once, and says what they left in this process.
pub(crate) fn storm(adoption: &str) {
    let adoption = match adoption {
        "adopting" => Adoption::Subreaper,
        "with-helpers" => Adoption::Helper,
        _ => Adoption::None,
    };
    let folder = std::env::temp_dir();
    let before = descriptors();
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            std::thread::spawn(move || {
                (0..STORM_RUNS)
                    .filter(|run| is_right(thread, *run, adoption))
                    .count()
            })
        })
        .collect();
    let right: usize = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .sum();
    let (after, children) = (descriptors(), children());
    super::say(&format!(
        "right {right} of {}, descriptors {before} {after}, children {children:?}, in {}",
        8 * STORM_RUNS,
        folder.display()
    ));
}

const STORM_RUNS: usize = 20;

/// Runs one of five commands and says whether it ended as it should.
fn is_right(thread: usize, run: usize, adoption: Adoption) -> bool {
    let file = format!("feedback-storm-{}-{thread}-{run}", std::process::id());
    let file = std::env::temp_dir()
        .join(file)
        .to_string_lossy()
        .into_owned();
    let code = (thread * STORM_RUNS + run) % 256;
    let exit = code.to_string();
    let flood = ["flood", "300000", "200000", "exit", &exit];
    let (words, expected): (&[&str], _) = match run % 5 {
        0 => (&["exit", &exit], format!("exited {code}")),
        1 => (&["kill-self", "9"], "ended by SIGKILL".to_owned()),
        2 => (&flood, format!("exited {code}")),
        3 => (
            &["leave-daemon", &file, "exit", &exit],
            format!("exited {code}"),
        ),
        _ => (&["wait"], "timed out after 30 ms".to_owned()),
    };
    let puppet = std::env::current_exe().unwrap().into_os_string();
    let argv = std::iter::once(puppet)
        .chain(words.iter().map(Into::into))
        .collect();
    let timeout = (run % 5 == 4).then_some(Duration::from_millis(30));
    let limits = Limits {
        adoption,
        timeout,
        ..Limits::default()
    };
    let mut sink = Passing {
        passes: false,
        bytes: 0,
    };
    let ending = supervise(
        &Command {
            argv,
            ..Command::default()
        },
        &limits,
        &mut Control::none(),
        &mut sink,
    );
    drop(fs::remove_file(file));
    let leftovers = usize::from(run % 5 == 3);
    let bytes = if run % 5 == 2 { 500_000 } else { 0 };
    let right = ending.outcome.to_string() == expected
        && ending.leftovers.len() == leftovers
        && sink.bytes == bytes
        && both_ends_seen(&ending);
    if !right {
        super::say(&format!("wanted {expected}: {ending:?}"));
    }
    right
}

fn both_ends_seen(ending: &Ending) -> bool {
    ending.stdout.end_seen && ending.stderr.end_seen
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The children that this process still has, dead ones too.
fn children() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let lists =
        tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}

fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

/// Sets how many descriptors there may be, and returns how many there might have been.
fn limit_files(most: Option<u64>) -> Option<u64> {
    let files = rustix::process::Resource::Nofile;
    let before = rustix::process::getrlimit(files);
    if most.is_some() {
        rustix::process::setrlimit(
            files,
            rustix::process::Rlimit {
                current: most,
                ..before
            },
        )
        .unwrap();
    }
    before.current
}

struct Passing {
    passes: bool,
    bytes: usize,
}

impl Sink for Passing {
    fn bytes(&mut self, source: Source, bytes: &[u8]) {
        self.bytes += bytes.len();
        if self.passes && source == Source::Stdout {
            super::emit(bytes, &mut std::io::stdout());
        }
    }

    fn end(&mut self, _source: Source) {}
}
