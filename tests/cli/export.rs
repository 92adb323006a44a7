//! Exporting a store, and reading what was exported, with this tool and without.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::sandbox::{Sandbox, holds, text};
use crate::sealed::{Chain, digest};

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

/// A store of three files whose newest records are real runs: a failure, then a success.
fn store() -> (Sandbox, Value, Value) {
    let sandbox = Sandbox::new();
    let mut chain = Chain::default();
    for name in [
        "feedback_record.jsonl.2",
        "feedback_record.jsonl.1",
        "feedback_record.jsonl",
    ] {
        let lines: String = (0..5).map(|_| chain.run(10)).collect();
        sandbox.write(name, lines);
    }
    let failed = sandbox.run(["sh", "-c", "echo why >&2; exit 4"]);
    let newest = sandbox.run(["true"]);
    (sandbox, failed, newest)
}

/// Asserts that a folder holds the whole store and tells the truth about it.
fn is_whole(folder: &Path, sandbox: &Sandbox) {
    let names = [
        "feedback_record.jsonl.2",
        "feedback_record.jsonl.1",
        "feedback_record.jsonl",
    ];
    let index = json(&folder.join("index.json"));
    for (at, name) in names.iter().enumerate() {
        let content = fs::read(folder.join(name)).expect("a file");
        assert_eq!(
            content,
            fs::read(sandbox.path().join(name)).expect("a file")
        );
        assert_eq!(index["files"][at]["name"], *name, "oldest first");
        assert_eq!(index["files"][at]["bytes"], content.len());
    }
    let records = index["records"].as_array().expect("a list");
    assert_eq!(records.len(), 17);
    let last = &records[16];
    assert_eq!((&last["seq"], &last["line"]), (&17.into(), &7.into()));
    assert_eq!(
        (&last["exit_code"], &last["command"][0]),
        (&0.into(), &"true".into())
    );

    let found = json(&folder.join("verification.json"));
    assert_eq!(found["state"], "sound", "{found}");
    let active = fs::read_to_string(folder.join("feedback_record.jsonl")).expect("a file");
    let head = digest(active.lines().last().expect("a line"));
    assert_eq!(found["head"]["hash"], head.as_str());
    assert_eq!(index["head"], found["head"]);
    let readme = fs::read_to_string(folder.join("README.txt")).expect("a file");
    assert!(readme.contains("feedback_record.jsonl") && readme.contains("sha256sum"));
}

/// Unpacks an archive as somebody does who has no feedback.
fn untar(archive: &Path, into: &Path) {
    fs::create_dir(into).expect("a folder");
    let unpacked = Command::new("tar")
        .arg("-xzf")
        .arg(archive)
        .arg("-C")
        .arg(into)
        .status();
    assert!(unpacked.expect("tar").success());
}

#[test]
fn a_folder_and_an_archive_hold_the_whole_rotated_set() {
    let (sandbox, _, _) = store();
    let called = sandbox.call(["export", "copy"]);
    assert_eq!((called.status, called.stderr.as_str()), (0, ""));
    assert!(
        called
            .stdout
            .starts_with("`copy`: sound: 17 records in 3 files")
    );
    is_whole(&sandbox.path().join("copy"), &sandbox);

    let called = sandbox.call(["export", "--json", "copy.tar.gz"]);
    assert_eq!(
        (called.status, &called.json()["state"]),
        (0, &"sound".into())
    );
    let unpacked = sandbox.path().join("unpacked");
    untar(&sandbox.path().join("copy.tar.gz"), &unpacked);
    is_whole(&unpacked.join("feedback-export"), &sandbox);
}

#[test]
fn show_reads_an_export_as_it_reads_a_store() {
    let (sandbox, failed, newest) = store();
    for copy in ["copy", "copy.tar.gz"] {
        assert_eq!(sandbox.call(["export", copy]).status, 0);
        // From elsewhere, where there is no store.
        let elsewhere = Sandbox::new();
        let path = sandbox.path().join(copy).display().to_string();
        let show =
            |options: &[&str]| elsewhere.call(["show", "--from", &path].iter().chain(options));
        assert_eq!(show(&[]).json(), newest);
        assert_eq!(show(&["--failed"]).json(), failed);
        assert_eq!(show(&[text(&failed, "command_id")]).json(), failed);
        let id = "00000000-0000-7000-8000-000000000001";
        assert_eq!(show(&[id]).json()["seq"], 1, "of the oldest file");
        assert!(show(&["--text"]).stdout.starts_with("exited 0"));
        show(&["no-such-id"]).says(2, &["no-such-id"]);
        assert_eq!(elsewhere.every_byte(), b"", "nothing is created");
    }
}

