//! A runner process as small as can be: signals, one run with adoption, and the ending as JSON.

use std::io::Write;
use std::os::fd::AsFd;
use std::time::Duration;

use feedback_host::ending::Ending;
use feedback_host::pump::{Sink, Source};
use feedback_host::spawn::{Command, Stdin};
use feedback_host::supervise::{Adoption, Limits, supervise};

use super::signals::Signals;

/// Runs what follows `--`. A line of the command's stdout is passed on at once; the last line
/// is the ending.
pub(crate) fn drive(words: &[&str]) {
    let signals = Signals::install().unwrap();
    let mut limits = Limits {
        adoption: Adoption::Subreaper,
        ..Limits::default()
    };
    let mut command = Command::default();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut time = || Duration::from_millis(words.next().unwrap().parse().unwrap());
        match word {
            "--timeout" => limits.timeout = Some(time()),
            "--silence" => limits.silence = Some(time()),
            "--grace" => limits.grace = time(),
            "--drain" => limits.drain = time(),
            "--keep" => limits.keep_background = true,
            "--stdin" => command.stdin = Stdin::Inherit,
            _ => command.argv = words.by_ref().map(Into::into).collect(),
        }
    }
    let ending = supervise(
        &command,
        &limits,
        Some(signals.control().as_fd()),
        &mut Passing,
    );
    report(&ending, signals.untaken());
}

fn report(ending: &Ending, untaken: Option<i32>) {
    let mut json = serde_json::to_value(ending).unwrap();
    json["interrupted"] = ending.interrupted.into();
    json["untaken"] = untaken.into();
    json["children"] = children().into();
    super::say(&format!("ENDING {json}"));
}

/// The children that this process still has, dead ones too.
fn children() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let lists =
        tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("children")).unwrap());
    lists
        .flat_map(|list| {
            list.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}

struct Passing;

impl Sink for Passing {
    fn bytes(&mut self, source: Source, bytes: &[u8]) {
        if source == Source::Stdout {
            super::emit(bytes, &mut std::io::stdout());
        } else {
            std::io::stderr().write_all(bytes).unwrap();
        }
    }

    fn end(&mut self, _source: Source) {}
}
