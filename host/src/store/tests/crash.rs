//! The runner dies, or the kernel refuses, at every single call.

use std::sync::Arc;

use rustix::io::Errno;

use super::bench::{Bench, record};
use super::scribe::{Native, body, intent};
use super::shim::{Fault, Shim};
use crate::store::{FinishError, StoreError};

const OWN: &str = "own";

/// A store in which the next record recovers two others, rotates and drops.
fn busy() -> Bench {
    let bench = Bench::narrow();
    bench.fill();
    bench.leave_died("died");
    bench.leave_waiting("waiting");
    bench
}

/// What one run has met.
enum Run {
    Refused,
    Recorded,
    Waits(FinishError),
}

fn run(bench: &Bench, shim: &Arc<Shim>) -> Run {
    let begun = bench
        .on(Arc::clone(shim))
        .and_then(|store| store.begin(OWN, &intent(OWN)).map(|run| (store, run)));
    let Ok((store, run)) = begun else {
        return Run::Refused;
    };
    match store.finish(run, &body(OWN, "exited", 20), &mut Native) {
        Ok(_) => Run::Recorded,
        Err(error) => Run::Waits(error),
    }
}

/// A run whose record takes several pages.
fn run_large(bench: &Bench, shim: &Arc<Shim>) {
    let Ok(store) = bench.on(Arc::clone(shim)) else {
        return;
    };
    if let Ok(run) = store.begin(OWN, &intent(OWN)) {
        let _ = store.finish(run, &body(OWN, "exited", 20_000), &mut Native);
    }
}

/// Asks that nothing is lost, torn or doubled, whatever has happened before.
fn check(bench: &Bench, outcome: &Run, what: &str) {
    bench.settle_after(what);
    assert_eq!(bench.count("died"), 1, "{what}");
    assert_eq!(bench.count("waiting"), 1, "{what}");
    assert_eq!(bench.outcome("died"), "runner-died", "{what}");
    assert_eq!(bench.outcome("waiting"), "exited", "{what}");
    let own = bench.count(OWN);
    match outcome {
        // A death in `begin` leaves at most the record that the runner died.
        Run::Refused => assert!(own <= 1, "{what}"),
        Run::Recorded => assert_eq!(bench.outcome(OWN), "exited", "{what}"),
        Run::Waits(error) => {
            let expected = if error.waits { "exited" } else { "runner-died" };
            let seen = bench.outcome(OWN);
            // The body can be whole without our knowing, never the other way round.
            assert!(seen == expected || seen == "exited", "{what}: {seen}");
        }
    }
}

/// Calls a test with 1, 2, 3 … until the fault strikes no more.
fn at_every_call(mut test: impl FnMut(u64) -> Arc<Shim>) -> u64 {
    for at in 1..2000 {
        if test(at).struck().is_none() {
            return at - 1;
        }
    }
    panic!("the run never ends");
}

#[test]
fn a_death_at_any_call_loses_tears_and_doubles_nothing() {
    let points = at_every_call(|at| {
        let bench = busy();
        let shim = Arc::new(Shim::failing(at, Fault::Die));
        let outcome = run(&bench, &shim);
        check(&bench, &outcome, &format!("death at call {at}"));
        shim
    });
    assert!(
        points > 60,
        "only {points} calls: does the run still rotate?"
    );
}

#[test]
fn a_second_death_in_the_recovery_of_the_first_loses_nothing() {
    let mut first = 1;
    loop {
        let mut second = 1;
        let mut struck_first = None;
        loop {
            let bench = busy();
            let shim = Arc::new(Shim::failing(first, Fault::Die));
            let outcome = run(&bench, &shim);
            struck_first = struck_first.or(shim.struck());
            let again = Arc::new(Shim::failing(second, Fault::Die));
            if let Ok(store) = bench.on(Arc::clone(&again)) {
                let _ = store.recover(&mut Native);
            }
            check(&bench, &outcome, &format!("deaths at {first} and {second}"));
            if again.struck().is_none() {
                break;
            }
            // Every pair would take minutes; a stride that shares no factor meets most of them.
            second += 5;
        }
        if struck_first.is_none() {
            break;
        }
        first += 3;
    }
    assert!(first > 60);
}

#[test]
fn a_death_within_the_append_tears_no_record() {
    let whole = {
        let bench = Bench::new();
        bench.record("first");
        let before = bench.content().len();
        run_large(&bench, &Arc::new(Shim::sound()));
        bench.content().len() - before
    };
    let append_call = (1..200)
        .find(|at| {
            let bench = Bench::new();
            bench.record("first");
            let shim = Arc::new(Shim::failing(*at, Fault::Die));
            run_large(&bench, &shim);
            shim.struck() == Some("append")
        })
        .unwrap();
    let edge = |count: &usize| (count % 4096).min(4096 - count % 4096) <= 1;
    let near_an_end = |count: &usize| *count < 200 || whole - count <= 64;
    for count in (0..=whole).filter(|count| edge(count) || near_an_end(count)) {
        let bench = Bench::new();
        bench.record("first");
        let shim = Arc::new(Shim::failing(append_call, Fault::DieWithin(count)));
        run_large(&bench, &shim);
        bench.settle();
        assert_eq!(bench.ids(), ["first", OWN], "{count} bytes");
        assert_eq!(bench.outcome(OWN), "exited", "{count} bytes");
    }
}

