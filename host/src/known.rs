//! What the component is told of the secrets of a run: the environment, and the `.env` files that
//! the policy names.
//!
//! Which of the values are secret is the component's to say; nothing here looks at them.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::{Map, Value};

/// The largest `.env` file that is read, in bytes.
const FILE_LIMIT: u64 = 1 << 20;

/// The texts of `.env` files. They are never shown.
#[derive(Clone, Default)]
pub struct EnvFiles {
    texts: Vec<String>,
    absent: Vec<PathBuf>,
}

impl fmt::Debug for EnvFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { texts, absent } = self;
        write!(formatter, "EnvFiles({}, {absent:?})", texts.len())
    }
}

impl EnvFiles {
    /// Reads the files of these names, relative to `folder`. One that is not there has no secrets;
    /// where it is not `optional`, that is told.
    ///
    /// # Errors
    /// The path and why, where a file is there and cannot be read: to go on without it could show
    /// what it holds.
    pub(crate) fn read(
        folder: &Path,
        needed: &[String],
        optional: &[String],
    ) -> Result<Self, (PathBuf, io::Error)> {
        let mut files = Self::default();
        let all = needed.iter().map(|name| (name, true));
        for (name, is_needed) in all.chain(optional.iter().map(|name| (name, false))) {
            let path = folder.join(name);
            match read(&path) {
                Ok(text) => files.texts.push(text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if is_needed {
                        files.absent.push(path);
                    }
                }
                Err(error) => return Err((path, error)),
            }
        }
        Ok(files)
    }

    /// Returns the files that are not there although nothing says that they may be absent: what
    /// they should hold is not hidden. Whoever wrote the policy must act.
    #[must_use]
    pub fn absent(&self) -> &[PathBuf] {
        &self.absent
    }
}

fn read(path: &Path) -> io::Result<String> {
    let about = fs::metadata(path)?;
    // Checked before opening, since opening a FIFO would wait for a writer.
    if !about.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if about.len() > FILE_LIMIT {
        return Err(io::Error::other(format!("larger than {FILE_LIMIT} bytes")));
    }
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

/// Returns an environment and the files as the component takes them.
#[must_use]
pub fn known_values(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    files: &EnvFiles,
) -> String {
    let lossy = |text: OsString| text.to_string_lossy().into_owned();
    let mut values: Map<String, Value> = environment
        .into_iter()
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, value)| (lossy(name), Value::String(lossy(value))))
        .collect();
    if !files.texts.is_empty() {
        // No variable has the empty name.
        let texts = files.texts.iter().cloned().map(Value::String).collect();
        values.insert(String::new(), Value::Array(texts));
    }
    Value::Object(values).to_string()
}
