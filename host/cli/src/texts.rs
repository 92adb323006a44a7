//! What the commands over texts share: a session that knows this process's secrets, the input,
//! and the output.
//!
//! Nothing is looked at here; the component does that.

use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use feedback_host::component::{Component, Session};
use feedback_host::known::known_values;
use feedback_host::project::{POLICY_FILE, Project};
use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::place;

/// How much is read at once, in bytes.
pub(crate) const PIECE: usize = 64 * 1024;

/// Opens a session under the policy of the nearest `feedback.json`. The secret ones among this
/// process's own variables are its known values.
pub(crate) fn session(mode: Option<&str>) -> Result<Session, Failure> {
    let component = place::component().map_err(Failure::undecided)?;
    let project = Project::find(&component, Path::new("."), None).map_err(Failure::undecided)?;
    place::warn_of_absent_files(&project);
    let known = known_values(std::env::vars_os(), &project.env_files);
    let policy = match mode {
        None => project.policy,
        Some(mode) => with_mode(&project.policy, mode)?,
    };
    Session::open(&component, &policy, &known).map_err(Failure::undecided)
}

/// Opens a session of this component under a project's policy. The secret ones among this
/// process's own variables are its known values.
pub(crate) fn session_of(component: &Component, project: &Project) -> Result<Session, Failure> {
    let known = known_values(std::env::vars_os(), &project.env_files);
    Session::open(component, &project.policy, &known).map_err(Failure::undecided)
}

/// Opens a session under the default policy, with no known values.
pub(crate) fn session_without_policy() -> Result<Session, Failure> {
    let component = place::component().map_err(Failure::undecided)?;
    Session::open(&component, "", "").map_err(Failure::undecided)
}

/// Returns the policy with another `redaction.mode`.
fn with_mode(policy: &str, mode: &str) -> Result<String, Failure> {
    let text = policy.trim_start_matches('\u{feff}').trim();
    let mut document: Value = if text.is_empty() {
        json!({})
    } else {
        serde_json::from_str(text)
            .map_err(|error| Failure::undecided(format!("policy `{POLICY_FILE}`: {error}")))?
    };
    if let Some(policy) = document.as_object_mut() {
        let redaction = policy.entry("redaction").or_insert_with(|| json!({}));
        if let Some(redaction) = redaction.as_object_mut() {
            redaction.insert("mode".to_owned(), json!(mode));
        }
    }
    Ok(document.to_string())
}

/// Returns a message of the tool as it may be shown, line for line: it can hold what was typed,
/// names of files and of folders, and any of them can hold a secret.
pub(crate) fn redacted(message: &str) -> String {
    for_messages()
        .and_then(|mut session| session.redact(message).map_err(|error| error.to_string()))
        .unwrap_or_else(|cause| withheld(&cause))
}

/// Returns a document of the tool as it may be shown: every text in it redacted.
pub(crate) fn redacted_document(mut document: Value) -> Value {
    fn redact(session: &mut Session, value: &mut Value) -> Result<(), String> {
        match value {
            Value::String(text) => {
                *text = session.redact(text).map_err(|error| error.to_string())?;
                Ok(())
            }
            Value::Array(items) => items.iter_mut().try_for_each(|item| redact(session, item)),
            Value::Object(members) => members
                .values_mut()
                .try_for_each(|member| redact(session, member)),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }
    match for_messages().and_then(|mut session| redact(&mut session, &mut document)) {
        Ok(()) => document,
        Err(cause) => json!({ "error": withheld(&cause) }),
    }
}

/// Always the built-in component: the message may be about another one.
fn for_messages() -> Result<Session, String> {
    let component = Component::built_in().map_err(|error| error.to_string())?;
    // The message may be about the policy: then its rules cannot serve.
    let (policy, files) = Project::find(&component, Path::new("."), None)
        .map(|project| (project.policy, project.env_files))
        .unwrap_or_default();
    let known = known_values(std::env::vars_os(), &files);
    Session::open(&component, &policy, &known).map_err(|error| error.to_string())
}

fn withheld(cause: &str) -> String {
    format!("a message is withheld because it cannot be redacted: {cause}")
}

/// Why a file cannot be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::undecided(format!("`{}`: {error}", path.display()))
}

/// A text to be read, with the name for messages.
pub(crate) struct Input {
    name: PathBuf,
    reader: Box<dyn Read>,
}

impl Input {
    /// Opens a file as it is, or standard input.
    pub(crate) fn plain(path: Option<&Path>) -> Result<Self, Failure> {
        match path {
            Some(path) => Ok(Self {
                name: path.to_path_buf(),
                reader: Box::new(open(path).map_err(|error| unreadable(path, &error))?),
            }),
            None => Ok(Self {
                name: PathBuf::from("standard input"),
                reader: Box::new(io::stdin().lock()),
            }),
        }
    }

    /// Takes a file that is open already.
    pub(crate) fn of_file(name: PathBuf, file: File) -> Self {
        Self {
            name,
            reader: Box::new(file),
        }
    }

    /// Opens a file or standard input, and unpacks it where it is gzip. `watch` may count what
    /// is read.
    pub(crate) fn unpacked(
        path: Option<&Path>,
        watch: impl FnOnce(Box<dyn Read>) -> Box<dyn Read>,
    ) -> Result<Self, Failure> {
        let Self { name, reader } = Self::plain(path)?;
        let mut reader = watch(reader);
        let mut head = Vec::new();
        reader
            .by_ref()
            .take(2)
            .read_to_end(&mut head)
            .map_err(|error| unreadable(&name, &error))?;
        let is_gzip = head == [0x1f, 0x8b];
        let whole = Cursor::new(head).chain(reader);
        let reader: Box<dyn Read> = if is_gzip {
            Box::new(MultiGzDecoder::new(whole))
        } else {
            Box::new(whole)
        };
        Ok(Self { name, reader })
    }

    /// Hands on every piece of the text until the end, or until `take` says that it has enough.
    pub(crate) fn each(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<Onward, Failure>,
    ) -> Result<Onward, Failure> {
        let mut piece = vec![0; PIECE];
        loop {
            match self.reader.read(&mut piece) {
                Ok(0) => return Ok(Onward::Yes),
                Ok(count) => {
                    if take(piece.get(..count).unwrap_or_default())? == Onward::No {
                        return Ok(Onward::No);
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(&self.name, &error)),
            }
        }
    }
}

/// Opens what can be read as a text.
fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other("is a directory"));
    }
    Ok(file)
}

/// Whether there is somebody to read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onward {
    Yes,
    No,
}

/// Prints a text as it is. A reader that went away is no failure; a full disk is.
pub(crate) fn print(text: &str) -> Result<Onward, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(Onward::Yes),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Onward::No),
        Err(error) => Err(Failure::undecided(format!("standard output: {error}"))),
    }
}