#[test]
fn verify_checks_an_export_as_it_checks_a_store() {
    let (sandbox, _, _) = store();
    let kept = sandbox.run_with(["--keep-output"], ["sh", "-c", "echo out"]);
    let head = sandbox.call(["verify", "--json"]).json()["head"].clone();
    for copy in ["copy", "copy.tar.gz"] {
        assert_eq!(sandbox.call(["export", copy]).status, 0);
        let elsewhere = Sandbox::new();
        let path = sandbox.path().join(copy).display().to_string();
        let found = elsewhere.call(["verify", "--json", "--from", &path]);
        assert_eq!((found.status, &found.json()["head"]), (0, &head));
        let other = format!("{}:sha256:{}", head["seq"], "0".repeat(64));
        let other = elsewhere.call(["verify", "--from", &path, "--head", &other]);
        assert_eq!(other.status, 1, "{}", other.stderr);
        assert_eq!(elsewhere.every_byte(), b"", "nothing is created");
    }
    let output = format!("{}.stdout", text(&kept, "command_id"));
    let output = sandbox
        .path()
        .join("copy/feedback_record.jsonl.output")
        .join(output);
    fs::write(&output, "other").expect("a file");
    let changed = sandbox.call(["verify", "--from", "copy"]);
    assert_eq!(changed.status, 1);
    assert!(changed.stdout.contains("does not match its digest"));
    sandbox
        .call(["verify", "--from", "copy", "--record-file", "x"])
        .says(2, &["cannot be used with"]);
}

#[test]
fn nothing_is_overwritten_and_no_link_is_followed() {
    let (sandbox, _, _) = store();
    let target = sandbox.write("target.txt", "untouched");
    fs::create_dir(sandbox.path().join("empty-folder")).expect("a folder");
    sandbox.write("file.tar.gz", "untouched");
    symlink(&target, sandbox.path().join("link.tar.gz")).expect("a link");
    symlink(
        sandbox.path().join("nowhere"),
        sandbox.path().join("dangling"),
    )
    .expect("a link");
    symlink(
        sandbox.path().join("nowhere"),
        sandbox.path().join("dangling.tgz"),
    )
    .expect("a link");
    for there in [
        "empty-folder",
        "file.tar.gz",
        "link.tar.gz",
        "dangling",
        "dangling.tgz",
    ] {
        sandbox
            .call(["export", there])
            .says(2, &[there, "is there already", "another name"]);
    }
    assert_eq!(fs::read(&target).expect("a file"), b"untouched");
    assert_eq!(
        fs::read(sandbox.path().join("file.tar.gz")).expect("a file"),
        b"untouched"
    );
    assert!(!sandbox.path().join("nowhere").exists());
    sandbox
        .call(["export", "copy.zip"])
        .says(2, &["copy.zip", ".tar.gz"]);
    sandbox
        .call(["export", "no/such/copy"])
        .says(2, &["no/such/copy"]);
}

#[test]
fn what_a_link_in_the_store_leads_to_is_not_exported() {
    let (sandbox, _, _) = store();
    let private = sandbox.write("private", "what nobody shall see\n");
    symlink(private, sandbox.path().join("feedback_record.jsonl.3")).expect("a link");
    for copy in ["copy", "copy.tar.gz"] {
        sandbox.call(["export", copy]).says(0, &["not sound"]);
    }
    untar(
        &sandbox.path().join("copy.tar.gz"),
        &sandbox.path().join("unpacked"),
    );
    for folder in ["copy", "unpacked/feedback-export"] {
        let folder = sandbox.path().join(folder);
        assert!(fs::symlink_metadata(folder.join("feedback_record.jsonl.3")).is_err());
        let index = json(&folder.join("index.json"));
        assert_eq!(
            index["files"][0]["not_copied"], "is a symbolic link",
            "{index}"
        );
        for entry in fs::read_dir(&folder).expect("a folder") {
            let content = fs::read(entry.expect("an entry").path()).expect("a file");
            assert!(!holds(&content, b"nobody shall see"));
        }
    }
}

