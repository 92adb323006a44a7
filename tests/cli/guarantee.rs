//! A run is refused where its record cannot be guaranteed, and a record in doubt is never a success.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::background::PATIENCE;
use crate::sandbox::{Called, Sandbox};

/// A small file system below a sandbox, for its record file; it is gone with the value.
struct Disk {
    sandbox: Sandbox,
    place: PathBuf,
}

impl Disk {
    /// None where we may not mount.
    fn mount(options: &str) -> Option<Self> {
        let sandbox = Sandbox::new();
        let place = sandbox.path().join("disk");
        fs::create_dir(&place).expect("a folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&place)
            .output()
            .is_ok_and(|output| output.status.success());
        if !mounted {
            println!("no permission to mount a tmpfs: not tried here");
            return None;
        }
        sandbox.write("feedback.json", "{\"record_file\": \"disk/r.jsonl\"}");
        Some(Self { sandbox, place })
    }

    fn read_only(&self) {
        let remounted = Command::new("mount")
            .args(["-o", "remount,ro"])
            .arg(&self.place)
            .status();
        assert!(remounted.expect("mount").success());
    }

    fn filling(&self) -> PathBuf {
        self.place.join("filling")
    }

    fn fill(&self) {
        let mut file = File::create(self.filling()).expect("a file");
        while file.write_all(&[b'x'; 4096]).is_ok() {}
        while file.write_all(b"x").is_ok() {}
    }

    /// Cuts the file before removing it: a child that another test starts at this moment may hold
    /// a copy of its descriptor, which would keep the room taken.
    fn make_room(&self) {
        File::create(self.filling()).expect("cut");
        fs::remove_file(self.filling()).expect("removed");
    }

    fn records(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.place.join("r.jsonl")).expect("a file");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a child of another test may hold a copy of a descriptor in there.
        let _ = Command::new("umount").arg("-l").arg(&self.place).status();
    }
}

/// Asserts a refusal before the start: this one line, with a path that begins and ends so.
fn refuses(called: &Called, place: &Path, cause: &str) {
    called.says(125, &[]);
    let start = format!("{}/", place.display());
    let (action, rest) = called.stderr.split_once('`').expect("a path");
    let (path, said) = rest.split_once('`').expect("a path");
    assert!(path.starts_with(&start), "{path}");
    assert_eq!(
        format!("{action}PATH{said}"),
        format!("feedback: not started: cannot {cause}\n")
    );
    assert_eq!(called.stdout, "", "there is no record to print");
}

const FULL: &str = "write PATH: No space left on device (os error 28); make room on the file system; recording then resumes";

#[test]
fn a_full_disk_refuses_the_run_and_recording_resumes_when_there_is_room() {
    let Some(disk) = Disk::mount("size=4m") else {
        return;
    };
    let sandbox = &disk.sandbox;
    assert_eq!(sandbox.call(["run", "--", "true"]).status, 0);
    disk.fill();
    let called = sandbox.call(["run", "--", "touch", "started"]);
    refuses(&called, &disk.place, FULL);
    assert!(!sandbox.path().join("started").exists());

    disk.make_room();
    assert_eq!(sandbox.call(["run", "--", "true"]).status, 0);
    let seqs: Vec<Value> = disk.records().iter().map(|r| r["seq"].clone()).collect();
    assert_eq!(seqs, [1, 2], "nothing of the refused run is left");
    sandbox
        .call(["verify"])
        .stdout
        .strip_prefix("sound")
        .expect("sound");
}

#[test]
fn best_effort_turns_the_refusal_into_a_warning_and_the_gate_sees_no_run() {
    let Some(disk) = Disk::mount("size=4m") else {
        return;
    };
    let sandbox = &disk.sandbox;
    disk.fill();
    let script = ["sh", "-c", "touch started; exit 3"];
    let mut call = vec!["run", "--best-effort", "--"];
    call.extend(script);
    let called = sandbox.call(call);
    called.says(3, &["no record is kept", "No space left", "make room"]);
    assert_eq!(called.json()["exit_code"], 3, "it is printed all the same");
    assert_eq!(called.json()["seq"], Value::Null);
    assert!(sandbox.path().join("started").exists());
    assert_ne!(sandbox.gate(&[]).0, 0);

    // Where a record can be guaranteed, the option changes nothing.
    disk.make_room();
    let called = sandbox.call(["run", "--best-effort", "--", "true"]);
    assert_eq!((called.status, called.stderr.as_str()), (0, ""));
    assert_eq!(disk.records().len(), 1);
}

