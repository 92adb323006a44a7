//! Where a command finds its component, its policy and its records.

use std::path::{Path, PathBuf};

use clap::Args;
use feedback_host::component::Component;
use feedback_host::project::Project;

use crate::failure::Failure;

/// The option that every command shares.
#[derive(Args, Debug)]
pub(crate) struct Place {
    /// The record file [default: $FEEDBACK_RECORD_FILE, else `record_file` of the nearest
    /// feedback.json upward, else ./feedback_record.jsonl]
    #[arg(long, value_name = "FILE")]
    pub(crate) record_file: Option<PathBuf>,
}

impl Place {
    /// Returns the built-in component and the project of the working directory.
    ///
    /// `fail` says what kind of failure it is where there is none.
    pub(crate) fn open(&self, fail: fn(String) -> Failure) -> Result<(Component, Project), Failure> {
        let component = Component::built_in().map_err(|error| fail(error.to_string()))?;
        let project = Project::find(&component, Path::new("."), self.record_file.as_deref())
            .map_err(|error| fail(error.to_string()))?;
        Ok((component, project))
    }
}
