//! Patterns as they are typed in a folder below that of the policy.
//!
//! It looks at no file.

use std::path::{Component, Path};

/// Returns a pattern that was typed in `here` as one relative to `folder`, where `here` is below
/// it. `git` stays what it is. What leads out of the folder is left for the component to refuse.
#[must_use]
pub fn relative_to(folder: &Path, here: &Path, pattern: &str) -> String {
    let (not, glob) = match pattern.strip_prefix('!') {
        Some(glob) => ("!", glob),
        None => ("", pattern),
    };
    let below = here.strip_prefix(folder).unwrap_or(Path::new(""));
    if glob == super::GIT || glob.starts_with('/') || glob.is_empty() {
        return pattern.to_owned();
    }
    let mut parts: Vec<String> = below
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(escaped(&name.to_string_lossy())),
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => None,
        })
        .collect();
    for part in glob.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|part| part != "..") => {
                parts.pop();
            }
            part => parts.push(part.to_owned()),
        }
    }
    if parts.is_empty() {
        parts.push(".".to_owned());
    }
    let relative = parts.join("/");
    // A file of that name is no word.
    let dot = if relative == super::GIT { "./" } else { "" };
    format!("{not}{dot}{relative}")
}

/// The name of a folder as a pattern for just that name.
fn escaped(name: &str) -> String {
    let mut pattern = String::new();
    for c in name.chars() {
        if "*?[]{}\\!".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_what_it_means_where_it_was_typed() {
        let folder = Path::new("/w");
        for (here, pattern, wanted) in [
            ("/w", "src/**", "src/**"),
            ("/w/web", "src/**", "web/src/**"),
            ("/w/web", "./src/", "web/src"),
            ("/w/web", "../src", "src"),
            ("/w/web", "..", "."),
            ("/w/web", "../../x", "../x"),
            ("/w/web", "!dist", "!web/dist"),
            ("/w/web", "git", "git"),
            ("/w", "./git", "./git"),
            ("/w/[a]", "x", "\\[a\\]/x"),
            ("/elsewhere", "x", "x"),
            ("/w", "/etc", "/etc"),
        ] {
            assert_eq!(
                relative_to(folder, Path::new(here), pattern),
                wanted,
                "{here} {pattern}"
            );
        }
    }
}
