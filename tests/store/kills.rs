//! Writers are killed at random moments.

use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use super::field::{Field, Said};

const WRITERS: u64 = 4;

/// A small generator of numbers that look random (xorshift).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn writers_that_are_killed_at_random_lose_tear_and_double_nothing() {
    let kills: u64 = std::env::var("FEEDBACK_STORE_KILLS")
        .ok()
        .map_or(500, |text| text.parse().unwrap());
    let field = Field::in_memory();
    let said = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=WRITERS)
            .map(|seed| {
                let field = &field;
                scope.spawn(move || kill_and_respawn(field, seed, kills / WRITERS))
            })
            .collect();
        let mut said = Said::default();
        for thread in threads {
            said.merge(thread.join().unwrap());
        }
        said
    });
    eprintln!(
        "{kills} kills: {} runs begun, {} acknowledged",
        said.begun.len(),
        said.done.len()
    );
    assert!(said.begun.len() > said.done.len(), "no kill hit a run");
    assert!(!said.done.is_empty(), "no run got to its end");
    field.check(&said);
}

fn kill_and_respawn(field: &Field, seed: u64, kills: u64) -> Said {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut said = Said::default();
    for _ in 0..kills {
        let seed = format!("seed={}", next(&mut random) >> 1);
        // Mostly small records, and now and then one that takes many pages.
        let largest = match next(&mut random) % 16 {
            0 => "largest=128000",
            _ => "largest=4000",
        };
        let orders = [
            "count=1000000",
            "limit=262144",
            "keep=100000",
            "disk=0",
            largest,
            &seed,
        ];
        let mut child = field.writer(&orders).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        // Some are killed wherever they are by then, the others after so much of their work: on a
        // slow machine, none would get to it otherwise.
        for _ in 0..(next(&mut random) % 16).saturating_sub(8) {
            stdout.read_line(&mut text).unwrap();
        }
        // The moment is to be random; nothing is waited for.
        std::thread::sleep(Duration::from_micros(next(&mut random) % 60_000));
        child.kill().unwrap();
        stdout.read_to_string(&mut text).unwrap();
        child.wait().unwrap();
        said.take_in(&text);
    }
    said
}
