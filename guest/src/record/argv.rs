//! The command and the working directory, as a record shows them.
//!
//! Both come as text, or as bytes where they are not UTF-8. The bytes are kept only where
//! nothing was redacted and nothing was left out: they would give back what was hidden.

use serde::Deserialize;

use super::base64;
use super::scrub::{Scrubber, json_len, prefix};
use crate::fault::{Fault, FaultCode};

/// The longest argument, the whole command and the longest directory, in bytes of JSON.
/// Together with the excerpts they must fit into one line of 256 KiB.
const ARGUMENT_LIMIT: usize = 16 * 1024;
const COMMAND_LIMIT: usize = 32 * 1024;
const CWD_LIMIT: usize = 8 * 1024;

/// What an argument takes beside its text: quotes, comma, and its place in `command_base64`.
const ARGUMENT_COST: usize = 8;

/// An argument or a directory as a host gives it.
#[derive(Debug, Deserialize)]
pub(super) struct RawText {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    base64: Option<String>,
}

/// A text, with its bytes where they are not UTF-8.
struct Decoded {
    text: String,
    bytes: Option<Vec<u8>>,
}

/// A command, or a directory, ready to be kept.
#[derive(Debug)]
pub(super) struct Kept<T, B> {
    pub(super) text: T,
    pub(super) base64: Option<B>,
}

impl RawText {
    /// The bytes decide where there are any: the text beside them is only for display.
    fn decode(self, key: &str) -> Result<Decoded, Fault> {
        let fault = |what: &str| {
            let message = format!("request: `{key}`: {what}");
            Err(Fault::new(FaultCode::InvalidJson, message))
        };
        match (self.base64, self.text) {
            (Some(coded), _) => match base64::decode(&coded) {
                Some(bytes) => Ok(Decoded::from(bytes)),
                None => fault("expected base64 in `base64`"),
            },
            (None, Some(text)) => Ok(Decoded { text, bytes: None }),
            (None, None) => fault("expected `text` or `base64`"),
        }
    }
}

impl From<Vec<u8>> for Decoded {
    fn from(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self { text, bytes: None },
            Err(error) => Self {
                text: String::from_utf8_lossy(error.as_bytes()).into_owned(),
                bytes: Some(error.into_bytes()),
            },
        }
    }
}

/// Redacts and shortens a command.
///
/// # Errors
/// `invalid-json` where there is no argument, or one that is neither text nor base64.
pub(super) fn command(
    scrubber: &mut Scrubber<'_>,
    arguments: Vec<RawText>,
) -> Result<Kept<Vec<String>, Vec<Option<String>>>, Fault> {
    if arguments.is_empty() {
        let message = "request: `command`: expected at least the program, found an empty list";
        return Err(Fault::new(FaultCode::InvalidJson, message));
    }
    let mut texts = Vec::with_capacity(arguments.len());
    let mut bytes = Vec::with_capacity(arguments.len());
    for (place, argument) in arguments.into_iter().enumerate() {
        let decoded = argument.decode(&format!("command[{place}]"))?;
        texts.push(decoded.text);
        bytes.push(decoded.bytes);
    }
    let (clean, redacted) = scrubber.redacted_args(&texts);
    let (kept, shortened) = clamp_command(scrubber, &clean);
    let exact = !redacted && !shortened;
    let base64 = (exact && bytes.iter().any(Option::is_some)).then(|| {
        let coded = bytes
            .iter()
            .map(|bytes| bytes.as_deref().map(base64::encode));
        coded.collect()
    });
    Ok(Kept { text: kept, base64 })
}

/// Redacts and shortens a working directory.
///
/// # Errors
/// `invalid-json` where it is neither text nor base64.
pub(super) fn cwd(
    scrubber: &mut Scrubber<'_>,
    directory: RawText,
) -> Result<Kept<String, String>, Fault> {
    let decoded = directory.decode("cwd")?;
    let (clean, redacted) = scrubber.redacted("cwd", &decoded.text);
    let text = scrubber.clamp("cwd", &clean, CWD_LIMIT);
    let exact = !redacted && text == clean;
    let base64 = decoded
        .bytes
        .filter(|_| exact)
        .as_deref()
        .map(base64::encode);
    Ok(Kept { text, base64 })
}

/// Shortens long arguments, then leaves out the last ones, each with a marker.
fn clamp_command(scrubber: &mut Scrubber<'_>, clean: &[String]) -> (Vec<String>, bool) {
    let mut kept = Vec::new();
    let mut left = COMMAND_LIMIT;
    let mut shortened = false;
    let mut rest = clean.iter();
    while let Some(argument) = rest.next() {
        let limit = ARGUMENT_LIMIT.min(left.saturating_sub(ARGUMENT_COST));
        let fits = prefix(argument, limit).len() == argument.len();
        if left < ARGUMENT_COST || (!fits && limit < ARGUMENT_LIMIT) {
            let omitted = rest.as_slice().len() + 1;
            let bytes = argument.len() + rest.map(String::len).sum::<usize>();
            // An empty argument that is left out is missed as well.
            scrubber.left_out("command", bytes.max(1));
            kept.push(format!(
                "...truncated {omitted} arguments, {bytes} bytes..."
            ));
            return (kept, true);
        }
        shortened |= !fits;
        kept.push(scrubber.clamp("command", argument, limit));
        left = left.saturating_sub(ARGUMENT_COST + json_len(prefix(argument, limit)));
    }
    (kept, shortened)
}
