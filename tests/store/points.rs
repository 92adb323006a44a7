//! A real process is killed, or fails, at every system call that the store makes.
//!
//! Needs `strace`. The kernel of the unit tests does the same without it, but within one process.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use super::field::{Field, Said, check, program, writer};

/// The calls that change something, or that a change depends on.
const CALLS: [&str; 13] = [
    "fallocate",
    "fchmod",
    "fchmodat",
    "fdatasync",
    "flock",
    "fsync",
    "ftruncate",
    "mkdirat",
    "openat",
    "pwrite64",
    "renameat2",
    "unlinkat",
    "write",
];

const SIGKILL: i32 = 9;

/// Says whether processes can be traced here. In CI they must be.
fn can_trace() -> bool {
    let traced = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !traced {
        assert!(
            std::env::var_os("CI").is_none(),
            "`strace` is missing in CI"
        );
        eprintln!("`strace` cannot be used: not tried here");
    }
    traced
}

/// A store in which the next record recovers two others and rotates.
fn busy(path: &Path) -> Said {
    let mut said = Said::default();
    let small = ["limit=700", "keep=50", "disk=0"];
    for extra in [["count=3", "die=0"], ["count=2", "die=1"]] {
        let orders = [small.as_slice(), extra.as_slice()].concat();
        said.listen(&writer(path, &orders).output().unwrap());
    }
    said
}

/// Runs a writer whose nth call of this name meets with something, and says whether it did.
fn meet(path: &Path, call: &str, nth: u32, what: &str) -> (Output, bool) {
    let trace = path.with_extension("trace");
    let output = Command::new("strace")
        .args(["-qq", "-o"])
        .arg(&trace)
        .arg("-e")
        .arg(format!("trace={call}"))
        .arg("-e")
        .arg(format!("inject={call}:{what}:when={nth}"))
        .arg(program())
        .arg(path)
        .args(["limit=700", "keep=50"])
        .output()
        .unwrap();
    let trace = String::from_utf8_lossy(&std::fs::read(&trace).unwrap()).into_owned();
    let struck = trace.contains("INJECTED") || output.status.signal() == Some(SIGKILL);
    (output, struck)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    let mode = std::fs::metadata(from).unwrap().permissions();
    std::fs::set_permissions(to, mode).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Gives a test a fresh copy of a busy store for every point, until the call comes no more.
fn at_every_point(mut test: impl FnMut(&Path, &str, u32, Said) -> bool) -> u32 {
    let mut points = 0;
    for call in CALLS {
        for fresh in [false, true] {
            let template = Field::new();
            let said = if fresh {
                Said::default()
            } else {
                busy(&template.path())
            };
            for nth in 1.. {
                let field = Field::new();
                copy(template.dir.path(), field.dir.path());
                let mut heard = Said::default();
                heard.begun.clone_from(&said.begun);
                heard.done.clone_from(&said.done);
                if !test(&field.path(), call, nth, heard) {
                    break;
                }
                points += 1;
            }
        }
    }
    points
}

#[test]
fn a_kill_at_any_system_call_loses_tears_and_doubles_nothing() {
    if !can_trace() {
        return;
    }
    let points = at_every_point(|path, call, nth, mut said| {
        let (output, struck) = meet(path, call, nth, "signal=KILL");
        said.listen(&output);
        check(path, &said);
        struck
    });
    eprintln!("{points} points");
    assert!(points > 50, "only {points} points");
}

#[test]
fn an_error_at_any_system_call_loses_tears_and_doubles_nothing() {
    if !can_trace() {
        return;
    }
    let numbers = ["EIO", "ENOSPC", "EINTR"];
    let mut turn = 0;
    let points = at_every_point(|path, call, nth, mut said| {
        // Every number at every call is tried in the unit tests; here they take turns.
        turn = (turn + 1) % numbers.len();
        let number = numbers[turn];
        // The program's own output is not the store's.
        if call == "write" && nth > 20 {
            return false;
        }
        let (output, struck) = meet(path, call, nth, &format!("error={number}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !errors.contains("panicked") || call == "write",
            "{number} at {call} {nth}: {errors}"
        );
        said.listen(&output);
        check(path, &said);
        struck
    });
    eprintln!("{points} points");
    assert!(points > 50, "only {points} points");
}
