//! Why a call could not be answered. A fault is an answer; it never carries a captured byte.

/// The closed set of faults, the same as `fault-code` in `wit/types.wit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultCode {
    /// A text that must be JSON is not, or has a missing or wrong key.
    InvalidJson,
    /// The policy has an unknown key, a value out of range, or a faulty rule.
    InvalidPolicy,
    /// Well formed, but written under a schema that this component does not know.
    UnsupportedSchema,
    /// An input is larger than the limit that the message names.
    LimitExceeded,
    /// A record line does not match its own checksum.
    DamagedRecord,
}

/// A code for programs and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// For programs.
    pub code: FaultCode,
    /// For people: a lowercase fragment that names the key or the line.
    pub message: String,
}

impl Fault {
    /// Returns a fault with this code and message.
    pub fn new(code: FaultCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// Returns an [`FaultCode::InvalidJson`] fault that names what was being read.
    #[must_use]
    pub fn json(what: &str, cause: &serde_json::Error) -> Self {
        Self::new(FaultCode::InvalidJson, format!("{what}: {cause}"))
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}
