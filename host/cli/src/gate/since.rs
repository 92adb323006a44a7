//! Where evidence begins, as the command line says it.
//!
//! Only a record is looked up; whether a time is one the component says.

use std::time::SystemTime;

use feedback_host::component::Component;
use feedback_host::lookup::{self, LookupError};
use feedback_host::project::Project;
use feedback_host::review::Since;
use feedback_host::scribe::ComponentScribe;
use serde_json::Value;

use crate::failure::Failure;
use crate::show::not_found;

/// What makes a day the time at which it begins.
const MIDNIGHT: &str = "T00:00:00Z";
/// What may stand behind `--since`.
pub(super) const FORMS: &str = "give the id of a record, a day or time in UTC (2026-11-30, 2026-11-30T12:00:00Z), or how long ago (90s, 2h)";

/// Reads a duration back from now, a day, an RFC 3339 time, or the id of a record.
pub(super) fn since(
    component: &Component,
    project: &Project,
    text: &str,
) -> Result<Since, Failure> {
    if let Ok(back) = humantime::parse_duration(text) {
        let now = SystemTime::now();
        let from = now.checked_sub(back).unwrap_or(SystemTime::UNIX_EPOCH);
        let from = from.max(SystemTime::UNIX_EPOCH);
        return Ok(Since::Time(
            humantime::format_rfc3339_millis(from).to_string(),
        ));
    }
    // No id of a record has its first dash there.
    let year = text.split_once('-').map(|(year, _)| year);
    if year.is_some_and(|year| year.len() == 4) {
        let is_day = humantime::parse_rfc3339(&format!("{text}{MIDNIGHT}")).is_ok();
        let time = if is_day {
            [text, MIDNIGHT].concat()
        } else {
            text.to_owned()
        };
        return Ok(Since::Time(time));
    }
    let mut scribe = ComponentScribe::new(component.clone());
    let found = lookup::find(&project.record_file, text, &mut scribe);
    let line = found.map_err(|error| match error {
        LookupError::Unknown { .. } => Failure::undecided(format!("{error}; {FORMS}")),
        error @ (LookupError::Store(_)
        | LookupError::Empty(_)
        | LookupError::Unreadable { .. }
        | LookupError::NoneCounts { .. }
        | LookupError::Doubled { .. }
        | LookupError::NoFailure(_)
        | LookupError::StillOpen { .. }
        | LookupError::Ambiguous { .. }) => not_found(error),
    })?;
    let record: Value = serde_json::from_str(&line).map_err(Failure::undecided)?;
    let id = record.get("command_id").and_then(Value::as_str);
    Ok(Since::Record(id.unwrap_or(text).to_owned()))
}
