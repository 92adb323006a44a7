//! The schema number of a document: `major.minor`.
//!
//! A newer minor number only adds keys, so it is readable; another major number is not.

use serde::Deserialize;
use serde_json::Value;

use crate::document;
use crate::fault::{Fault, FaultCode};

/// The schema of the documents that are built here.
pub const CURRENT: &str = "1.0";

/// The major number that is understood here.
const MAJOR: u32 = 1;

/// A schema number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    major: u32,
}

impl Schema {
    /// Reads `major.minor`. `None` where the text is no schema number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        let digits = |part: &str| {
            let plain = part.bytes().all(|byte| byte.is_ascii_digit());
            if plain {
                part.parse::<u32>().ok()
            } else {
                None
            }
        };
        digits(minor)?;
        digits(major).map(|major| Self { major })
    }

    /// Returns whether documents of this schema can be read.
    #[must_use]
    pub const fn is_supported(self) -> bool {
        self.major == MAJOR
    }

    /// Reads and checks the schema of an intent or a body.
    pub(super) fn of_document(what: &str, value: &Value) -> Result<(), Fault> {
        #[derive(Deserialize)]
        struct Head {
            schema_version: String,
        }
        let head: Head = document::fit(what, value, FaultCode::InvalidJson)?;
        let Some(schema) = Self::parse(&head.schema_version) else {
            let message = format!("{what}: `schema_version`: expected `major.minor`");
            return Err(Fault::new(FaultCode::InvalidJson, message));
        };
        if schema.is_supported() {
            return Ok(());
        }
        let major = schema.major;
        let message = format!("{what}: schema {major}.x is not known here, only {MAJOR}.x is");
        Err(Fault::new(FaultCode::UnsupportedSchema, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_major_number_decides() {
        let supported = |text| Schema::parse(text).map(Schema::is_supported);
        assert_eq!(supported("1.0"), Some(true));
        assert_eq!(supported("1.99"), Some(true));
        assert_eq!(supported("2.0"), Some(false));
        assert_eq!(supported("0.9"), Some(false));
        for text in ["", "1", "1.", ".1", "1.0.0", "+1.0", "v1.0", "1. 0"] {
            assert_eq!(supported(text), None, "{text}");
        }
    }
}
