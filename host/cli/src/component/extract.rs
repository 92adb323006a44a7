//! `feedback component extract`: writes the component out, byte for byte.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use feedback_host::component::Component;

use crate::failure::{self, Failure};

/// What a new file may be to others, before the umask.
const READABLE: u32 = 0o666;

/// Write the component to a file, so that others can host or inspect it; prints its digest
#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// Where to; nothing that is there is overwritten
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Overwrite the file
    #[arg(long)]
    force: bool,
}

/// Writes the file and prints its digest.
pub(super) fn run(component: &Component, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let file = &arguments.file;
    write(component.bytes(), file, arguments.force).map_err(|error| {
        let hint = if error.kind() == std::io::ErrorKind::AlreadyExists {
            "; `--force` overwrites it"
        } else {
            ""
        };
        Failure::undecided(format!("`{}`: {error}{hint}", file.display()))
    })?;
    failure::answer(component.digest())?;
    Ok(ExitCode::SUCCESS)
}

/// Writes beside the place and moves there, so that nobody finds half a component.
fn write(bytes: &[u8], file: &Path, force: bool) -> std::io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new()
        .permissions(Permissions::from_mode(READABLE))
        .tempfile_in(folder)?;
    beside.write_all(bytes)?;
    let moved = if force {
        beside.persist(file)
    } else {
        beside.persist_noclobber(file)
    };
    moved.map(drop).map_err(|error| error.error)
}
