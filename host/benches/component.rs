//! What the component costs: its size, loading, instantiating, calls, how much slower its code is
//! than the same code compiled for this machine, and what counting the steps of somebody else's
//! component adds.
//!
//! ```text
//! cargo bench -p feedback-host --bench component
//! ```
//!
//! That builds the engine anew, optimised. With the engine of the dev build, only the native code
//! to compare with has to be optimised:
//!
//! ```text
//! cargo bench --profile dev -p feedback-host --bench component \
//!     --config 'profile.dev.package.feedback-guest.opt-level=3' \
//!     --config 'profile.dev.package.simdutf8.opt-level=3'
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops loudly"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use feedback_guest::filter::Filter;
use feedback_guest::policy::Policy;
use feedback_host::component::{Component, Session};
use feedback_host::ending::Source;

/// What is pushed at once, in bytes.
const PIECE: usize = 64 * 1024;
/// How often each is tried; the fastest counts, since nothing makes code faster by accident.
const TRIES: u32 = 7;

fn fastest<T>(mut work: impl FnMut() -> T) -> Duration {
    let mut once = || {
        let begun = Instant::now();
        black_box(work());
        begun.elapsed()
    };
    (0..TRIES).map(|_| once()).min().unwrap()
}

/// Returns eight megabytes of a log as test runners write them.
fn log() -> Vec<u8> {
    let mut log = String::new();
    let mut number = 0_u64;
    while log.len() < 8 << 20 {
        number += 1;
        log.push_str(&format!(
            "tests/test_shop.py::test_order[{number}] PASSED in 0.0{}s user=ada id={:x}\n",
            number % 10,
            number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ));
    }
    log.into_bytes()
}

fn show(what: &str, took: Duration) {
    println!("{what:<44} {took:>12.3?}");
}

fn compare(what: &str, wasm: Duration, native: Duration) {
    let times = wasm.as_secs_f64() / native.as_secs_f64();
    println!("{what:<44} {wasm:>12.3?} {native:>12.3?} {times:>6.2} times");
}

fn main() {
    let component = Component::built_in().unwrap();
    println!("{:<44} {:>12} bytes", "size", component.bytes().len());
    show("load", fastest(|| Component::built_in().unwrap()));
    show(
        "instantiate and parse the default policy",
        fastest(|| Session::open(&component, "", "").unwrap()),
    );

    let mut session = Session::open(&component, "", "").unwrap();
    show("a call: settings", fastest(|| session.settings().unwrap()));
    show(
        "a call: redact a line",
        fastest(|| session.redact("12 passed in 0.31s").unwrap()),
    );

    println!(
        "\n{:<44} {:>12} {:>12}",
        "8 MiB of a log", "component", "native"
    );
    let (log, policy) = (log(), Policy::parse("", "").unwrap());
    let wasm = fastest(|| {
        let filter = session.start_filter().unwrap();
        for piece in log.chunks(PIECE) {
            black_box(session.filter(&filter, piece).unwrap());
        }
        session.finish_filter(filter).unwrap()
    });
    let native = fastest(|| {
        let mut filter = Filter::new(policy.redaction.clone());
        for piece in log.chunks(PIECE) {
            black_box(filter.push(piece));
        }
        filter.finish()
    });
    compare("redact", wasm, native);

    let wasm = fastest(|| capture(&mut session, &log));
    let native = fastest(|| {
        let mut capture = policy.capture("").unwrap();
        for piece in log.chunks(PIECE) {
            capture.push(feedback_guest::capture::Source::Stdout, piece);
        }
        capture.finish()
    });
    compare("capture", wasm, native);

    println!(
        "\n{:<44} {:>12} {:>12}",
        "the same, its steps counted", "counted", "not counted"
    );
    // As somebody else's component is run.
    let counted = Component::from_bytes(component.bytes()).unwrap();
    assert!(counted.step_limit().is_some());
    let mut session = Session::open(&counted, "", "").unwrap();
    compare("capture", fastest(|| capture(&mut session, &log)), wasm);
}

fn capture(session: &mut Session, log: &[u8]) {
    let capture = session.start_capture("").unwrap();
    for piece in log.chunks(PIECE) {
        session.push(&capture, Source::Stdout, piece).unwrap();
    }
    black_box(session.finish_capture(capture).unwrap());
}
