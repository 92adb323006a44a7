//! Figures of whole runs: how fast many are over, how soon one is over that would hang, and what
//! the digests of inputs cost.
//!
//! ```text
//! cargo build --release --bin feedback
//! cargo run --release --example figures storm [RUNS]
//! cargo run --release --example figures hangs [ROUNDS]
//! cargo run --release --example figures inputs [FILES]
//! ```
//!
//! Without a number there are 2,000 runs, 5 rounds, and 20,000 files. The status is 1 where a run did not end
//! as it had to, where a record is missing, where anything was left behind, or where a run that
//! would hang took more than half a second beyond its deadline and its grace.

#![expect(clippy::print_stdout, reason = "a program for a person who measures")]

mod hangs;
mod inputs;
mod storm;

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The binary of the same build, and a folder for its records.
pub(crate) struct Feedback {
    binary: PathBuf,
    folder: tempfile::TempDir,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let feedback = Feedback::find()?;
    let count = env::args().nth(2).map(|count| count.parse()).transpose()?;
    let is_well = match env::args().nth(1).as_deref() {
        Some("storm") => storm::storm(&feedback, count)?,
        Some("hangs") => hangs::hangs(&feedback, count)?,
        Some("inputs") => inputs::inputs(&feedback, count)?,
        _ => return Err("say `storm`, `hangs` or `inputs`".into()),
    };
    Ok(if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Feedback {
    fn find() -> Result<Self, Box<dyn Error>> {
        let example = env::current_exe()?;
        let folder = example.ancestors().nth(2).ok_or("no folder of the build")?;
        let binary = folder.join("feedback");
        if !binary.is_file() {
            return Err(format!("`{}` is missing; build it first", binary.display()).into());
        }
        let folder = tempfile::tempdir()?;
        Ok(Self { binary, folder })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    /// Calls `feedback run` and returns its exit status.
    pub(crate) fn run(&self, arguments: &[&str]) -> std::io::Result<Option<i32>> {
        let status = Command::new(&self.binary)
            .arg("run")
            .args(arguments)
            .current_dir(self.folder())
            .env_remove("FEEDBACK_RECORD_FILE")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()?;
        Ok(status.code())
    }
}
