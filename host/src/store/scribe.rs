//! What a store asks the policy component: only the component reads and writes records.
//!
//! The store holds text. It does not look into a record, and it never edits a line.

use std::ops::Range;

use thiserror::Error;

/// Why the component did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScribeError {
    /// The document is not what it should be. Asking again gives the same answer.
    #[error("{message}")]
    Invalid {
        /// The component's own words; never a captured byte.
        message: String,
    },
    /// The document was written under a schema that this component does not know.
    #[error("{message}")]
    Unsupported {
        /// The component's own words.
        message: String,
    },
    /// The component trapped or met a limit: nothing is known about the document.
    #[error("the component failed: {message}")]
    Broken {
        /// What happened.
        message: String,
    },
}

/// What a store needs to know of a line that it already holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The `command_id` of the record.
    pub command_id: String,
    /// The position of the line in the store, from 1.
    pub seq: u64,
    /// `sha256:` of the line before, or the empty text.
    pub prev: String,
    /// Where the record starts in the text that was given, in bytes.
    pub offset: usize,
    /// The length of the record in bytes.
    pub length: usize,
}

impl Checked {
    /// Returns the record `line` without its place in the store: what it had before it was sealed,
    /// but for the brace at its end.
    pub(crate) fn body<'l>(&self, line: &'l str) -> &'l str {
        let seal = format!(r#","seq":{},"prev":"{}","crc":""#, self.seq, self.prev);
        let end = line.rfind(&seal).unwrap_or(line.len());
        line.get(..end).unwrap_or(line)
    }
}

/// Which of the two unsealed documents a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// What will be started.
    Intent,
    /// A record without its place in the store.
    Body,
}

/// Whose document a text is, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The `command_id` that it carries.
    pub command_id: String,
    /// What it is.
    pub kind: DocumentKind,
}

/// The component, as a store sees it. The functions are those of `wit/records.wit`.
pub trait Scribe {
    /// Adds `seq`, `prev` and `crc` to a body, and returns the line without its newline.
    ///
    /// # Errors
    /// See [`ScribeError`].
    fn seal(&mut self, body: &str, seq: u64, prev: &str) -> Result<String, ScribeError>;

    /// Checks a line and finds the first whole record on it.
    ///
    /// # Errors
    /// See [`ScribeError`].
    fn check(&mut self, line: &str) -> Result<Checked, ScribeError>;

    /// Says whose document a text is.
    ///
    /// # Errors
    /// See [`ScribeError`].
    fn identify(&mut self, document: &str) -> Result<Identity, ScribeError>;

    /// Builds the body for a run whose runner died.
    ///
    /// # Errors
    /// See [`ScribeError`].
    fn recover(&mut self, intent: &str) -> Result<String, ScribeError>;

    /// Builds the body of the notice that rotation dropped a file.
    ///
    /// # Errors
    /// See [`ScribeError`].
    fn note_drop(&mut self, facts: &str) -> Result<String, ScribeError>;
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A whole record. The range is its place on the line.
    Record(Checked, Range<usize>),
    /// What is no record.
    Fragment(Range<usize>),
}

/// What every record has, of whatever schema. A line without it need not be asked about.
const SCHEMA_KEY: &str = "\"schema_version\"";

/// Takes a line apart into whole records and what is between them, in order.
///
/// # Errors
/// `Unsupported` and `Broken` of the component; what is invalid becomes a fragment.
pub(crate) fn take_apart(line: &str, scribe: &mut dyn Scribe) -> Result<Vec<Piece>, ScribeError> {
    if !line.contains(SCHEMA_KEY) && !line.is_empty() {
        return Ok(vec![Piece::Fragment(0..line.len())]);
    }
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        let checked = match scribe.check(rest) {
            Ok(checked) => checked,
            Err(ScribeError::Invalid { .. }) => {
                pieces.push(Piece::Fragment(at..line.len()));
                break;
            }
            Err(error) => return Err(error),
        };
        let start = at.saturating_add(checked.offset);
        let end = start.saturating_add(checked.length);
        // A component that gives an impossible place would make this loop for ever.
        if checked.length == 0 || line.get(start..end).is_none() {
            return Err(ScribeError::Broken {
                message: "`check` gave a place outside of the line".into(),
            });
        }
        if start > at {
            pieces.push(Piece::Fragment(at..start));
        }
        pieces.push(Piece::Record(checked, start..end));
        at = end;
    }
    Ok(pieces)
}

/// As [`take_apart`], for a store that must go on: a line that stops the component is a fragment.
///
/// # Errors
/// `Unsupported`, and `Broken` where the component answers nothing at all: then nothing is known
/// about the line, and nothing may be cut or counted.
pub(crate) fn take_apart_or_skip(
    line: &str,
    scribe: &mut dyn Scribe,
) -> Result<Vec<Piece>, ScribeError> {
    let first = take_apart(line, scribe);
    if !matches!(first, Err(ScribeError::Broken { .. })) {
        return first;
    }
    // Once more, since the first time can have been a lack of memory.
    match take_apart(line, scribe) {
        Err(ScribeError::Broken { .. })
            if matches!(scribe.check(""), Err(ScribeError::Invalid { .. })) =>
        {
            Ok(vec![Piece::Fragment(0..line.len())])
        }
        second => second,
    }
}
