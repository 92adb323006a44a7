//! Where the time goes: the same input through one part of the way after another.
//!
//! The component gives no times, so that each part is what a way with it costs more than one
//! without it.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use feedback_host::component::{Component, Session};
use feedback_host::ending::Source;

use super::ways;

/// As large as the reads of the runner.
const READ: usize = 256 * 1024;

/// Prints the parts, in nanoseconds per kilobyte and in percent.
pub(crate) fn print(path: &Path, bytes: u64) {
    let read = fastest(|| each(path, |_| {}));
    let pipe = fastest(|| ways::empty(path));
    // After the flush of a stream, what is pushed is only copied.
    let copied = fastest(|| push(path, "", true));
    // With nothing picked between the first and the last lines, nothing is graded.
    let plain = fastest(|| push(path, r#"{"head_lines":3}"#, false));
    let whole = fastest(|| push(path, "", false));
    let parts = [
        ("pipe", pipe),
        ("copy into the component", copied.saturating_sub(read)),
        // What the excerpt looks for is found by the search of redaction.
        ("decode, normalise, redact", plain.saturating_sub(copied)),
        ("grade and choose", whole.saturating_sub(plain)),
    ];
    let sum: Duration = parts.iter().map(|(_, time)| *time).sum();
    for (name, time) in parts {
        let per_kilobyte = time.as_nanos() as f64 / (bytes as f64 / 1e3);
        let share = 100.0 * time.as_secs_f64() / sum.as_secs_f64();
        println!("    {name:<28} {per_kilobyte:>8.0} ns/kB {share:>5.0} %");
    }
    println!();
}

fn fastest(mut take: impl FnMut()) -> Duration {
    let once = |_| {
        let started = Instant::now();
        take();
        started.elapsed()
    };
    (0..3).map(once).min().unwrap()
}

fn each(path: &Path, mut take: impl FnMut(&[u8])) {
    let mut file = File::open(path).unwrap();
    let mut buffer = vec![0; READ];
    loop {
        let count = file.read(&mut buffer).unwrap();
        if count == 0 {
            return;
        }
        take(&buffer[..count]);
    }
}

/// Pushes a file into a capture.
fn push(path: &Path, options: &str, flushed: bool) {
    let component = Component::built_in().unwrap();
    let mut session = Session::open(&component, "", "").unwrap();
    let capture = session.start_capture(options).unwrap();
    if flushed {
        session.flush(&capture, Source::Stdout).unwrap();
    }
    each(path, |bytes| {
        session.push(&capture, Source::Stdout, bytes).unwrap();
    });
    session.finish_capture(capture).unwrap();
}
