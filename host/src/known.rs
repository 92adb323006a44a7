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
pub struct EnvFiles(Vec<String>);

impl fmt::Debug for EnvFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "EnvFiles({})", self.0.len())
    }
}

impl EnvFiles {
    /// Reads the files of these names, relative to `folder`. One that is not there has no secrets.
    ///
    /// # Errors
    /// The path and why, where a file is there and cannot be read: to go on without it could show
    /// what it holds.
    pub(crate) fn read(folder: &Path, names: &[String]) -> Result<Self, (PathBuf, io::Error)> {
        let mut texts = Vec::new();
        for name in names {
            let path = folder.join(name);
            match read(&path) {
                Ok(text) => texts.push(text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err((path, error)),
            }
        }
        Ok(Self(texts))
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
    if !files.0.is_empty() {
        // No variable has the empty name.
        let texts = files.0.iter().cloned().map(Value::String).collect();
        values.insert(String::new(), Value::Array(texts));
    }
    Value::Object(values).to_string()
}
