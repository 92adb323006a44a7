//! The names of the files that a run depends on.
//!
//! Which files they are only a host can say.

use serde::{Deserialize, Serialize};

/// The most patterns, the longest, and all of them, in characters. They stand in every record.
const PATTERNS_MAX: usize = 64;
const PATTERN_CHARS: usize = 500;
const ALL_CHARS: usize = 4_000;

/// Checked patterns: `git`, globs relative to the folder of the policy, and `!GLOB` for what is
/// left out. Empty where a run depends on no named file.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct InputPatterns(Vec<String>);

impl InputPatterns {
    /// Returns whether no file is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the patterns as they were written.
    #[must_use]
    pub fn list(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<Vec<String>> for InputPatterns {
    type Error = String;

    fn try_from(patterns: Vec<String>) -> Result<Self, String> {
        if patterns.len() > PATTERNS_MAX {
            return Err(format!("at most {PATTERNS_MAX} patterns are taken"));
        }
        let all: usize = patterns.iter().map(|text| text.chars().count()).sum();
        if all > ALL_CHARS {
            return Err(format!(
                "all patterns together have at most {ALL_CHARS} characters"
            ));
        }
        for pattern in &patterns {
            let glob = pattern.strip_prefix('!').unwrap_or(pattern);
            if glob.is_empty() || pattern.chars().count() > PATTERN_CHARS {
                return Err(format!("a pattern has 1 to {PATTERN_CHARS} characters"));
            }
            if glob.starts_with('/') || glob.split('/').any(|name| name == "..") {
                return Err("a pattern names files below the folder of the policy".to_owned());
            }
        }
        if !patterns.is_empty() && patterns.iter().all(|pattern| pattern.starts_with('!')) {
            return Err("`!` only leaves files out; name some first".to_owned());
        }
        Ok(Self(patterns))
    }
}

impl From<InputPatterns> for Vec<String> {
    fn from(patterns: InputPatterns) -> Self {
        patterns.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(patterns: &[&str]) -> bool {
        let owned: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
        InputPatterns::try_from(owned).is_ok()
    }

    #[test]
    fn patterns_stay_below_the_folder_and_name_something() {
        assert!(accepts(&[]));
        assert!(accepts(&["git", "!docs"]));
        assert!(accepts(&["src/**/*.rs", "a..b"]));
        for wrong in [
            &[""][..],
            &["!"],
            &["!docs"],
            &["/etc"],
            &["../x"],
            &["a/.."],
        ] {
            assert!(!accepts(wrong), "{wrong:?}");
        }
    }
}
