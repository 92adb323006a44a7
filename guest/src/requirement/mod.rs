//! Requirements: the commands that a task needs, and what is asked of each.
//!
//! It plans a run and recognises one; whether a run is evidence is the gate's to say.

mod argv;
mod folder;
mod inputs;
mod plan;
mod wildcard;

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::document;
use crate::expect::Expectations;
use crate::policy::Millis;

pub use argv::ArgvPattern;
pub use folder::FolderPattern;
pub use inputs::InputPatterns;
pub use plan::plan;

/// The most requirements, and the longest name, in characters.
const REQUIREMENTS_MAX: usize = 64;
const NAME_CHARS: usize = 64;

/// One entry of `gate.requirements`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Names it in records, reasons and reports.
    pub name: String,
    /// Which commands are meant.
    pub command: ArgvPattern,
    /// Where they must run.
    #[serde(default)]
    pub cwd: FolderPattern,
    /// What must hold, as `--expect-…` would declare it.
    #[serde(default)]
    pub expect: Expectations,
    /// The files that the evidence rests on; empty for those of `gate.inputs`.
    #[serde(default)]
    pub inputs: InputPatterns,
    /// How old the evidence may be, from the start of the run.
    #[serde(default)]
    pub max_age: Option<Millis>,
}

impl Requirement {
    /// Returns whether a run of `command` in `cwd` is one of those that are meant.
    #[must_use]
    pub fn fits(&self, folder: &str, cwd: &str, command: &[String]) -> bool {
        self.command.fits(command) && self.cwd.fits(folder, cwd)
    }

    /// Returns whether every run that fits `narrow` fits this one as well, for certain.
    fn covers(&self, narrow: &Self) -> bool {
        self.command.covers(&narrow.command) && self.cwd.covers(&narrow.cwd)
    }

    /// Returns the files that the evidence rests on, where `default` is `gate.inputs`.
    #[must_use]
    pub fn inputs<'a>(&'a self, default: &'a InputPatterns) -> &'a InputPatterns {
        if self.inputs.is_empty() {
            default
        } else {
            &self.inputs
        }
    }

    /// Returns what tells one wording from another: the digest of all that is applied before the
    /// run, and of the folder of the policy, so that a record of another copy of the project is
    /// none of this one. A new age does not void what was recorded.
    #[must_use]
    pub fn digest(&self, default: &InputPatterns, folder: &str) -> String {
        let declared = json!({
            "folder": folder,
            "command": self.command,
            "cwd": self.cwd,
            "expect": self.expect,
            "inputs": self.inputs(default),
        });
        let digest = Sha256::digest(document::shown(&declared).as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{hex}")
    }
}

/// Checks what only all the requirements together show. Returns the key and the mistake.
///
/// # Errors
/// Where there are too many, or two have one name, or a name is none, or no run can ever meet one,
/// since another one that stands before it fits all its runs.
pub fn check(requirements: &[Requirement]) -> Result<(), (String, String)> {
    let key = |place: usize| format!("gate.requirements[{place}].name");
    if requirements.len() > REQUIREMENTS_MAX {
        let what = format!("at most {REQUIREMENTS_MAX} requirements are taken");
        return Err(("gate.requirements".to_owned(), what));
    }
    for (place, requirement) in requirements.iter().enumerate() {
        let name = &requirement.name;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.len() > NAME_CHARS || !name.chars().all(plain) {
            let what = format!(
                "expected 1 to {NAME_CHARS} letters, digits, `-`, `_` or `.`, for instance `tests`"
            );
            return Err((key(place), what));
        }
        if requirement.max_age == Some(Millis(0)) {
            let what = "no run is so young; leave the key out for any age".to_owned();
            return Err((format!("gate.requirements[{place}].max_age"), what));
        }
        let mut before = requirements.iter().take(place);
        if before.any(|other| other.name == *name) {
            return Err((key(place), "two requirements have this name".to_owned()));
        }
        let mut before = requirements.iter().take(place);
        if let Some(first) = before.find(|first| first.covers(requirement)) {
            let key = format!("gate.requirements[{place}].command");
            return Err((key, never_met(requirement, first)));
        }
    }
    Ok(())
}

/// Says that a requirement takes every run of a later one.
fn never_met(requirement: &Requirement, first: &Requirement) -> String {
    let (name, first_name) = (&requirement.name, &first.name);
    let remedy = if requirement.covers(first) {
        "leave one of them out".to_owned()
    } else {
        format!("put `{name}` before `{first_name}`, or make `{first_name}` narrower")
    };
    format!(
        "no run can meet `{name}`: `{first_name}` stands before it and fits every run that it fits, \
         and a run meets the first that it fits; {remedy}"
    )
}
