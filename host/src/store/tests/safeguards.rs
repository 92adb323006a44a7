//! Each safeguard holds in a scenario, and the same scenario fails without it.

use std::sync::Arc;

use super::bench::{Bench, record};
use super::scribe::{Native, body, intent};
use super::shim::{Off, Shim};
use crate::reader::{PendingState, Reader, Scope};
use crate::store::lock::Lock;
use crate::store::place::Place;
use crate::store::{Notice, OpenRun, StoreError};

/// Passes with all safeguards, and fails without this one.
fn needs(off: Off, scenario: impl Fn(Option<Off>) -> Result<(), String>) {
    scenario(None).unwrap();
    scenario(Some(off)).unwrap_err();
}

fn ensure(holds: bool, claim: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(claim.to_owned()) }
}

#[test]
fn without_the_lock_a_second_writer_gets_in() {
    needs(Off::Lock, |off| {
        let bench = Bench::new();
        bench.record("one");
        let system = Arc::new(Shim::without(off));
        let place = Place::open(system, &bench.path(), false).unwrap();
        let _held = Lock::exclusive(&place.folder, &place.lock, bench.options.lock_limit);
        let store = bench.on(Arc::new(Shim::without(off))).unwrap();
        let outcome = record(&store, "two");
        let kept_out = outcome
            .is_err_and(|error| error.waits && matches!(*error.cause, StoreError::Locked { .. }));
        ensure(
            kept_out,
            "the second writer is kept out, and its record waits",
        )
    });
}

#[test]
fn without_unlocking_a_child_that_holds_a_copy_keeps_the_next_writer_out() {
    needs(Off::Unlock, |off| {
        let bench = Bench::new();
        // The copies live for as long as this kernel does.
        let system = Arc::new(Shim::copying(off));
        let store = bench.on(Arc::clone(&system)).unwrap();
        record(&store, "one").unwrap();
        let next = record(&bench.store(), "two");
        ensure(next.is_ok(), "the next writer gets the lock")
    });
}

#[test]
fn without_the_repair_the_next_record_is_glued_to_a_torn_one() {
    needs(Off::Repair, |off| {
        let bench = Bench::new();
        bench.record("one");
        let mut content = bench.content();
        content.extend(b"{\"schema_version\":\"1.0\",\"tor");
        std::fs::write(bench.path(), content).unwrap();
        let store = bench.on(Arc::new(Shim::without(off))).unwrap();
        record(&store, "two").unwrap();
        ensure(bench.verify().damages.is_empty(), "no line is damaged")
    });
}

#[test]
fn without_the_sync_a_power_cut_takes_an_acknowledged_record() {
    needs(Off::Sync, |off| {
        let bench = Bench::new();
        let system = Arc::new(Shim::without(off));
        let store = bench.on(Arc::clone(&system)).unwrap();
        record(&store, "one").unwrap();
        system.cut_power(bench.dir.path());
        bench.store().recover(&mut Native).unwrap();
        ensure(bench.count("one") == 1, "the record is there")
    });
}

#[test]
fn without_the_intent_a_dead_runner_leaves_no_record() {
    let scenario = |announced: bool| {
        let bench = Bench::new();
        let store = bench.store();
        let run = if announced {
            store.begin("one", &intent("one")).unwrap()
        } else {
            OpenRun::unannounced("one")
        };
        drop(run);
        store.recover(&mut Native).unwrap();
        bench.count("one")
    };
    assert_eq!(scenario(true), 1);
    assert_eq!(scenario(false), 0);
}

#[test]
fn an_unannounced_run_is_recorded_all_the_same() {
    let bench = Bench::new();
    let run = OpenRun::unannounced("one");
    bench
        .store()
        .finish(run, &body("one", "exited", 1), &mut Native)
        .unwrap();
    assert_eq!(bench.ids(), ["one"]);
}

#[test]
fn a_lock_on_a_file_that_was_replaced_is_no_lock() {
    let bench = Bench::new();
    bench.record("one");
    let lock = bench.dir.path().join("feedback_record.jsonl.lock");
    let place = Place::open(Arc::new(Shim::sound()), &bench.path(), false).unwrap();
    let held = Lock::exclusive(&place.folder, &place.lock, bench.options.lock_limit).unwrap();
    std::fs::remove_file(&lock).unwrap();
    // A new file is a new lock, and its holder holds the one at the path.
    bench.record("two");
    drop(held);
    assert_eq!(bench.ids(), ["one", "two"]);
}

