//! What is declared before a run: its expectations and its inputs, by the command line or by the
//! requirement that the run meets.
//!
//! It starts nothing and judges nothing.

use super::{InputPatterns, Requirement};
use crate::document;
use crate::expect::Expectations;
use crate::fault::{Fault, FaultCode};
use crate::policy::Policy;
use serde::{Deserialize, Serialize};

/// A run that is about to begin, as a host knows it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Intended {
    /// Argv; what is not UTF-8 as U+FFFD.
    command: Vec<String>,
    /// The working directory, without symbolic links.
    cwd: String,
    /// The folder of the policy, without symbolic links.
    folder: String,
    #[serde(default)]
    expect: Expectations,
    #[serde(default)]
    inputs: Vec<String>,
    #[serde(default)]
    exploration: bool,
}

/// What will be declared. Its keys are those of a request.
#[derive(Debug, Serialize)]
struct Plan<'a> {
    requirement: Option<Mark<'a>>,
    expect: Expectations,
    inputs: &'a InputPatterns,
}

/// The requirement that the run meets.
#[derive(Debug, Serialize)]
struct Mark<'a> {
    name: &'a str,
    digest: String,
}

/// Plans a run. The answer holds `requirement` (or null), `expect` and `inputs`.
///
/// # Errors
/// `invalid-json`; `invalid-policy` where the inputs that were given are none, or where a
/// requirement has its own.
pub fn plan(policy: &Policy, request_json: &str) -> Result<String, Fault> {
    let intended: Intended = document::read("plan", request_json)?;
    let given = InputPatterns::try_from(intended.inputs).map_err(|what| wrong(&what))?;
    let gate = &policy.gate;
    let required = gate
        .requirements
        .iter()
        .find(|requirement| requirement.fits(&intended.folder, &intended.cwd, &intended.command));
    let planned = match required.filter(|_| !intended.exploration) {
        Some(requirement) => {
            let mark = Mark {
                name: &requirement.name,
                digest: requirement.digest(&gate.inputs, &intended.folder),
            };
            let inputs = requirement.inputs(&gate.inputs);
            let expect = of_requirement(requirement, inputs, &given, &intended.expect)?;
            Plan {
                requirement: Some(mark),
                expect,
                inputs,
            }
        }
        None => Plan {
            requirement: None,
            expect: intended.expect,
            // What counts for nothing rests on nothing.
            inputs: if !given.is_empty() || intended.exploration {
                &given
            } else {
                &gate.inputs
            },
        },
    };
    document::write("plan", &planned)
}

/// What the requirement expects, and what else was declared. Its inputs and its codes of success
/// are taken as they are: others would make the evidence rest on less.
fn of_requirement(
    requirement: &Requirement,
    inputs: &InputPatterns,
    given: &InputPatterns,
    declared: &Expectations,
) -> Result<Expectations, Fault> {
    let name = &requirement.name;
    if !given.is_empty() && given != inputs {
        return Err(wrong(&format!(
            "the requirement `{name}` of the policy says which files this run depends on; \
             leave `--inputs` out"
        )));
    }
    let fault = |what: &str| Fault::new(FaultCode::InvalidPolicy, format!("`expect`: {what}"));
    if requirement.expect.are_widened_by(declared) {
        return Err(fault(&format!(
            "the requirement `{name}` of the policy says which exit codes are success, 0 alone \
             where it names none; leave `--expect-exit` out"
        )));
    }
    let expect = requirement.expect.and(declared);
    expect.map_err(|what| fault(&what))
}

fn wrong(what: &str) -> Fault {
    Fault::new(FaultCode::InvalidPolicy, format!("`inputs`: {what}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const POLICY: &str = r#"{"gate": {"inputs": ["git"], "requirements": [
        {"name": "tests", "command": ["cargo", "test", "**", "!--no-run"],
         "expect": [{"kind": "min-count", "expected": {"pattern": "N passed", "count": 12}}]},
        {"name": "web", "command": ["npm", "test"], "cwd": "web", "inputs": ["web/**"]}]}}"#;

    fn planned(request: &Value) -> Result<Value, Fault> {
        let policy = Policy::parse(POLICY, "")?;
        plan(&policy, &request.to_string()).map(|json| serde_json::from_str(&json).unwrap())
    }

    fn intended(command: &[&str], cwd: &str) -> Value {
        json!({ "command": command, "cwd": cwd, "folder": "/w" })
    }

    #[test]
    fn a_required_run_declares_what_its_requirement_asks() {
        let plan = planned(&intended(&["cargo", "test", "-q"], "/w")).unwrap();
        assert_eq!(plan["requirement"]["name"], "tests");
        assert_eq!(plan["expect"][0]["kind"], "min-count");
        assert_eq!(plan["inputs"], json!(["git"]));
        let plan = planned(&intended(&["npm", "test"], "/w/web")).unwrap();
        assert_eq!(plan["requirement"]["name"], "web");
        assert_eq!(plan["inputs"], json!(["web/**"]));
    }

    #[test]
    fn a_look_alike_and_another_directory_meet_no_requirement() {
        for (command, cwd) in [
            (&["cargo", "test", "--no-run"][..], "/w"),
            (&["cargo", "test"], "/tmp"),
            (&["npm", "test"], "/w"),
            (&["true"], "/w"),
        ] {
            let plan = planned(&intended(command, cwd)).unwrap();
            assert_eq!(plan["requirement"], Value::Null, "{command:?}");
            assert_eq!(plan["inputs"], json!(["git"]), "those of the policy");
        }
    }

    #[test]
    fn what_was_given_beside_a_requirement_is_added_and_never_takes_away() {
        let mut request = intended(&["cargo", "test"], "/w");
        request["expect"] = json!([{"kind": "line", "expected": "ok"}]);
        let plan = planned(&request).unwrap();
        assert_eq!(plan["expect"].as_array().unwrap().len(), 2);
        request["expect"] = json!([{"kind": "exit-code", "expected": [0]}]);
        assert!(planned(&request).is_ok(), "what is success anyway");
        request["expect"] = json!([{"kind": "exit-code", "expected": [0, 101]}]);
        let fault = planned(&request).unwrap_err();
        assert!(fault.message.contains("`tests`"), "{}", fault.message);
        request["expect"] = json!([]);
        request["inputs"] = json!(["README.md"]);
        let fault = planned(&request).unwrap_err();
        assert!(fault.message.contains("`tests`"), "{}", fault.message);
        request["command"] = json!(["true"]);
        assert_eq!(planned(&request).unwrap()["inputs"], json!(["README.md"]));
    }

    #[test]
    fn an_exploration_meets_no_requirement_and_rests_on_nothing() {
        let mut request = intended(&["cargo", "test"], "/w");
        request["exploration"] = json!(true);
        let plan = planned(&request).unwrap();
        assert_eq!(plan["requirement"], Value::Null);
        assert_eq!(plan["inputs"], json!([]));
    }

    #[test]
    fn inputs_that_are_none_are_named() {
        let mut request = intended(&["true"], "/w");
        request["inputs"] = json!(["/etc"]);
        assert_eq!(
            planned(&request).unwrap_err().code,
            FaultCode::InvalidPolicy
        );
    }
}
