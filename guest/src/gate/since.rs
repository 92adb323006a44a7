//! Where evidence begins: with a record, or at a time.
//!
//! What stands before is not judged; a store is still checked as a whole.

use serde::{Deserialize, Deserializer};

use crate::timestamp::Timestamp;

/// Where evidence begins.
#[derive(Debug)]
pub(super) enum Since {
    /// With this record, and what stands behind it in the store.
    Record {
        /// Its id.
        command_id: String,
        /// It was met.
        begun: bool,
    },
    /// With the runs that began then or later.
    Time(Timestamp),
}

impl Since {
    /// Returns whether this run counts. To be asked in the order of the store.
    pub(super) fn has_begun(&mut self, command_id: &str, started: Option<Timestamp>) -> bool {
        match self {
            Self::Record {
                command_id: first,
                begun,
            } => {
                *begun = *begun || first == command_id;
                *begun
            }
            // A record without a usable time is judged, and found to be none.
            Self::Time(first) => started.is_none_or(|started| started >= *first),
        }
    }
}

impl<'de> Deserialize<'de> for Since {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            #[serde(default)]
            command_id: Option<String>,
            #[serde(default)]
            time: Option<String>,
        }
        let written = Written::deserialize(deserializer)?;
        let time = written.time.as_deref().map(Timestamp::parse);
        match (written.command_id, time) {
            (Some(command_id), None) => Ok(Self::Record {
                command_id,
                begun: false,
            }),
            (None, Some(Some(time))) => Ok(Self::Time(time)),
            _ => Err(serde::de::Error::custom(
                "expected `command_id`, or `time` with an RFC 3339 time",
            )),
        }
    }
}
