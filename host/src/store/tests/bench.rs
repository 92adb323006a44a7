//! A store in a folder of its own, and what a test asks of it.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;

use super::scribe::{Native, body, intent};
use super::shim::Shim;
use crate::forks::Quiet;
use crate::reader::{Content, Entry, Reader, Scope};
use crate::store::{Appended, Durability, FinishError, Options, Store, StoreError, Verification};

/// A folder for a store.
pub(crate) struct Bench {
    pub(crate) dir: TempDir,
    pub(crate) options: Options,
    _quiet: Quiet,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            // In memory where that can be had: thousands of stores are made.
            dir: tempfile::tempdir_in("/dev/shm")
                .or_else(|_| tempfile::tempdir())
                .unwrap(),
            options: Options {
                lock_limit: std::time::Duration::ZERO,
                ..Options::default()
            },
            _quiet: Quiet::begin(),
        }
    }

    /// A store that rotates every few records and keeps two files.
    pub(crate) fn narrow() -> Self {
        let mut bench = Self::new();
        bench.options.limit = 800;
        bench.options.keep = 2;
        bench
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("feedback_record.jsonl")
    }

    pub(crate) fn rotated(&self, index: u32) -> PathBuf {
        self.dir
            .path()
            .join(format!("feedback_record.jsonl.{index}"))
    }

    pub(crate) fn pending(&self) -> PathBuf {
        self.dir.path().join("feedback_record.jsonl.pending")
    }

    pub(crate) fn pending_names(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.pending()) else {
            return Vec::new();
        };
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    pub(crate) fn on(&self, system: Arc<Shim>) -> Result<Store, StoreError> {
        Store::open_on(system, &self.path(), self.options)
    }

    /// The store without faults. Nothing is really synced, for speed.
    pub(crate) fn store(&self) -> Store {
        self.on(Arc::new(Shim::sound())).unwrap()
    }

    /// Records a run.
    pub(crate) fn record(&self, id: &str) -> Appended {
        record(&self.store(), id).unwrap()
    }

    /// Records runs until the next one rotates with a drop.
    pub(crate) fn fill(&self) {
        for index in 0..60 {
            self.record(&format!("fill-{index:02}"));
            let full = |path: PathBuf| std::fs::metadata(path).is_ok_and(|meta| meta.len() > 600);
            if full(self.rotated(2)) && full(self.path()) {
                return;
            }
        }
        panic!("the store never got full");
    }

    /// Leaves a run whose runner died.
    pub(crate) fn leave_died(&self, id: &str) {
        drop(self.store().begin(id, &intent(id)).unwrap());
    }

    /// Leaves a run whose record waits.
    pub(crate) fn leave_waiting(&self, id: &str) {
        use std::io::Write;
        drop(self.store().begin(id, &intent(id)).unwrap());
        let path = self.pending().join(format!("{id}.open"));
        let mut file = std::fs::File::options().append(true).open(path).unwrap();
        writeln!(file, "{}", body(id, "exited", 20)).unwrap();
    }

    pub(crate) fn content(&self) -> Vec<u8> {
        std::fs::read(self.path()).unwrap()
    }

    pub(crate) fn verify(&self) -> Verification {
        crate::store::verify(&self.path(), &mut Native)
    }

    /// All entries, oldest first.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let reader = Reader::open(&self.path(), Scope::All).unwrap();
        reader.entries(&mut Native).collect()
    }

    /// The ids of the records, oldest first, doubled ones once for each time.
    pub(crate) fn ids(&self) -> Vec<String> {
        let reader = Reader::open(&self.path(), Scope::All).unwrap();
        reader
            .raw_lines()
            .flat_map(|raw| match raw.content {
                Content::Complete(line) => serde_json::from_slice::<Value>(&line).ok(),
                Content::Unfinished(_) | Content::Unreadable(_) | Content::Unread(_) => None,
            })
            .map(|value| value["command_id"].as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) fn count(&self, id: &str) -> usize {
        self.ids().iter().filter(|other| *other == id).count()
    }

    /// The outcome in the one record of this run.
    pub(crate) fn outcome(&self, id: &str) -> String {
        let texts: Vec<String> = self
            .entries()
            .into_iter()
            .filter_map(|entry| match entry {
                Entry::Line { text, checked, .. } if checked.command_id == id => Some(text),
                Entry::Line { .. } | Entry::Damaged { .. } => None,
            })
            .collect();
        assert_eq!(texts.len(), 1, "records of {id}");
        let value: Value = serde_json::from_str(&texts[0]).unwrap();
        value["outcome"].as_str().unwrap().to_owned()
    }

    /// Recovers on a sound kernel, and asks for a store without damage or anything waiting.
    pub(crate) fn settle(&self) {
        self.settle_after("");
    }

    /// As `settle`, and says after what.
    pub(crate) fn settle_after(&self, what: &str) {
        self.store().recover(&mut Native).unwrap();
        let found = self.verify();
        assert_eq!(found.damages, [], "{what}");
        assert_eq!(found.doubled, 0, "{what}");
        assert_eq!(found.open_runs, [], "{what}");
        assert!(found.set_aside.is_empty(), "{what}");
        let left: Vec<String> = self.pending_names();
        assert!(left.iter().all(|name| name == "degraded"), "{left:?}");
    }

    pub(crate) fn process_durability(mut self) -> Self {
        self.options.durability = Durability::Process;
        self
    }
}

/// Begins and finishes a run.
pub(crate) fn record(store: &Store, id: &str) -> Result<Appended, FinishError> {
    let run = store.begin(id, &intent(id)).unwrap();
    store.finish(run, &body(id, "exited", 20), &mut Native)
}