#[test]
fn a_record_that_had_to_wait_is_merged_by_the_next_run() {
    let bench = Bench::new();
    let place = Place::open(Arc::new(Shim::sound()), &bench.path(), false).unwrap();
    let held = Lock::exclusive(&place.folder, &place.lock, bench.options.lock_limit).unwrap();
    record(&bench.store(), "one").unwrap_err();
    let reader = Reader::open(&bench.path(), Scope::Active).unwrap();
    let runs = reader.open_runs().unwrap();
    assert_eq!(runs[0].state, PendingState::Waiting);
    assert_eq!(runs[0].intent, intent("one"));
    drop(held);
    let appended = bench.record("two");
    assert!(
        matches!(&appended.notices[..], [Notice::Recovered { command_id, died: false }] if command_id == "one")
    );
    assert_eq!(bench.ids(), ["one", "two"]);
    assert_eq!(bench.outcome("one"), "exited");
}

#[test]
fn a_running_run_is_not_taken_for_a_dead_one() {
    let bench = Bench::new();
    let store = bench.store();
    let run = store.begin("long", &intent("long")).unwrap();
    bench.record("short");
    let reader = Reader::open(&bench.path(), Scope::Active).unwrap();
    assert_eq!(reader.open_runs().unwrap()[0].state, PendingState::Running);
    store
        .finish(run, &body("long", "exited", 1), &mut Native)
        .unwrap();
    assert_eq!(bench.ids(), ["short", "long"]);
}

#[test]
fn an_abandoned_run_leaves_nothing() {
    let bench = Bench::new();
    let store = bench.store();
    let run = store.begin("one", &intent("one")).unwrap();
    store.abandon(run).unwrap();
    store.recover(&mut Native).unwrap();
    assert!(bench.ids().is_empty());
    assert!(bench.pending_names().is_empty());
}

#[test]
fn a_drop_is_told_in_the_first_line_after_it() {
    let bench = Bench::narrow();
    bench.fill();
    let oldest = std::fs::read_to_string(bench.rotated(2)).unwrap();
    let dropped = u64::try_from(oldest.lines().count()).unwrap();
    let appended = bench.record("next");
    assert!(
        matches!(appended.notices[..], [Notice::Dropped { first_seq: Some(1), last_seq: Some(last), .. }] if last == dropped)
    );
    let first = bench
        .content()
        .split(|b| *b == b'\n')
        .next()
        .unwrap()
        .to_vec();
    let notice: serde_json::Value = serde_json::from_slice(&first).unwrap();
    assert_eq!(notice["kind"], "drop");
    assert_eq!(notice["last_seq"], dropped);
    let found = bench.verify();
    assert_eq!(found.damages, []);
    assert_eq!(found.first_seq, Some(dropped + 1));
    assert_eq!(found.head.unwrap().seq, appended.seq);
}

#[test]
fn files_that_went_without_a_notice_are_missed() {
    let bench = Bench::narrow();
    bench.fill();
    std::fs::remove_file(bench.rotated(2)).unwrap();
    let found = bench.verify();
    assert_eq!(found.damages.len(), 1);
    assert!(found.damages[0].what.contains("missing"));
}

#[test]
fn files_that_a_larger_store_kept_go_first_and_are_told() {
    let mut bench = Bench::narrow();
    bench.options.keep = 5;
    let mut index = 0;
    while !bench.rotated(5).exists() {
        bench.record(&format!("early-{index:02}"));
        index += 1;
    }
    bench.options.keep = 2;
    bench.fill();
    bench.record("next");
    assert!(bench.rotated(2).exists());
    assert!(!bench.rotated(3).exists());
    assert_eq!(bench.verify().damages, []);
}

#[test]
fn a_hole_is_filled_before_anything_is_dropped() {
    let bench = Bench::narrow();
    bench.fill();
    std::fs::rename(bench.rotated(1), bench.dir.path().join("kept")).unwrap();
    std::fs::rename(bench.rotated(2), bench.rotated(1)).unwrap();
    std::fs::rename(bench.dir.path().join("kept"), bench.rotated(2)).unwrap();
    std::fs::remove_file(bench.rotated(2)).unwrap();
    let before = std::fs::read(bench.rotated(1)).unwrap();
    let appended = bench.record("next");
    assert!(appended.notices.is_empty(), "{:?}", appended.notices);
    assert_eq!(std::fs::read(bench.rotated(2)).unwrap(), before);
}

#[test]
fn the_newest_record_comes_first_backwards() {
    let bench = Bench::narrow();
    bench.fill();
    let reader = Reader::open(&bench.path(), Scope::All).unwrap();
    let mut forward: Vec<_> = reader.entries(&mut Native).collect();
    let backward: Vec<_> = reader.newest_first(&mut Native).collect();
    assert_eq!(reader.newest(&mut Native), forward.last().cloned());
    forward.reverse();
    assert_eq!(forward, backward);
}
