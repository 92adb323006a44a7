//! How fast a command's output goes through `feedback run`, beside what only copies it.
//!
//! ```text
//! cargo bench -p feedback-cli --bench throughput [-- [MB] [--large]]
//! ```
//!
//! It makes its own inputs, the same ones every time, of 256 MB each unless told otherwise; with
//! `--large`, 1 GB without a newline and 10 GB of lines stream through as well, to see how much
//! memory that takes. It is no test: nothing fails where a machine is slow. With
//! `--profile dev` the runner is the one that `cargo run` builds, and the component is optimised
//! all the same.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    reason = "a program for a person who measures: it may die"
)]

mod inputs;
mod split;
mod ways;

use std::io::{self, BufWriter};

use inputs::{INPUTS, Input};
use ways::{Took, Way};

/// How often each way is measured; the fastest counts. The ways take turns, so that a busy machine
/// hits all alike.
const TURNS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    // The bench is its own generator: what streams through needs no file.
    if let [word, input, bytes] = arguments.as_slice()
        && word == "generate"
    {
        let input = INPUTS.iter().find(|known| known.name == input).unwrap();
        // A reader that goes away ends it.
        let _ = input.write(
            bytes.parse().unwrap(),
            &mut BufWriter::new(io::stdout().lock()),
        );
        return;
    }
    let is_large = arguments.iter().any(|argument| argument == "--large");
    let megabytes = arguments.iter().find_map(|argument| argument.parse().ok());
    // `cargo test --benches` asks whether it starts, no more.
    let only_try = !std::env::args().any(|argument| argument == "--bench");
    let bytes = megabytes.unwrap_or(if only_try { 1 } else { 256 }) * 1_000_000;

    let folder = tempfile::tempdir().unwrap();
    println!(
        "{} MB of each input; MB/s, peak memory of the runner in MB\n",
        bytes / 1_000_000
    );
    for input in INPUTS {
        let path = folder.path().join(input.name);
        let mut file = BufWriter::new(std::fs::File::create(&path).unwrap());
        input.write(bytes, &mut file).unwrap();
        drop(file);
        compare(input, &path, bytes, folder.path());
        split::print(&path, bytes);
        std::fs::remove_file(&path).unwrap();
    }
    if is_large {
        println!("streamed                          bytes     MB/s   peak MB");
        stream("long-line", 1_000_000_000, folder.path());
        stream("plain", 10_000_000_000, folder.path());
    }
}

/// Measures every way to take one input, and prints a line for each.
fn compare(input: &Input, path: &std::path::Path, bytes: u64, folder: &std::path::Path) {
    let ways = Way::present();
    let mut best: Vec<Option<Took>> = ways.iter().map(|_| None).collect();
    for _ in 0..TURNS {
        for (way, best) in ways.iter().zip(&mut best) {
            let took = way.take(path, folder);
            if best.as_ref().is_none_or(|best| took.time < best.time) {
                *best = Some(took);
            }
        }
    }
    let rate = |took: &Took| bytes as f64 / 1e6 / took.time.as_secs_f64();
    let of = |wanted: Way| {
        let found = ways.iter().zip(&best).find(|(way, _)| **way == wanted);
        rate(found.and_then(|(_, took)| took.as_ref()).unwrap())
    };
    let (tee, log) = (of(Way::Tee), of(Way::TeeFile));
    println!(
        "{:<34}   MB/s   × tee   × log  CPU s/GB  peak MB",
        input.title
    );
    for (way, took) in ways.iter().zip(best.iter().flatten()) {
        let told = |number: Option<f64>| number.map_or("-".to_owned(), |n| format!("{n:.1}"));
        // On a machine with other work, the time on a processor says more than the rate.
        let cpu = told(took.cpu.map(|cpu| cpu.as_secs_f64() / (bytes as f64 / 1e9)));
        let peak = told(took.peak_bytes.map(|peak| peak as f64 / 1e6));
        println!(
            "  {:<30} {:>8.0} {:>7.2} {:>7.2} {cpu:>9} {peak:>8}",
            way.title(),
            rate(took),
            rate(took) / tee,
            rate(took) / log
        );
    }
}

/// Streams generated output through the runner.
fn stream(name: &str, bytes: u64, folder: &std::path::Path) {
    let this = std::env::current_exe().unwrap();
    let took = ways::stream(&this, name, bytes, folder);
    println!(
        "  {name:<24} {bytes:>14} {:>8.0} {:>9.0}",
        bytes as f64 / 1e6 / took.time.as_secs_f64(),
        took.peak_bytes.unwrap_or(0) as f64 / 1e6
    );
}
