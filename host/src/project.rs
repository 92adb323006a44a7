//! Finds the policy of a project and the record file that it keeps.
//!
//! The text of the policy is the component's to read; this page only finds it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::component::{Component, LoadError, PolicyError, Session};
use crate::folder;
use crate::known::EnvFiles;

/// The name of the policy file.
pub const POLICY_FILE: &str = "feedback.json";
/// The name of the record file where nothing else is said.
pub const RECORD_FILE: &str = "feedback_record.jsonl";
/// The environment variable that names the record file.
pub const RECORD_FILE_VARIABLE: &str = "FEEDBACK_RECORD_FILE";

/// The largest policy that is read, in bytes. Larger files are not policies.
const POLICY_LIMIT: u64 = 1 << 20;

/// Where a project's policy and records are.
#[derive(Clone, Debug)]
pub struct Project {
    /// The policy file, or `None` where the defaults serve.
    pub policy_file: Option<PathBuf>,
    /// The policy's text, empty for the defaults.
    pub policy: String,
    /// The record file, absolute.
    pub record_file: PathBuf,
    /// What inputs and requirements speak of: the folder of the policy, or where there is none the
    /// one that was started in. Without symbolic links.
    pub folder: PathBuf,
    /// What the policy asks of the host.
    pub settings: Settings,
    /// The `.env` files that the policy names.
    pub env_files: EnvFiles,
}

/// Reads the `.env` files that a policy names which stands in `folder`, where `settings` is what
/// the component says of it.
///
/// # Errors
/// Where a file is there and cannot be read.
pub fn env_files(folder: &Path, settings: &str) -> Result<EnvFiles, ProjectError> {
    let settings: Settings = serde_json::from_str(settings)
        .map_err(|error| ProjectError::Component(PolicyError::Settings(error.to_string())))?;
    settings.read_env_files(folder)
}

/// What a policy asks of the host, as the component read it.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Settings {
    /// The record file, relative to the policy file.
    #[serde(default)]
    pub record_file: Option<String>,
    /// Files of variables, relative to the policy file.
    #[serde(default)]
    pub env_files: Vec<String>,
    /// More of them, which may be absent.
    #[serde(default)]
    pub optional_env_files: Vec<String>,
    /// The deadline of a run, in milliseconds.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// The time between SIGTERM and SIGKILL, in milliseconds.
    #[serde(default)]
    pub grace_ms: Option<u64>,
    /// Whether the redacted streams of every run are kept whole.
    #[serde(default)]
    pub keep_output: bool,
    /// How much of each is kept, in bytes.
    #[serde(default = "keep_output_max_bytes")]
    pub keep_output_max_bytes: u64,
    /// How often the same failure of one command may come in a row. Where it is set, the component
    /// is asked before every run.
    #[serde(default)]
    pub max_same_failures: Option<u32>,
}

impl Settings {
    fn read_env_files(&self, folder: &Path) -> Result<EnvFiles, ProjectError> {
        EnvFiles::read(folder, &self.env_files, &self.optional_env_files)
            .map_err(|(path, source)| ProjectError::EnvFile { path, source })
    }
}

/// What is kept of a stream where the component says nothing, in bytes.
fn keep_output_max_bytes() -> u64 {
    64 << 20
}

/// Why a project cannot be used. Whoever wrote the policy must act.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The policy file cannot be read.
    #[error("policy `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of variables that the policy names cannot be read.
    #[error("`redaction.env_files` of the policy: `{}`: {source}", path.display())]
    EnvFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The component does not accept the policy.
    #[error("policy `{}`: {}", path.display(), source.behind_path())]
    Policy {
        /// The file.
        path: PathBuf,
        /// Why.
        source: PolicyError,
    },
    /// The component cannot be used, whatever the policy.
    #[error(transparent)]
    Component(PolicyError),
    /// The component that was asked for cannot be used.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// There is no working directory to start from.
    #[error("the working directory cannot be found: {0}")]
    WorkingDirectory(io::Error),
}

