//! When two runs are the same command, and when two lines are the same record.
//!
//! A fingerprint lives as long as a review; it is never written.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Deserialize;

use super::entry::Run;
use crate::document;

/// An exactly known command in an exactly known directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Same(u64);

/// Programs that run what they are given as an argument: behind `-c`, `-e`, or as a module behind `-m`.
const INTERPRETERS: [&str; 14] = [
    "sh", "bash", "dash", "ash", "ksh", "zsh", "fish", "python", "pypy", "perl", "ruby", "node",
    "lua", "php",
];

/// A program, whatever its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Program(u64);

/// What a line says, whatever its place in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content(u64);

/// What makes two runs the same command in the same directory. `None` where either was
/// redacted or shortened: then two different ones can look the same.
pub(super) fn same(run: &Run) -> Option<Same> {
    let (command, cwd) = (run.command.as_ref()?, run.cwd.as_ref()?);
    let redacted = |text: &String| text.contains("[REDACTED");
    let shortened = |key: &str| {
        run.clamped
            .as_ref()
            .is_some_and(|keys| keys.contains_key(key))
    };
    if redacted(cwd) || command.iter().any(redacted) || shortened("command") || shortened("cwd") {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    (command, &run.command_base64, cwd, &run.cwd_base64).hash(&mut hasher);
    Some(Same(hasher.finish()))
}

/// What makes two runs runs of the same program: the file name of the first argument, and of an
/// interpreter the script that it was given. `None` where either was redacted, or is not known
/// exactly.
pub(super) fn program(run: &Run) -> Option<Program> {
    let command = run.command.as_ref()?;
    let base64 = run.command_base64.as_ref().and_then(|list| list.first());
    let name = command.first()?.rsplit('/').next()?;
    if name.is_empty() || name.contains("[REDACTED") || base64.is_some_and(Option::is_some) {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    if let Some(script) = script(name, command) {
        if script.contains("[REDACTED") {
            return None;
        }
        script.hash(&mut hasher);
    }
    Some(Program(hasher.finish()))
}

/// Whether a program of this file name, with or without a version, is an interpreter.
pub(super) fn is_interpreter(name: &str) -> bool {
    let version = |letter: char| letter.is_ascii_digit() || letter == '.';
    INTERPRETERS.contains(&name.trim_end_matches(version))
}

/// What an interpreter is given to run on the command line: then that is the program.
fn script<'r>(name: &str, command: &'r [String]) -> Option<&'r String> {
    if !is_interpreter(name) {
        return None;
    }
    let mut arguments = command.iter().skip(1);
    arguments.find(|argument| {
        let letters = argument.strip_prefix('-').unwrap_or_default();
        letters.ends_with(['c', 'e', 'm'])
            && letters.bytes().all(|letter| letter.is_ascii_lowercase())
    })?;
    arguments.next()
}

/// A fingerprint of a line without its place in the store.
pub(super) fn content(line: &str) -> Content {
    let mut hasher = DefaultHasher::new();
    unsealed(line).hash(&mut hasher);
    Content(hasher.finish())
}

/// The line before its integrity keys, where it ends with exactly those. Within a text the
/// quotes would be escaped, so nothing of a command's output can look like them.
fn unsealed(line: &str) -> &str {
    let line = line.trim_ascii_end();
    let split = line
        .rfind(r#","seq":"#)
        .and_then(|at| line.split_at_checked(at))
        .filter(|(_, seal)| is_seal(seal));
    match split {
        Some((body, _)) => body,
        None => line.strip_suffix('}').unwrap_or(line),
    }
}

fn is_seal(seal: &str) -> bool {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Seal {
        #[serde(rename = "seq")]
        _seq: u64,
        #[serde(rename = "prev")]
        _prev: String,
        #[serde(rename = "crc")]
        _crc: String,
    }
    let object = seal.strip_prefix(',').map(|keys| format!("{{{keys}"));
    object.is_some_and(|object| document::read::<Seal>("seal", &object).is_ok())
}
