//! What the whole store says beside a record that was found: whether its id stands there with
//! something else, and whether the newest record is cut off.
//!
//! It reads every line once, and asks the component only about those that may matter.

use std::path::Path;

use super::LookupError;
use crate::reader::{Content, Entry, Raw, Reader, Scope, unended};
use crate::store::{Checked, Scribe};

/// What the store says beside a record.
#[derive(Debug, Default)]
pub(super) struct Surveyed {
    /// The newest record may be what stands cut off at the end of the file.
    pub(super) cut_off: Option<LookupError>,
    /// The id of the record stands there with something else as well.
    pub(super) is_doubled: bool,
}

/// Reads the whole store for what it says beside `found`, a record's line.
pub(super) fn survey(
    reader: &Reader,
    found: Option<(&str, &Checked)>,
    scribe: &mut dyn Scribe,
) -> Surveyed {
    let mut surveyed = Surveyed::default();
    for raw in reader.raw_lines() {
        let (bytes, is_unfinished) = match &raw.content {
            Content::Complete(bytes) => (bytes, false),
            Content::Unfinished(bytes) => (bytes, true),
            Content::Unreadable(_) | Content::Unread(_) => continue,
        };
        let of_found = found.filter(|(_, own)| !surveyed.is_doubled && names(bytes, own));
        if of_found.is_none() && !is_unfinished {
            continue;
        }
        let cut = is_unfinished.then(|| cut_off(&raw, bytes.len()));
        let entries = raw.entries(scribe);
        if entries.is_empty() {
            surveyed.cut_off = surveyed.cut_off.or(cut);
        }
        surveyed.is_doubled |= of_found
            .is_some_and(|(line, own)| entries.iter().any(|entry| is_other(entry, line, own)));
    }
    surveyed
}

/// Says whether the id of this record stands in the store a second time, with other words.
///
/// # Errors
/// Where the store cannot be read.
pub fn is_doubled(
    record_file: &Path,
    line: &str,
    scribe: &mut dyn Scribe,
) -> Result<bool, LookupError> {
    let reader = Reader::open(record_file, Scope::All)?;
    // What is no record has no id that could stand there twice.
    let Ok(own) = scribe.check(line) else {
        return Ok(false);
    };
    Ok(survey(&reader, Some((line, &own)), scribe).is_doubled)
}

/// Whether the id of a record may stand anywhere in a line: its characters can be spelt out, as
/// nobody does who writes records.
fn names(line: &[u8], own: &Checked) -> bool {
    let line = String::from_utf8_lossy(line);
    line.contains(&own.command_id) || line.contains(r"\u00")
}

fn is_other(entry: &Entry, line: &str, own: &Checked) -> bool {
    match entry {
        Entry::Line { text, checked, .. } => {
            checked.command_id == own.command_id && checked.body(text) != own.body(line)
        }
        Entry::Damaged { .. } => false,
    }
}

fn cut_off(raw: &Raw, length: usize) -> LookupError {
    LookupError::Unreadable {
        file: raw.file.to_path_buf(),
        line_no: raw.line_no,
        what: unended(length),
    }
}
