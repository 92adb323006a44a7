//! Keeps the compiled form of components that someone else wrote, so that each is compiled once.
//!
//! Compiled code is run as it is, so only files count that nobody but this user could have
//! written. Whatever is wrong is a miss: then the component is compiled again.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{env, io, process};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component as Compiled;

/// What a file begins with: the SHA-256 of what follows, since a power cut can leave a file that
/// has its name and not its content.
const SEAL: usize = 32;

/// Permissions of anybody but the owner.
const OTHERS: u32 = 0o077;

/// The folder with compiled components.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Opens `$XDG_CACHE_HOME/feedback/components`, else `~/.cache/feedback/components`. Nothing
    /// where it is not this user's alone.
    pub(super) fn open() -> Option<Self> {
        let absolute = |path: PathBuf| path.is_absolute().then_some(path);
        let root = env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .and_then(absolute)
            .or_else(|| {
                let home = env::var_os("HOME").map(PathBuf::from).and_then(absolute)?;
                Some(home.join(".cache"))
            })?;
        Self::in_folder(root.join("feedback/components")).ok()
    }

    fn in_folder(folder: PathBuf) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let about = fs::symlink_metadata(&folder)?;
        if !about.is_dir() || !is_ours(&about) {
            return Err(io::Error::other("not this user's alone"));
        }
        Ok(Self { folder })
    }

    /// Returns what is kept of the component with this digest, for exactly this engine.
    pub(super) fn load(&self, engine: &Engine, digest: &str) -> Option<Compiled> {
        let code = read(&self.path(engine, digest)).ok()?;
        // SAFETY: only this user can have written the file, its bytes are what `keep` wrote, and
        // its name says that it was compiled by this version of wasmtime with these settings.
        unsafe { Compiled::deserialize(engine, &code) }.ok()
    }

    /// Keeps a compiled component.
    pub(super) fn keep(&self, engine: &Engine, digest: &str, compiled: &Compiled) {
        let Ok(code) = compiled.serialize() else {
            return;
        };
        // A full disk or a folder that went away: the next run compiles again.
        let _ = write(&self.path(engine, digest), &code);
    }

    fn path(&self, engine: &Engine, digest: &str) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        self.folder
            .join(format!("{digest}-{:016x}", hasher.finish()))
    }
}

fn is_ours(about: &fs::Metadata) -> bool {
    about.uid() == rustix::process::geteuid().as_raw() && about.mode() & OTHERS == 0
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).map_err(io::Error::other)?)
        .open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || !is_ours(&about) {
        return Err(io::Error::other("not this user's alone"));
    }
    let mut seal = [0; SEAL];
    file.read_exact(&mut seal)?;
    let mut code = Vec::new();
    file.read_to_end(&mut code)?;
    if Sha256::digest(&code).as_slice() != seal {
        return Err(io::Error::other("not what was written"));
    }
    Ok(code)
}

/// Writes beside the place and moves there, so that a reader finds a whole file or none.
fn write(path: &Path, code: &[u8]) -> io::Result<()> {
    let beside = path.with_extension(process::id().to_string());
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)
        .and_then(|file| fill(file, code))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // What is left over is only in the way.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn fill(mut file: File, code: &[u8]) -> io::Result<()> {
    file.write_all(&Sha256::digest(code))?;
    file.write_all(code)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A component without anything in it.
    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn cache() -> (tempfile::TempDir, Cache, Engine, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(root.path().join("a/components")).unwrap();
        let engine = Engine::new(&crate::component::config::config()).unwrap();
        let compiled = Compiled::from_binary(&engine, EMPTY).unwrap();
        cache.keep(&engine, "digest", &compiled);
        let path = cache.path(&engine, "digest");
        (root, cache, engine, path)
    }

    #[test]
    fn what_is_kept_is_found_by_its_digest_alone() {
        let (_root, cache, engine, path) = cache();
        assert!(cache.load(&engine, "digest").is_some());
        assert!(cache.load(&engine, "another").is_none());
        assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&cache.folder).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(&cache.folder).unwrap().count(), 1);
    }

    #[test]
    fn an_engine_with_other_settings_does_not_find_it() {
        let (_root, cache, _, _) = cache();
        let mut config = crate::component::config::config();
        config.consume_fuel(true);
        let counting = Engine::new(&config).unwrap();
        assert!(cache.load(&counting, "digest").is_none());
    }

    #[test]
    fn what_others_could_have_written_is_a_miss() {
        let (root, cache, engine, path) = cache();
        mode(&path, 0o620);
        assert!(cache.load(&engine, "digest").is_none());
        mode(&path, 0o600);
        let elsewhere = root.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        assert!(cache.load(&engine, "digest").is_none());
        mode(&cache.folder, 0o770);
        assert!(Cache::in_folder(cache.folder.clone()).is_err());
        symlink(root.path(), root.path().join("link")).unwrap();
        assert!(Cache::in_folder(root.path().join("link")).is_err());
    }

    #[test]
    fn what_is_not_what_was_written_is_a_miss() {
        let (_root, cache, engine, path) = cache();
        let whole = fs::read(&path).unwrap();
        for end in [0, 1, SEAL, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, whole.get(..end).unwrap()).unwrap();
            assert!(cache.load(&engine, "digest").is_none(), "cut after {end}");
        }
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        fs::write(&path, changed).unwrap();
        assert!(cache.load(&engine, "digest").is_none());
        fs::write(&path, whole).unwrap();
        assert!(cache.load(&engine, "digest").is_some());
    }
}
