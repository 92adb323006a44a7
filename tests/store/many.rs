//! Many writers and readers at once.

use std::sync::atomic::{AtomicBool, Ordering};

use feedback_host::reader::{Entry, Reader, Scope};
use feedback_host::store::verify;

use super::field::{Field, Said};
use super::scribe::Native;

const WRITERS: u64 = 16;
const READERS: usize = 4;
const RECORDS: u64 = 1000;

#[test]
fn sixteen_writers_and_four_readers_lose_nothing_and_see_no_damage() {
    let field = Field::in_memory();
    let over = AtomicBool::new(false);
    let mut said = Said::default();
    let reads = std::thread::scope(|scope| {
        // A failure here must end the readers too, or the scope waits for them for ever.
        let end = End(&over);
        let readers: Vec<_> = (0..READERS)
            .map(|_| scope.spawn(|| read_until(&field, &over)))
            .collect();
        let writers: Vec<_> = (1..=WRITERS)
            .map(|seed| {
                let count = format!("count={RECORDS}");
                let seed = format!("seed={seed}");
                let orders = [
                    count.as_str(),
                    "limit=65536",
                    "keep=100000",
                    "disk=0",
                    "largest=100",
                    "lock_ms=600000",
                    &seed,
                ];
                field.writer(&orders).spawn().unwrap()
            })
            .collect();
        let outputs: Vec<_> = writers
            .into_iter()
            .map(|writer| std::thread::spawn(move || writer.wait_with_output().unwrap()))
            .collect();
        for output in outputs {
            said.listen(&output.join().unwrap());
        }
        drop(end);
        readers
            .into_iter()
            .map(|reader| reader.join().unwrap())
            .sum::<u64>()
    });
    assert!(reads > 0);
    assert_eq!(u64::try_from(said.done.len()).unwrap(), WRITERS * RECORDS);
    field.check(&said);
    let found = verify(&field.path(), &mut Native);
    assert_eq!(found.first_seq, Some(1));
    assert_eq!(found.head.unwrap().seq, WRITERS * RECORDS);
}

/// Tells the readers to end.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Reads again and again, and asks for whole records in order. Returns how often.
fn read_until(field: &Field, over: &AtomicBool) -> u64 {
    let mut reads = 0;
    loop {
        let is_last = over.load(Ordering::Acquire);
        let reader = Reader::open(&field.path(), Scope::All).unwrap();
        let mut last = 0;
        for entry in reader.entries(&mut Native) {
            match entry {
                Entry::Line { checked, .. } => {
                    assert_eq!(checked.seq, last + 1);
                    last = checked.seq;
                }
                Entry::Damaged { line_no, what, .. } => panic!("line {line_no} {what}"),
            }
        }
        reads += 1;
        if is_last {
            return reads;
        }
    }
}
