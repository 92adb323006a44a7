//! The policy: what `feedback.json` says, checked once.
//!
//! It does not carry out what only a host can (deadlines, the place of the store); it hands
//! that on as settings.

mod duration;
mod env_file;
mod keep;
mod place;

use std::num::NonZeroU32;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::capture::{Capture, CaptureOptions, ExcerptPolicy};
use crate::document;
use crate::expect::Expectations;
use crate::fault::{Fault, FaultCode};
use crate::gate::GatePolicy;
use crate::redact::{RedactionPolicy, RuleInfo, Rules};

use keep::KeptBytes;

pub use duration::Millis;

/// A checked policy, with its rules compiled.
#[derive(Debug)]
pub struct Policy {
    /// The compiled rules and the known values of this run.
    pub redaction: Rc<Rules>,
    /// What is kept of the streams.
    pub excerpt: ExcerptPolicy,
    /// What the gate asks for.
    pub gate: GatePolicy,
    file: PolicyFile,
}

/// The JSON Schema of `feedback.json`.
pub const SCHEMA: &str = include_str!("schema.json");

impl Policy {
    /// Checks `text`, the content of `feedback.json`, and compiles its rules. The empty text
    /// means the defaults. `environment_json` is `{ "name": "value" }`, or empty.
    ///
    /// # Errors
    /// `invalid-json` with line and column; `invalid-policy` with the path of the key, and its
    /// line and column where the text shows them.
    pub fn parse(text: &str, environment_json: &str) -> Result<Self, Fault> {
        Self::read(text, environment_json).map_err(|fault| place::named(fault, text))
    }

    fn read(text: &str, environment_json: &str) -> Result<Self, Fault> {
        let file = PolicyFile::parse(text)?;
        file.excerpt.check()?;
        file.gate
            .check()
            .map_err(|(key, what)| invalid(&format!("`{key}`: {what}")))?;
        let environment = environment(environment_json)?;
        let mut rules = Rules::compile(&file.redaction, &environment.variables)?;
        rules.name_uncovered(environment.unread);
        if file.record_file.as_deref() == Some("") {
            return Err(invalid(
                "`record_file`: expected a path, found an empty text",
            ));
        }
        if file.run.timeout == Some(Millis(0)) {
            return Err(invalid(
                "`run.timeout`: a run cannot end in no time; leave the key out for no limit",
            ));
        }
        Ok(Self {
            redaction: Rc::new(rules),
            excerpt: file.excerpt.clone(),
            gate: file.gate.clone(),
            file,
        })
    }

    /// Returns `{ "record_file", "env_files", "optional_env_files", "timeout_ms", "grace_ms",
    /// "keep_output", "keep_output_max_bytes", "max_same_failures" }`: the texts and numbers are null where they
    /// are not set.
    #[must_use]
    pub fn settings_json(&self) -> String {
        let (env_files, optional_env_files) = self.file.redaction.files();
        let settings = Settings {
            record_file: self.file.record_file.as_deref(),
            env_files,
            optional_env_files,
            timeout_ms: self.file.run.timeout.map(|limit| limit.0),
            grace_ms: self.file.run.grace.map(|limit| limit.0),
            keep_output: self.file.run.keep_output,
            keep_output_max_bytes: self.file.run.keep_output_max_bytes,
            max_same_failures: self.gate.max_same_failures,
        };
        serde_json::to_string(&settings).unwrap_or_else(|_| "{}".to_owned())
    }

    /// Returns the policy with every key present, the defaults filled in. Null is a key that is
    /// not set and has no default here.
    #[must_use]
    pub fn effective_json(&self) -> String {
        serde_json::to_string(&self.file).unwrap_or_else(|_| "{}".to_owned())
    }

    /// Starts a capture with these options, a JSON object, or the empty text for the policy's own.
    ///
    /// # Errors
    /// `invalid-json`; `invalid-policy` where an option is out of range.
    pub fn capture(&self, options_json: &str) -> Result<Capture, Fault> {
        let (options, expectations) = if options_json.is_empty() {
            (CaptureOptions::default(), Expectations::default())
        } else {
            let mut value = document::parse("options", options_json)?;
            let expect = value.as_object_mut().and_then(|keys| keys.remove("expect"));
            let options = document::fit("options", &value, FaultCode::InvalidPolicy)?;
            (options, expectations(expect.as_ref())?)
        };
        let excerpt = options.apply(&self.excerpt)?;
        let rules = Rc::clone(&self.redaction);
        Ok(Capture::new(rules, excerpt).expecting(expectations))
    }

    /// Returns the redaction rules in force as a JSON list.
    #[must_use]
    pub fn rules_json(&self) -> String {
        let rules: Vec<Rule> = self.redaction.list().into_iter().map(Rule::from).collect();
        serde_json::to_string(&rules).unwrap_or_else(|_| "[]".to_owned())
    }
}

