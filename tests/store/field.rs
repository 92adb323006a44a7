//! A store in a folder of its own, and writers that are processes of their own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use feedback_host::reader::{Entry, Reader, Scope};
use feedback_host::store::{Options, Store, verify};
use tempfile::TempDir;

use super::scribe::Native;

/// A folder for a store.
pub(crate) struct Field {
    /// The folder.
    pub(crate) dir: TempDir,
}

/// What writers have said.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Runs that may have started.
    pub(crate) begun: Vec<String>,
    /// Runs whose record was acknowledged.
    pub(crate) done: Vec<String>,
    /// Runs whose record had to wait.
    pub(crate) waits: Vec<String>,
    /// Error numbers of refused runs.
    pub(crate) refused: Vec<String>,
}

impl Field {
    /// An empty store.
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// An empty store in memory where that can be had: on a slow disk, a writer that is killed
    /// every few milliseconds never gets to its end.
    pub(crate) fn in_memory() -> Self {
        match tempfile::tempdir_in("/dev/shm") {
            Ok(dir) => Self { dir },
            Err(_) => Self::new(),
        }
    }

    /// The record file.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("feedback_record.jsonl")
    }

    /// The command that starts a writer on this store.
    pub(crate) fn writer(&self, orders: &[&str]) -> Command {
        writer(&self.path(), orders)
    }

    /// Recovers, and asks for every run that ever began, exactly once, with nothing damaged.
    pub(crate) fn check(&self, said: &Said) {
        check(&self.path(), said);
    }
}

/// The command that starts a writer.
pub(crate) fn writer(path: &Path, orders: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.arg(path).args(orders).stdout(Stdio::piped());
    command
}

/// The example beside this test; `cargo test` builds it.
pub(crate) fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test
        .parent()
        .and_then(Path::parent)
        .unwrap()
        .join("examples/store_writer");
    assert!(
        program.exists(),
        "`cargo build -p feedback-host --example store_writer` first"
    );
    program
}

/// Recovers a store and checks it against what its writers have said.
pub(crate) fn check(path: &Path, said: &Said) {
    let options = Options {
        keep: 100_000,
        ..Options::default()
    };
    let store = Store::open(path, options).unwrap();
    store.recover(&mut Native).unwrap();
    let found = verify(path, &mut Native);
    assert_eq!(found.damages, []);
    assert_eq!(found.doubled, 0);
    assert_eq!(found.open_runs, []);
    assert!(found.set_aside.is_empty());
    let outcomes = outcomes(path);
    for id in &said.begun {
        assert!(outcomes.contains_key(id), "{id} began and is lost");
    }
    for id in said.done.iter().chain(&said.waits) {
        assert_eq!(outcomes[id], "exited", "{id} had ended");
    }
}

/// The outcome of every record in a store.
pub(crate) fn outcomes(path: &Path) -> HashMap<String, String> {
    let reader = Reader::open(path, Scope::All).unwrap();
    let mut outcomes = HashMap::new();
    for entry in reader.entries(&mut Native) {
        match entry {
            Entry::Line { text, checked, .. } => {
                let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                let outcome = value["outcome"].as_str().unwrap_or("none").to_owned();
                outcomes.insert(checked.command_id, outcome);
            }
            Entry::Damaged { line_no, what, .. } => panic!("line {line_no} {what}"),
        }
    }
    outcomes
}

impl Said {
    /// Takes in what a writer has printed.
    pub(crate) fn listen(&mut self, output: &Output) {
        self.take_in(&String::from_utf8_lossy(&output.stdout));
    }

    /// Takes in lines that a writer has printed.
    pub(crate) fn take_in(&mut self, text: &str) {
        for line in text.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let list = match word {
                "begun" => &mut self.begun,
                "done" => &mut self.done,
                "waits" => &mut self.waits,
                "refused" => &mut self.refused,
                other => panic!("a writer said `{other} {rest}`"),
            };
            list.push(rest.to_owned());
        }
    }

    /// Takes in what others have heard.
    pub(crate) fn merge(&mut self, other: Said) {
        self.begun.extend(other.begun);
        self.done.extend(other.done);
        self.waits.extend(other.waits);
        self.refused.extend(other.refused);
    }
}
