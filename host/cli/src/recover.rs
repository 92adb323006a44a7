//! `feedback recover`: does what the next run would do before it appends.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use feedback_host::reader::{Reader, Scope};
use feedback_host::scribe::ComponentScribe;
use feedback_host::store::{Notice, Options, Store, StoreError};
use serde_json::{Value, json};

use crate::failure::{Failure, UNDECIDED, of_store};
use crate::notices;
use crate::place::Place;
use crate::texts;
use crate::verification::state_word;

/// Repair the record file and append the records that wait: exit 0 done, 2 not all could be
///
/// It does what the next run would do first: cuts a torn last line, appends the records that wait,
/// and records the runs whose runner died. Runs that are still going on are left alone.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Recovers the store.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (component, project) = arguments.place.open(Failure::undecided)?;
    let file = &project.record_file;
    let done = recover(file, component).map_err(|error| Failure::undecided(of_store(&error)))?;
    let shown = if arguments.json {
        texts::redacted_document(as_json(&done)).to_string()
    } else {
        texts::redacted(&as_text(&done, file))
    };
    let _ = writeln!(io::stdout().lock(), "{shown}");
    Ok(if done.notices.iter().any(is_left_over) {
        ExitCode::from(UNDECIDED)
    } else {
        ExitCode::SUCCESS
    })
}

/// What was done, and what goes on.
#[derive(Default)]
struct Done {
    notices: Vec<Notice>,
    /// The runs that are not in the file, with the word for their state.
    open: Vec<(String, &'static str)>,
}

/// Recovers a store that is there. Where there is none, none is made.
fn recover(
    file: &Path,
    component: feedback_host::component::Component,
) -> Result<Done, StoreError> {
    let mut scribe = ComponentScribe::new(component);
    let before = Reader::open(file, Scope::All)?;
    if before.file_count() == 0 && before.open_runs()?.is_empty() {
        return Ok(Done::default());
    }
    let store = Store::open(file, Options::default())?;
    store.refuse_unknown_schema(&mut scribe)?;
    let notices = store.recover(&mut scribe)?.notices;
    let open = Reader::open(file, Scope::All)?.open_runs()?;
    Ok(Done {
        notices,
        open: open
            .into_iter()
            .map(|run| (run.command_id, state_word(run.state)))
            .collect(),
    })
}

/// Says whether a notice tells of something that is still to be done.
fn is_left_over(notice: &Notice) -> bool {
    match notice {
        Notice::NotRecovered { .. }
        | Notice::SetAside { .. }
        | Notice::SyncFailed { .. }
        | Notice::Degraded { .. }
        | Notice::NotDeposited { .. }
        | Notice::StoreLost { .. }
        | Notice::LeftBehind { .. } => true,
        Notice::TailCut { .. }
        | Notice::TailCompleted { .. }
        | Notice::AlreadyRecorded { .. }
        | Notice::Recovered { .. }
        | Notice::NotRotated { .. }
        | Notice::Dropped { .. } => false,
    }
}

fn as_text(done: &Done, file: &Path) -> String {
    let mut lines: Vec<String> = done.notices.iter().map(notices::text).collect();
    if lines.is_empty() {
        lines.push(format!("`{}`: nothing to recover", file.display()));
    }
    lines.extend(
        done.open
            .iter()
            .map(|(id, state)| format!("`{id}` is still {state}")),
    );
    lines.join("\n")
}

fn as_json(done: &Done) -> Value {
    let recovered: Vec<Value> = done
        .notices
        .iter()
        .filter_map(|notice| match notice {
            Notice::Recovered { command_id, died } => {
                Some(json!({ "command_id": command_id, "died": died }))
            }
            Notice::TailCut { .. }
            | Notice::TailCompleted { .. }
            | Notice::AlreadyRecorded { .. }
            | Notice::NotRecovered { .. }
            | Notice::SetAside { .. }
            | Notice::NotRotated { .. }
            | Notice::Dropped { .. }
            | Notice::SyncFailed { .. }
            | Notice::Degraded { .. }
            | Notice::NotDeposited { .. }
            | Notice::StoreLost { .. }
            | Notice::LeftBehind { .. } => None,
        })
        .collect();
    let open: Vec<Value> = done
        .open
        .iter()
        .map(|(id, state)| json!({ "command_id": id, "state": state }))
        .collect();
    json!({
        "recovered": recovered,
        "notices": done.notices.iter().map(notices::text).collect::<Vec<_>>(),
        "open_runs": open,
        "complete": !done.notices.iter().any(is_left_over),
    })
}
