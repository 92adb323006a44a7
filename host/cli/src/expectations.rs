//! What is expected of a run, as the command line says it.
//!
//! The component checks and judges it.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

/// What must hold beside the exit code, or which exit codes are success.
#[derive(Args, Debug)]
pub(crate) struct Expectations {
    /// The exit codes that are success, for instance `0,2`; without it that is 0 alone
    #[arg(long, value_name = "CODES", value_delimiter = ',', conflicts_with = "explore", value_parser = exit_code)]
    expect_exit: Vec<u8>,
    /// A line of the output must match; may be given more than once
    ///
    /// Lines are those of both streams, whole, without escape sequences and before anything is
    /// redacted. Of a line over 64 KiB, the beginning is looked at.
    #[arg(
        long,
        value_name = "REGEX",
        allow_hyphen_values = true,
        conflicts_with = "explore"
    )]
    expect_line: Vec<String>,
    /// No line of the output may match; holds only where the output was read to its end
    #[arg(
        long,
        value_name = "REGEX",
        allow_hyphen_values = true,
        conflicts_with = "explore"
    )]
    expect_no_line: Vec<String>,
    /// A number at least this large must stand where the word N stands in TEXT, as in 'N passed' 12
    #[arg(long, num_args = 2, value_names = ["TEXT", "COUNT"], allow_hyphen_values = true, conflicts_with = "explore")]
    expect_min_count: Vec<String>,
    /// The command must exit within this time; unlike `--timeout`, it is not ended
    #[arg(long, value_name = "DURATION", value_parser = within, conflicts_with = "explore")]
    expect_within: Option<u64>,
}

impl Expectations {
    /// Returns them as the component takes them.
    ///
    /// # Errors
    /// A sentence where a count is no number.
    pub(crate) fn list(&self) -> Result<Value, String> {
        let mut list = Vec::new();
        let mut add = |kind: &str, expected: Value| {
            list.push(json!({ "kind": kind, "expected": expected }));
        };
        if !self.expect_exit.is_empty() {
            add("exit-code", json!(self.expect_exit));
        }
        for pattern in &self.expect_line {
            add("line", json!(pattern));
        }
        for pattern in &self.expect_no_line {
            add("no-line", json!(pattern));
        }
        for pair in self.expect_min_count.chunks(2) {
            if let [pattern, count] = pair {
                let count: u64 = count.parse().map_err(|_| {
                    format!("`--expect-min-count`: `{count}` is no whole number; write for instance --expect-min-count 'N passed' 12")
                })?;
                add("min-count", json!({ "pattern": pattern, "count": count }));
            }
        }
        if let Some(millis) = self.expect_within {
            add("within", json!(millis));
        }
        Ok(Value::Array(list))
    }
}

fn exit_code(text: &str) -> Result<u8, String> {
    text.parse()
        .map_err(|_| "an exit code is a number from 0 to 255; write for instance 0,2".to_owned())
}

fn within(text: &str) -> Result<u64, String> {
    let duration: Duration = humantime::parse_duration(text)
        .map_err(|error| format!("{error}; write for instance 90s, 5m or 1h30m"))?;
    match u64::try_from(duration.as_millis()) {
        Ok(millis) if millis > 0 => Ok(millis),
        Ok(_) | Err(_) => Err("a duration of at least 1ms is needed".to_owned()),
    }
}
