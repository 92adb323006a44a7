//! A pattern for one line, with what every match of it must hold.
//!
//! It knows nothing of streams.

use std::rc::Rc;

use regex_lite::{Regex, RegexBuilder};

use super::literal::{self, Needles};

/// The longest pattern, in bytes.
pub(super) const PATTERN_MAX: usize = 1_000;
/// The largest compiled pattern, in bytes: it bounds the time for each byte of a line.
const COMPILED_MAX: usize = 40 << 10;
/// How much of a pattern is told where it cannot be used, in characters.
const SHOWN: usize = 60;
/// The deepest nesting of groups.
const NEST_MAX: u32 = 32;

/// Why a pattern with a control character is not taken: it would not stand in the record as it is.
pub(super) const NO_CONTROL: &str =
    "a line holds no line break, and a tab is written `\\t` in a pattern and a blank in a text";

/// A character that a record keeps as a blank.
pub(super) fn is_kept_otherwise(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// A checked pattern.
#[derive(Clone, Debug)]
pub(super) struct LinePattern {
    text: Rc<str>,
    regex: Regex,
    needles: Option<Needles>,
}

impl LinePattern {
    /// Checks and compiles a pattern.
    pub(super) fn compile(text: &str) -> Result<Self, String> {
        if text.len() > PATTERN_MAX {
            let length = text.len();
            return Err(format!("{length} bytes of pattern, at most {PATTERN_MAX}"));
        }
        if text.contains(is_kept_otherwise) {
            return Err(NO_CONTROL.to_owned());
        }
        let regex = RegexBuilder::new(text)
            .size_limit(COMPILED_MAX)
            .nest_limit(NEST_MAX)
            .build()
            .map_err(|cause| {
                let shown: String = text.chars().take(SHOWN).collect();
                format!("the pattern `{shown}` cannot be used: {cause}")
            })?;
        if regex.is_match("") {
            return Err("the pattern matches the empty line, so it says nothing".to_owned());
        }
        Ok(Self {
            text: text.into(),
            regex,
            needles: literal::of_pattern(text),
        })
    }

    /// Returns the pattern as it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the texts of which every matching line holds one, where there are such.
    pub(super) const fn needles(&self) -> Option<&Needles> {
        self.needles.as_ref()
    }

    /// Returns whether a line matches.
    pub(super) fn is_in(&self, line: &str) -> bool {
        self.regex.is_match(line)
    }

    /// Returns whether the beginning of a longer line matches, whatever follows. What ends where
    /// the beginning ends could be an assertion about what follows, so it does not count.
    pub(super) fn is_within(&self, beginning: &str) -> bool {
        self.regex
            .find(beginning)
            .is_some_and(|found| found.end() < beginning.len())
    }
}
