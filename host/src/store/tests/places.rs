//! Where a store may be, and what it refuses to touch.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::bench::Bench;
use super::scribe::intent;
use crate::store::{Hazard, Options, Store, StoreError};

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn hazard(error: &StoreError) -> Hazard {
    match error {
        StoreError::Unsafe { hazard, .. } => *hazard,
        StoreError::Io { .. }
        | StoreError::Locked { .. }
        | StoreError::NoLocks { .. }
        | StoreError::Document { .. }
        | StoreError::Schema { .. }
        | StoreError::Scribe { .. } => panic!("{error}"),
    }
}

fn refused(bench: &Bench) -> Hazard {
    hazard(&bench.store().begin("a", &intent("a")).unwrap_err())
}

fn am_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_symbolic_link_is_refused_and_its_target_untouched() {
    for suffix in ["", ".lock", ".pending"] {
        let bench = Bench::new();
        let target = bench.dir.path().join("target");
        if suffix == ".pending" {
            std::fs::create_dir(&target).unwrap();
        } else {
            std::fs::write(&target, "precious").unwrap();
        }
        let name = format!("feedback_record.jsonl{suffix}");
        symlink(&target, bench.dir.path().join(name)).unwrap();
        assert_eq!(refused(&bench), Hazard::SymbolicLink, "{suffix}");
        if target.is_dir() {
            assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
        } else {
            assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
        }
    }
}

#[test]
fn a_fifo_is_refused_without_waiting() {
    for suffix in ["", ".lock"] {
        let bench = Bench::new();
        let path = bench
            .dir
            .path()
            .join(format!("feedback_record.jsonl{suffix}"));
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        assert_eq!(refused(&bench), Hazard::Special, "{suffix}");
    }
}

#[test]
fn a_directory_is_refused() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path()).unwrap();
    assert_eq!(refused(&bench), Hazard::Directory);
    let bench = Bench::new();
    std::fs::write(bench.pending(), "").unwrap();
    assert_eq!(refused(&bench), Hazard::NotDirectory);
}

#[test]
fn a_hard_link_is_refused_and_its_target_untouched() {
    let bench = Bench::new();
    let target = bench.dir.path().join("target");
    std::fs::write(&target, "{}").unwrap();
    chmod(&target, 0o600);
    std::fs::hard_link(&target, bench.path()).unwrap();
    assert_eq!(refused(&bench), Hazard::HardLink);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "{}");
}

#[test]
fn a_file_that_others_may_write_is_refused() {
    for mode in [0o666, 0o620, 0o602] {
        let bench = Bench::new();
        bench.record("one");
        chmod(&bench.path(), mode);
        assert_eq!(refused(&bench), Hazard::OthersMayWrite, "{mode:o}");
    }
}

#[test]
fn a_file_that_others_may_read_is_used() {
    let bench = Bench::new();
    bench.record("one");
    chmod(&bench.path(), 0o644);
    assert_eq!(bench.record("two").seq, 2);
}

#[test]
fn a_file_of_another_user_is_refused() {
    if !am_root() {
        return eprintln!("not root: the owner of a file cannot be changed here");
    }
    let bench = Bench::new();
    bench.record("one");
    std::os::unix::fs::chown(bench.path(), Some(12345), None).unwrap();
    assert_eq!(refused(&bench), Hazard::OtherOwner);
}

#[test]
fn a_file_that_no_store_began_is_refused_and_untouched() {
    let bench = Bench::new();
    let notes = "my notes\nwithout a last newline";
    std::fs::write(bench.path(), notes).unwrap();
    chmod(&bench.path(), 0o600);
    assert_eq!(refused(&bench), Hazard::Foreign);
    assert_eq!(bench.content(), notes.as_bytes());
}

#[test]
fn a_folder_that_everybody_may_write_is_refused_unless_it_is_sticky() {
    let bench = Bench::new();
    let open = || Store::open(&bench.path(), Options::default());
    chmod(bench.dir.path(), 0o777);
    assert_eq!(hazard(&open().unwrap_err()), Hazard::OthersMayWrite);
    chmod(bench.dir.path(), 0o1777);
    open().unwrap();
}

#[test]
fn a_folder_that_its_group_may_write_is_accepted_and_left_as_it_is() {
    let bench = Bench::new();
    chmod(bench.dir.path(), 0o775);
    bench.record("one");
    let mode = std::fs::metadata(bench.dir.path()).unwrap().mode();
    assert_eq!(mode & 0o777, 0o775);
}

#[test]
fn a_symbolic_link_as_the_folder_is_refused() {
    let bench = Bench::new();
    let link = bench.dir.path().join("link");
    symlink("/tmp", &link).unwrap();
    let error = Store::open(&link.join("records.jsonl"), Options::default()).unwrap_err();
    assert_eq!(hazard(&error), Hazard::SymbolicLink);
    assert!(error.to_string().contains("link"));
}

#[test]
fn a_pending_folder_that_others_may_write_is_refused() {
    let bench = Bench::new();
    bench.record("one");
    chmod(&bench.pending(), 0o770);
    assert_eq!(refused(&bench), Hazard::OthersMayWrite);
}

#[test]
fn a_missing_folder_is_created_for_us_alone_but_not_its_parents() {
    let bench = Bench::new();
    let path = bench.dir.path().join("records").join("r.jsonl");
    Store::open(&path, Options::default()).unwrap();
    let mode = std::fs::metadata(path.parent().unwrap()).unwrap().mode();
    assert_eq!(mode & 0o777, 0o700);
    let deep = bench.dir.path().join("a").join("b").join("r.jsonl");
    Store::open(&deep, Options::default()).unwrap_err();
}

#[test]
fn what_a_store_creates_is_for_us_alone() {
    let bench = Bench::narrow();
    bench.fill();
    bench.leave_died("died");
    for path in [
        bench.path(),
        bench.rotated(1),
        bench.dir.path().join("feedback_record.jsonl.lock"),
        bench.pending().join("died.open"),
    ] {
        let mode = std::fs::metadata(&path).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
    let mode = std::fs::metadata(bench.pending()).unwrap().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn something_foreign_in_the_way_of_rotation_is_not_moved() {
    let bench = Bench::narrow();
    let target = bench.dir.path().join("target");
    std::fs::write(&target, "precious").unwrap();
    symlink(&target, bench.rotated(1)).unwrap();
    for index in 0..20 {
        bench.record(&format!("run-{index:02}"));
    }
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
    assert!(bench.rotated(1).is_symlink());
    assert!(bench.content().len() > 800);
}

#[test]
fn an_id_that_is_no_file_name_is_refused() {
    let bench = Bench::new();
    for id in ["", "..", "a/b", "a.b", "a b", &"a".repeat(65)] {
        let error = bench.store().begin(id, &intent(id)).unwrap_err();
        assert!(matches!(error, StoreError::Document { .. }), "{id}");
    }
}

#[test]
fn the_same_run_cannot_begin_twice() {
    let bench = Bench::new();
    let store = bench.store();
    let _first = store.begin("a", &intent("a")).unwrap();
    store.begin("a", &intent("a")).unwrap_err();
    assert_eq!(bench.pending_names(), ["a.open"]);
}
