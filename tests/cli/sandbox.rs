//! A folder of its own for each test, and the one place that knows how the binary is called.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::hearing::hears_all_signals;

/// A project folder with its own record file.
pub(crate) struct Sandbox {
    folder: TempDir,
}

/// What a call of the binary gave.
pub(crate) struct Called {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn record_file(&self) -> PathBuf {
        self.path().join("feedback_record.jsonl")
    }

    /// Writes a file of the project, with the folders above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(&path, content).expect("a file");
        path
    }

    /// Writes a program.
    ///
    /// Another process does: what this one has open for writing, a child that another test starts
    /// at this moment has too until it executes, and a program that is open for writing is busy.
    pub(crate) fn program(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let text = self.write(&format!("{name}.text"), content);
        let path = self.path().join(name);
        let mut install = Command::new("install");
        let status = install.args(["-m", "755"]).arg(&text).arg(&path).status();
        assert!(status.expect("`install` runs").success());
        fs::remove_file(text).expect("removed");
        path
    }

    /// Returns the binary, to be called in this folder.
    pub(crate) fn feedback(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_feedback"));
        command
            .current_dir(self.path())
            .env_remove("FEEDBACK_RECORD_FILE")
            .env_remove("GITHUB_STEP_SUMMARY")
            .stdin(Stdio::null());
        hears_all_signals(&mut command);
        command
    }

    /// Calls `feedback` with these arguments.
    pub(crate) fn call<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Called {
        Called::from(
            self.feedback()
                .args(arguments)
                .output()
                .expect("the binary runs"),
        )
    }

    /// Calls `feedback` with these arguments and `input` on its standard input.
    pub(crate) fn call_with<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        input: &[u8],
    ) -> Called {
        let mut child = self
            .feedback()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        std::thread::scope(|scope| {
            // A reader that stops early is what some of the callers look for.
            scope.spawn(move || drop(stdin.write_all(input)));
            Called::from(child.wait_with_output().expect("the binary ends"))
        })
    }

    /// Calls `feedback run --` with this argv and returns its record.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, argv: impl IntoIterator<Item = A>) -> Value {
        self.run_with([] as [&str; 0], argv)
    }

    /// Calls `feedback run` with options and argv and returns the record.
    pub(crate) fn run_with<O: AsRef<OsStr>, A: AsRef<OsStr>>(
        &self,
        options: impl IntoIterator<Item = O>,
        argv: impl IntoIterator<Item = A>,
    ) -> Value {
        let mut command = self.feedback();
        command.arg("run").args(options).arg("--").args(argv);
        let called = Called::from(command.output().expect("the binary runs"));
        let printed = called.json();
        let kept = self.records().pop().expect("a record in the file");
        assert_eq!(printed, kept, "what is printed is what is kept");
        printed
    }

    /// Returns every record of the active file.
    pub(crate) fn records(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.record_file()).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a record is JSON"))
            .collect()
    }

    /// Calls `feedback gate --json`.
    pub(crate) fn gate(&self, options: &[&str]) -> (i32, Value) {
        let called = self.call(["gate", "--json"].iter().chain(options));
        (called.status, called.json())
    }

    /// Returns every byte below the folder, to look for what must not be there.
    pub(crate) fn every_byte(&self) -> Vec<u8> {
        fn collect(folder: &Path, all: &mut Vec<u8>) {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                all.extend_from_slice(path.as_os_str().as_encoded_bytes());
                if path.is_dir() {
                    collect(&path, all);
                } else {
                    all.extend(fs::read(&path).expect("a file"));
                }
            }
        }
        let mut all = Vec::new();
        collect(self.path(), &mut all);
        all
    }
}

impl From<Output> for Called {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().expect("the binary exits by itself"),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

impl Called {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }

    /// Asserts that there is one line on standard error, with these words in it.
    pub(crate) fn says(&self, status: i32, words: &[&str]) {
        assert_eq!(self.status, status, "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` in: {}", self.stderr);
        }
    }
}

pub(crate) fn text<'a>(record: &'a Value, key: &str) -> &'a str {
    record[key]
        .as_str()
        .unwrap_or_else(|| panic!("`{key}` is a text in {record}"))
}

/// Says whether `needle` stands anywhere in `bytes`.
pub(crate) fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}
