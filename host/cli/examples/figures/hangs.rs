//! How long a run takes that has everything that makes runs hang, beyond what it may take.
//!
//! The time is that of the runner's process, with its start and the writing of the record.

use std::error::Error;
use std::time::{Duration, Instant};

use super::Feedback;

const ROUNDS: usize = 5;
const DEADLINE: Duration = Duration::from_millis(500);
const GRACE: Duration = Duration::from_millis(500);
const ALLOWED: Duration = Duration::from_millis(500);

/// A script that would never end, or whose streams would never end.
struct Case {
    name: &'static str,
    script: &'static str,
    /// How much of deadline and grace it may use. What exits by itself has no need of a grace.
    may_take: Duration,
    status: i32,
}

const fn case(name: &'static str, script: &'static str, may_take: Duration, status: i32) -> Case {
    Case {
        name,
        script,
        may_take,
        status,
    }
}

const BOTH: Duration = DEADLINE.saturating_add(GRACE);

/// The statuses are those of `feedback run`: 124 for a deadline.
const CASES: [Case; 9] = [
    case("waits", "exec sleep 600", DEADLINE, 124),
    case(
        "ignores SIGTERM",
        "trap '' TERM; while :; do sleep 600; done",
        BOTH,
        124,
    ),
    case("has stopped itself", "kill -STOP $$", DEADLINE, 124),
    case("floods", "exec yes", DEADLINE, 124),
    case(
        "floods and ignores SIGTERM",
        "trap '' TERM; while :; do yes; done",
        BOTH,
        124,
    ),
    case(
        "exits, a child holds the pipe",
        "sleep 600 & exit 0",
        DEADLINE,
        0,
    ),
    case(
        "exits, a child keeps writing",
        "(while :; do echo x; sleep 0.01; done) & exit 0",
        DEADLINE,
        0,
    ),
    case(
        "exits, a daemon ignores SIGTERM",
        "setsid sh -c \"trap '' TERM; while :; do sleep 600; done\" & exit 0",
        DEADLINE,
        0,
    ),
    case(
        "waits for a daemon that ignores SIGTERM and keeps writing",
        "setsid sh -c \"trap '' TERM; while :; do echo x; sleep 0.01; done\" & wait",
        BOTH,
        124,
    ),
];

/// Returns whether every run was over in time, with the right status.
pub(super) fn hangs(feedback: &Feedback, rounds: Option<usize>) -> Result<bool, Box<dyn Error>> {
    let mut all_well = true;
    println!(
        "longest time beyond what was allowed to each, {} ms is the most",
        ALLOWED.as_millis()
    );
    for case in CASES {
        let (mut longest, mut whole) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..rounds.unwrap_or(ROUNDS) {
            let (took, status) = run(feedback, case.script)?;
            whole = whole.max(took);
            longest = longest.max(took.saturating_sub(case.may_take));
            if status != Some(case.status) {
                println!("{}: status {status:?}", case.name);
                all_well = false;
            }
        }
        all_well &= longest <= ALLOWED;
        println!(
            "{:>6} ms ({:>5} in all)  {}",
            longest.as_millis(),
            whole.as_millis(),
            case.name
        );
    }
    Ok(all_well)
}

/// Returns how long the run took, and the status of the runner.
fn run(feedback: &Feedback, script: &str) -> std::io::Result<(Duration, Option<i32>)> {
    let (deadline, grace) = (millis(DEADLINE), millis(GRACE));
    let limits = ["--timeout", &deadline, "--grace", &grace];
    let began = Instant::now();
    let status = feedback.run(&[&limits[..], &["--", "bash", "-c", script]].concat())?;
    Ok((began.elapsed(), status))
}

fn millis(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}
