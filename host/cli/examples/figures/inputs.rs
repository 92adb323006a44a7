//! What it costs to digest the inputs of a run, beside tools that look at the same files.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Feedback;

const FILES: usize = 20_000;
const FILES_IN_A_FOLDER: usize = 100;
const ROUNDS: usize = 5;
/// Longer than what counts as changed just now.
const SETTLED: Duration = Duration::from_millis(2_500);

/// Returns whether every run was a success and the gate passed after it.
pub(super) fn inputs(feedback: &Feedback, files: Option<usize>) -> Result<bool, Box<dyn Error>> {
    let files = files.unwrap_or(FILES);
    let folder = feedback.folder();
    let bytes = fill(folder, files)?;
    println!(
        "{files} files, {} MB, in a git repository",
        bytes / 1_000_000
    );
    // What is measured is the time once a tree is at rest.
    std::thread::sleep(SETTLED);

    let cache = folder.join("feedback_record.jsonl.inputs");
    let by_git = ["--inputs", "git", "--", "true"];
    let run = |arguments: &[&str]| -> Result<(), Box<dyn Error>> {
        match feedback.run(arguments)? {
            Some(0) => Ok(()),
            other => Err(format!("`run {arguments:?}` ended with {other:?}").into()),
        }
    };
    let status = middle(|| command(folder, "git", &["status", "--porcelain"]))?;
    let read_all = "find . -path ./.git -prune -o -type f -print0 | xargs -0 sha256sum";
    let sums = middle(|| command(folder, "sh", &["-c", read_all]))?;
    let plain = middle(|| run(&["--", "true"]))?;
    let cold = middle(|| {
        let _ = fs::remove_file(&cache);
        run(&by_git)
    })?;
    let warm = middle(|| run(&by_git))?;
    let globs = middle(|| run(&["--inputs", "**", "--", "true"]))?;
    let gate = middle(|| command(folder, feedback.binary(), &["gate"]))?;
    let look = |run: Duration| run.saturating_sub(plain) / 2;
    println!(
        "git status {status:.1?}; sha256sum of all {sums:.1?}; run without inputs {plain:.1?}"
    );
    for (name, took, looks) in [
        ("run --inputs git, nothing known", cold, None),
        ("run --inputs git", warm, Some(look(warm))),
        ("run --inputs '**'", globs, Some(look(globs))),
        ("gate", gate, None),
    ] {
        let one = looks.map_or_else(String::new, |one| {
            let ratio = one.as_secs_f64() / status.as_secs_f64();
            format!(", of which each of two looks {one:.1?}, {ratio:.2} times git status")
        });
        println!("{name}: {took:.1?}{one}");
    }
    Ok(true)
}

/// Makes the files and commits them. Returns how many bytes they hold.
fn fill(folder: &Path, files: usize) -> Result<usize, Box<dyn Error>> {
    let mut bytes: usize = 0;
    for number in 0..files {
        let below = folder.join(format!("src/{}", number.wrapping_div(FILES_IN_A_FOLDER)));
        if number.is_multiple_of(FILES_IN_A_FOLDER) {
            fs::create_dir_all(&below)?;
        }
        let content = format!("// file {number}\n").repeat(number % 500);
        bytes = bytes.saturating_add(content.len());
        fs::write(below.join(format!("{number}.rs")), content)?;
    }
    command(folder, "git", &["init", "-q"])?;
    command(folder, "git", &["add", "."])?;
    let who = ["-c", "user.name=a", "-c", "user.email=a@b"];
    let commit = ["commit", "-qm", "files"];
    command(folder, "git", &[&who[..], &commit].concat())?;
    Ok(bytes)
}

fn command(
    folder: &Path,
    program: impl AsRef<std::ffi::OsStr>,
    arguments: &[&str],
) -> Result<(), Box<dyn Error>> {
    let status = Command::new(program.as_ref())
        .args(arguments)
        .current_dir(folder)
        .env_remove("FEEDBACK_RECORD_FILE")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{}` ended with {status}", program.as_ref().display()).into())
}

/// Returns the middle time of some rounds; the first, which warms the disk's cache, is not counted.
fn middle(
    mut once: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<Duration, Box<dyn Error>> {
    once()?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        once()?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times.get(ROUNDS / 2).copied().unwrap_or_default())
}
