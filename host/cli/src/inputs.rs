//! The inputs of a run as the command line names them.
//!
//! It looks at no file.

use feedback_host::inputs::relative_to;
use feedback_host::project::Project;

use crate::failure::Failure;

/// Returns patterns that were typed here as ones relative to the project's folder.
pub(crate) fn relative(project: &Project, typed: &[String]) -> Result<Vec<String>, Failure> {
    // Without patterns it does not matter, and may be gone.
    if typed.is_empty() {
        return Ok(Vec::new());
    }
    let here = std::env::current_dir().map_err(|error| {
        Failure::runner(format!("the working directory cannot be found: {error}"))
    })?;
    let typed = typed.iter();
    Ok(typed
        .map(|pattern| relative_to(&project.folder, &here, pattern))
        .collect())
}
