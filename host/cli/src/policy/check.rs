//! What of a valid policy cannot work here, or does nothing here: what only the files tell.
//!
//! It reads no policy; it is given what the component made of one.

use std::fs;
use std::path::{Path, PathBuf};

use feedback_host::component::Component;
use feedback_host::inputs::{Inputs, InputsError};
use feedback_host::project::RECORD_FILE;
use feedback_host::reader::{Reader, Scope};
use regex_lite::Regex;
use serde::Deserialize;

use crate::place;

/// The parts of a policy in force that speak of files.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Policy {
    component: Option<String>,
    /// Where the records are, relative to the policy.
    pub(super) record_file: Option<String>,
    gate: Gate,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Gate {
    inputs: Vec<String>,
    requirements: Vec<Requirement>,
    require_component: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Requirement {
    command: Vec<String>,
    cwd: String,
    inputs: Vec<String>,
}

/// Where a policy stands, and where the records of its project are.
pub(super) struct Here<'a> {
    pub(super) folder: &'a Path,
    pub(super) record_file: &'a Path,
}

/// Returns what does nothing here and now.
///
/// # Errors
/// What can never work, with its key.
pub(super) fn check(policy: &Policy, here: &Here<'_>) -> Result<Vec<String>, String> {
    let mut warnings = Vec::new();
    component(policy, here.folder, &mut warnings)?;
    record_file(here, &mut warnings)?;
    inputs("gate.inputs", &policy.gate.inputs, here, &mut warnings)?;
    for (place, requirement) in policy.gate.requirements.iter().enumerate() {
        let key = |name: &str| format!("gate.requirements[{place}].{name}");
        program(&key("command"), &requirement.command, here.folder)?;
        warnings.extend(folder(&key("cwd"), &requirement.cwd, here.folder)?);
        inputs(&key("inputs"), &requirement.inputs, here, &mut warnings)?;
    }
    Ok(warnings)
}

/// A component that cannot be used stops every command.
fn component(policy: &Policy, folder: &Path, warnings: &mut Vec<String>) -> Result<(), String> {
    let component = match &policy.component {
        Some(name) => Component::from_file(&folder.join(name)),
        None => Component::built_in(),
    };
    let component = component.map_err(|error| format!("`component`: {error}"))?;
    let digest = component.digest();
    if let Some(required) = &policy.gate.require_component
        && required != digest
    {
        warnings.push(format!(
            "`gate.require_component`: the component that decides here is `{digest}`: no record that it builds passes"
        ));
    }
    Ok(())
}

/// A store is a file in a folder: nothing can be recorded where something else is in its place.
fn record_file(here: &Here<'_>, warnings: &mut Vec<String>) -> Result<(), String> {
    let path = here.record_file;
    let wrong = |what: &dyn std::fmt::Display| Err(format!("`record_file`: {what}"));
    if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        let plain: PathBuf = path.components().collect();
        return wrong(&format_args!(
            "`{}` is a folder; name a file, for instance `{}`",
            plain.display(),
            plain.join(RECORD_FILE).display()
        ));
    }
    let above = path.ancestors().skip(1).find(|above| above.exists());
    if let Some(above) = above.filter(|above| !above.is_dir()) {
        return wrong(&format_args!(
            "`{}` is no folder, so `{}` cannot be in it",
            above.display(),
            path.display()
        ));
    }
    let parent = path.parent().unwrap_or(Path::new("/"));
    if parent.is_dir() {
        return match Reader::open(path, Scope::All) {
            Ok(_) => Ok(()),
            Err(error) => wrong(&error),
        };
    }
    // The first run makes a folder, and none above it.
    if !parent.parent().is_none_or(Path::is_dir) {
        warnings.push(format!(
            "`record_file`: there is no folder `{}`; no run is started before somebody makes it",
            parent.display()
        ));
    }
    Ok(())
}

/// A whole command line is no name of a program.
fn program(key: &str, command: &[String], folder: &Path) -> Result<(), String> {
    let Some(program) = command.first() else {
        return Ok(());
    };
    let words: Vec<&str> = program.split_whitespace().collect();
    let is_pattern = program.contains(['*', '?']);
    if words.len() < 2 || is_pattern || folder.join(program).exists() {
        return Ok(());
    }
    let words = serde_json::to_string(&words).unwrap_or_default();
    Err(format!(
        "`{key}`: no program is called `{program}`, and a run of it fits no requirement; every argument is a text of its own: `{words}`"
    ))
}

/// No command can run in a file; a folder may yet be made.
fn folder(key: &str, pattern: &str, folder: &Path) -> Result<Option<String>, String> {
    let steps: Vec<&str> = pattern
        .split('/')
        .filter(|step| !step.is_empty() && *step != ".")
        .collect();
    if steps.iter().all(|step| !step.contains(['*', '?'])) && folder.join(pattern).is_file() {
        return Err(format!("`{key}`: `{pattern}` is a file, not a folder"));
    }
    Ok((!is_there(folder, &steps)).then(|| {
        format!(
            "`{key}`: there is no folder `{pattern}` in `{}`: no run fits",
            folder.display()
        )
    }))
}

/// Says whether a folder matches; `**` stands for any folders, so for none as well.
fn is_there(folder: &Path, steps: &[&str]) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        return folder.is_dir();
    };
    if *step == "**" {
        return is_there(folder, rest) || folders(folder).iter().any(|next| is_there(next, steps));
    }
    if !step.contains(['*', '?']) {
        return is_there(&folder.join(step), rest);
    }
    let regex = regex_lite::escape(step)
        .replace(r"\*", ".*")
        .replace(r"\?", ".");
    let Ok(regex) = Regex::new(&format!("^{regex}$")) else {
        return true;
    };
    let fits = |path: &PathBuf| {
        let name = path.file_name();
        name.is_some_and(|name| regex.is_match(&name.to_string_lossy()))
    };
    folders(folder)
        .iter()
        .filter(|path| fits(path))
        .any(|path| is_there(path, rest))
}

/// Returns the folders in a folder, without those that links lead to.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// A pattern that is none never works; one that matches nothing may do so later.
fn inputs(
    key: &str,
    patterns: &[String],
    here: &Here<'_>,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    feedback_host::inputs::check(patterns).map_err(|error| format!("`{key}`: {error}"))?;
    let inputs = Inputs::new(here.folder, here.record_file);
    let is_left_out = |pattern: &&String| pattern.starts_with('!');
    let left_out: Vec<String> = patterns.iter().filter(is_left_out).cloned().collect();
    for pattern in patterns.iter().filter(|pattern| !is_left_out(pattern)) {
        let alone: Vec<String> = [pattern.clone()]
            .into_iter()
            .chain(left_out.clone())
            .collect();
        match inputs.find(&alone) {
            Ok(()) => {}
            Err(error @ InputsError::Pattern { .. }) => return Err(format!("`{key}`: {error}")),
            Err(error) => warnings.push(format!("`{key}`: {error}; no run is evidence so")),
        }
    }
    Ok(())
}

/// Returns a warning for each of these files.
pub(super) fn absent(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|path| place::absent_file(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_found_by_its_pattern() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (pattern, is_found) in [
            (".", true),
            ("src", true),
            ("src/polic?", true),
            ("*/audit", true),
            ("**/audit", true),
            ("**", true),
            ("nowhere", false),
            ("src/nowhere*", false),
            ("**/nowhere", false),
            ("src/[policy]", false),
        ] {
            let found = folder("cwd", pattern, root).expect("no file");
            assert_eq!(found.is_none(), is_found, "{pattern}");
        }
        assert!(folder("cwd", "src/main.rs", root).is_err());
    }
}