/// Returns the component that `folder`'s project uses: `given`, else the policy's `component`
/// (relative to the policy), else the built-in one.
///
/// # Errors
/// Where the policy cannot be read, or the component that was asked for cannot be used.
pub fn component(folder: &Path, given: Option<&Path>) -> Result<Component, ProjectError> {
    let here = folder::current().map_err(ProjectError::WorkingDirectory)?;
    let folder = std::path::absolute(here.join(folder)).map_err(ProjectError::WorkingDirectory)?;
    if let Some(given) = given {
        return Ok(Component::from_file(&folder.join(given))?);
    }
    let named = match nearest_policy(&folder)? {
        Some(path) => named_component(&read_policy(&path)?)
            .map(|named| path.parent().unwrap_or(&folder).join(named)),
        None => None,
    };
    Ok(match named {
        Some(path) => Component::from_file(&path)?,
        None => Component::built_in()?,
    })
}

/// Returns the policy's `component`. Everything else in a policy is a component's to read; the
/// built-in one says what is wrong with a policy that is none.
fn named_component(policy: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        component: Option<String>,
    }
    let text = policy.trim_start_matches('\u{feff}');
    serde_json::from_str::<Named>(text).ok()?.component
}

impl Project {
    /// Returns the folder of the project that the record file stands in, where that is another
    /// than this one: what it requires is in a policy that is not in force here.
    ///
    /// # Errors
    /// Where the folders above the record file cannot be looked through.
    pub fn other_owner(&self) -> Result<Option<PathBuf>, ProjectError> {
        let Some(beside) = self.record_file.parent() else {
            return Ok(None);
        };
        let beside = beside.canonicalize().unwrap_or(beside.to_path_buf());
        let owner = nearest_policy(&beside)?;
        let owner = owner.as_deref().and_then(Path::parent);
        let is_other = |owner: &&Path| *owner != self.folder;
        Ok(owner.filter(is_other).map(Path::to_path_buf))
    }

    /// Returns the folder by which records name their project: that of the policy. Without a policy
    /// there is no project to tell from another, and the runs of every folder count.
    #[must_use]
    pub fn owner(&self) -> Option<Cow<'_, str>> {
        let has_policy = self.policy_file.is_some();
        has_policy.then(|| self.folder.to_string_lossy())
    }

    /// Returns the folder by which records name their project, where the record file may hold those
    /// of others. A record file below the folder of the policy is the project's own, and all in it
    /// counts, also what was recorded before the project was moved.
    #[must_use]
    pub fn owner_of_some(&self) -> Option<Cow<'_, str>> {
        let beside = self.record_file.parent()?;
        let beside = beside.canonicalize().unwrap_or(beside.to_path_buf());
        self.owner().filter(|_| !beside.starts_with(&self.folder))
    }

    /// Finds the project that `folder` belongs to: the nearest `feedback.json` in it or above.
    ///
    /// The record file is `record_file`, else `FEEDBACK_RECORD_FILE`, else the policy's
    /// `record_file` (relative to the policy), else `feedback_record.jsonl` beside the policy, or
    /// in `folder` where there is none.
    ///
    /// # Errors
    /// Where the policy cannot be read or is not accepted.
    pub fn find(
        component: &Component,
        folder: &Path,
        record_file: Option<&Path>,
    ) -> Result<Self, ProjectError> {
        let is_gone = folder.is_relative() && folder::is_deleted();
        let here = folder::current().map_err(ProjectError::WorkingDirectory)?;
        let folder =
            std::path::absolute(here.join(folder)).map_err(ProjectError::WorkingDirectory)?;
        let policy_file = nearest_policy(&folder)?;
        let policy = policy_file
            .as_deref()
            .map(read_policy)
            .transpose()?
            .unwrap_or_default();
        let settings = read_settings(component, policy_file.as_deref(), &policy)?;

        let named = env::var_os(RECORD_FILE_VARIABLE)
            .filter(|name| !name.is_empty())
            .map(PathBuf::from);
        let below = |file: &Path| {
            if is_gone && file.is_relative() {
                // Made again at its old place, it would be a folder that somebody had removed.
                let gone = format!(
                    "`{}` was deleted; name the record file by an absolute path",
                    folder.display()
                );
                return Err(ProjectError::WorkingDirectory(io::Error::other(gone)));
            }
            Ok(folder.join(file))
        };
        let record_file = match (record_file, named, &settings.record_file, &policy_file) {
            (Some(given), _, _, _) => below(given)?,
            (None, Some(named), _, _) => below(&named)?,
            // One project has one store, wherever in it a command is started.
            (None, None, set, Some(policy_file)) => {
                let name = set.as_deref().unwrap_or(RECORD_FILE);
                policy_file.parent().unwrap_or(&folder).join(name)
            }
            (None, None, _, None) => below(Path::new(RECORD_FILE))?,
        };
        let above = policy_file.as_deref().and_then(Path::parent);
        let project = above.unwrap_or(&folder);
        let project = project.canonicalize().unwrap_or(project.to_path_buf());
        let env_files = settings.read_env_files(&project)?;
        Ok(Self {
            policy_file,
            policy,
            record_file,
            folder: project,
            settings,
            env_files,
        })
    }

    /// Returns the SHA-256 of the policy's text, as `sha256:` and 64 hexadecimal digits.
    #[must_use]
    pub fn policy_digest(&self) -> String {
        crate::digest::named(&Sha256::digest(self.policy.as_bytes()))
    }
}

