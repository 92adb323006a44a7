//! The record file through the binary: private, whole, bounded.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use crate::recover::leave_died;
use crate::sandbox::{Sandbox, text};
use crate::sealed::Chain;

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

/// Writes five full files, as years of runs leave them.
fn fill(sandbox: &Sandbox) {
    let mut chain = Chain::default();
    for index in (0..=4).rev() {
        let mut lines = String::new();
        while lines.len() < 940_000 {
            lines.push_str(&chain.run(60_000));
        }
        let suffix = if index == 0 {
            String::new()
        } else {
            format!(".{index}")
        };
        sandbox.write(&format!("feedback_record.jsonl{suffix}"), lines);
    }
}

#[test]
fn what_rotation_drops_is_on_record_and_the_rest_stays_sound() {
    let sandbox = Sandbox::new();
    sandbox.write("feedback.json", "{\"excerpt\": {\"max_bytes\": 65536}}");
    fill(&sandbox);
    assert_eq!(sandbox.call(["verify"]).status, 0);

    let (mut drops, mut died) = (Vec::new(), 0);
    for round in 0..40 {
        if round % 10 == 3 {
            leave_died(&sandbox);
            died += 1;
        }
        let called = sandbox.call(["run", "--", "seq", "100000", "150000"]);
        assert_eq!(called.status, 0);
        if called.stderr.contains("was dropped by rotation") {
            let notice = sandbox.records().swap_remove(0);
            assert_eq!(
                text(&notice, "kind"),
                "drop",
                "the first line after the drop"
            );
            drops.push(notice);
        }
        if called.stderr.contains("the runner of") {
            died -= 1;
        }
    }
    assert_eq!(died, 0, "each dead runner was told by the next run");
    assert!(drops.len() >= 2, "{drops:?}");
    assert_eq!(drops[0]["first_seq"], 1);
    let next = drops[0]["last_seq"].as_u64().expect("a number") + 1;
    assert_eq!(drops[1]["first_seq"], next, "no record between two drops");
    assert!(!sandbox.path().join("feedback_record.jsonl.5").exists());

    let found = sandbox.call(["verify", "--json"]);
    assert_eq!(found.status, 0, "{}", found.stdout);
    let found = found.json();
    let last = &drops[drops.len() - 1]["last_seq"];
    assert_eq!(
        found["first_seq"].as_u64(),
        last.as_u64().map(|seq| seq + 1)
    );
    assert_eq!((&found["doubled"], &found["files"]), (&0.into(), &5.into()));
}
