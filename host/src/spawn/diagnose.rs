//! Says which of the many reasons behind one error number kept a program from being executed.
//!
//! It looks at files after the fact; the error number itself is the system's.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::header::{self, Helper};
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
        libc::ENOENT | libc::ENOTDIR => missing(&seen_from(cwd, program), &name, cwd),
        libc::EACCES | libc::EPERM => forbidden(&seen_from(cwd, program), &name, cwd),
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

/// The program was there a moment ago, so what is missing is what it needs.
fn missing(program: &Path, name: &str, cwd: Option<&Path>) -> (NotStartedCause, String) {
    if !program.exists() {
        return (
            NotStartedCause::ProgramNotFound,
            format!("program not found: `{name}`"),
        );
    }
    let error = match last_helper(program, cwd) {
        None => format!("interpreter or loader of `{name}` not found"),
        Some(Helper::Loader(loader)) => {
            format!("loader of `{name}` not found: `{}`", shown(&loader))
        }
        Some(Helper::Interpreter(interpreter)) => {
            let hint = if interpreter.as_bytes().ends_with(b"\r") {
                "; the line ends with a carriage return, which is taken as a part of the name"
            } else {
                ""
            };
            format!(
                "interpreter of `{name}` not found: `{}`{hint}",
                shown(&interpreter)
            )
        }
    };
    (NotStartedCause::InterpreterNotFound, error)
}

/// An interpreter may itself be a script, and so on; the system follows a few of them.
fn last_helper(program: &Path, cwd: Option<&Path>) -> Option<Helper> {
    const MOST: usize = 5;
    let next = |helper: &Helper| header::helper(&seen_from(cwd, Path::new(helper.path())));
    std::iter::successors(header::helper(program), next)
        .take(MOST)
        .last()
}

fn forbidden(program: &Path, name: &str, cwd: Option<&Path>) -> (NotStartedCause, String) {
    if program.is_dir() {
        return (
            NotStartedCause::IsADirectory,
            format!("program is a directory: `{name}`"),
        );
    }
    let error = match last_helper(program, cwd) {
        Some(Helper::Interpreter(interpreter)) => {
            format!(
                "`{name}` or its interpreter `{}` may not be executed",
                shown(&interpreter)
            )
        }
        Some(Helper::Loader(_)) | None => format!("program may not be executed: `{name}`"),
    };
    (NotStartedCause::NotExecutable, error)
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