#[test]
fn a_disk_that_fills_up_during_the_run_leaves_the_record_in_doubt_but_not_lost() {
    let Some(disk) = Disk::mount("size=4m") else {
        return;
    };
    let sandbox = &disk.sandbox;
    sandbox.call(["run", "--", "true"]);
    let script = "seq 1 3000; (cat /dev/zero >disk/filling) 2>/dev/null; exit 0";
    let called = sandbox.call(["run", "--", "sh", "-c", script]);
    assert_eq!(called.status, 125, "{}", called.stderr);
    for words in [
        "waits in the store's pending folder",
        "make room",
        "the command itself: exited 0",
    ] {
        assert!(called.stderr.contains(words), "{words}: {}", called.stderr);
    }
    let printed = called.json();
    assert_eq!(printed["exit_code"], 0);
    assert_ne!(
        sandbox.gate(&[]).0,
        0,
        "a record that waits is no evidence yet"
    );
    assert_eq!(disk.records().len(), 1);

    disk.make_room();
    let called = sandbox.call(["run", "--", "true"]);
    called.says(0, &["waiting", "now in the file"]);
    let records = disk.records();
    assert_eq!(records.len(), 3);
    assert_eq!(records[1]["command_id"], printed["command_id"]);
    assert_eq!(records[1]["stdout_tail"], printed["stdout_tail"]);
    assert_eq!(sandbox.call(["verify"]).status, 0);
}

#[test]
fn a_read_only_store_refuses_the_run_and_can_still_be_read() {
    let Some(disk) = Disk::mount("size=4m") else {
        return;
    };
    let sandbox = &disk.sandbox;
    assert_eq!(sandbox.call(["run", "--", "true"]).status, 0);
    disk.read_only();
    let called = sandbox.call(["run", "--", "touch", "started"]);
    let cause = "open PATH: Read-only file system (os error 30); choose a record file on a writable file system";
    refuses(&called, &disk.place, cause);
    assert!(!sandbox.path().join("started").exists());
    assert_eq!(sandbox.call(["show"]).status, 0);
    assert_eq!(sandbox.call(["verify"]).status, 0);
    assert_eq!(sandbox.call(["export", "copy.tar.gz"]).status, 0);
}

#[test]
fn a_folder_without_write_permission_refuses_the_run() {
    if rustix::process::geteuid().is_root() {
        println!("root may write everywhere: not tried here");
        return;
    }
    let sandbox = Sandbox::new();
    let place = sandbox.path().join("closed");
    fs::create_dir(&place).expect("a folder");
    fs::set_permissions(&place, fs::Permissions::from_mode(0o555)).expect("closed");
    let called = sandbox.call(["run", "--record-file", "closed/r.jsonl", "--", "true"]);
    let cause = "create PATH: Permission denied (os error 13); give yourself write permission on the folder";
    refuses(&called, &place, cause);
}

#[test]
fn a_stopped_lock_holder_delays_the_end_of_a_run_and_its_record_is_merged_later() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let script = "exec 9<feedback_record.jsonl.lock; flock 9; echo held; exec sleep 1000";
    let mut holder = Command::new("sh")
        .args(["-c", script])
        .current_dir(sandbox.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sh");
    let mut line = String::new();
    BufReader::new(holder.stdout.as_mut().expect("a pipe"))
        .read_line(&mut line)
        .expect("read");
    assert_eq!(line, "held\n");
    let pid = Pid::from_raw(i32::try_from(holder.id()).expect("a pid")).expect("a pid");
    kill_process(pid, Signal::STOP).expect("stopped");

    let started = Instant::now();
    let called = sandbox.call(["run", "--", "sh", "-c", "exit 7"]);
    // 10 s is the limit; without one, it would wait for ever.
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
    assert_eq!(called.status, 125);
    for words in [
        "waits",
        "held by another process",
        "fuser",
        "the command itself: exited 7",
    ] {
        assert!(called.stderr.contains(words), "{words}: {}", called.stderr);
    }
    assert_eq!(called.json()["exit_code"], 7);
    let found = sandbox.call(["verify", "--json"]).json();
    assert_eq!(found["open_runs"][0]["state"], "waiting", "{found}");

    holder.kill().expect("killed");
    holder.wait().expect("reaped");
    sandbox
        .call(["run", "--", "true"])
        .says(0, &["now in the file"]);
    let codes: Vec<Value> = sandbox
        .records()
        .iter()
        .map(|r| r["exit_code"].clone())
        .collect();
    assert_eq!(codes, [0, 7, 0]);
    assert_eq!(sandbox.call(["verify"]).status, 0);
}

