//! Finds the working directory and the program, as the child would, before there is a child.
//!
//! It executes nothing.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, FileType, accessat, statat};
use rustix::io::Errno;

use super::{open_directory, shown};
use crate::ending::{NotStarted, NotStartedCause};
use crate::folder;

/// Where execvp looks when the environment has no PATH.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Opens the working directory, which is checked before the program: a relative program or PATH
/// means nothing without it.
pub(super) fn enter(cwd: Option<&Path>) -> Result<OwnedFd, NotStarted> {
    let path = cwd.unwrap_or(Path::new("."));
    if path.is_relative() && folder::is_deleted() {
        let here = folder::current().unwrap_or_default();
        let here = cwd.map_or_else(|| here.clone(), |cwd| here.join(cwd));
        let error = format!(
            "working directory was deleted: `{}`",
            shown(here.as_os_str())
        );
        return Err(NotStarted::new(
            NotStartedCause::CwdNotFound,
            Some(libc::ENOENT),
            error,
        ));
    }
    let refuse = |errno: Errno| {
        let reason = match errno {
            Errno::NOENT => "does not exist".to_owned(),
            Errno::NOTDIR => "is not a directory".to_owned(),
            Errno::ACCESS => "may not be entered".to_owned(),
            other => io::Error::from(other).to_string(),
        };
        let error = format!("working directory {reason}: `{}`", shown(path.as_os_str()));
        let cause = if is_shortage(errno) {
            NotStartedCause::ResourceLimit
        } else {
            NotStartedCause::CwdNotFound
        };
        NotStarted::new(cause, Some(errno.raw_os_error()), error)
    };
    let directory = open_directory(path).map_err(refuse)?;
    accessat(&directory, ".", Access::EXEC_OK, AtFlags::empty()).map_err(refuse)?;
    Ok(directory)
}

/// Returns the path to execute for `argv[0]`: itself where it has a slash, else the first
/// executable file of that name on the PATH that the child will have.
pub(super) fn locate(
    argv: &[OsString],
    environment: &[(OsString, OsString)],
    directory: &OwnedFd,
) -> Result<PathBuf, NotStarted> {
    let name = argv.first().map_or(OsStr::new(""), OsString::as_os_str);
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return check(&path, directory)
            .map(|()| path)
            .map_err(|found| found.refusal(name));
    }
    let mut best = Found::Nothing(Errno::NOENT);
    if !name.is_empty() {
        for candidate in candidates(name, environment) {
            match check(&candidate, directory) {
                Ok(()) => return Ok(candidate),
                Err(Found::Nothing(_)) => {}
                Err(found) => best = best.or(found),
            }
        }
    }
    Err(best.refusal(name))
}

fn candidates<'a>(
    name: &'a OsStr,
    environment: &'a [(OsString, OsString)],
) -> impl Iterator<Item = PathBuf> + 'a {
    let path = environment
        .iter()
        .find(|(name, _)| name == "PATH")
        .map(|(_, value)| value.as_os_str());
    path.unwrap_or(OsStr::new(DEFAULT_PATH))
        .as_bytes()
        .split(|byte| *byte == b':')
        .map(|folder| {
            // An empty entry is the working directory. The slash keeps the result a path.
            let folder = if folder.is_empty() {
                b".".as_slice()
            } else {
                folder
            };
            PathBuf::from(OsString::from_vec([folder, b"/", name.as_bytes()].concat()))
        })
}

/// What stands where a program was looked for, if not a program.
enum Found {
    Nothing(Errno),
    Directory(PathBuf),
    NotExecutable(PathBuf, Errno),
}

impl Found {
    /// Keeps the first thing that was found, as it tells more than that there was nothing.
    fn or(self, later: Self) -> Self {
        match self {
            Self::Nothing(_) => later,
            Self::Directory(_) | Self::NotExecutable(..) => self,
        }
    }

    fn refusal(self, name: &OsStr) -> NotStarted {
        match self {
            Self::Nothing(errno) => {
                let cause = if is_shortage(errno) {
                    NotStartedCause::ResourceLimit
                } else {
                    NotStartedCause::ProgramNotFound
                };
                let error = format!("program not found: `{}`{}", shown(name), advice(name));
                NotStarted::new(cause, Some(errno.raw_os_error()), error)
            }
            Self::Directory(path) => {
                let error = format!("program is a directory: `{}`", shown(path.as_os_str()));
                NotStarted::new(NotStartedCause::IsADirectory, Some(libc::EACCES), error)
            }
            Self::NotExecutable(path, errno) => {
                let error = format!("program may not be executed: `{}`", shown(path.as_os_str()));
                NotStarted::new(
                    NotStartedCause::NotExecutable,
                    Some(errno.raw_os_error()),
                    error,
                )
            }
        }
    }
}

/// Returns what to write in place of `name`, where it is a line of a shell and not a program.
fn advice(name: &OsStr) -> &'static str {
    let bytes = name.as_bytes();
    let is_variable = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut parts = bytes.split(|byte| *byte == b'=');
    let before = parts.next().unwrap_or_default();
    if parts.next().is_some() && !before.is_empty() && before.iter().all(is_variable) {
        "; no shell reads this command: `--env NAME=VALUE` before `--` sets a variable, `--shell` runs a script"
    } else if bytes.iter().any(u8::is_ascii_whitespace) {
        "; no shell splits this into words: give each argument by itself, or run it as a script with `--shell`"
    } else {
        ""
    }
}

fn check(path: &Path, directory: &OwnedFd) -> Result<(), Found> {
    let stat = statat(directory, path, AtFlags::empty()).map_err(|errno| match errno {
        // A folder on the way that may not be searched: the program may well be there.
        Errno::ACCESS => Found::NotExecutable(path.to_owned(), errno),
        other => Found::Nothing(other),
    })?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        return Err(Found::Directory(path.to_owned()));
    }
    accessat(directory, path, Access::EXEC_OK, AtFlags::EACCESS)
        .map_err(|errno| Found::NotExecutable(path.to_owned(), errno))
}

/// Returns the cause that an error of opening something has, if it is not the thing itself.
pub(super) fn cause_of_shortage(error: &io::Error) -> NotStartedCause {
    match Errno::from_io_error(error) {
        Some(errno) if is_shortage(errno) => NotStartedCause::ResourceLimit,
        Some(_) | None => NotStartedCause::Other,
    }
}

fn is_shortage(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN
    )
}
