//! Many runs, eight at once: each has its record, and nothing of them is left.
//!
//! `cargo run --release --example figures storm` does the same with 2,000 runs, and counts
//! descriptors; those of many runs within one process are counted in the library's tests.

use std::collections::BTreeSet;
use std::fs;

use crate::sandbox::{Sandbox, holds, text};

const RUNNERS: usize = 8;
const RUNS_EACH: usize = 10;

#[test]
fn a_storm_leaves_a_record_of_each_run_and_no_process() {
    let sandbox = Sandbox::new();
    std::thread::scope(|scope| {
        for _ in 0..RUNNERS {
            scope.spawn(|| {
                for _ in 0..RUNS_EACH {
                    let called = sandbox.call(["run", "--", "true"]);
                    assert_eq!((called.status, called.stderr.as_str()), (0, ""));
                    assert_eq!(called.json()["exit_code"], 0);
                }
            });
        }
    });

    let records = sandbox.records();
    let count = RUNNERS * RUNS_EACH;
    let ids: BTreeSet<&str> = records
        .iter()
        .map(|record| text(record, "command_id"))
        .collect();
    assert_eq!((records.len(), ids.len()), (count, count));
    assert_eq!(left_over(&ids), [] as [String; 0]);
    let pending = sandbox.path().join("feedback_record.jsonl.pending");
    assert_eq!(fs::read_dir(pending).expect("a folder").count(), 0);
}

/// Returns the processes whose environment names one of these runs.
fn left_over(ids: &BTreeSet<&str>) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let is_of_a_run = |environment: &[u8]| {
        ids.iter()
            .any(|id| holds(environment, format!("FEEDBACK_RUN_ID={id}").as_bytes()))
    };
    processes
        .filter(|entry| {
            fs::read(entry.path().join("environ")).is_ok_and(|bytes| is_of_a_run(&bytes))
        })
        .map(|entry| entry.path().display().to_string())
        .collect()
}
