//! Records runs until it has recorded enough or somebody kills it.
//!
//! `store_writer <record file> key=value …` prints `begun <id>` once a run may start, `done <id>`
//! once its record is acknowledged, `waits <id>` where the record has to wait and
//! `refused <errno>` where the run was refused.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of tests: it may die, that is what it is for"
)]

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use feedback_host::store as api;
use feedback_host::store::{Durability, Options, Store};
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, setrlimit};

#[path = "scribe.rs"]
mod scribe;

use scribe::{Native, body, intent};

/// What the writer was asked to do.
struct Order {
    path: PathBuf,
    options: Options,
    count: u64,
    smallest: u64,
    largest: u64,
    seed: u64,
    /// Leave every run open, as a runner does that dies.
    die: bool,
    /// Take the lock, say so, and wait to be killed.
    hold: bool,
}

fn main() {
    let order = read_order();
    if order.hold {
        return hold(&order);
    }
    let store = match Store::open(&order.path, order.options) {
        Ok(store) => store,
        Err(error) => return say(&format!("refused {}", error.errno().unwrap_or(0))),
    };
    let mut random = order.seed;
    for _ in 0..order.count {
        let id = uuid::Uuid::now_v7().to_string();
        let run = match store.begin(&id, &intent(&id)) {
            Ok(run) => run,
            Err(error) => {
                say(&format!("refused {}", error.errno().unwrap_or(0)));
                continue;
            }
        };
        say(&format!("begun {id}"));
        if order.die {
            continue;
        }
        let span = order
            .largest
            .saturating_sub(order.smallest)
            .saturating_add(1);
        let fill = order.smallest + next(&mut random) % span;
        let body = body(&id, "exited", usize::try_from(fill).unwrap());
        match store.finish(run, &body, &mut Native) {
            Ok(_) => say(&format!("done {id}")),
            Err(error) if error.waits => say(&format!("waits {id}")),
            Err(_) => say(&format!("lost {id}")),
        }
    }
}

fn read_order() -> Order {
    let mut arguments = std::env::args_os().skip(1);
    let mut order = Order {
        path: arguments.next().expect("a record file").into(),
        options: Options::default(),
        count: 1,
        smallest: 0,
        largest: 100,
        seed: 1,
        die: false,
        hold: false,
    };
    for argument in arguments {
        let argument = argument.into_string().unwrap();
        let (key, value) = argument.split_once('=').expect("key=value");
        let number: u64 = value.parse().unwrap();
        match key {
            "count" => order.count = number,
            "limit" => order.options.limit = number,
            "keep" => order.options.keep = u32::try_from(number).unwrap(),
            "disk" if number == 0 => order.options.durability = Durability::Process,
            "disk" => order.options.durability = Durability::Disk,
            "lock_ms" => order.options.lock_limit = Duration::from_millis(number),
            "smallest" => order.smallest = number,
            "largest" => order.largest = number,
            "seed" => order.seed = number.max(1),
            "die" => order.die = number != 0,
            "hold" => order.hold = number != 0,
            "umask" => drop(rustix::process::umask(Mode::from_raw_mode(
                u32::try_from(number).unwrap(),
            ))),
            "fsize" => setrlimit(
                Resource::Fsize,
                Rlimit {
                    current: Some(number),
                    maximum: Some(number),
                },
            )
            .unwrap(),
            other => panic!("no key `{other}`"),
        }
    }
    order
}

fn hold(order: &Order) {
    let mut path = order.path.clone().into_os_string();
    path.push(".lock");
    let file = std::fs::File::open(path).unwrap();
    file.lock().unwrap();
    say("held");
    loop {
        std::thread::park();
    }
}

/// Writes a line in one go, so that a kill never leaves half of one.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// A small generator of numbers that look random (xorshift).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
