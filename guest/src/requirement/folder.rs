//! Where a required command must run, relative to the folder of the policy.
//!
//! It compares texts; a host gives it paths in which no symbolic link is left.

use serde::{Deserialize, Serialize};

use super::wildcard::{Step, Wildcard, covers, follows};

/// A checked pattern for a working directory: `.`, `web`, `packages/*`, `**`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct FolderPattern {
    source: String,
    steps: Vec<Step<Wildcard>>,
}

impl FolderPattern {
    /// Returns whether `cwd` is meant, where the policy is in `folder`. Both are absolute.
    #[must_use]
    pub fn fits(&self, folder: &str, cwd: &str) -> bool {
        let (folder, cwd) = (segments(folder), segments(cwd));
        let Some((above, below)) = cwd.split_at_checked(folder.len()) else {
            return false;
        };
        above == folder && follows(&self.steps, below, |wanted, name| wanted.fits(name))
    }

    /// Returns whether every folder that `narrow` means is meant here as well. It may say no where
    /// that is hard to tell, never yes where it is not so.
    #[must_use]
    pub fn covers(&self, narrow: &Self) -> bool {
        covers(&self.steps, &narrow.steps, Wildcard::covers)
    }

    /// Returns the pattern as it was written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }
}

impl Default for FolderPattern {
    fn default() -> Self {
        Self {
            source: ".".to_owned(),
            steps: Vec::new(),
        }
    }
}

fn segments(path: &str) -> Vec<&str> {
    let named = |name: &&str| !name.is_empty() && *name != ".";
    path.split('/').filter(named).collect()
}

impl TryFrom<String> for FolderPattern {
    type Error = String;

    fn try_from(source: String) -> Result<Self, String> {
        let names = segments(&source);
        if source.is_empty() || source.starts_with('/') || names.contains(&"..") {
            return Err("expected a path below the folder of the policy, such as \"web\"".into());
        }
        let steps = names
            .into_iter()
            .map(|name| match name {
                "**" => Step::Many,
                name => Step::One(Wildcard::parse(name)),
            })
            .collect();
        Ok(Self { source, steps })
    }
}

impl From<FolderPattern> for String {
    fn from(pattern: FolderPattern) -> Self {
        pattern.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, cwd: &str) -> bool {
        let pattern = FolderPattern::try_from(pattern.to_owned()).unwrap();
        pattern.fits("/home/ada/shop", cwd)
    }

    #[test]
    fn a_directory_is_compared_name_by_name() {
        for (pattern, cwd, wanted) in [
            (".", "/home/ada/shop", true),
            (".", "/home/ada/shop/", true),
            (".", "/home/ada/shop/web", false),
            (".", "/home/ada/shop2", false),
            (".", "/home/ada", false),
            (".", "/tmp/shop", false),
            ("web", "/home/ada/shop/web", true),
            ("./web/", "/home/ada/shop/web", true),
            ("packages/*", "/home/ada/shop/packages/a", true),
            ("packages/*", "/home/ada/shop/packages/a/b", false),
            ("**", "/home/ada/shop/packages/a/b", true),
            ("**", "/home/ada/shop", true),
            ("**", "/home/ada", false),
        ] {
            assert_eq!(fits(pattern, cwd), wanted, "{pattern}: {cwd}");
        }
    }

    #[test]
    fn a_pattern_covers_the_folders_of_a_narrower_one() {
        for (wide, narrow, wanted) in [
            (".", "./", true),
            ("**", ".", true),
            ("**", "web/*", true),
            ("packages/*", "packages/a", true),
            ("packages/*", "packages", false),
            ("packages/a", "packages/*", false),
            (".", "**", false),
        ] {
            let pattern = |text: &str| FolderPattern::try_from(text.to_owned()).unwrap();
            let covers = pattern(wide).covers(&pattern(narrow));
            assert_eq!(covers, wanted, "{wide}: {narrow}");
        }
    }

    #[test]
    fn a_directory_outside_of_the_project_is_refused() {
        for pattern in ["", "/srv", "..", "web/../.."] {
            assert!(
                FolderPattern::try_from(pattern.to_owned()).is_err(),
                "{pattern}"
            );
        }
    }
}
