//! Kept outputs: what a file holds after any failure, and when it goes.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::bench::Bench;
use super::scribe::{Native, body, intent};
use super::shim::{Fault, Shim};
use crate::component::Passage;
use crate::ending::Source;
use crate::keep::Keeper;
use crate::store::Store;

const ID: &str = "0190-kept";
const PLENTY: u64 = 1 << 30;

impl Bench {
    fn output(&self, id: &str, stream: &str) -> PathBuf {
        let folder = self.dir.path().join("feedback_record.jsonl.output");
        folder.join(format!("{id}.{stream}"))
    }

    fn output_ids(&self) -> BTreeSet<String> {
        let folder = self.dir.path().join("feedback_record.jsonl.output");
        let Ok(entries) = fs::read_dir(folder) else {
            return BTreeSet::new();
        };
        let id = |name: String| name.split('.').next().unwrap().to_owned();
        entries
            .map(|entry| id(entry.unwrap().file_name().into_string().unwrap()))
            .collect()
    }

    /// Records a run that keeps a line of its output.
    fn record_keeping(&self, id: &str) {
        let store = self.store();
        let run = store.begin(id, &intent(id)).unwrap();
        let mut keeper = Keeper::start(&store, &run, PLENTY);
        keeper.take(Source::Stdout, &given("a line\n"));
        keeper.finish(&store);
        store
            .finish(run, &body(id, "exited", 20), &mut Native)
            .unwrap();
    }
}

fn given(text: &str) -> Passage {
    passage(0, text)
}

fn passage(taken_back: u64, text: &str) -> Passage {
    Passage {
        taken_back,
        text: text.to_owned(),
    }
}

/// Keeps these passages of standard output, and returns the facts and what the file holds.
fn keep(bench: &Bench, store: &Store, bound: u64, passages: &[Passage]) -> (Value, String) {
    let run = store.begin(ID, &intent(ID)).unwrap();
    let mut keeper = Keeper::start(store, &run, bound);
    for passage in passages {
        keeper.take(Source::Stdout, passage);
    }
    let facts = serde_json::to_value(keeper.finish(store)).unwrap();
    let content = fs::read_to_string(bench.output(ID, "stdout")).unwrap_or_default();
    (facts["stdout"].clone(), content)
}

/// Asks for facts that fit the file, and numbers that come to the whole text.
#[track_caller]
fn fits(facts: &Value, content: &str, whole: &str) {
    let number = |key: &str| usize::try_from(facts[key].as_u64().unwrap()).unwrap();
    let hex: String = Sha256::digest(content)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(facts["sha256"], format!("sha256:{hex}"));
    assert!(whole.starts_with(content), "{content:?} of {whole:?}");
    assert_eq!(number("bytes"), content.len());
    assert_eq!(number("lines"), content.lines().count());
    assert_eq!(number("bytes") + number("bytes_omitted"), whole.len());
    assert_eq!(
        number("lines") + number("lines_omitted"),
        whole.lines().count()
    );
}

#[test]
fn a_file_holds_the_text_up_to_the_bound_whatever_is_taken_back() {
    let bench = Bench::new().process_durability();
    let mut seed = 7_u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    for round in 0..300 {
        let mut whole = String::new();
        let mut passages = Vec::new();
        for _ in 0..next(12) {
            let open = whole.rsplit('\n').next().unwrap_or("").len();
            let taken_back = if next(4) == 0 { open } else { 0 };
            whole.truncate(whole.len() - taken_back);
            let text: String = (0..next(9))
                .map(|_| ["a", "é", "\n", "b\n"][usize::try_from(next(4)).unwrap()])
                .collect();
            whole.push_str(&text);
            passages.push(passage(u64::try_from(taken_back).unwrap(), &text));
        }
        let bound = next(40);
        let (facts, content) = keep(&bench, &bench.store(), bound, &passages);
        fits(&facts, &content, &whole);
        assert_eq!(facts["error"], Value::Null, "round {round}");
        let room = usize::try_from(bound).unwrap();
        assert_eq!(
            content,
            whole.get(..whole.floor_char_boundary(room)).unwrap(),
            "round {round}"
        );
        fs::remove_dir_all(bench.output(ID, "stdout").parent().unwrap()).unwrap();
        fs::remove_dir_all(bench.pending()).unwrap();
    }
}

#[test]
fn what_was_never_given_cannot_be_taken_back() {
    let bench = Bench::new();
    let passages = [given("one\ntwo"), passage(5, "three\n")];
    let (facts, content) = keep(&bench, &bench.store(), PLENTY, &passages);
    assert_eq!(content, "one\ntwo");
    assert!(
        facts["error"].as_str().unwrap().contains("took back"),
        "{facts}"
    );
}

#[test]
fn a_full_disk_at_any_call_leaves_a_file_that_fits_its_facts_and_room_for_the_record() {
    let line = format!("{}\n", "x".repeat(99_999));
    let passages: Vec<Passage> = (0..40).map(|_| given(&line)).collect();
    let whole = line.repeat(40);
    let mut struck = 0;
    for at in 1.. {
        let bench = Bench::new().process_durability();
        // The room for the intent is there: the run has begun.
        let store = bench.store();
        let run = store.begin(ID, &intent(ID)).unwrap();
        let shim = Arc::new(Shim::failing(at, Fault::NoRoom));
        let full = bench.on(Arc::clone(&shim)).unwrap();
        let mut keeper = Keeper::start(&full, &run, PLENTY);
        for passage in &passages {
            keeper.take(Source::Stdout, passage);
        }
        let facts = serde_json::to_value(keeper.finish(&full)).unwrap();
        let facts = &facts["stdout"];
        let content = fs::read_to_string(bench.output(ID, "stdout")).unwrap_or_default();
        if shim.struck().is_none() {
            fits(facts, &content, &whole);
            assert_eq!(content, whole);
            break;
        }
        if facts.get("file").is_some() {
            fits(facts, &content, &whole);
        }
        if content.len() < whole.len() {
            struck += 1;
            assert!(
                facts["error"].as_str().unwrap().contains("No space"),
                "{facts}"
            );
            let came = usize::try_from(at).unwrap() * line.len();
            assert!(
                content.len() + (1 << 20) <= came || content.is_empty(),
                "{at}"
            );
        }
        store
            .finish(run, &body(ID, "exited", 20), &mut Native)
            .unwrap();
        bench.settle();
    }
    assert!(struck > 30, "{struck}");
}

