//! The pattern of a command: which argv counts as the one that is required.
//!
//! It looks at the arguments alone; what a program makes of them it cannot know.

mod alike;

use serde::{Deserialize, Serialize};

use super::wildcard::{Step, Wildcard, covers, follows};

/// Any number of arguments.
const REST: &str = "**";
/// Stands before what no argument may look like.
const NOT: char = '!';

/// The most entries, and the longest, in characters.
const ENTRIES_MAX: usize = 64;
const ENTRY_CHARS: usize = 1_000;

/// A checked pattern.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct ArgvPattern {
    source: Vec<String>,
    wanted: Vec<Step<Wildcard>>,
    forbidden: Vec<Wildcard>,
}

impl ArgvPattern {
    /// Returns whether the command is one of those that are meant.
    #[must_use]
    pub fn fits(&self, command: &[String]) -> bool {
        follows(&self.wanted, command, |wanted, argument| {
            wanted.fits(argument)
        }) && self.forbidden(command).is_none()
    }

    /// Returns whether every command that fits `narrow` fits this pattern as well. It may say no
    /// where that is hard to tell, never yes where it is not so.
    #[must_use]
    pub fn covers(&self, narrow: &Self) -> bool {
        let allowed = |not: &Wildcard| {
            let also_forbidden = narrow.forbidden.iter().any(|other| other.covers(not));
            let never_there = |step: &Step<Wildcard>| match step {
                Step::One(argument) => argument.literal().is_some_and(|text| !not.fits(&text)),
                Step::Many => false,
            };
            also_forbidden || narrow.wanted.iter().all(never_there)
        };
        covers(&self.wanted, &narrow.wanted, Wildcard::covers) && self.forbidden.iter().all(allowed)
    }

    /// Returns the first argument that this pattern forbids.
    #[must_use]
    pub fn forbidden<'c>(&self, command: &'c [String]) -> Option<&'c String> {
        command
            .iter()
            .find(|argument| self.forbidden.iter().any(|not| not.fits(argument)))
    }

    /// Returns the entries as they were written.
    #[must_use]
    pub fn source(&self) -> &[String] {
        &self.source
    }
}

impl TryFrom<Vec<String>> for ArgvPattern {
    type Error = String;

    fn try_from(source: Vec<String>) -> Result<Self, String> {
        if source.len() > ENTRIES_MAX {
            return Err(format!("at most {ENTRIES_MAX} entries are taken"));
        }
        let mut wanted = Vec::new();
        let mut forbidden = Vec::new();
        for entry in &source {
            if entry.chars().count() > ENTRY_CHARS {
                return Err(format!("an entry has at most {ENTRY_CHARS} characters"));
            }
            match entry.strip_prefix(NOT) {
                Some("") => return Err("`!` stands alone; write what it forbids behind it".into()),
                Some(not) => forbidden.push(Wildcard::parse(not)),
                None if entry == REST => wanted.push(Step::Many),
                None => wanted.push(Step::One(Wildcard::parse(entry))),
            }
        }
        match wanted.first() {
            Some(Step::One(_)) => Ok(Self {
                source,
                wanted,
                forbidden,
            }),
            Some(Step::Many) | None => {
                Err("the first entry must be a program, so that not every command fits".into())
            }
        }
    }
}

impl From<ArgvPattern> for Vec<String> {
    fn from(pattern: ArgvPattern) -> Self {
        pattern.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn fits(pattern: &str, command: &str) -> bool {
        ArgvPattern::try_from(list(pattern))
            .unwrap()
            .fits(&list(command))
    }

    #[test]
    fn every_entry_is_one_argument_and_two_stars_are_any_number() {
        for (pattern, command, wanted) in [
            ("cargo test", "cargo test", true),
            ("cargo test", "cargo test -q", false),
            ("cargo test", "cargo", false),
            ("cargo test **", "cargo test", true),
            ("cargo test **", "cargo test -p a -- --nocapture", true),
            ("cargo ** test", "cargo --locked test", true),
            ("cargo ** test", "cargo --locked test -q", false),
            ("* test", "cargo test", true),
            ("cargo test --jobs=*", "cargo test --jobs=4", true),
            ("cargo test *", "cargo test", false),
            ("cargo test *", "cargo test -a -b", false),
            ("./gradlew ?est", "./gradlew test", true),
        ] {
            assert_eq!(fits(pattern, command), wanted, "{pattern}: {command}");
        }
    }

    #[test]
    fn what_is_forbidden_is_so_at_every_place() {
        let pattern = "cargo test ** !--no-run !--help !-h";
        assert!(fits(pattern, "cargo test --workspace"));
        for look_alike in [
            "cargo test --no-run",
            "cargo test -p a --no-run",
            "cargo test --help",
            "cargo test -h",
        ] {
            assert!(!fits(pattern, look_alike), "{look_alike}");
        }
        assert!(!fits(
            "pytest ** !--co* !--version",
            "pytest --collect-only -q"
        ));
        assert!(
            fits(r"sh \!x", "sh !x"),
            "a backslash takes its meaning away"
        );
    }

    #[test]
    fn a_pattern_covers_every_command_that_a_narrower_one_fits() {
        for (wide, narrow, wanted) in [
            ("cargo test", "cargo test", true),
            ("cargo test **", "cargo test -p a", true),
            ("cargo test **", "cargo test ** -q", true),
            ("cargo test -p a", "cargo test **", false),
            ("cargo **", "cargo test ** !--no-run", true),
            ("cargo test ** !--no-run", "cargo test -p a", true),
            ("cargo test ** !--no-run", "cargo test --no-run", false),
            ("cargo test ** !--no-run", "cargo test **", false),
            (
                "cargo test ** !--no-run",
                "cargo test ** !--no-run !-h",
                true,
            ),
            ("cargo test ** !--no-run", "cargo test ** !--no-*", true),
            ("cargo test ** !--no-*", "cargo test ** !--no-run", false),
            ("cargo ** test", "cargo -q test", true),
            ("cargo ** test", "cargo **", false),
            ("* test", "cargo test", true),
            ("cargo test", "* test", false),
        ] {
            let pattern = |text| ArgvPattern::try_from(list(text)).unwrap();
            let covers = pattern(wide).covers(&pattern(narrow));
            assert_eq!(covers, wanted, "{wide}: {narrow}");
        }
    }

    #[test]
    fn a_pattern_that_every_command_fits_is_refused() {
        for pattern in ["**", "!x", "** test"] {
            assert!(ArgvPattern::try_from(list(pattern)).is_err(), "{pattern}");
        }
        assert!(ArgvPattern::try_from(Vec::new()).is_err());
        assert!(ArgvPattern::try_from(list("a !")).is_err());
        assert!(ArgvPattern::try_from(vec!["a".to_owned(); 65]).is_err());
        assert!(ArgvPattern::try_from(vec!["a".repeat(1_001)]).is_err());
    }
}