/// Looks upward for the policy. A name that is there but cannot be looked at is an error: to go
/// on without a policy that someone wrote would be worse.
fn nearest_policy(folder: &Path) -> Result<Option<PathBuf>, ProjectError> {
    for folder in folder.ancestors() {
        let path = folder.join(POLICY_FILE);
        match fs::symlink_metadata(&path) {
            Ok(_) => return Ok(Some(path)),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) => {}
            Err(source) => return Err(ProjectError::Read { path, source }),
        }
    }
    Ok(None)
}

/// Reads a policy file. Its text is the component's to check.
///
/// # Errors
/// Where it cannot be read, is no plain file, is empty, or is too large for a policy.
pub fn read_policy(path: &Path) -> Result<String, ProjectError> {
    let fail = |source| ProjectError::Read {
        path: path.to_path_buf(),
        source,
    };
    let about = fs::metadata(path).map_err(|source| {
        let is_link = fs::symlink_metadata(path).is_ok();
        if is_link && source.kind() == io::ErrorKind::NotFound {
            return fail(io::Error::other("a link that leads nowhere"));
        }
        fail(source)
    })?;
    // Checked before opening, since opening a FIFO would wait for a writer.
    if !about.is_file() {
        return Err(fail(io::Error::other("not a regular file")));
    }
    if about.len() > POLICY_LIMIT {
        return Err(fail(io::Error::other(format!(
            "larger than {POLICY_LIMIT} bytes"
        ))));
    }
    let text = fs::read_to_string(path).map_err(|source| {
        if source.kind() == io::ErrorKind::InvalidData {
            return fail(io::Error::other("not UTF-8 text"));
        }
        fail(source)
    })?;
    // An empty text means the defaults to a component. A file that was cut to nothing does not:
    // what it asked for would be gone without a word.
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(fail(io::Error::other(
            "empty; write `{}` for the defaults, or remove it",
        )));
    }
    Ok(text)
}

fn read_settings(
    component: &Component,
    path: Option<&Path>,
    policy: &str,
) -> Result<Settings, ProjectError> {
    let fail = |source: PolicyError| match (path, source) {
        (Some(path), source @ PolicyError::Policy(_)) => ProjectError::Policy {
            path: path.to_path_buf(),
            source,
        },
        (_, source) => ProjectError::Component(source),
    };
    let mut session = Session::open(component, policy, "").map_err(fail)?;
    let settings = session
        .settings()
        .map_err(|error| fail(PolicyError::Policy(error)))?;
    serde_json::from_str(&settings).map_err(|error| fail(PolicyError::Settings(error.to_string())))
}
