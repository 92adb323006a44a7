//! The paths that patterns name, sorted, each once.
//!
//! It opens no file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::walk::{Filter, walk};
use super::{GIT, InputsError, git};

/// What is never an input: what was left out, the files of the store, and git's own.
struct Unwanted {
    left_out: GlobSet,
    folder: PathBuf,
    store_folder: PathBuf,
    store_name: Vec<u8>,
}

impl Unwanted {
    fn holds(&self, path: &Path) -> bool {
        path.file_name() == Some(OsStr::new(".git"))
            || self.left_out.is_match_candidate(&Candidate::new(path))
            || self.is_of_the_store(path)
    }

    /// The record file, and what stands beside it under its name: `.1`, `.lock`, `.pending`, …
    fn is_of_the_store(&self, path: &Path) -> bool {
        let name = path.file_name().map(OsStr::as_encoded_bytes);
        let rest = name.and_then(|name| name.strip_prefix(self.store_name.as_slice()));
        let named = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."));
        named
            && path.parent().is_some_and(|parent| {
                let parent = self.folder.join(parent);
                parent.canonicalize().unwrap_or(parent) == self.store_folder
            })
    }
}

/// Returns the paths, relative to `folder`.
pub(super) fn find(
    folder: &Path,
    record_file: &Path,
    patterns: &[String],
) -> Result<Vec<PathBuf>, InputsError> {
    let store_folder = record_file.parent().unwrap_or(Path::new("/"));
    let unwanted = Unwanted {
        left_out: left_out(patterns)?,
        folder: folder.to_path_buf(),
        store_folder: store_folder
            .canonicalize()
            .unwrap_or(store_folder.to_path_buf()),
        store_name: record_file
            .file_name()
            .unwrap_or_default()
            .as_encoded_bytes()
            .to_vec(),
    };
    let mut all = Vec::new();
    for pattern in patterns.iter().filter(|pattern| !pattern.starts_with('!')) {
        let before = all.len();
        if pattern == GIT {
            let mut listed = git::list(folder)?;
            // An excluded folder leaves out all that is in it; the walk does that by itself.
            listed.retain(|path| !path.ancestors().any(|part| unwanted.holds(part)));
            all.append(&mut listed);
        } else {
            let wanted = Wanted::new(pattern)?;
            let filter = Filter {
                wanted: &|path| wanted.set.is_match_candidate(&Candidate::new(path)),
                unwanted: &|path| unwanted.holds(path),
            };
            walk(folder, &wanted.start, &filter, &mut all)?;
        }
        if all.len() == before {
            return Err(InputsError::Nothing {
                pattern: pattern.clone(),
                folder: folder.to_path_buf(),
            });
        }
    }
    all.sort_unstable_by(|a, b| bytes(a).cmp(bytes(b)));
    all.dedup();
    Ok(all)
}

/// Checks that every pattern is one.
pub(super) fn check(patterns: &[String]) -> Result<(), InputsError> {
    let globs = patterns
        .iter()
        .map(|text| text.strip_prefix('!').unwrap_or(text));
    set(&globs.collect::<Vec<_>>()).map(drop)
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// A pattern and the folder below which it can match.
struct Wanted {
    set: GlobSet,
    start: PathBuf,
}

impl Wanted {
    fn new(pattern: &str) -> Result<Self, InputsError> {
        let magic = |c: char| "*?[]{}\\".contains(c);
        let parts = pattern
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".");
        Ok(Self {
            set: set(&[pattern])?,
            start: parts.take_while(|part| !part.contains(magic)).collect(),
        })
    }
}

fn left_out(patterns: &[String]) -> Result<GlobSet, InputsError> {
    let patterns: Vec<&str> = patterns
        .iter()
        .filter_map(|pattern| pattern.strip_prefix('!'))
        .collect();
    set(&patterns)
}

/// A set of what the patterns name, and of all that is below it.
fn set(patterns: &[&str]) -> Result<GlobSet, InputsError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let fail = |source| InputsError::Pattern {
            pattern: (*pattern).to_owned(),
            source,
        };
        let plain = plain(pattern);
        if !plain.is_empty() {
            set.add(glob(&plain).map_err(fail)?);
        }
        set.add(glob(&below(&plain)).map_err(fail)?);
    }
    set.build().map_err(|source| InputsError::Pattern {
        pattern: patterns.join(" "),
        source,
    })
}

/// The pattern without what means nothing: `./a//b/` is `a/b`, and `.` is all.
fn plain(pattern: &str) -> String {
    let parts = pattern
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".");
    parts.collect::<Vec<_>>().join("/")
}

fn below(plain: &str) -> String {
    if plain.is_empty() {
        "**".to_owned()
    } else {
        format!("{plain}/**")
    }
}

fn glob(pattern: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
}
