//! Full disks, size limits, umasks, and a lock holder that was stopped.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use feedback_host::store::{Options, Store, StoreError};
use rustix::process::{Pid, Signal, kill_process};

use super::field::{Field, Said, check, outcomes, writer};
use super::scribe::{Native, body, intent};

/// A small file system that is gone with the value.
struct Disk {
    dir: tempfile::TempDir,
}

impl Disk {
    /// None where we may not mount.
    fn mount(options: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(dir.path())
            .output()
            .is_ok_and(|output| output.status.success());
        if !mounted {
            eprintln!("no permission to mount a tmpfs: not tried here");
            return None;
        }
        Some(Self { dir })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a child of another test may hold a copy of a descriptor in there.
        let _ = Command::new("umount")
            .arg("-l")
            .arg(self.dir.path())
            .status();
    }
}

fn fill(path: &Path) {
    use std::io::Write;
    let mut file = std::fs::File::create(path).unwrap();
    while file.write_all(&[b'x'; 4096]).is_ok() {}
    while file.write_all(b"x").is_ok() {}
}

/// Cuts the file before removing it: a child that another test starts at this moment may hold a
/// copy of its descriptor, which would keep the room taken.
fn make_room(path: &Path) {
    std::fs::File::create(path).unwrap();
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_full_disk_refuses_runs_and_recording_resumes_when_there_is_room() {
    let Some(disk) = Disk::mount("size=4m") else {
        return;
    };
    let path = disk.dir.path().join("r.jsonl");
    let filling = disk.dir.path().join("filling");
    let store = Store::open(&path, Options::default()).unwrap();
    let mut said = Said::default();

    // Full before the run: refused.
    fill(&filling);
    let error = store.begin("early", &intent("early")).unwrap_err();
    assert_eq!(error.errno(), Some(28), "{error}");
    make_room(&filling);

    // Full during the run: the room was reserved.
    let run = store.begin("during", &intent("during")).unwrap();
    fill(&filling);
    let large = body("during", "exited", 200_000);
    let error = store.finish(run, &large, &mut Native).unwrap_err();
    assert!(error.waits, "{error}: {}", error.cause);
    make_room(&filling);

    // Room again: the next run brings both in.
    said.listen(&writer(&path, &[]).output().unwrap());
    assert_eq!(said.done.len(), 1);
    said.begun.push("during".into());
    said.waits.push("during".into());
    check(&path, &said);
    assert!(!outcomes(&path).contains_key("early"));
}

#[test]
fn a_file_system_without_inodes_refuses_runs_and_recording_resumes() {
    let Some(disk) = Disk::mount("size=4m,nr_inodes=8") else {
        return;
    };
    let path = disk.dir.path().join("r.jsonl");
    let mut said = Said::default();
    said.listen(&writer(&path, &[]).output().unwrap());
    let mut fillers = Vec::new();
    for index in 0..8 {
        let filler = disk.dir.path().join(format!("filler-{index}"));
        if std::fs::write(&filler, "").is_err() {
            break;
        }
        fillers.push(filler);
    }
    said.listen(&writer(&path, &[]).output().unwrap());
    assert_eq!(said.refused, ["28"]);
    for filler in fillers {
        std::fs::remove_file(filler).unwrap();
    }
    said.listen(&writer(&path, &[]).output().unwrap());
    assert_eq!(said.done.len(), 2);
    check(&path, &said);
}

#[test]
fn a_size_limit_kills_no_writer_and_tears_no_line() {
    let field = Field::new();
    let mut said = Said::default();
    // Too small for a record of the largest kind: refused before the run.
    let output = field.writer(&["fsize=100000"]).output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    said.listen(&output);
    assert_eq!(said.refused, ["27"]);
    // Large enough for that, smaller than a file: rotated earlier.
    let orders = [
        "fsize=300000",
        "count=20",
        "smallest=50000",
        "largest=60000",
        "keep=100",
    ];
    let output = field.writer(&orders).output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    said.listen(&output);
    assert_eq!(said.done.len(), 20);
    field.check(&said);
}

#[test]
fn a_umask_changes_no_permission() {
    for umask in [0, 0o002, 0o077, 0o777] {
        let field = Field::new();
        let umask = format!("umask={umask}");
        let orders = [umask.as_str(), "count=3", "limit=300"];
        let mut said = Said::default();
        said.listen(&field.writer(&orders).output().unwrap());
        assert_eq!(said.done.len(), 3, "{umask}");
        for entry in std::fs::read_dir(field.dir.path()).unwrap() {
            let meta = entry.unwrap().metadata().unwrap();
            let expected = if meta.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(meta.mode() & 0o777, expected, "{umask}");
        }
    }
}

#[test]
fn a_stopped_lock_holder_delays_others_no_longer_than_the_limit() {
    let field = Field::new();
    let mut said = Said::default();
    said.listen(&field.writer(&[]).output().unwrap());
    let mut holder = field.writer(&["hold=1"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(holder.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "held\n");
    let pid = Pid::from_raw(i32::try_from(holder.id()).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();

    let limit = Duration::from_millis(300);
    let options = Options {
        lock_limit: limit,
        ..Options::default()
    };
    let store = Store::open(&field.path(), options).unwrap();
    let run = store.begin("kept-out", &intent("kept-out")).unwrap();
    let started = Instant::now();
    let error = store
        .finish(run, &body("kept-out", "exited", 1), &mut Native)
        .unwrap_err();
    // Without the limit, it would wait for ever.
    assert!(started.elapsed() < Duration::from_secs(60));
    assert!(error.waits);
    assert!(matches!(*error.cause, StoreError::Locked { .. }));

    holder.kill().unwrap();
    holder.wait().unwrap();
    said.begun.push("kept-out".into());
    said.waits.push("kept-out".into());
    said.listen(&field.writer(&[]).output().unwrap());
    field.check(&said);
}
