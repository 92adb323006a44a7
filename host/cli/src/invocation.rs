//! What to run, in which surroundings and for how long, as the command line says it.
//!
//! It starts nothing and knows no policy.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use feedback_host::supervise::{Adoption, Command, Limits, Stdin};

/// The options that concern the command, and the command itself.
#[derive(Args, Debug)]
pub(crate) struct Invocation {
    /// Run the first ARGV as a bash script, with the others as its parameters `$1`, `$2`, …; every stage of its pipeline must succeed
    ///
    /// A pipeline by itself exits with the code of its last stage and hides what failed before.
    /// Of a script with several pipelines, every stage of the one that ran last is looked at, and
    /// of those before it every stage but the last, whose code the script has seen. Out of sight
    /// is a pipeline that is the last command of an `eval`, a subshell, a command substitution or
    /// a background job, and earlier ones of a script with DEBUG or RETURN traps of its own.
    #[arg(long)]
    shell: bool,
    /// End the command after this time, for instance 90s or 5m [default: the policy's, else none]
    #[arg(long, value_name = "DURATION", value_parser = limit)]
    timeout: Option<Duration>,
    /// End the command when it has printed nothing for this time [default: none]
    ///
    /// Every byte on either stream counts as printed, also one that nobody would see, such as an
    /// escape sequence of a spinner: the runner does not judge what output means.
    #[arg(long, value_name = "DURATION", value_parser = limit)]
    silence_timeout: Option<Duration>,
    /// The time between SIGTERM and SIGKILL [default: the policy's, else 5s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    grace: Option<Duration>,
    /// Leave processes running that the command leaves behind; the record names them either way
    #[arg(long)]
    keep_background: bool,
    /// The working directory of the command
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Let the command read this terminal or pipe instead of nothing
    #[arg(long)]
    stdin: bool,
    /// Set a variable in the environment of the command; may be given more than once
    #[arg(long, value_name = "NAME=VALUE", value_parser = OsStringValueParser::new().try_map(|text| variable(&text)))]
    env: Vec<(OsString, OsString)>,
    /// Start from an empty environment; without a PATH, programs are found in /bin and /usr/bin
    #[arg(long)]
    env_clear: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "ARGV")]
    argv: Vec<OsString>,
}

impl Invocation {
    /// Checks what only the options and the command together show.
    ///
    /// # Errors
    /// `--shell` is given a command and its arguments in place of one script.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut words = self.argv.iter().map(|word| word.to_string_lossy());
        let script = words.next().unwrap_or_default();
        let may_use = script.contains('$') || sources(&script);
        let Some(parameter) = words.next().filter(|_| self.shell && !may_use) else {
            return Ok(());
        };
        Err(format!(
            "`--shell` takes one script, and the script `{script}` never uses `{parameter}` and what follows, which would be its parameters; quote the whole (`--shell '{script} {parameter}…'`), or leave `--shell` out"
        ))
    }

    /// Returns the command.
    pub(crate) fn command(&self) -> Command {
        let set = |(name, value): &(OsString, OsString)| (name.clone(), Some(value.clone()));
        Command {
            argv: self.argv.clone(),
            cwd: self.cwd.clone(),
            stdin: if self.stdin {
                Stdin::Inherit
            } else {
                Stdin::Null
            },
            env: self.env.iter().map(set).collect(),
            env_clear: self.env_clear,
            shell: self.shell,
            run_id: None,
        }
    }

    /// Returns the limits, where `policy` says what was not given here.
    pub(crate) fn limits(&self, policy: &Limits) -> Limits {
        Limits {
            timeout: self.timeout.or(policy.timeout),
            silence: self.silence_timeout.or(policy.silence),
            grace: self.grace.unwrap_or(policy.grace),
            keep_background: self.keep_background,
            // This process has no children but the command's, so it may adopt every orphan.
            adoption: Adoption::Subreaper,
            control_group: policy.control_group,
            drain: policy.drain,
        }
    }
}

/// Says whether a script reads another one, which then has its parameters.
fn sources(script: &str) -> bool {
    script
        .split([';', '&', '|', '(', '{', '`', '\n'])
        .any(|command| {
            let mut words = command.split_whitespace();
            matches!(words.next(), Some("." | "source")) && words.next().is_some()
        })
}

fn limit(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        short if short < Duration::from_millis(1) => {
            Err("a duration of at least 1ms is needed".to_owned())
        }
        limit => Ok(limit),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|error| format!("{error}; write for instance 90s, 5m or 1h30m"))
}

/// Splits at the first `=`. Whether the name can be one is the runner's to say, on record.
fn variable(text: &OsStr) -> Result<(OsString, OsString), String> {
    let bytes = text.as_bytes();
    let end = bytes.iter().position(|byte| *byte == b'=');
    let parts = end.and_then(|end| Some((bytes.get(..end)?, bytes.get(end.checked_add(1)?..)?)));
    let owned = |bytes| OsStr::from_bytes(bytes).to_owned();
    parts
        .map(|(name, value)| (owned(name), owned(value)))
        .ok_or_else(|| "write NAME=VALUE".to_owned())
}
