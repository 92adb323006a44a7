//! The sources that the component's bytes depend on, and their digest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};

const GUEST: &str = "feedback-guest";

/// A workspace that holds the guest's source.
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Returns the workspace that `host` lies in, if the guest's source is there.
    pub(crate) fn beside(host: &Path) -> Option<Self> {
        let root = host.parent()?.to_path_buf();
        root.join("guest/Cargo.toml")
            .is_file()
            .then_some(Self { root })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns what the bytes depend on: a change there means that they must be made again.
    pub(crate) fn watched(&self) -> Vec<PathBuf> {
        [
            "Cargo.toml",
            "Cargo.lock",
            "rust-toolchain.toml",
            "guest/Cargo.toml",
            "guest/src",
            "host/build/guest.rs",
            "host/build/sections.rs",
            "wit",
        ]
        .iter()
        .map(|path| self.root.join(path))
        .collect()
    }

    /// Returns the SHA-256 of names and contents of the watched files. Of `Cargo.lock` only
    /// the guest's own dependencies count, so that an update of a host crate changes nothing.
    pub(crate) fn digest(&self) -> io::Result<String> {
        let mut files = BTreeMap::new();
        for path in self.watched() {
            self.collect(&path, &mut files)?;
        }
        if let Some(lock) = files.get_mut("Cargo.lock") {
            *lock = locked_for_guest(lock).into_bytes();
        }
        let mut digest = Sha256::new();
        for (name, content) in &files {
            digest.update(format!("{name}\n{}\n", content.len()));
            digest.update(content);
        }
        Ok(super::hex(&digest.finalize()))
    }

    fn collect(&self, path: &Path, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
        // A page for readers changes no byte of the component.
        if path.extension().is_some_and(|ending| ending == "md") {
            return Ok(());
        }
        if path.is_dir() {
            for entry in fs::read_dir(path)? {
                self.collect(&entry?.path(), files)?;
            }
            return Ok(());
        }
        let name = path
            .strip_prefix(&self.root)
            .unwrap_or(path)
            .to_string_lossy()
            .into_owned();
        files.insert(name, fs::read(path)?);
        Ok(())
    }
}

/// Returns the entries of a `Cargo.lock` that the guest reaches, in the file's order.
fn locked_for_guest(lock: &[u8]) -> String {
    let lock = String::from_utf8_lossy(lock);
    let packages: Vec<&str> = lock.split("[[package]]\n").skip(1).collect();
    let mut wanted = BTreeSet::from([GUEST.to_owned()]);
    loop {
        let before = wanted.len();
        let reached: Vec<&&str> = packages
            .iter()
            .filter(|package| is_named(package, &wanted))
            .collect();
        wanted.extend(
            reached
                .into_iter()
                .flat_map(|package| dependencies(package)),
        );
        if wanted.len() == before {
            break;
        }
    }
    packages
        .into_iter()
        .filter(|package| is_named(package, &wanted))
        .collect()
}

/// Says whether a package is wanted, as `name` or, where several versions are locked, `name version`.
fn is_named(package: &str, wanted: &BTreeSet<String>) -> bool {
    let field = |key: &str| {
        package
            .lines()
            .find_map(|line| line.strip_prefix(key))
            .unwrap_or_default()
            .trim_matches('"')
            .to_owned()
    };
    let (name, version) = (field("name = "), field("version = "));
    wanted.contains(&format!("{name} {version}")) || wanted.contains(&name)
}

fn dependencies(package: &str) -> impl Iterator<Item = String> + '_ {
    package
        .lines()
        .skip_while(|line| !line.starts_with("dependencies = ["))
        .skip(1)
        .take_while(|line| !line.starts_with(']'))
        .map(|line| line.trim().trim_matches([',', '"']).to_owned())
}