/// `feedback.json` as it is written.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
struct PolicyFile {
    record_file: Option<String>,
    run: RunPolicy,
    redaction: RedactionPolicy,
    excerpt: ExcerptPolicy,
    gate: GatePolicy,
    /// The component that replaces this one. A host reads it before it asks any.
    #[serde(rename = "component")]
    _component: Option<String>,
    /// For editors; it says nothing to us.
    #[serde(rename = "$schema", skip_serializing)]
    _schema: Option<String>,
}

impl PolicyFile {
    fn parse(text: &str) -> Result<Self, Fault> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let value = document::parse("policy", text)?;
        document::fit("policy", &value, FaultCode::InvalidPolicy)
    }
}

/// The `run` object of `feedback.json`.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
struct RunPolicy {
    timeout: Option<Millis>,
    grace: Option<Millis>,
    /// Keep the full, redacted streams in files of their own.
    keep_output: bool,
    /// How much of each stream is kept there.
    keep_output_max_bytes: KeptBytes,
}

/// What only a host can carry out.
#[derive(Debug, Serialize)]
struct Settings<'a> {
    record_file: Option<&'a str>,
    env_files: Vec<&'a str>,
    optional_env_files: Vec<&'a str>,
    timeout_ms: Option<u64>,
    grace_ms: Option<u64>,
    keep_output: bool,
    keep_output_max_bytes: KeptBytes,
    max_same_failures: Option<NonZeroU32>,
}

/// A redaction rule as it is listed.
#[derive(Debug, Serialize)]
struct Rule {
    id: String,
    description: String,
    scope: &'static str,
    example: String,
    counter_example: String,
}

impl From<RuleInfo> for Rule {
    fn from(rule: RuleInfo) -> Self {
        Self {
            id: rule.id,
            description: rule.description,
            scope: rule.scope,
            example: rule.example,
            counter_example: rule.counter_example,
        }
    }
}

/// Reads a duration as it is written in a policy, in milliseconds.
pub(crate) fn duration_millis(text: &str) -> Option<u64> {
    Millis::parse(text).map(|millis| millis.0)
}

/// Reads the expectations of a capture, which are kept apart from its limits.
fn expectations(expect: Option<&Value>) -> Result<Expectations, Fault> {
    #[derive(Deserialize)]
    struct Part {
        #[serde(default)]
        expect: Option<Expectations>,
    }
    let value = serde_json::json!({ "expect": expect });
    let part: Part = document::fit("options", &value, FaultCode::InvalidPolicy)?;
    Ok(part.expect.unwrap_or_default())
}

/// What is known of the secrets of a run.
#[derive(Default)]
struct Environment {
    /// Names and values.
    variables: Vec<(String, String)>,
    /// Lines of files of variables that were not understood.
    unread: Vec<String>,
}

/// The names and values of an environment, and under the empty name a list of texts of `.env`
/// files; and what was not understood in those. A fault must not show a value: some are secret.
fn environment(json: &str) -> Result<Environment, Fault> {
    if json.is_empty() {
        return Ok(Environment::default());
    }
    let not_texts = || {
        let message = "known values: expected an object of texts";
        Fault::new(FaultCode::InvalidJson, message)
    };
    let value = document::foreign(json).ok_or_else(not_texts)?;
    let Value::Object(entries) = value else {
        return Err(not_texts());
    };
    let mut environment = Environment::default();
    let Environment { variables, unread } = &mut environment;
    for (name, value) in entries {
        match value {
            Value::String(value) => variables.push((name, value)),
            Value::Array(files) if name.is_empty() => {
                let count = files.len();
                for (number, file) in (1..).zip(&files) {
                    let text = file.as_str().ok_or_else(not_texts)?;
                    let read = env_file::variables(text);
                    variables.extend(read.pairs);
                    unread.extend(
                        read.unread
                            .iter()
                            .map(|line| unread_line(*line, number, count)),
                    );
                }
            }
            Value::Array(_)
            | Value::Object(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_) => return Err(not_texts()),
        }
    }
    Ok(environment)
}

/// Says which line of the files of variables was not understood, as names of variables are told
/// whose values are not hidden. Files that are not there do not count.
fn unread_line(line: usize, number: usize, count: usize) -> String {
    match count {
        1 => format!("env_files: line {line}"),
        _ => format!("env_files: line {line} of file {number}"),
    }
}

fn invalid(message: &str) -> Fault {
    Fault::new(FaultCode::InvalidPolicy, format!("policy: {message}"))
}

