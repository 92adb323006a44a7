//! The decision table of `GATE.md`, and every combination against a rule written down apart.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::{Decision, Verdict, may_continue};
use crate::policy::Policy;

const TABLE: &str = include_str!("../../GATE.md");

/// A whole record of this outcome.
pub(super) fn record(kind: &str, outcome: &str, exit_code: &Value) -> Map<String, Value> {
    let mut record = json!({
        "schema_version": "1.0", "kind": kind, "command_id": "id-1", "parent_command_id": null,
        "attempt": 1, "command": ["cargo", "test"], "cwd": "/w", "agent_note": null,
        "started_at": "2026-03-01T12:00:00.000Z", "duration_ms": 12,
        "outcome": outcome, "exit_code": exit_code, "stdout_tail": "", "stderr_tail": "",
        "stdout": {"bytes": 0, "lines": 0, "end_seen": true},
        "stderr": {"bytes": 0, "lines": 0, "end_seen": true},
        "redactions": {"count": 0, "rules": {}}, "component": "sha256:00", "policy": "", "runner": "0.1.0"
    });
    if outcome != "exited" {
        record["error"] = json!("a reason");
    }
    match outcome {
        "signaled" => record["signal"] = json!(9),
        "runner-died" => record["duration_ms"] = Value::Null,
        _ => {}
    }
    record.as_object().cloned().unwrap()
}

thread_local! {
    /// The default policy: compiling the rules once per test is enough.
    static DEFAULTS: Rc<Policy> = Rc::new(Policy::parse("", "").unwrap());
}

pub(super) fn policy(text: &str) -> Rc<Policy> {
    if text.is_empty() {
        DEFAULTS.with(Rc::clone)
    } else {
        Rc::new(Policy::parse(text, "").unwrap())
    }
}

fn answer(verdict: &Verdict) -> String {
    let codes = verdict.reasons.iter();
    let mut codes: Vec<&str> = codes.map(|reason| reason.code.as_str()).collect();
    codes.dedup();
    match verdict.decision {
        Decision::Pass => "pass".to_owned(),
        Decision::Undecided => "undecided".to_owned(),
        Decision::Refuse => codes.join(", "),
    }
}

fn judged(policy: &Policy, keys: Map<String, Value>) -> Verdict {
    may_continue(policy, &Value::Object(keys).to_string())
}

#[test]
fn every_row_of_the_table_is_what_the_gate_says() {
    let policy = policy("");
    let mut rows = 0;
    for row in TABLE.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<String> = row
            .trim_matches('|')
            .split(" |")
            .map(|cell| cell.replace('`', "").trim().to_owned())
            .collect();
        let [kind, outcome, exit_code, also, wanted] = cells.as_slice() else {
            panic!("{row}");
        };
        let mut keys = record(kind, outcome, &serde_json::from_str(exit_code).unwrap());
        if outcome == "null" {
            keys.remove("outcome");
            keys.remove("error");
        }
        let also: Map<String, Value> = serde_json::from_str(&format!("{{{also}}}")).unwrap();
        keys.extend(also);
        assert_eq!(&answer(&judged(&policy, keys)), wanted, "{row}");
        rows += 1;
    }
    assert_eq!(rows, 106);
}

/// The values that a key takes in turn: absent, null, and others.
fn variants(key: &str) -> Vec<Option<Value>> {
    let values = match key {
        "kind" => json!(["run", "fallback", "drop", "intent"]),
        "outcome" => json!([
            null,
            "exited",
            "signaled",
            "timed-out",
            "cancelled",
            "not-started",
            "runner-died",
            "x"
        ]),
        "exit_code" => json!([null, 0, 1, 124, 137, -1, "0", 0.0, true, [0]]),
        "signal" => json!([null, 0, 9]),
        "error" => json!([null, "", "a reason"]),
        _ => json!([null, 0, 5]),
    };
    let values = values.as_array().unwrap().clone();
    std::iter::once(None)
        .chain(values.into_iter().map(Some))
        .collect()
}

/// Every combination, taking one key after the other.
fn combinations(keys: &[&str]) -> Vec<Map<String, Value>> {
    let Some((key, rest)) = keys.split_first() else {
        return vec![Map::new()];
    };
    let mut all = Vec::new();
    for tail in combinations(rest) {
        for value in variants(key) {
            let mut combination = tail.clone();
            combination.insert((*key).to_owned(), value.unwrap_or(json!("absent")));
            all.push(combination);
        }
    }
    all
}

#[test]
fn of_all_combinations_only_exited_zero_without_contradiction_passes() {
    let policy = policy("");
    let keys = [
        "kind",
        "outcome",
        "exit_code",
        "signal",
        "error",
        "duration_ms",
    ];
    let (mut passes, mut total) = (0, 0);
    for combination in combinations(&keys) {
        let mut keys = record("run", "exited", &json!(0));
        for (key, value) in &combination {
            if value == "absent" {
                keys.remove(key);
            } else {
                keys.insert(key.clone(), value.clone());
            }
        }
        let has = |key: &str| keys.get(key).is_some_and(|value| !value.is_null());
        let success = keys.get("kind") == Some(&json!("run"))
            && keys.get("outcome") == Some(&json!("exited"))
            && keys.get("exit_code") == Some(&json!(0))
            && !has("signal")
            && !has("error")
            && has("duration_ms");
        let verdict = judged(&policy, keys);
        assert_eq!(
            verdict.decision == Decision::Pass,
            success,
            "{combination:?}"
        );
        assert_eq!(verdict.reasons.is_empty(), success, "{combination:?}");
        passes += u32::from(success);
        total += 1;
    }
    // Signal and error each absent or null, and two durations.
    assert_eq!((passes, total), (8, 5 * 9 * 11 * 4 * 4 * 4));
}

#[test]
fn a_failing_outcome_keeps_its_own_reason_whatever_else_is_wrong() {
    let policy = policy("");
    for combination in combinations(&["exit_code", "signal", "error", "duration_ms"]) {
        for (outcome, code) in [
            ("signaled", "signaled"),
            ("timed-out", "timed-out"),
            ("cancelled", "cancelled"),
            ("not-started", "not-started"),
            ("runner-died", "runner-died"),
        ] {
            let mut keys = record("run", outcome, &Value::Null);
            keys.extend(
                combination
                    .clone()
                    .into_iter()
                    .filter(|(_, value)| value != "absent"),
            );
            let verdict = judged(&policy, keys);
            let first = verdict.reasons.first().unwrap().code.as_str();
            assert!(
                first == code || first == "store-damaged",
                "{outcome} {combination:?}"
            );
        }
    }
}
