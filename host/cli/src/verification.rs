//! What checking a store has found, in words for a person and as JSON for a program.
//!
//! Nothing is checked here.

use std::path::Path;

use feedback_host::reader::PendingState;
use feedback_host::store::Verification;
use serde_json::{Value, json};

use crate::summary::printable;

/// What the findings come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Every record that was ever acknowledged is there, as far as a store can know.
    Sound,
    /// Something is missing, changed or broken.
    Damaged,
    /// Nothing can be told: no record, nothing to read, or a schema that is not known.
    Unknown,
}

impl State {
    /// Judges the findings.
    pub(crate) fn of(found: &Verification) -> Self {
        if found.is_damaged() {
            Self::Damaged
        } else if found.is_sound() && found.records > 0 {
            Self::Sound
        } else {
            // A store that is gone leaves no trace: to find nothing is not to find it sound.
            Self::Unknown
        }
    }

    /// Returns the word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Damaged => "damaged",
            Self::Unknown => "unknown",
        }
    }
}

/// Returns the findings as JSON; `name` says how a path is written.
pub(crate) fn as_json(found: &Verification, name: &dyn Fn(&Path) -> String) -> Value {
    let damages: Vec<Value> = found
        .damages
        .iter()
        .map(|damage| {
            json!({
                "file": name(&damage.file),
                "line": damage.line,
                "what": damage.what,
                "undecided": damage.undecided,
            })
        })
        .collect();
    let open_runs: Vec<Value> = found
        .open_runs
        .iter()
        .map(|run| json!({ "command_id": run.command_id, "state": state_word(run.state) }))
        .collect();
    let head = found
        .head
        .as_ref()
        .map(|head| json!({ "seq": head.seq, "hash": head.hash }));
    json!({
        "state": State::of(found).word(),
        "head": head,
        "first_seq": found.first_seq,
        "records": found.records,
        "doubled": found.doubled,
        "files": found.files,
        "damages": damages,
        "open_runs": open_runs,
        "set_aside": found.set_aside.iter().map(|path| name(path)).collect::<Vec<_>>(),
        "degraded": found.degraded.as_deref().map(name),
    })
}

/// Returns the findings for a person: the judgement, the head, then everything that is wrong.
pub(crate) fn as_text(found: &Verification) -> String {
    let mut lines = vec![match State::of(found) {
        State::Sound => format!("sound: {}", extent(found)),
        State::Damaged => format!("damaged: {}", extent(found)),
        State::Unknown => "cannot tell".to_owned(),
    }];
    if let Some(head) = &found.head {
        lines.push(format!("  head: {}:{}", head.seq, head.hash));
    }
    for damage in &found.damages {
        let file = damage.file.display();
        lines.push(match damage.line {
            0 => format!("  `{file}`: {}", damage.what),
            line => format!("  `{file}` line {line}: {}", damage.what),
        });
    }
    for path in &found.set_aside {
        lines.push(format!(
            "  `{}`: was set aside by recovery, since it is no record",
            path.display()
        ));
    }
    if let Some(path) = &found.degraded {
        lines.push(format!(
            "  `{}`: the disk once did not take what was written; remove this mark when it is well again",
            path.display()
        ));
    }
    if found.doubled > 0 {
        lines.push(format!(
            "  {} there twice, which readers give once",
            records(found.doubled)
        ));
    }
    for run in &found.open_runs {
        lines.push(format!(
            "  open: `{}` {}",
            run.command_id,
            telling(run.state)
        ));
    }
    lines
        .iter()
        .map(|line| printable(line))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the word for how far a run has come.
pub(crate) fn state_word(state: PendingState) -> &'static str {
    match state {
        PendingState::Running => "running",
        PendingState::Waiting => "waiting",
        PendingState::Died => "died",
    }
}

fn telling(state: PendingState) -> &'static str {
    match state {
        PendingState::Running => "is running",
        PendingState::Waiting => {
            "has ended; its record waits for the next run or `feedback recover`"
        }
        PendingState::Died => {
            "ended with its runner; the next run or `feedback recover` records that"
        }
    }
}

fn extent(found: &Verification) -> String {
    let files = if found.files == 1 { "file" } else { "files" };
    let mut extent = format!("{} in {} {files}", records(found.records), found.files);
    if let (Some(first), Some(head)) = (found.first_seq, &found.head) {
        extent.push_str(&format!(", numbers {first} to {}", head.seq));
    }
    extent
}

fn records(count: u64) -> String {
    if count == 1 {
        "1 record".to_owned()
    } else {
        format!("{count} records")
    }
}