/// Calls the binary with a limit on the size of its files, in bytes.
fn with_file_limit(sandbox: &Sandbox, bytes: u64, arguments: &[&str]) -> Called {
    let output = Command::new("prlimit")
        .arg(format!("--fsize={bytes}"))
        .arg(env!("CARGO_BIN_EXE_feedback"))
        .args(arguments)
        .current_dir(sandbox.path())
        .env_remove("FEEDBACK_RECORD_FILE")
        .stdin(Stdio::null())
        .output();
    Called::from(output.expect("prlimit"))
}

#[test]
fn a_file_size_limit_refuses_the_run_and_kills_nobody() {
    let sandbox = Sandbox::new();
    let called = with_file_limit(&sandbox, 100_000, &["run", "--", "touch", "started"]);
    let cause = "write PATH: File too large (os error 27); raise the file size limit (`ulimit -f`); recording then resumes";
    refuses(&called, sandbox.path(), cause);
    assert!(!sandbox.path().join("started").exists());

    // Above a record's largest size, it rotates earlier and goes on.
    sandbox.write("feedback.json", "{\"excerpt\": {\"max_bytes\": 65536}}");
    for _ in 0..8 {
        let arguments = ["run", "--", "seq", "100000", "150000"];
        let called = with_file_limit(&sandbox, 300_000, &arguments);
        assert_eq!((called.status, called.stderr.as_str()), (0, ""));
    }
    assert!(sandbox.path().join("feedback_record.jsonl.1").exists());
    assert_eq!(sandbox.call(["verify"]).status, 0);
}

/// Counts the times that a run waits for the disk; none where processes cannot be traced.
fn syncs(sandbox: &Sandbox, durability: &[&str]) -> Option<usize> {
    let trace = sandbox.path().join("trace");
    let traced = Command::new("strace")
        .args(["-qq", "-f", "-e", "trace=fsync,fdatasync", "-o"])
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_feedback"))
        .arg("run")
        .args(durability)
        .args(["--", "true"])
        .current_dir(sandbox.path())
        .env_remove("FEEDBACK_RECORD_FILE")
        .output();
    if !traced.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "CI needs `strace`");
        println!("`strace` cannot be used: not tried here");
        return None;
    }
    let text = fs::read_to_string(trace).expect("a trace");
    Some(text.lines().filter(|line| line.contains("sync(")).count())
}

#[test]
fn a_run_waits_for_the_disk_unless_told_not_to() {
    let sandbox = Sandbox::new();
    let Some(by_default) = syncs(&sandbox, &[]) else {
        return;
    };
    assert!(by_default >= 2, "the intent and the record: {by_default}");
    let disk = syncs(&sandbox, &["--durability", "disk"]).expect("traced before");
    assert!(disk >= 2, "{disk}");
    assert_eq!(syncs(&sandbox, &["--durability", "process"]), Some(0));
    assert_eq!(sandbox.records().len(), 3);
    sandbox
        .call(["run", "--durability", "tape", "--", "true"])
        .says(125, &["tape", "disk", "process"]);
}

#[test]
fn an_export_that_finds_no_room_leaves_nothing_behind() {
    let Some(disk) = Disk::mount("size=4m") else {
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.run(["seq", "1", "2000"]);
    disk.fill();
    for name in ["copy", "copy.tar.gz"] {
        let copy = disk.place.join(name);
        let path = copy.display().to_string();
        sandbox
            .call(["export", &path])
            .says(2, &[&path, "No space left", "is removed"]);
        assert!(!copy.exists());
    }
    disk.make_room();
    for name in ["copy", "copy.tar.gz"] {
        let path = disk.place.join(name).display().to_string();
        assert_eq!(sandbox.call(["export", &path]).status, 0);
    }
}
