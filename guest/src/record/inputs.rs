//! The files that a run depends on, as digests before and after it, and the requirement it meets.
//!
//! A host digests; whether the digests make the run evidence is the gate's to say.

use serde::{Deserialize, Serialize};

use super::scrub::{Scrubber, is_zero};
use crate::fault::{Fault, FaultCode};

/// The longest pattern, folder, name and reason, in characters.
const PATTERN_CHARS: usize = 500;
const FOLDER_CHARS: usize = 4_096;
const NAME_CHARS: usize = 64;
const REASON_CHARS: usize = 300;
/// The most files that are named as changed, and the longest path of one, in characters.
const CHANGES: usize = 5;
const PATH_CHARS: usize = 200;

/// What a host says of the inputs before the run.
#[derive(Debug, Deserialize)]
pub(super) struct Before {
    patterns: Vec<String>,
    folder: String,
    files: u64,
    before: String,
}

/// What a host says of the same inputs after the run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct After {
    /// Absent where they could not be digested any more.
    #[serde(default)]
    after: Option<String>,
    /// Why not.
    #[serde(default)]
    error: Option<String>,
    /// Files that are not as they were before the run.
    #[serde(default)]
    changed: Vec<Change>,
    /// How many more there are.
    #[serde(default)]
    changed_omitted: u64,
}

/// A file that changed while the command ran.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Change {
    path: String,
    how: How,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum How {
    Added,
    Changed,
    Removed,
}

/// The `inputs` of an intent and of a record.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Inputs {
    patterns: Vec<String>,
    folder: String,
    files: u64,
    before: String,
    #[serde(default)]
    after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changed: Vec<Change>,
    #[serde(default, skip_serializing_if = "is_zero")]
    changed_omitted: u64,
}

/// The requirement of the policy that a run was started under.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Mark {
    name: String,
    digest: String,
}

impl Inputs {
    /// Redacts what was said before the run.
    pub(super) fn of_request(scrubber: &mut Scrubber<'_>, said: Before) -> Result<Self, Fault> {
        let clean = |scrubber: &mut Scrubber<'_>, text: &String| {
            scrubber.name("inputs", text, PATTERN_CHARS)
        };
        Ok(Self {
            patterns: said
                .patterns
                .iter()
                .map(|text| clean(scrubber, text))
                .collect(),
            folder: scrubber.name("inputs", &said.folder, FOLDER_CHARS),
            files: said.files,
            before: digest("inputs.before", said.before)?,
            after: None,
            error: None,
            changed: Vec::new(),
            changed_omitted: 0,
        })
    }

    /// Adds what was said after the run. Nothing said is no digest.
    pub(super) fn ended(self, scrubber: &mut Scrubber<'_>, said: Option<After>) -> Self {
        let Some(said) = said else {
            return self;
        };
        let after = said
            .after
            .and_then(|after| digest("inputs.after", after).ok());
        let error = said.error.filter(|_| after.is_none());
        let untold = said.changed.len().saturating_sub(CHANGES);
        let untold = u64::try_from(untold).unwrap_or(u64::MAX);
        let named = said.changed.into_iter().take(CHANGES);
        let mut clean = |change: Change| Change {
            path: scrubber.name("inputs", &change.path, PATH_CHARS),
            ..change
        };
        let changed = named.map(&mut clean).collect();
        Self {
            after,
            changed,
            changed_omitted: said.changed_omitted.saturating_add(untold),
            error: error.map(|error| scrubber.name("inputs", &error, REASON_CHARS)),
            ..self
        }
    }
}

impl Mark {
    /// Checks what a host took over from the plan.
    pub(super) fn of_request(scrubber: &mut Scrubber<'_>, said: Self) -> Result<Self, Fault> {
        Ok(Self {
            name: scrubber.name("requirement", &said.name, NAME_CHARS),
            digest: digest("requirement.digest", said.digest)?,
        })
    }
}

/// A digest is kept as it is, so it must be one: nothing else may pass through unredacted.
fn digest(key: &str, text: String) -> Result<String, Fault> {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let digits = text.strip_prefix("sha256:").unwrap_or_default();
    if digits.len() == 64 && digits.bytes().all(hex) {
        return Ok(text);
    }
    let message = format!("request: `{key}`: expected `sha256:` and 64 hexadecimal digits");
    Err(Fault::new(FaultCode::InvalidJson, message))
}
