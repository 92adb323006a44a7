//! The component that stops in the middle: what is then written, and shown, is nothing of the text.
//!
//! Everything before really happens, and then it traps.

use feedback_host::component::{CallError, Component, Decision, Session, Trap};
use feedback_host::ending::Source;
use feedback_host::project::Project;
use feedback_host::run::{Observer, Request, Runner};
use feedback_host::spawn::Command;
use feedback_host::supervise::Control;

use crate::rogue::{panicking, stopping};

/// A text that no rule knows.
fn secret() -> String {
    ["plain", "looking", "secret"].concat()
}

/// Everything below a folder.
fn every_byte(folder: &std::path::Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(every_byte(&path));
        } else {
            all.extend(std::fs::read(path).expect("a file"));
        }
    }
    all
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

fn runner(component: Component, folder: &std::path::Path) -> Runner {
    let record_file = folder.join("records.jsonl");
    let project = Project::find(&crate::built_in(), folder, Some(&record_file)).expect("a project");
    Runner::new(component, project)
}

#[test]
fn a_trap_in_the_middle_of_the_output_leaves_the_fallback_record_which_the_gate_refuses() {
    let folder = tempfile::tempdir().expect("a folder");
    // The secret is put together by the command, so that it is in no argument.
    let script = "echo plainlooking\"\"secret; echo plainlooking\"\"secret >&2";
    let runner = runner(stopping(), folder.path());
    let finished = runner.run(["sh", "-c", script], None).expect("a run");
    assert!(
        matches!(
            finished.fallback,
            Some(CallError::Stopped {
                trap: Trap::Unreachable,
                ..
            })
        ),
        "{:?}",
        finished.fallback
    );
    let record: serde_json::Value = serde_json::from_str(&finished.record).expect("JSON");
    assert_eq!(record["kind"], "fallback");
    assert_eq!(record["exit_code"], 0, "what the command did is told");
    assert_eq!(record["stdout_tail"], "");
    let verdict = finished.verdict.expect("a verdict");
    assert_eq!(verdict.decision, Decision::Refuse, "{verdict:?}");
    let on_disk = every_byte(folder.path());
    assert!(holds(&on_disk, "\"fallback\""));
    assert!(!holds(&on_disk, &secret()));
}

#[test]
fn a_trap_before_much_output_neither_holds_the_command_up_nor_hides_how_it_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let runner = runner(stopping(), folder.path());
    let script = "yes | head -c 8000000; yes | head -c 8000000 >&2; exit 3";
    let finished = runner.run(["sh", "-c", script], None).expect("a run");
    assert!(finished.fallback.is_some());
    let record: serde_json::Value = serde_json::from_str(&finished.record).expect("JSON");
    assert_eq!(record["kind"], "fallback");
    assert_eq!(record["exit_code"], 3);
    assert_eq!(finished.ending.stdout.bytes, 8_000_000);
    assert_eq!(finished.ending.stderr.bytes, 8_000_000);
}

/// Takes what a person would see.
#[derive(Default)]
struct Watching(String);

impl Observer for Watching {
    fn wants_text(&self, _: Source) -> bool {
        true
    }

    fn text(&mut self, _: Source, text: &str) {
        self.0.push_str(text);
    }
}

#[test]
fn a_trap_while_a_person_watches_shows_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let runner = runner(stopping(), folder.path());
    let request = Request {
        command: Command {
            argv: vec!["echo".into(), secret().into()],
            ..Command::default()
        },
        ..Request::default()
    };
    let mut watching = Watching::default();
    let mut control = Control::none();
    let finished = runner
        .execute(&request, &mut control, &mut watching)
        .expect("a run");
    assert_eq!(watching.0, "");
    assert!(finished.fallback.is_some());
}

#[test]
fn a_trap_in_a_filter_or_a_text_gives_no_part_of_it() {
    let text = format!("{} and more\n", secret());
    let mut session = Session::open(&panicking(), "", "").expect("a session");
    let filter = session.start_filter().expect("a filter");
    let stopped = session
        .filter(&filter, text.as_bytes())
        .expect_err("it traps");
    assert!(!stopped.to_string().contains(&secret()), "{stopped}");
    // What was held back is not given either.
    assert!(session.finish_filter(filter).is_err());

    let mut session = Session::open(&panicking(), "", "").expect("a session");
    let stopped = session.redact(&text).expect_err("it traps");
    assert!(!stopped.to_string().contains(&secret()), "{stopped}");
}
