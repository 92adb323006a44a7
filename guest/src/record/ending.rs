//! How a run ended, as a host saw it.
//!
//! It is not redacted yet: only a body is.

use serde::{Deserialize, Serialize};

use super::inputs::After;
use super::kept::KeptStreams;
use crate::document;
use crate::fault::{Fault, FaultCode};
use crate::outcome::Outcome;

/// What only the host knows of the end of a run.
#[derive(Debug, Deserialize)]
pub(super) struct Ending {
    pub(super) outcome: Outcome,
    #[serde(default)]
    pub(super) duration_ms: Option<u64>,
    #[serde(default)]
    pub(super) error: Option<String>,
    #[serde(default)]
    pub(super) stdout: HostStream,
    #[serde(default)]
    pub(super) stderr: HostStream,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default)]
    pub(super) leftovers: Option<Vec<Leftover>>,
    #[serde(default)]
    pub(super) stages: Option<Vec<Stage>>,
    #[serde(default)]
    pub(super) kept: KeptStreams,
    #[serde(default)]
    pub(super) inputs: Option<After>,
}

/// What only the host knows of a stream.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct HostStream {
    #[serde(default)]
    pub(super) last_byte_ms: Option<u64>,
}

/// What the command used.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Usage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_rss_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system_ms: Option<u64>,
}

/// A process that outlived the command.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Leftover {
    pub(super) pid: i64,
    #[serde(default)]
    pub(super) name: String,
    pub(super) fate: Fate,
}

/// What became of a leftover.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fate {
    Killed,
    Kept,
    Survived,
}

/// One stage of a pipeline.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Stage {
    #[serde(default)]
    pub(super) command: Option<String>,
    #[serde(default)]
    pub(super) exit_code: Option<i32>,
    #[serde(default)]
    pub(super) signal: Option<i32>,
}

impl Ending {
    /// Reads an ending and checks what its type cannot say.
    pub(super) fn read(json: &str) -> Result<Self, Fault> {
        let ending: Self = document::read("ending", json)?;
        ending.kept.check()?;
        match &ending.outcome {
            Outcome::Exited { .. } if ending.error.is_some() => {
                Err(wrong("`error`: a command that exited has none"))
            }
            Outcome::Exited { .. }
            | Outcome::Signaled { .. }
            | Outcome::TimedOut { .. }
            | Outcome::Cancelled { .. }
            | Outcome::NotStarted { .. } => match ending.duration_ms {
                Some(_) => Ok(ending),
                None => Err(wrong("`duration_ms`: expected a whole number")),
            },
            Outcome::RunnerDied => Ok(ending),
        }
    }
}

fn wrong(what: &str) -> Fault {
    Fault::new(FaultCode::InvalidJson, format!("ending: {what}"))
}
