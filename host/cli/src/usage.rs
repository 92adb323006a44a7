//! Words wrong usage without repeating what could be a secret, and finds the command that was meant.
//!
//! It chooses no exit status and prints nothing.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};

/// What is longer is more than a slip of the fingers in a number, a duration or a word.
const LONGEST_REPEATED: usize = 16;
/// The options whose values are not repeated however short they are.
const NEVER_REPEATED: [&str; 1] = ["--env"];

/// The options before a command that take a value.
const WITH_VALUE: [&str; 1] = ["--component"];

/// Returns which of the commands was meant: the first word that is neither an option nor the value
/// of one, if it is one of them.
pub(crate) fn meant<'n>(
    words: impl IntoIterator<Item = OsString>,
    names: &[&'n str],
) -> Option<&'n str> {
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if WITH_VALUE.iter().any(|option| word == *option) {
            words.next();
        } else if !word.as_encoded_bytes().starts_with(b"-") {
            return names.iter().find(|name| word == **name).copied();
        }
    }
    None
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_was_meant_stands_behind_the_options() {
        for (words, wanted) in [
            (&["run", "--bad"][..], Some("run")),
            (&["--component", "x.wasm", "run", "--bad"], Some("run")),
            (&["--component=x.wasm", "run"], Some("run")),
            (&["--component", "run", "gate"], Some("gate")),
            (&["--bad", "run"], Some("run")),
            (&["gate", "run"], Some("gate")),
            (&["rum", "run"], None),
            (&["--component", "run"], None),
            (&[], None),
        ] {
            let words_of = words.iter().map(OsString::from);
            assert_eq!(meant(words_of, &["run", "gate"]), wanted, "{words:?}");
        }
    }
}
