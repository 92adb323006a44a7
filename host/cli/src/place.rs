//! Where a command finds its component, its policy and its records.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::Args;
use feedback_host::component::Component;
use feedback_host::project::{self, Project};

use crate::failure::{Failure, warn};

/// The file that `--component` names. It stands before or behind every command's name, and its
/// texts are read in more than one place, so it is kept here.
static GIVEN: OnceLock<PathBuf> = OnceLock::new();

/// Remembers the file that `--component` names.
pub(crate) fn choose(component: Option<PathBuf>) {
    if let Some(component) = component {
        // The arguments are read once.
        let _ = GIVEN.set(component);
    }
}

/// Returns the component that decides: `--component`, else the policy's, else the built-in one.
pub(crate) fn component() -> Result<Component, String> {
    project::component(Path::new("."), GIVEN.get().map(PathBuf::as_path))
        .map_err(|error| error.to_string())
}

/// Tells of files of variables that the policy names and that are not there: a name that is
/// mistyped would protect nothing.
pub(crate) fn warn_of_absent_files(project: &Project) {
    for path in project.env_files.absent() {
        warn(absent_file(path));
    }
}

/// Says that a file of variables is not there, and what to do.
pub(crate) fn absent_file(path: &Path) -> String {
    format!(
        "`redaction.env_files` names `{}`, which is not there: nothing that it should hold is hidden; where it may be absent, put `?` behind its name",
        path.display()
    )
}

/// The option that every command over a store shares.
#[derive(Args, Debug)]
pub(crate) struct Place {
    /// The record file [default: $FEEDBACK_RECORD_FILE, else `record_file` of the nearest
    /// feedback.json upward, else feedback_record.jsonl beside that, else here]
    #[arg(long, value_name = "FILE")]
    pub(crate) record_file: Option<PathBuf>,
}

impl Place {
    /// Returns the component that decides and the project of the working directory.
    ///
    /// `fail` says what kind of failure it is where there is none.
    pub(crate) fn open(
        &self,
        fail: fn(String) -> Failure,
    ) -> Result<(Component, Project), Failure> {
        let component = component().map_err(fail)?;
        let project = Project::find(&component, Path::new("."), self.record_file.as_deref())
            .map_err(|error| fail(error.to_string()))?;
        Ok((component, project))
    }
}