#[test]
fn a_damaged_store_is_exported_as_it_is_and_told_to_be_damaged() {
    let (sandbox, _, _) = store();
    let path = sandbox.path().join("feedback_record.jsonl.1");
    let damaged = fs::read_to_string(&path)
        .expect("a file")
        .replacen("exited", "exiled", 1);
    fs::write(&path, &damaged).expect("written");
    sandbox
        .call(["export", "copy"])
        .says(0, &["not sound", "verification.json"]);
    let copied = fs::read_to_string(sandbox.path().join("copy/feedback_record.jsonl.1"));
    assert_eq!(copied.expect("a file"), damaged);
    let found = json(&sandbox.path().join("copy/verification.json"));
    assert_eq!(found["state"], "damaged");
    assert_eq!(
        found["damages"][0]["file"], "feedback_record.jsonl.1",
        "{found}"
    );
    assert_eq!(found["damages"][0]["line"], 1);
    let bytes = fs::read(sandbox.path().join("copy/verification.json")).expect("a file");
    let folder = sandbox.path().as_os_str().as_encoded_bytes();
    assert!(!holds(&bytes, folder), "where the store was is not told");
}

#[test]
fn runs_that_are_not_in_the_file_yet_are_exported_too() {
    let sandbox = Sandbox::new();
    crate::recover::leave_died(&sandbox);
    assert_eq!(sandbox.call(["export", "copy"]).status, 0);
    let pending = fs::read_to_string(sandbox.path().join("copy/pending.jsonl")).expect("a file");
    let run: Value = serde_json::from_str(pending.trim_end()).expect("one line of JSON");
    assert_eq!(run["state"], "died", "{run}");
    assert_eq!(run["intent"]["command"][0], "sh");
    assert_eq!(run["record"], Value::Null);
    assert_eq!(sandbox.records().len(), 0, "the store is as it was");
}

#[test]
fn an_empty_store_is_not_exported() {
    let sandbox = Sandbox::new();
    sandbox
        .call(["export", "copy"])
        .says(2, &["nothing to export"]);
    assert_eq!(sandbox.every_byte(), b"", "nothing is created");
}

#[test]
fn an_export_beside_writers_is_one_moment_of_the_store() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let mut writers: Vec<_> = (0..6)
        .map(|_| {
            sandbox
                .feedback()
                .args(["run", "--", "seq", "1", "2000"])
                .stdout(Stdio::null())
                .spawn()
                .expect("runs")
        })
        .collect();
    for copy in ["copy-1", "copy-2", "copy-3"] {
        assert_eq!(sandbox.call(["export", copy]).status, 0);
        let file = format!("{copy}/feedback_record.jsonl");
        assert_eq!(sandbox.call(["verify", "--record-file", &file]).status, 0);
    }
    for writer in &mut writers {
        assert!(writer.wait().expect("ends").success());
    }
    assert_eq!(sandbox.records().len(), 7);
}

#[test]
fn what_is_no_whole_export_is_not_read() {
    let (sandbox, _, _) = store();
    sandbox.call(["export", "copy"]);
    sandbox.call(["export", "copy.tar.gz"]);
    let show = |from: &str| sandbox.call(["show", "--from", from]);

    let archive = fs::read(sandbox.path().join("copy.tar.gz")).expect("a file");
    sandbox.write("cut.tar.gz", &archive[..archive.len() / 2]);
    show("cut.tar.gz").says(2, &["cut.tar.gz"]);
    sandbox.write("text.tar.gz", "no archive");
    show("text.tar.gz").says(2, &["text.tar.gz"]);
    show("nothing-there").says(2, &["nothing-there"]);
    symlink("copy", sandbox.path().join("link")).expect("a link");
    show("link").says(2, &["neither a folder nor a file"]);

    sandbox.write("copy/index.json", "{\"format\": \"feedback-export/2\"}");
    show("copy").says(2, &["index.json", "feedback-export/1"]);
    fs::remove_file(sandbox.path().join("copy/index.json")).expect("removed");
    show("copy").says(2, &["index.json"]);
}

#[test]
fn no_name_and_no_link_in_an_archive_is_trusted() {
    let sandbox = Sandbox::new();
    let victim = sandbox.write("victim", "private\n");
    let path = sandbox.path().join("evil.tar.gz");
    let file = File::create(&path).expect("a file");
    let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::fast()));
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    archive
        .append_link(&mut link, "x/feedback_record.jsonl", &victim)
        .expect("added");
    let mut add = |name: &[u8], content: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().expect("GNU").name[..name.len()].copy_from_slice(name);
        header.set_size(u64::try_from(content.len()).expect("a size"));
        header.set_cksum();
        archive.append(&header, content).expect("added");
    };
    add(b"../../../../../../tmp/feedback-evil", b"evil");
    add(b"x/index.json", b"{\"format\":\"feedback-export/1\"}");
    archive
        .into_inner()
        .expect("ended")
        .finish()
        .expect("ended");
    sandbox
        .call(["show", "--from", "evil.tar.gz"])
        .says(2, &["holds no record"]);
    assert!(!Path::new("/tmp/feedback-evil").exists());
    assert_eq!(fs::read(victim).expect("a file"), b"private\n");
}