#[test]
fn every_error_number_at_every_call_leaves_a_whole_store() {
    let numbers = [
        Errno::NOSPC,
        Errno::DQUOT,
        Errno::IO,
        Errno::ROFS,
        Errno::MFILE,
        Errno::ACCESS,
        Errno::NOLCK,
    ];
    for number in numbers {
        at_every_call(|at| {
            let bench = busy();
            let shim = Arc::new(Shim::failing(at, Fault::Once(number)));
            let outcome = run(&bench, &shim);
            let what = format!("{number:?} at call {at} ({:?})", shim.struck());
            check(&bench, &outcome, &what);
            match &outcome {
                Run::Refused => assert_eq!(bench.count(OWN), 0, "{what}"),
                Run::Waits(error) => assert!(error.waits, "{what}"),
                Run::Recorded => {}
            }
            shim
        });
    }
}

#[test]
fn an_interrupted_call_is_made_again() {
    at_every_call(|at| {
        let bench = busy();
        let shim = Arc::new(Shim::failing(at, Fault::Once(Errno::INTR)));
        let outcome = run(&bench, &shim);
        assert!(matches!(outcome, Run::Recorded), "call {at}");
        shim
    });
}

#[test]
fn a_disk_that_fills_up_refuses_the_run_or_keeps_the_record() {
    at_every_call(|at| {
        let bench = busy();
        let shim = Arc::new(Shim::failing(at, Fault::NoRoom));
        let outcome = run(&bench, &shim);
        if let Run::Waits(error) = &outcome {
            assert!(error.waits, "call {at}: {error}");
            assert!(error.cause.remedy().contains("room"), "{}", error.cause);
        }
        check(&bench, &outcome, &format!("full from call {at}"));
        shim
    });
}

#[test]
fn a_failed_sync_is_no_success_and_marks_the_store() {
    let mut seen = 0;
    at_every_call(|at| {
        let bench = busy();
        let shim = Arc::new(Shim::failing(at, Fault::Once(Errno::IO)));
        let outcome = run(&bench, &shim);
        // In `begin` the run is refused; the record file is not touched.
        if shim.struck() == Some("sync") && !matches!(outcome, Run::Refused) {
            if let Run::Waits(error) = &outcome {
                let own = matches!(*error.cause, StoreError::Io { action: "sync", .. });
                assert!(own, "call {at}: {}", error.cause);
            }
            bench.settle();
            let found = bench.verify();
            // A drop notice's file is synced too, and its failure only puts the drop off.
            if found.degraded.is_some() {
                assert!(!found.is_sound());
                seen += 1;
            } else {
                assert!(matches!(outcome, Run::Recorded), "call {at}");
            }
        }
        shim
    });
    assert!(seen >= 3, "own, died and waiting: only {seen}");
}

#[test]
fn a_size_limit_of_the_process_refuses_the_run_or_rotates_earlier() {
    let bench = Bench::new();
    let store = bench.on(Arc::new(Shim::limited(1000))).unwrap();
    let refused = store.begin("a", &intent("a")).unwrap_err();
    assert_eq!(refused.errno(), Some(Errno::FBIG.raw_os_error()));
    assert!(bench.pending_names().is_empty());

    let room = 300 * 1024;
    let store = bench.on(Arc::new(Shim::limited(room))).unwrap();
    for index in 0..4 {
        let id = format!("run-{index}");
        let run = store.begin(&id, &intent(&id)).unwrap();
        store
            .finish(run, &body(&id, "exited", 100_000), &mut Native)
            .unwrap();
    }
    assert!(bench.rotated(1).exists());
    assert!(std::fs::metadata(bench.rotated(1)).unwrap().len() <= room);
    bench.settle();
}

#[test]
fn a_process_that_does_not_wait_for_the_disk_makes_no_sync() {
    let bench = Bench::new().process_durability();
    let mut at = 1;
    loop {
        let shim = Arc::new(Shim::failing(at, Fault::Once(Errno::IO)));
        let store = bench.on(Arc::clone(&shim));
        if let Ok(store) = store
            && let Ok(run) = store.begin(&format!("r{at}"), &intent(&format!("r{at}")))
        {
            let _ = store.finish(run, &body(&format!("r{at}"), "exited", 1), &mut Native);
        }
        match shim.struck() {
            Some(name) => assert!(!name.starts_with("sync"), "call {at}"),
            None => break,
        }
        at += 1;
    }
}

#[test]
fn appending_reads_only_the_end_of_the_active_file() {
    let bench = Bench::new();
    let calls = |bench: &Bench, id: &str| {
        let shim = Arc::new(Shim::sound());
        let store = bench.on(Arc::clone(&shim)).unwrap();
        record(&store, id).unwrap();
        shim.calls()
    };
    bench.record("first");
    let early = calls(&bench, "early");
    for index in 0..200 {
        bench.record(&format!("more-{index}"));
    }
    let late = calls(&bench, "late");
    assert!(late <= early + 2, "{late} calls, {early} at first");
}
