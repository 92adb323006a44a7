//! The files that git knows, and those that it would add.
//!
//! Git itself is asked: only it knows all the places where a file can be ignored.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::InputsError;

/// How deep repositories may stand in each other.
const DEEPEST: usize = 16;

/// What would make git look at another repository than the one that the folder is in.
const REDIRECTING: [&str; 10] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_LITERAL_PATHSPECS",
];

/// Returns the files below `folder`, relative to it, those of repositories inside included. Some
/// may have been deleted since they were added.
pub(super) fn list(folder: &Path) -> Result<Vec<PathBuf>, InputsError> {
    let mut all = Vec::new();
    let mut open = vec![(PathBuf::new(), 0_usize)];
    while let Some((below, depth)) = open.pop() {
        if depth > DEEPEST {
            return Err(fail("more than 16 repositories stand in each other"));
        }
        let place = if below.as_os_str().is_empty() {
            folder.to_path_buf()
        } else {
            folder.join(&below)
        };
        for name in ask(&place)?
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
        {
            let path = below.join(OsStr::from_bytes(name));
            let whole = folder.join(&path);
            // Only a submodule or a repository of its own is listed as a folder.
            if !whole.symlink_metadata().is_ok_and(|about| about.is_dir()) {
                all.push(path);
            } else if whole.join(".git").symlink_metadata().is_ok() {
                open.push((path, depth.saturating_add(1)));
            }
        }
    }
    Ok(all)
}

fn ask(folder: &Path) -> Result<Vec<u8>, InputsError> {
    let mut command = Command::new("git");
    command
        .args(["-c", "core.fsmonitor=false", "ls-files", "-z"])
        .args(["--cached", "--others", "--exclude-standard"])
        .current_dir(folder)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    for name in REDIRECTING {
        command.env_remove(name);
    }
    let output = command.output().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            fail(
                "the program `git` was not found; install it, or name the files by globs in its place",
            )
        } else {
            fail(&format!("the program `git` cannot be run: {error}"))
        }
    })?;
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("not a git repository") {
        let folder = folder.display();
        return Err(fail(&format!("`{folder}` is in no git repository")));
    }
    if said.contains("detected dubious ownership") {
        let folder = folder.display();
        return Err(fail(&format!(
            "git does not trust the repository of `{folder}`, since another user owns it; ask as its owner, or allow it with `git config --global --add safe.directory FOLDER`, where FOLDER is the top of the repository"
        )));
    }
    // Git goes on where it cannot look into a folder; what is in there would go unseen.
    let unseen = said
        .lines()
        .find(|line| line.contains("could not open directory"));
    let first = said.lines().next().unwrap_or("git failed and says nothing");
    match unseen {
        Some(unseen) => Err(fail(unseen)),
        None if !output.status.success() => Err(fail(first)),
        None => Ok(output.stdout),
    }
}

fn fail(what: &str) -> InputsError {
    InputsError::Git {
        what: what.to_owned(),
    }
}
