//! How much of a stream is kept where its whole output is asked for.
//!
//! It keeps nothing; a host does that.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error};

/// 64 KiB, below which an excerpt does as well, to 16 GiB.
const RANGE: RangeInclusive<u64> = 64 << 10..=16 << 30;

/// A number of bytes of redacted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct KeptBytes(u64);

impl Default for KeptBytes {
    fn default() -> Self {
        Self(64 << 20)
    }
}

impl<'de> Deserialize<'de> for KeptBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = u64::deserialize(deserializer)?;
        if RANGE.contains(&bytes) {
            return Ok(Self(bytes));
        }
        Err(Error::custom(format!(
            "{bytes} is out of range, expected {} to {}",
            RANGE.start(),
            RANGE.end()
        )))
    }
}
