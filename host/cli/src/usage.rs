//! Words wrong usage without repeating what could be a secret.
//!
//! It chooses no exit status and prints nothing.

use clap::error::{ContextKind, ContextValue};

/// What is longer is more than a slip of the fingers in a number, a duration or a word.
const LONGEST_REPEATED: usize = 16;
/// The options whose values are not repeated however short they are.
const NEVER_REPEATED: [&str; 1] = ["--env"];

/// Returns the first paragraphs of an error; what follows them is usage and a hint at help, which
/// whoever tells it gives in their own words.
pub(crate) fn told(error: &clap::Error) -> String {
    let mut text = error.to_string();
    let named = text_of(error, ContextKind::InvalidArg).unwrap_or_default();
    let never = NEVER_REPEATED
        .iter()
        .any(|option| named.starts_with(option));
    for kind in [
        ContextKind::InvalidValue,
        ContextKind::InvalidSubcommand,
        ContextKind::InvalidArg,
    ] {
        let Some(typed) = text_of(error, kind).filter(|typed| !typed.starts_with('-')) else {
            continue;
        };
        if never || typed.len() > LONGEST_REPEATED {
            text = text.replace(&format!(" '{typed}'"), "");
        }
        // Some of the tips repeat it without quotes. A short one is left alone there: it would be
        // found in the words of the sentence as well, as `A` is in `NAME`.
        if typed.len() > LONGEST_REPEATED {
            text = text.replace(typed, "…");
        }
    }
    let said = text
        .split("\n\n")
        .take_while(|part| !part.starts_with("Usage:") && !part.starts_with("For more information"))
        .collect::<Vec<_>>()
        .join("; ");
    said.trim_start_matches("error: ").to_owned()
}

fn text_of(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    let value = error.get(kind)?;
    if let ContextValue::String(text) = value
        && !text.is_empty()
    {
        return Some(text);
    }
    None
}
