//! The component that stops in the middle: what is then written, and shown, is nothing of the text.
//!
//! The component is the built-in one with the bodies of three functions replaced, so that
//! everything before really happens, and then it traps.

#![expect(
    clippy::indexing_slicing,
    reason = "test code: it reads bytes that a compiler wrote"
)]

use std::sync::OnceLock;

use feedback_host::component::{CallError, Component, Decision, Session, Trap};
use feedback_host::ending::Source;
use feedback_host::project::Project;
use feedback_host::run::{Observer, Request, Runner};
use feedback_host::spawn::Command;
use feedback_host::supervise::Control;

const PUSH: &str = "feedback:policy/captures@0.1.0#[method]capture.push";
const FILTER: &str = "feedback:policy/redaction@0.1.0#[method]filter.push";
const REDACT: &str = "feedback:policy/redaction@0.1.0#redact";

/// A text that no rule knows.
fn secret() -> String {
    ["plain", "looking", "secret"].concat()
}

/// Reads the sections of a binary in order.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bytes[self.at - 1]
    }

    /// A number in LEB128.
    fn number(&mut self) -> usize {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let byte = usize::from(self.byte());
            number |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    fn name(&mut self) -> &[u8] {
        let length = self.number();
        self.at += length;
        &self.bytes[self.at - length..self.at]
    }

    fn limits(&mut self) {
        let has_most = self.byte() & 1 == 1;
        self.number();
        if has_most {
            self.number();
        }
    }
}

/// Returns the kind, the start and the end of each section behind the header.
fn sections(bytes: &[u8], start: usize, end: usize) -> Vec<(u8, usize, usize)> {
    let mut reader = Reader {
        bytes,
        at: start + 8,
    };
    let mut sections = Vec::new();
    while reader.at < end {
        let kind = reader.byte();
        let size = reader.number();
        sections.push((kind, reader.at, reader.at + size));
        reader.at += size;
    }
    sections
}

/// Returns how many functions a module imports.
fn imported(bytes: &[u8], start: usize) -> usize {
    let mut reader = Reader { bytes, at: start };
    let count = reader.number();
    let mut functions = 0;
    for _ in 0..count {
        reader.name();
        reader.name();
        match reader.byte() {
            0 => {
                reader.number();
                functions += 1;
            }
            1 => {
                reader.byte();
                reader.limits();
            }
            2 => reader.limits(),
            _ => {
                reader.byte();
                reader.byte();
            }
        }
    }
    functions
}

/// Returns the function that a module exports under this name.
fn exported(bytes: &[u8], start: usize, name: &str) -> Option<usize> {
    let mut reader = Reader { bytes, at: start };
    let count = reader.number();
    (0..count).find_map(|_| {
        let is_it = reader.name() == name.as_bytes();
        let kind = reader.byte();
        let index = reader.number();
        (is_it && kind == 0).then_some(index)
    })
}

/// Replaces the body of a function by one that traps, in place.
fn replace_body(bytes: &mut [u8], code: usize, function: usize) {
    let mut reader = Reader { bytes, at: code };
    reader.number();
    for _ in 0..function {
        let size = reader.number();
        reader.at += size;
    }
    let size = reader.number();
    let body = reader.at..reader.at + size;
    let body = &mut bytes[body];
    body.fill(1); // nop
    body[0] = 0; // no locals
    body[1] = 0; // unreachable
    body[size - 1] = 0x0b; // end
}

/// Returns the built-in component, which traps when it is given output or a text. It is compiled
/// once, which takes long without optimisation.
fn stopping() -> Component {
    static STOPPING: OnceLock<Component> = OnceLock::new();
    let component = STOPPING.get_or_init(|| {
        let mut bytes = crate::built_in().bytes().to_vec();
        for name in [PUSH, FILTER, REDACT] {
            let function = located(&bytes, name).expect("a module exports it");
            let (code, function) = function;
            replace_body(&mut bytes, code, function);
        }
        Component::from_bytes(&bytes).expect("it is still a component")
    });
    component.clone()
}

/// Returns where the code of the module stands that exports this function, and its place there.
fn located(bytes: &[u8], name: &str) -> Option<(usize, usize)> {
    let modules = sections(bytes, 0, bytes.len());
    modules
        .into_iter()
        .filter(|(kind, ..)| *kind == 1)
        .find_map(|(_, start, end)| {
            let sections = sections(bytes, start, end);
            let section = |wanted: u8| {
                let found = sections.iter().find(|(kind, ..)| *kind == wanted);
                found.map(|(_, start, _)| *start)
            };
            let function = exported(bytes, section(7)?, name)?;
            let imports = section(2).map_or(0, |imports| imported(bytes, imports));
            Some((section(10)?, function - imports))
        })
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
    let mut session = Session::open(&stopping(), "", "").expect("a session");
    let filter = session.start_filter().expect("a filter");
    let stopped = session
        .filter(&filter, text.as_bytes())
        .expect_err("it traps");
    assert!(!stopped.to_string().contains(&secret()), "{stopped}");
    // What was held back is not given either.
    assert!(session.finish_filter(filter).is_err());

    let mut session = Session::open(&stopping(), "", "").expect("a session");
    let stopped = session.redact(&text).expect_err("it traps");
    assert!(!stopped.to_string().contains(&secret()), "{stopped}");
}
