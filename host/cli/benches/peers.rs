//! The speed of `redact` and `audit` beside peers from registries, on one log, in one run.
//!
//! `cargo bench -p feedback-cli --bench peers` prints times and ratios. The log is made anew, the
//! same each time: `PEERS_MB` megabytes of it (50). With `PEERS=1` it installs secretlint (npm) and
//! detect-secrets (PyPI) into a temporary folder and runs them on the same file. Times vary with
//! the machine; their ratios within a run are what to look at. It asserts nothing of time.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark: a failure must be loud, and its figures are its output"
)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Lines as builds and tests print them; `#` stands for a number.
const LINES: [&str; 12] = [
    "   Compiling serde_json v1.0.# (/home/build/.cargo/registry/src/serde_json-1.0.#)",
    "test parser::tests::case_# ... ok",
    "2026-11-30T15:00:00Z INFO  [worker-#] request GET /api/v1/items/# 200 in #ms",
    "[INFO] Downloaded: https://repo.example.org/maven2/org/apache/commons/#/commons-#.jar (# kB)",
    "gcc -O2 -Wall -I/usr/include -I../include -c src/module_#.c -o build/module_#.o",
    "src/module_#.c:#:#: warning: unused variable 'token' [-Wunused-variable]",
    "  at Object.<anonymous> (/home/build/project/test/unit/module-#.test.js:#:#)",
    "npm http fetch GET 200 https://registry.example.org/package-# #ms (cache hit)",
    "commit 3f786850e387550fdab836ed7e6dc881de#",
    "    \u{1b}[32m\u{2713}\u{1b}[0m renders the page # (#ms)",
    "--- PASS: TestHandler/case_# (0.#s)",
    "error: password authentication failed for user # (attempt #)",
];

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let megabytes = std::env::var("PEERS_MB").ok();
    let megabytes = megabytes.and_then(|text| text.parse().ok()).unwrap_or(50);
    let log = folder.path().join("build.log");
    let bytes = write_log(&log, megabytes);
    println!("{bytes} bytes");
    let feedback = env!("CARGO_BIN_EXE_feedback");
    let redact = timed(Command::new(feedback).arg("redact").arg(&log));
    let audit = timed(Command::new(feedback).arg("audit").arg(&log));
    let mut all = vec![
        ("feedback redact".to_owned(), redact),
        ("feedback audit".to_owned(), audit),
    ];
    if std::env::var_os("PEERS").is_some() {
        all.push(detect_secrets(folder.path(), &log));
        all.push(secretlint(folder.path(), &log));
    } else {
        println!("PEERS=1 installs and runs secretlint and detect-secrets as well");
    }
    let megabytes = f64::from(u32::try_from(megabytes).unwrap_or(u32::MAX));
    for (name, took) in &all {
        let seconds = took.as_secs_f64();
        println!(
            "{name:24} {seconds:8.2} s {:8.1} MB/s {:8.2} times `feedback redact`",
            megabytes / seconds,
            seconds / redact.as_secs_f64()
        );
    }
}

/// Writes the log and returns how many bytes it has. One line in 5,000 holds a secret.
fn write_log(path: &Path, megabytes: u64) -> u64 {
    let mut out = BufWriter::new(File::create(path).expect("a file"));
    let mut state = 7_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut written = 0;
    while written < megabytes * 1_000_000 {
        let number = next();
        let line = if number.is_multiple_of(5_000) {
            format!("export DEPLOY_TOKEN={}{number:0>36}", "ghp_")
        } else {
            let kind = usize::try_from(number).unwrap_or(0) % LINES.len();
            let line = LINES.get(kind).copied().unwrap_or_default();
            line.replace('#', &(next() % 10_000).to_string())
        };
        writeln!(out, "{line}").expect("written");
        written += u64::try_from(line.len()).unwrap_or(0) + 1;
    }
    out.flush().expect("written");
    written
}

/// Returns the shortest of three times.
fn timed(command: &mut Command) -> Duration {
    let run = |command: &mut Command| {
        let begun = Instant::now();
        // Some end with a status that says that they found something.
        let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().expect("it runs");
        begun.elapsed()
    };
    (0..3).map(|_| run(command)).min().unwrap_or_default()
}

fn install(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().expect("it runs");
    assert!(status.success(), "{command:?}: {status}");
}

/// Returns the first line that a command prints.
fn version(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().unwrap_or_default().to_owned()
}

fn detect_secrets(folder: &Path, log: &Path) -> (String, Duration) {
    let environment = folder.join("python");
    install(
        Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment),
    );
    let bin = environment.join("bin");
    install(Command::new(bin.join("pip")).args(["install", "--quiet", "detect-secrets"]));
    let program = bin.join("detect-secrets");
    let version = version(Command::new(&program).arg("--version"));
    let mut scan = Command::new(&program);
    scan.args(["scan", "--all-files"])
        .arg(log)
        .current_dir(folder);
    (format!("detect-secrets {version}"), timed(&mut scan))
}

fn secretlint(folder: &Path, log: &Path) -> (String, Duration) {
    let preset = "@secretlint/secretlint-rule-preset-recommend";
    install(
        Command::new("npm")
            .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
            .arg(folder)
            .args(["secretlint", preset]),
    );
    let config = format!("{{\"rules\":[{{\"id\":\"{preset}\"}}]}}");
    fs::write(folder.join(".secretlintrc.json"), config).expect("written");
    let program = folder.join("node_modules/.bin/secretlint");
    let version = version(Command::new(&program).arg("--version"));
    let mut scan = Command::new(&program);
    scan.args(["--maskSecrets", "--format", "compact"])
        .arg(log)
        .current_dir(folder);
    (format!("secretlint {version}"), timed(&mut scan))
}
