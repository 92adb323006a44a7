//! Says which of the many reasons behind one error number kept a program from being executed.
//!
//! It looks at files after the fact; the error number itself is the system's.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::shown;
use crate::ending::{NotStarted, NotStartedCause};
use crate::signal::errno_name;

/// The kernel's limit for one argument or variable: 32 pages.
const LONGEST_TEXT: usize = 128 * 1024;

/// Returns the refusal for an error of fork or exec.
pub(super) fn failed_start(
    error: &io::Error,
    program: &Path,
    argv: &[OsString],
    environment: &[(OsString, OsString)],
    cwd: Option<&Path>,
) -> NotStarted {
    let Some(errno) = error.raw_os_error() else {
        return NotStarted::new(
            NotStartedCause::Other,
            None,
            format!("could not be started: {error}"),
        );
    };
    let name = shown(program.as_os_str());
    let (cause, text) = match errno {
        libc::E2BIG => (
            NotStartedCause::ArgumentListTooLong,
            too_long(argv, environment),
        ),
        libc::ENOENT | libc::ENOTDIR => missing(&seen_from(cwd, program), &name),
        libc::EACCES | libc::EPERM => forbidden(&seen_from(cwd, program), &name),
        libc::ENOEXEC | libc::EINVAL => (
            NotStartedCause::WrongFormat,
            format!("not in a format that the system executes: `{name}`"),
        ),
        libc::ETXTBSY => (
            NotStartedCause::TextFileBusy,
            format!("program file is open for writing: `{name}`"),
        ),
        libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE => {
            let error = io::Error::from_raw_os_error(errno);
            (
                NotStartedCause::ResourceLimit,
                format!(
                    "no resources to start `{name}`: {error} ({})",
                    errno_name(errno)
                ),
            )
        }
        _ => {
            let error = io::Error::from_raw_os_error(errno);
            (
                NotStartedCause::Other,
                format!("could not be started: `{name}`: {error}"),
            )
        }
    };
    NotStarted::new(cause, Some(errno), text)
}

fn seen_from(cwd: Option<&Path>, path: &Path) -> PathBuf {
    cwd.map_or_else(|| path.to_owned(), |cwd| cwd.join(path))
}

/// The program was there a moment ago, so what is missing is what it names.
fn missing(program: &Path, name: &str) -> (NotStartedCause, String) {
    let Some(head) = head(program) else {
        return (
            NotStartedCause::ProgramNotFound,
            format!("program not found: `{name}`"),
        );
    };
    let Some(interpreter) = interpreter(&head) else {
        return (
            NotStartedCause::InterpreterNotFound,
            format!("loader of the program not found: `{name}`"),
        );
    };
    let hint = if interpreter.as_bytes().ends_with(b"\r") {
        "; the line ends with a carriage return, which is taken as a part of the name"
    } else {
        ""
    };
    let error = format!(
        "interpreter of `{name}` not found: `{}`{hint}",
        shown(interpreter)
    );
    (NotStartedCause::InterpreterNotFound, error)
}

fn forbidden(program: &Path, name: &str) -> (NotStartedCause, String) {
    if program.is_dir() {
        return (
            NotStartedCause::IsADirectory,
            format!("program is a directory: `{name}`"),
        );
    }
    let head = head(program).unwrap_or_default();
    let error = match interpreter(&head) {
        Some(interpreter) => {
            format!(
                "`{name}` or its interpreter `{}` may not be executed",
                shown(interpreter)
            )
        }
        None => format!("program may not be executed: `{name}`"),
    };
    (NotStartedCause::NotExecutable, error)
}

/// Returns the interpreter that the first line of a script names.
fn interpreter(head: &[u8]) -> Option<&OsStr> {
    let line = head
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let words = line.split(|byte| matches!(byte, b' ' | b'\t'));
    words
        .into_iter()
        .find(|word| !word.is_empty())
        .map(OsStr::from_bytes)
}

fn head(program: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(program)
        .ok()?
        .take(256)
        .read_to_end(&mut head)
        .ok()?;
    Some(head)
}

fn too_long(argv: &[OsString], environment: &[(OsString, OsString)]) -> String {
    let texts = argv.iter().map(|text| text.len() + 1);
    let variables = environment
        .iter()
        .map(|(name, value)| name.len() + value.len() + 2);
    let longest = texts.clone().chain(variables.clone()).max().unwrap_or(0);
    let total: usize = texts.chain(variables).sum();
    let single = if longest > LONGEST_TEXT {
        format!("; the longest has {longest} bytes, and {LONGEST_TEXT} is the most for one")
    } else {
        String::new()
    };
    format!("argument list too long: {total} bytes of arguments and environment{single}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_is_the_first_word_after_the_mark() {
        assert_eq!(
            interpreter(b"#! /bin/x -a\nrest"),
            Some(OsStr::new("/bin/x"))
        );
        assert_eq!(interpreter(b"#!/bin/sh\r\n"), Some(OsStr::new("/bin/sh\r")));
        assert_eq!(interpreter(b"#!\n"), None);
        assert_eq!(interpreter(b"\x7fELF"), None);
    }
}