#[cfg(test)]
mod schema_tests;
#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> String {
        Policy::parse(text, "").unwrap().settings_json()
    }

    fn fault(text: &str) -> Fault {
        Policy::parse(text, "").unwrap_err()
    }

    const DEFAULTS: &str = concat!(
        r#"{"record_file":null,"env_files":[],"optional_env_files":[],"timeout_ms":null,"grace_ms":null,"#,
        r#""keep_output":false,"keep_output_max_bytes":67108864,"max_same_failures":null}"#
    );

    #[test]
    fn an_empty_text_means_the_defaults() {
        for text in [
            "",
            " \n",
            "\u{feff}",
            "{}",
            "\u{feff}{}",
            r#"{"$schema":"x"}"#,
        ] {
            assert_eq!(settings(text), DEFAULTS, "{text:?}");
        }
    }

    #[test]
    fn a_question_mark_says_that_a_file_may_be_absent() {
        let text = r#"{"redaction":{"env_files":[".env","a/.env.local?"]}}"#;
        let wanted = r#""env_files":[".env"],"optional_env_files":["a/.env.local"],"#;
        assert!(settings(text).contains(wanted), "{}", settings(text));
        let fault = fault(r#"{"redaction":{"env_files":["?"]}}"#);
        assert!(fault.message.contains("redaction.env_files[0]"));
    }

    #[test]
    fn settings_carry_every_key_in_milliseconds() {
        assert_eq!(
            settings(r#"{"record_file":"a.jsonl","run":{"timeout":"1m30s","grace":"0s"}}"#),
            concat!(
                r#"{"record_file":"a.jsonl","env_files":[],"optional_env_files":[],"timeout_ms":90000,"grace_ms":0,"#,
                r#""keep_output":false,"keep_output_max_bytes":67108864,"max_same_failures":null}"#
            )
        );
    }

    #[test]
    fn an_unknown_key_is_an_invalid_policy_with_its_path() {
        for (text, wanted) in [
            (
                r#"{"excerpt":{"max_byte":1}}"#,
                "`excerpt.max_byte`: unknown key, did you mean `max_bytes`?",
            ),
            (r#"{"runs":{}}"#, "`runs`: unknown key, did you mean `run`?"),
            (
                r#"{"run":{"time_out":"1s"}}"#,
                "`run.time_out`: unknown key, did you mean `timeout`?",
            ),
            (
                r#"{"redaction":{"mod":"line"}}"#,
                "`redaction.mod`: unknown key, did you mean `mode`?",
            ),
            (
                r#"{"gate":{"x":1}}"#,
                "`gate.x`: unknown key, expected one of ",
            ),
            (
                r#"{"redaction":{"mode":"spam"}}"#,
                "`redaction.mode`: `spam` is not known, did you mean `span`?",
            ),
        ] {
            let fault = fault(text);
            assert_eq!(fault.code, FaultCode::InvalidPolicy, "{text}");
            assert!(fault.message.contains(wanted), "{}", fault.message);
        }
    }

    #[test]
    fn a_value_out_of_range_is_an_invalid_policy() {
        for text in [
            r#"{"excerpt":{"max_bytes":1}}"#,
            r#"{"record_file":""}"#,
            r#"{"record_file":5}"#,
            r#"{"run":{"timeout":"0s"}}"#,
            r#"{"run":{"timeout":90}}"#,
            r#"{"run":[]}"#,
            "[]",
            "null",
        ] {
            assert_eq!(fault(text).code, FaultCode::InvalidPolicy, "{text}");
        }
    }

    #[test]
    fn keeping_output_is_asked_for_and_bounded() {
        let kept = r#"{"run":{"keep_output":true,"keep_output_max_bytes":65536}}"#;
        assert!(settings(kept).contains(r#""keep_output":true,"keep_output_max_bytes":65536,"#));
        for bytes in ["0", "65535", "-1", "17179869185", "1.5", r#""64M""#] {
            let fault = fault(&format!(r#"{{"run":{{"keep_output_max_bytes":{bytes}}}}}"#));
            assert_eq!(fault.code, FaultCode::InvalidPolicy, "{bytes}");
            let key = "`run.keep_output_max_bytes`";
            assert!(fault.message.contains(key), "{}", fault.message);
        }
    }

    #[test]
    fn bad_json_is_named_with_line_and_column() {
        let fault = fault("{\n\"run\": }");
        assert_eq!(fault.code, FaultCode::InvalidJson);
        assert!(
            fault.message.contains("line 2 column 8"),
            "{}",
            fault.message
        );
    }

    #[test]
    fn every_rule_is_listed_with_its_examples() {
        let rules = Policy::parse("", "").unwrap().rules_json();
        let rules: Vec<serde_json::Map<String, Value>> = serde_json::from_str(&rules).unwrap();
        assert!(rules.len() > 5);
        for rule in rules {
            let keys: Vec<&str> = rule.keys().map(String::as_str).collect();
            assert_eq!(
                keys,
                ["id", "description", "scope", "example", "counter_example"]
            );
        }
    }

    #[test]
    fn a_fault_in_the_environment_shows_no_value() {
        for json in [r#"{"A":["hunter2"]}"#, r#""hunter2""#, r#"{"A":"hunter2"#] {
            let fault = Policy::parse("", json).unwrap_err();
            assert_eq!(fault.message, "known values: expected an object of texts");
        }
        assert!(Policy::parse("", r#"{"A":"b"}"#).is_ok());
    }
}
