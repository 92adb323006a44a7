//! Every byte arrives, in constant memory, and whether the end was seen is never guessed.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use crate::rig::{Driver, Trial, folder, word};
use feedback_host::ending::Source;
use feedback_host::supervise::{Control, Sink, supervise};

#[test]
fn standard_input_is_empty_unless_it_is_asked_for() {
    assert_eq!(Trial::puppet(["echo-stdin"]).run().text(), "stdin: \"\"\n");
    let mut runner = Driver::start_with(&["--stdin"], &["echo-stdin"], |command| {
        command.stdin(Stdio::piped());
    });
    let mut stdin = runner.child().stdin.take().unwrap();
    stdin.write_all(b"typed").unwrap();
    drop(stdin);
    assert_eq!(runner.line(), "stdin: \"typed\"");
    assert_eq!(runner.ending()["outcome"]["code"], 0);
}

#[test]
fn both_streams_can_be_full_at_once() {
    let done = Trial::puppet(["flood", "9000000", "9000000"]).run();
    done.exited(0);
    assert_eq!(
        (done.stdout.len(), done.stderr.len()),
        (9_000_000, 9_000_000)
    );
    assert_eq!(
        (done.ending.stdout.bytes, done.ending.stderr.bytes),
        (9_000_000, 9_000_000)
    );
}

#[test]
fn much_output_without_a_newline_is_counted_exactly_in_constant_memory() {
    let ending = Driver::start(&["--quiet"], &["flood", "1000000000", "123456789"]).ending();
    assert_eq!(ending["bytes"], 1_123_456_789);
    assert!(ending["peak_kib"].as_u64().unwrap() < 32 * 1024, "{ending}");
}

#[test]
fn every_byte_value_arrives_unchanged_on_its_own_stream() {
    let folder = folder();
    let file = folder.path().join("bytes");
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    std::fs::write(&file, &bytes).unwrap();
    let done = Trial::puppet(["complain", "aside", "say-raw", word(&file)]).run();
    assert_eq!(done.exited(0).stdout, bytes);
    assert_eq!(done.stderr, b"aside\n");
}

#[test]
fn the_time_of_the_last_byte_is_kept_per_stream() {
    let folder = folder();
    let file = folder.path().join("go-on");
    let words = ["say", "x", "await-file", word(&file), "complain", "y"];
    let go_on = file.clone();
    let done = Trial::puppet(words)
        .when("x", move |_, _| {
            // Time that passes after the first byte was read.
            std::thread::sleep(Duration::from_millis(60));
            std::fs::write(&go_on, "x").unwrap();
        })
        .run();
    let (first, second) = (
        done.ending.stdout.last_byte_ms.unwrap(),
        done.ending.stderr.last_byte_ms.unwrap(),
    );
    assert!(second >= first + 60, "{first} {second}");
    assert!(u128::from(second) <= done.took.as_millis());
}

#[test]
fn a_command_may_close_its_streams_and_go_on() {
    let done = Trial::of(["sh", "-c", "echo x; exec >&- 2>&-; exit 3"]).run();
    done.exited(3);
    assert!(done.ending.stdout.end_seen && done.ending.stderr.end_seen);
}

#[test]
fn a_live_view_is_told_that_a_silent_command_still_runs() {
    struct View {
        ticks: Vec<Duration>,
        control: OwnedFd,
    }
    impl Sink for View {
        fn bytes(&mut self, _: Source, _: &[u8]) {}
        fn end(&mut self, _: Source) {}
        fn tick_every(&self) -> Option<Duration> {
            Some(Duration::from_millis(20))
        }
        fn tick(&mut self, elapsed: Duration) {
            self.ticks.push(elapsed);
            if self.ticks.len() == 3 {
                rustix::io::write(&self.control, &[15]).unwrap();
            }
        }
    }
    let (read, write) = std::io::pipe().unwrap();
    let mut view = View {
        ticks: Vec::new(),
        control: write.into(),
    };
    let trial = Trial::puppet(["wait"]);
    let mut control = Control::over(read.into());
    let ending = supervise(&trial.command, &trial.limits, &mut control, &mut view);
    assert_eq!(ending.outcome.name(), "cancelled");
    assert!(view.ticks.len() >= 3 && view.ticks.is_sorted());
    assert!(
        view.ticks[2] >= Duration::from_millis(60),
        "{:?}",
        view.ticks
    );
}
