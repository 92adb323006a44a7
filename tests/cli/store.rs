//! The record file through the binary: private, whole, bounded.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use crate::sandbox::Sandbox;

#[test]
fn the_record_file_is_private_whatever_the_umask() {
    let sandbox = Sandbox::new();
    let script = format!(
        "umask 0; exec '{}' run -- true",
        env!("CARGO_BIN_EXE_feedback")
    );
    let status = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(sandbox.path())
        .env_remove("FEEDBACK_RECORD_FILE")
        .status()
        .expect("sh runs");
    assert!(status.success());
    let mode = fs::metadata(sandbox.record_file())
        .expect("a file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_torn_last_line_is_repaired_before_the_next_append() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let mut file = OpenOptions::new()
        .append(true)
        .open(sandbox.record_file())
        .expect("a file");
    file.write_all(b"{\"schema_version\":\"1.0\",\"kind\":\"ru")
        .expect("written");
    let second = sandbox.run(["echo", "second"]);
    assert_eq!(second["seq"], 2);
    assert_eq!(sandbox.records().len(), 2, "the torn line is gone");
}

#[test]
fn files_rotate_at_one_megabyte_and_four_are_kept() {
    let sandbox = Sandbox::new();
    sandbox.write("feedback.json", "{\"excerpt\": {\"max_bytes\": 65536}}");
    let mut last = 0;
    for _ in 0..100 {
        let record = sandbox.run(["seq", "100000", "150000"]);
        last = record["seq"].as_u64().expect("a number");
    }
    assert!(last >= 100);
    for index in 1..=4 {
        let name = format!("feedback_record.jsonl.{index}");
        let size = fs::metadata(sandbox.path().join(&name))
            .map(|about| about.len())
            .unwrap_or_default();
        assert!(size > 0 && size <= 1_000_000, "{name}: {size}");
    }
    assert!(!sandbox.path().join("feedback_record.jsonl.5").exists());
}

#[test]
fn two_at_once_leave_two_whole_records_each() {
    let sandbox = Sandbox::new();
    let children: Vec<_> = (0..8)
        .map(|_| {
            sandbox
                .feedback()
                .args(["run", "--", "seq", "1", "2000"])
                .stdout(std::process::Stdio::null())
                .spawn()
                .expect("runs")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().expect("ends").success());
    }
    let mut seqs: Vec<u64> = sandbox
        .records()
        .iter()
        .map(|record| record["seq"].as_u64().expect("a number"))
        .collect();
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=8).collect::<Vec<u64>>());
    assert_eq!(sandbox.gate(&[]).0, 0);
}
