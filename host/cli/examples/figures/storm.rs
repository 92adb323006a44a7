//! Many runs of `true`, eight at once: how long each takes, and what all of them leave behind.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use super::Feedback;

const RUNNERS: usize = 8;
const RUNS: usize = 2_000;

/// Returns whether every run was a success with a record, and nothing was left.
pub(super) fn storm(feedback: &Feedback, runs: Option<usize>) -> Result<bool, Box<dyn Error>> {
    let runs = runs.unwrap_or(RUNS);
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;

    let before = descriptors()?;
    let began = Instant::now();
    let mut times = times(feedback, runs);
    let took = began.elapsed();
    let after = descriptors()?;

    times.sort_unstable();
    let ids = ids(feedback.folder())?;
    // Whatever a runner leaves behind becomes a child of this process, alive or dead.
    let children = children()?;
    let right = times.len();
    println!(
        "{right} of {runs} runs were a success, {} records",
        ids.len()
    );
    println!(
        "in {took:.1?}; one run {:.1?} in the middle, {:.1?} at most",
        at(&times, 2),
        at(&times, 1)
    );
    println!("left behind: {children:?}; descriptors {before} before, {after} after");
    let is_clean = children.is_empty() && before == after;
    Ok(right == runs && ids.len() == runs && is_clean)
}

/// Returns how long each run took that was a success.
fn times(feedback: &Feedback, runs: usize) -> Vec<Duration> {
    let next = AtomicUsize::new(0);
    let runner = || {
        let mut times = Vec::new();
        while next.fetch_add(1, Ordering::Relaxed) < runs {
            let began = Instant::now();
            let status = feedback.run(&["true"]);
            if status.is_ok_and(|status| status == Some(0)) {
                times.push(began.elapsed());
            }
        }
        times
    };
    thread::scope(|scope| {
        let runners: Vec<_> = (0..RUNNERS).map(|_| scope.spawn(runner)).collect();
        let times = runners.into_iter().filter_map(|runner| runner.join().ok());
        times.flatten().collect()
    })
}

/// Returns the ids of all runs, from the active file and the rotated ones.
fn ids(folder: &Path) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let mut ids = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with("feedback_record.jsonl") || !path.is_file() {
            continue;
        }
        for line in fs::read_to_string(&path)?.lines() {
            let record: serde_json::Value = serde_json::from_str(line)?;
            if let Some(id) = record.get("command_id").and_then(|id| id.as_str()) {
                ids.insert(id.to_owned());
            }
        }
    }
    Ok(ids)
}

/// Returns the time at this part of the sorted times: 2 for the middle, 1 for the end.
fn at(times: &[Duration], part: usize) -> Duration {
    let place = times.len().checked_div(part).unwrap_or(0).saturating_sub(1);
    times.get(place).copied().unwrap_or_default()
}

fn descriptors() -> std::io::Result<usize> {
    Ok(fs::read_dir("/proc/self/fd")?.count())
}

fn children() -> std::io::Result<Vec<String>> {
    let pid = std::process::id();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
    Ok(children.split_whitespace().map(str::to_owned).collect())
}