#[test]
fn a_size_limit_of_the_process_ends_the_file_and_sends_no_signal() {
    let bench = Bench::new().process_durability();
    let store = bench.on(Arc::new(Shim::limited(400_000))).unwrap();
    let line = format!("{}é\n", "x".repeat(99_998));
    let passages: Vec<Passage> = (0..6).map(|_| given(&line)).collect();
    let (facts, content) = keep(&bench, &store, PLENTY, &passages);
    fits(&facts, &content, &line.repeat(6));
    assert!(
        content.len() <= 400_000 && content.len() > 399_990,
        "{}",
        content.len()
    );
    assert!(
        facts["error"].as_str().unwrap().contains("cannot write"),
        "{facts}"
    );
}

#[test]
fn any_failure_is_told_and_costs_no_record() {
    for errno in [Errno::IO, Errno::ACCESS, Errno::MFILE] {
        for at in 1..40 {
            let bench = Bench::new();
            let store = bench.store();
            let run = store.begin(ID, &intent(ID)).unwrap();
            let shim = Arc::new(Shim::failing(at, Fault::Once(errno)));
            let failing = bench.on(Arc::clone(&shim));
            let Ok(failing) = failing else { continue };
            let mut keeper = Keeper::start(&failing, &run, PLENTY);
            keeper.take(Source::Stdout, &given("one\n"));
            keeper.take(Source::Stderr, &given("two\n"));
            let facts = serde_json::to_value(keeper.finish(&failing)).unwrap();
            for stream in ["stdout", "stderr"] {
                let facts = &facts[stream];
                let whole = if stream == "stdout" { "one\n" } else { "two\n" };
                let content = fs::read_to_string(bench.output(ID, stream)).unwrap_or_default();
                if facts.get("file").is_some() {
                    fits(facts, &content, whole);
                }
                if content != whole {
                    assert!(facts["error"].is_string(), "call {at}: {facts}");
                }
            }
            store
                .finish(run, &body(ID, "exited", 20), &mut Native)
                .unwrap();
            bench.settle();
        }
    }
}

#[test]
fn an_output_goes_with_the_file_that_its_record_is_in() {
    let bench = Bench::narrow().process_durability();
    let mut dropped = false;
    for index in 0..60 {
        let id = format!("keeps-{index:02}");
        bench.record_keeping(&id);
        let recorded: BTreeSet<String> = bench
            .ids()
            .into_iter()
            .filter(|id| id.starts_with("keeps"))
            .collect();
        dropped |= recorded.len() <= index;
        assert_eq!(bench.output_ids(), recorded, "after {id}");
    }
    assert!(dropped);
}

#[test]
fn an_output_stays_where_a_damaged_line_may_be_its_record() {
    let bench = Bench::narrow().process_durability();
    bench.record_keeping("0190-damaged");
    let content = String::from_utf8(bench.content()).unwrap();
    fs::write(bench.path(), content.replacen("exited", "exitec", 1)).unwrap();
    bench.store().recover(&mut Native).unwrap();
    assert!(bench.output_ids().contains("0190-damaged"));
}

#[test]
fn an_output_of_a_run_that_waits_or_goes_on_stays() {
    let bench = Bench::new().process_durability();
    let store = bench.store();
    let run = store.begin(ID, &intent(ID)).unwrap();
    let mut keeper = Keeper::start(&store, &run, PLENTY);
    bench.store().recover(&mut Native).unwrap();
    assert_eq!(bench.output_ids(), BTreeSet::from([ID.to_owned()]));
    keeper.take(Source::Stdout, &given("late\n"));
    keeper.finish(&store);
    drop(run);
    bench.settle();
    assert_eq!(bench.outcome(ID), "runner-died");
    assert_eq!(
        fs::read_to_string(bench.output(ID, "stdout")).unwrap(),
        "late\n"
    );
}

#[test]
fn a_death_at_any_call_leaves_no_output_that_no_record_names() {
    for at in 1.. {
        let bench = Bench::new().process_durability();
        let shim = Arc::new(Shim::failing(at, Fault::Die));
        let attempt = || {
            let store = bench.on(Arc::clone(&shim)).ok()?;
            let run = store.begin(ID, &intent(ID)).ok()?;
            let mut keeper = Keeper::start(&store, &run, PLENTY);
            keeper.take(Source::Stdout, &given("a line\n"));
            keeper.finish(&store);
            store.finish(run, &body(ID, "exited", 20), &mut Native).ok()
        };
        let finished = attempt().is_some();
        bench.settle_after(&format!("death at call {at}"));
        let recorded: BTreeSet<String> = bench.ids().into_iter().collect();
        assert!(
            bench.output_ids().is_subset(&recorded),
            "death at call {at}"
        );
        if finished && shim.struck().is_none() {
            return;
        }
    }
}
