//! What one record costs: in a store that has seen 10 runs, in one that has seen 100,000, and naively.
//!
//! `cargo bench -p feedback-host --bench append` prints microseconds per record. It is no test:
//! nothing fails where a machine is slow. `FEEDBACK_BENCH_SEEN` sets how many runs the second
//! store has seen, and `FEEDBACK_BENCH_DIR` where the stores are made.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    reason = "a program for a person who measures: it may die"
)]

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use feedback_host::component::Component;
use feedback_host::scribe::ComponentScribe;
use feedback_host::store::{Durability, Options, Store};
use serde_json::json;

const LIMIT: u64 = 1_000_000;
const KEEP: u32 = 4;
/// How much a record holds beside its keys, in bytes: it comes to about 1 kB.
const FILL: usize = 700;
/// How many records are measured in each turn, enough for two rotations in all turns.
const TURN: usize = 250;
/// How often each way is measured. The ways take turns, so that a busy machine hits all alike.
const TURNS: usize = 8;

/// One way to keep a record.
trait Way {
    fn keep(&mut self);
}

fn main() {
    // `cargo test --benches` asks whether it starts, no more.
    let only_try = !std::env::args().any(|argument| argument == "--bench");
    let seen = match std::env::var("FEEDBACK_BENCH_SEEN") {
        Ok(text) => text.parse().unwrap(),
        Err(_) if only_try => 20,
        Err(_) => 100_000,
    };
    let turn = if only_try { 2 } else { TURN };
    let base =
        std::env::var_os("FEEDBACK_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = tempfile::tempdir_in(base).unwrap();
    println!("stores in {}, records of about 1 kB", dir.path().display());

    let mut young = Kept::new(&dir.path().join("young"));
    young.see(10);
    let mut old = Kept::new(&dir.path().join("old"));
    let started = Instant::now();
    old.see(seen);
    println!(
        "seeing {seen} runs took {:.1} s\n",
        started.elapsed().as_secs_f64()
    );
    let mut naive = Naive::new(&dir.path().join("naive"));

    println!("durability   way                    median µs   mean µs");
    for durability in [Durability::Process, Durability::Disk] {
        young.options.durability = durability;
        old.options.durability = durability;
        naive.sync = durability == Durability::Disk;
        let turn = if naive.sync { turn.div_ceil(4) } else { turn };
        let mut taken: [Vec<Duration>; 3] = Default::default();
        for _ in 0..TURNS {
            let ways: [&mut dyn Way; 3] = [&mut young, &mut old, &mut naive];
            for (way, taken) in ways.into_iter().zip(&mut taken) {
                measure(way, turn, taken);
            }
        }
        report(durability, seen, &mut taken);
    }
}

fn measure(way: &mut dyn Way, turn: usize, taken: &mut Vec<Duration>) {
    for _ in 0..turn {
        let started = Instant::now();
        way.keep();
        taken.push(started.elapsed());
    }
}

fn report(durability: Durability, seen: u64, taken: &mut [Vec<Duration>; 3]) {
    let names = [
        "after 10 runs".to_owned(),
        format!("after {seen} runs"),
        "naive append".to_owned(),
    ];
    let mut medians = [0.0; 3];
    let mut means = [0.0; 3];
    for (at, taken) in taken.iter_mut().enumerate() {
        taken.sort_unstable();
        let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
        medians[at] = micros(taken[taken.len() / 2]);
        means[at] = micros(taken.iter().sum::<Duration>()) / taken.len() as f64;
        let word = format!("{durability:?}").to_lowercase();
        println!(
            "{word:<12} {:<22} {:>9.0} {:>9.0}",
            names[at], medians[at], means[at]
        );
    }
    println!(
        "{:<12} ratio {seen} : 10 = {:.2} (median), {:.2} (mean); to naive = {:.1}\n",
        "",
        medians[1] / medians[0],
        means[1] / means[0],
        medians[1] / medians[2],
    );
}

/// The store, with the real component: a run begins and its record is appended.
struct Kept {
    path: PathBuf,
    options: Options,
    scribe: ComponentScribe,
}

impl Kept {
    fn new(folder: &Path) -> Self {
        Self {
            path: folder.join("feedback_record.jsonl"),
            options: Options {
                limit: LIMIT,
                keep: KEEP,
                durability: Durability::Process,
                ..Options::default()
            },
            scribe: ComponentScribe::new(Component::built_in().unwrap()),
        }
    }

    fn see(&mut self, runs: u64) {
        for _ in 0..runs {
            self.keep();
        }
    }
}

impl Way for Kept {
    fn keep(&mut self) {
        let id = uuid::Uuid::now_v7().to_string();
        // A runner opens its store anew for each run.
        let store = Store::open(&self.path, self.options).unwrap();
        store.refuse_unknown_schema(&mut self.scribe).unwrap();
        let run = store.begin(&id, &document(&id, "intent")).unwrap();
        store
            .finish(run, &document(&id, "run"), &mut self.scribe)
            .unwrap();
    }
}

/// What is written without much thought: append a line, look at the size, rename. Under several
/// writers, kills and full disks it loses records.
struct Naive {
    path: PathBuf,
    sync: bool,
}

impl Naive {
    fn new(folder: &Path) -> Self {
        fs::create_dir(folder).unwrap();
        Self {
            path: folder.join("records.jsonl"),
            sync: false,
        }
    }

    fn rotated(&self, index: u32) -> PathBuf {
        self.path.with_extension(format!("jsonl.{index}"))
    }
}

impl Way for Naive {
    fn keep(&mut self) {
        let id = uuid::Uuid::now_v7().to_string();
        let mut file: File = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.path)
            .unwrap();
        writeln!(file, "{}", document(&id, "run")).unwrap();
        if self.sync {
            file.sync_data().unwrap();
        }
        if file.metadata().unwrap().len() > LIMIT {
            for index in (1..KEEP).rev() {
                // There are fewer in the beginning.
                let _ = fs::rename(self.rotated(index), self.rotated(index + 1));
            }
            fs::rename(&self.path, self.rotated(1)).unwrap();
        }
    }
}

fn document(id: &str, kind: &str) -> String {
    json!({
        "schema_version": "1.0",
        "kind": kind,
        "command_id": id,
        "outcome": "exited",
        "exit_code": 0,
        "stdout_tail": "x".repeat(FILL),
    })
    .to_string()
}
