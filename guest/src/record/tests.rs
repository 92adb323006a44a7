//! Whole documents: what goes in, and every byte that comes out.

use std::rc::Rc;

use serde_json::{Value, json};

use super::{DocumentKind, build, identify, intend, note_drop, recover};
use crate::capture::{Capture, Captured, Source};
use crate::fault::FaultCode;
use crate::gate::{Decision, ReasonCode, may_continue};
use crate::policy::Policy;

const LINE_LIMIT: usize = 256 * 1024;

/// What the store adds: a sequence number, two digests, and their keys.
const SEAL: usize = 160;

thread_local! {
    /// The default policy: compiling the rules once per test is enough.
    static POLICY: Rc<Policy> = Rc::new(Policy::parse("", "").unwrap());
}

pub(super) fn policy() -> Rc<Policy> {
    POLICY.with(Rc::clone)
}

pub(super) fn request() -> Value {
    json!({
        "command_id": "0190-a", "parent_command_id": null, "attempt": 1,
        "command": [{"text": "cargo"}, {"text": "test"}], "cwd": {"text": "/w"},
        "agent_note": "12 passed", "started_at": "2026-03-01T12:00:00.000Z",
        "component": "sha256:aa", "policy": "sha256:bb", "runner": "0.1.0"
    })
}

fn with(mut document: Value, key: &str, value: Value) -> Value {
    document[key] = value;
    document
}

pub(super) fn ending(outcome: &Value) -> Value {
    json!({
        "outcome": outcome, "duration_ms": 12, "error": null,
        "stdout": {"last_byte_ms": 3}, "stderr": {"last_byte_ms": null},
        "usage": {"max_rss_bytes": 1000, "user_ms": 1, "system_ms": 0},
        "leftovers": [], "stages": []
    })
}

fn captured(stdout: &str, stderr: &str) -> Captured {
    captured_by(&policy(), stdout, stderr)
}

fn captured_by(policy: &Policy, stdout: &str, stderr: &str) -> Captured {
    let mut capture = Capture::new(Rc::clone(&policy.redaction), policy.excerpt.clone());
    capture.push(Source::Stdout, stdout.as_bytes());
    capture.push(Source::Stderr, stderr.as_bytes());
    capture.finish()
}

fn intent_of(request: &Value) -> String {
    intend(&policy(), &request.to_string()).unwrap()
}

pub(super) fn body_of(request: &Value, ending: &Value) -> Value {
    let intent = intent_of(request);
    let body = build(
        &policy(),
        &intent,
        captured("out", "err"),
        &ending.to_string(),
    )
    .unwrap();
    serde_json::from_str(&body).unwrap()
}

fn request_fault(request: &Value) -> (FaultCode, String) {
    let fault = intend(&policy(), &request.to_string()).unwrap_err();
    (fault.code, fault.message)
}

#[test]
fn an_intent_says_what_will_be_started() {
    assert_eq!(
        intent_of(&request()),
        concat!(
            r#"{"schema_version":"1.0","kind":"intent","command_id":"0190-a","#,
            r#""parent_command_id":null,"attempt":1,"command":["cargo","test"],"cwd":"/w","#,
            r#""agent_note":"12 passed","started_at":"2026-03-01T12:00:00.000Z","#,
            r#""component":"sha256:aa","policy":"sha256:bb","runner":"0.1.0","#,
            r#""redactions":{"count":0,"rules":{}}}"#
        )
    );
}

#[test]
fn a_body_has_its_keys_in_the_order_of_the_specification() {
    let body = body_of(&request(), &ending(&json!({"kind": "exited", "code": 0})));
    let keys: Vec<&str> = body
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "schema_version",
            "kind",
            "command_id",
            "parent_command_id",
            "attempt",
            "command",
            "cwd",
            "agent_note",
            "started_at",
            "duration_ms",
            "outcome",
            "exit_code",
            "stdout_tail",
            "stderr_tail",
            "stdout",
            "stderr",
            "redactions",
            "usage",
            "component",
            "policy",
            "runner",
        ]
    );
    assert_eq!(body["kind"], "run");
    assert_eq!(body["exit_code"], 0);
    assert_eq!(body["stdout_tail"], "out");
    assert_eq!(body["stderr_tail"], "err");
    assert_eq!(body["stdout"]["last_byte_ms"], 3);
    assert_eq!(body["stderr"]["last_byte_ms"], Value::Null);
}

#[test]
fn an_exit_code_is_a_number_for_exited_alone() {
    for (outcome, error, signal, detail) in [
        (
            json!({"kind": "signaled", "signal": 9, "name": "SIGKILL", "hint": "out of memory"}),
            "killed by signal 9 (SIGKILL)",
            json!(9),
            json!({"name": "SIGKILL", "core_dumped": false, "hint": "out of memory"}),
        ),
        (
            json!({"kind": "timed-out", "limit": "deadline", "after_ms": 30000, "escalated": true, "then": {"exit_code": 0}}),
            "timed out after 30 s",
            Value::Null,
            json!({"limit": "deadline", "after_ms": 30000, "escalated": true, "then": {"exit_code": 0}}),
        ),
        (
            json!({"kind": "timed-out", "limit": "silence", "after_ms": 500, "then": {"signal": 15}}),
            "no output for 500 ms",
            Value::Null,
            json!({"limit": "silence", "after_ms": 500, "escalated": false, "then": {"signal": 15}}),
        ),
        (
            json!({"kind": "cancelled", "signal": 2, "name": "SIGINT", "then": {"exit_code": 130}}),
            "cancelled by SIGINT",
            Value::Null,
            json!({"signal": 2, "name": "SIGINT", "escalated": false, "then": {"exit_code": 130}}),
        ),
        (
            json!({"kind": "not-started", "cause": "program-not-found", "errno": "ENOENT"}),
            "program not found: `cargo` (ENOENT)",
            Value::Null,
            json!({"cause": "program-not-found", "errno": "ENOENT"}),
        ),
        (
            json!({"kind": "runner-died"}),
            "the runner died during the run",
            Value::Null,
            Value::Null,
        ),
    ] {
        let body = body_of(&request(), &ending(&outcome));
        assert_eq!(body["exit_code"], Value::Null, "{outcome}");
        assert_eq!(body["outcome"], outcome["kind"]);
        assert_eq!(body["error"], error);
        assert_eq!(body["signal"], signal);
        assert_eq!(body["outcome_detail"], detail);
        let verdict = may_continue(&policy(), &body.to_string());
        assert_eq!(verdict.reasons.len(), 1, "{:?}", verdict.reasons);
    }
}

#[test]
fn every_exit_code_is_kept_as_it_is() {
    for code in [0, 1, 124, 125, 137, 141, 143, 255] {
        let body = body_of(
            &request(),
            &ending(&json!({"kind": "exited", "code": code})),
        );
        assert_eq!(body["exit_code"], code);
        assert!(body.get("error").is_none() && body.get("signal").is_none());
        let decision = may_continue(&policy(), &body.to_string()).decision;
        assert_eq!(decision == Decision::Pass, code == 0);
    }
}

#[test]
fn the_sentence_of_the_host_counts_for_a_run_that_did_not_start_and_only_there() {
    let told = |outcome: Value| with(ending(&outcome), "error", json!("no such\nthing: `x`"));
    let body = body_of(
        &request(),
        &told(json!({"kind": "not-started", "cause": "other"})),
    );
    assert_eq!(body["error"], "no such thing: `x`");
    let body = body_of(&request(), &told(json!({"kind": "signaled", "signal": 9})));
    assert_eq!(body["error"], "killed by signal 9");
}

#[test]
fn an_ending_that_contradicts_itself_is_a_fault() {
    let intent = intent_of(&request());
    let exited = || ending(&json!({"kind": "exited", "code": 0}));
    for (document, wanted) in [
        (
            with(exited(), "error", json!("x")),
            "`error`: a command that exited has none",
        ),
        (
            with(exited(), "duration_ms", Value::Null),
            "`duration_ms`: expected a whole number",
        ),
        (
            ending(&json!({"kind": "exited"})),
            "`outcome`: `code` is missing",
        ),
        (
            ending(&json!({"kind": "exited", "code": "hunter2"})),
            "`outcome.code`: expected a whole number, found a text",
        ),
        (
            ending(&json!({"kind": "exited", "code": null})),
            "`outcome`: ",
        ),
        (
            ending(&json!({"kind": "vanished"})),
            "`vanished` is not known",
        ),
        (json!({}), "`outcome`: missing"),
        (json!([]), "found a list"),
    ] {
        let fault = build(&policy(), &intent, captured("", ""), &document.to_string()).unwrap_err();
        assert_eq!(fault.code, FaultCode::InvalidJson);
        assert!(fault.message.contains(wanted), "{}", fault.message);
        assert!(!fault.message.contains("hunter2"), "{}", fault.message);
    }
}

#[test]
fn a_recovered_run_has_no_end_and_is_refused() {
    let body = recover(&intent_of(&request())).unwrap();
    let record: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(record["outcome"], "runner-died");
    assert_eq!(record["exit_code"], Value::Null);
    assert_eq!(record["duration_ms"], Value::Null);
    assert_eq!(record["agent_note"], "12 passed");
    assert_eq!(record["stdout"]["end_seen"], false);
    let verdict = may_continue(&policy(), &body);
    let codes: Vec<ReasonCode> = verdict.reasons.iter().map(|reason| reason.code).collect();
    assert_eq!(codes, [ReasonCode::RunnerDied]);
}

#[test]
fn a_note_is_one_short_line() {
    let note = |text: &str| {
        let request = with(request(), "agent_note", json!(text));
        let intent: Value = serde_json::from_str(&intent_of(&request)).unwrap();
        (
            intent["agent_note"].as_str().unwrap().to_owned(),
            intent["clamped"].clone(),
        )
    };
    assert_eq!(
        note("all\r\n12\tpass\n"),
        ("all 12 pass".to_owned(), Value::Null)
    );
    let (text, clamped) = note(&"é".repeat(1_005));
    assert_eq!(
        text,
        format!("{}...truncated 10 bytes...", "é".repeat(1_000))
    );
    assert_eq!(clamped, json!({ "agent_note": 10 }));
}

#[test]
fn what_is_not_utf8_keeps_its_bytes_beside_the_text() {
    let arguments =
        json!([{"text": "ls"}, {"text": "shown", "base64": "Zm//"}, {"base64": "Zm9v"}]);
    let asked = with(
        with(request(), "command", arguments),
        "cwd",
        json!({"base64": "L/8="}),
    );
    let body = body_of(&asked, &ending(&json!({"kind": "exited", "code": 0})));
    assert_eq!(body["command"], json!(["ls", "fo\u{fffd}", "foo"]));
    assert_eq!(body["command_base64"], json!([null, "Zm//", null]));
    assert_eq!(body["cwd"], "/\u{fffd}");
    assert_eq!(body["cwd_base64"], "L/8=");
}

/// The bytes of text before all markers, and what the markers and `clamped` say is missing.
fn account(body: &Value) -> (usize, usize, usize) {
    let (mut kept, mut marked) = (0, 0);
    for argument in body["command"].as_array().unwrap() {
        let text = argument.as_str().unwrap();
        match text.split_once("...truncated ") {
            Some((before, marker)) => {
                kept += before.len();
                let words: Vec<&str> = marker.split([' ', ',']).collect();
                let bytes = words
                    .iter()
                    .position(|word| word.starts_with("bytes"))
                    .unwrap();
                marked += words[bytes - 1].parse::<usize>().unwrap();
            }
            None => kept += text.len(),
        }
    }
    let clamped = body["clamped"]["command"].as_u64().unwrap_or_default();
    (kept, marked, usize::try_from(clamped).unwrap())
}

#[test]
fn a_command_of_any_size_fits_into_a_line_and_what_is_missing_is_counted() {
    let long = |text: &str, times: usize| text.repeat(times);
    let commands: Vec<Vec<String>> = vec![
        vec![long("x", 2_000_000)],
        vec!["sh".to_owned(), "-c".to_owned(), long("é\"\n", 50_000)],
        vec![long("\u{1}", 10_000); 3],
        vec!["ab".to_owned(); 9_000],
        vec![String::new(); 9_000],
        (0..300).map(|n| long("y", n)).collect(),
    ];
    for command in commands {
        let total: usize = command.iter().map(String::len).sum();
        let raw: Vec<Value> = command.iter().map(|text| json!({ "text": text })).collect();
        let asked = with(request(), "command", Value::from(raw));
        let intent = intent_of(&asked);
        assert!(intent.len() < 64 * 1024, "{}", intent.len());
        let ending = ending(&json!({"kind": "exited", "code": 0})).to_string();
        let body = build(&policy(), &intent, captured("", ""), &ending).unwrap();
        let (kept, marked, clamped) = account(&serde_json::from_str(&body).unwrap());
        assert_eq!(kept + marked, total);
        assert!(clamped == marked && clamped > 0 || total == 0 && clamped == 1);
    }
}

#[test]
fn a_command_that_just_fits_is_kept_whole() {
    let whole = |length: usize| {
        let asked = with(request(), "command", json!([{"text": "x".repeat(length)}]));
        let intent: Value = serde_json::from_str(&intent_of(&asked)).unwrap();
        intent.get("clamped").is_none()
    };
    assert!(whole(16 * 1024));
    assert!(!whole(16 * 1024 + 1));
}

#[test]
fn the_largest_record_fits_into_a_line() {
    let everything = "\"\\".repeat(10_000);
    let name = "\"".repeat(300);
    // Every byte is shown as three and comes back as base64.
    let bytes = super::base64::encode(&[0xff; 5_400]);
    let arguments: Vec<Value> = (0..40).map(|_| json!({ "base64": bytes })).collect();
    let mut asked = with(request(), "command", Value::from(arguments));
    for key in ["agent_note", "component", "policy", "runner"] {
        asked[key] = json!(everything);
    }
    asked["cwd"] = json!({ "text": everything });
    asked["project"] = json!(everything);
    let digest = format!("sha256:{}", "0".repeat(64));
    let patterns = vec!["\"".repeat(500); 8];
    asked["inputs"] =
        json!({"patterns": patterns, "folder": everything, "files": u64::MAX, "before": digest});
    asked["expect"] = json!([{ "kind": "line", "expected": "\"".repeat(900) }]);
    let mut end = ending(&json!({"kind": "not-started", "cause": "other", "errno": everything}));
    end["error"] = json!(everything);
    end["leftovers"] = json!(vec![
        json!({"pid": 4_194_304, "name": name, "fate": "kept"});
        500
    ]);
    end["stages"] = json!(vec![json!({"command": name, "exit_code": 255}); 500]);
    let kept = json!({"file": everything, "bytes": u64::MAX, "lines": u64::MAX,
        "bytes_omitted": u64::MAX, "lines_omitted": u64::MAX,
        "sha256": format!("sha256:{}", "0".repeat(64)), "error": everything});
    end["kept"] = json!({"stdout": kept, "stderr": kept});
    let changed = vec![json!({"path": everything, "how": "removed"}); 9];
    end["inputs"] = json!({"after": digest, "changed": changed, "changed_omitted": u64::MAX});
    let streams = "\"".repeat(32 * 1024);
    let intent = intent_of(&asked);
    let body = build(
        &policy(),
        &intent,
        captured_by(
            &Policy::parse(r#"{"excerpt":{"max_bytes":65536}}"#, "").unwrap(),
            &streams,
            &streams,
        ),
        &end.to_string(),
    )
    .unwrap();
    assert!(body.len() + SEAL < LINE_LIMIT, "{}", body.len());
    let record: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(record["clamped"]["leftovers"], 436);
    assert_eq!(record["clamped"]["stages"], 436);
    assert!(record.get("command_base64").is_none());
}

#[test]
fn what_was_kept_of_a_stream_stands_with_its_numbers_redacted() {
    let sha256 = format!("sha256:{}", "0f".repeat(32));
    let token = format!("ghp_{}", "aB3dE5gH".repeat(5));
    let mut end = ending(&json!({"kind": "exited", "code": 0}));
    end["kept"] = json!({
        "stdout": {"file": "r.jsonl.output/0190-a.stdout", "bytes": 4, "lines": 1, "sha256": sha256},
        "stderr": {"bytes": 0, "lines": 0, "bytes_omitted": 9, "lines_omitted": 2,
            "error": format!("cannot create `{token}`: no space")}});
    let body = body_of(&request(), &end);
    assert_eq!(
        body["stdout"]["kept"],
        json!({"file": "r.jsonl.output/0190-a.stdout", "bytes": 4, "lines": 1, "sha256": sha256})
    );
    let stderr = &body["stderr"]["kept"];
    assert_eq!(stderr["lines_omitted"], 2);
    assert!(!stderr.to_string().contains(&token), "{stderr}");
    assert_eq!(body["redactions"]["lines"][0]["in"], "stderr.kept");
}

#[test]
fn a_kept_file_without_a_digest_is_a_fault() {
    for kept in [
        json!({"file": "f", "bytes": 4, "lines": 1}),
        json!({"file": "f", "bytes": 4, "lines": 1, "sha256": "sha256:0"}),
        json!({"bytes": 4, "lines": 1, "name": "f"}),
        json!({"bytes": -4, "lines": 1}),
    ] {
        let mut end = ending(&json!({"kind": "exited", "code": 0}));
        end["kept"] = json!({ "stdout": kept });
        let captured = captured("", "");
        let built = build(
            &policy(),
            &intent_of(&request()),
            captured,
            &end.to_string(),
        );
        let fault = built.unwrap_err();
        assert_eq!(fault.code, FaultCode::InvalidJson);
        assert!(fault.message.contains("kept"), "{}", fault.message);
    }
}

#[test]
fn a_pattern_hides_what_its_escaped_punctuation_stands_for() {
    let secret = "q8Zr2".repeat(5);
    let escaped = [
        format!(r"password\={secret}"),
        format!(r"X\-Api\-Key\:\ {secret}"),
        [
            "SG",
            "aB3dE6gH9jK2mN5pQ8sT1v",
            "wX4zA7cF0hJ3lM6oR9uY2bD5eG8iK1nP4qS7tV0x",
        ]
        .join(r"\."),
    ];
    for pattern in escaped {
        let expect = json!([{"kind": "line", "expected": pattern}]);
        let intent = intent_of(&with(request(), "expect", expect));
        assert!(intent.contains("[REDACTED"), "{intent}");
        assert!(
            !intent.contains(&secret) && !intent.contains("wX4zA7cF0h"),
            "{intent}"
        );
    }
    let plain = json!([{"kind": "line", "expected": r"^(\d+) passed\.$"}]);
    let intent = intent_of(&with(request(), "expect", plain));
    assert!(intent.contains(r"^(\\d+) passed\\.$"), "{intent}");
}

#[test]
fn declared_expectations_hold_only_where_somebody_judged_them() {
    let expect = json!([
        {"kind": "exit-code", "expected": [0, 2]},
        {"kind": "line", "expected": "12 passed"}
    ]);
    let asked = with(request(), "expect", expect);
    let body = body_of(&asked, &ending(&json!({"kind": "exited", "code": 2})));
    let wanted = json!([
        {"kind": "exit-code", "expected": [0, 2], "held": true, "seen": 2},
        {"kind": "line", "expected": "12 passed", "held": false,
            "seen": {"undecided": "the output was not read to its end"}}
    ]);
    assert_eq!(body["expectations"], wanted);
    let many = json!(vec![
        json!({"kind": "line", "expected": "x".repeat(900)});
        20
    ]);
    let (code, message) = request_fault(&with(request(), "expect", many));
    assert_eq!(code, FaultCode::LimitExceeded);
    assert!(message.contains("`expect`"), "{message}");
}

#[test]
fn leftovers_and_stages_are_kept() {
    let mut end = ending(&json!({"kind": "exited", "code": 0}));
    end["leftovers"] = json!([{"pid": 7, "name": "sleep", "fate": "survived"}]);
    end["stages"] = json!([{"command": "a", "exit_code": 1}, {"exit_code": null, "signal": 13}]);
    let body = body_of(&request(), &end);
    assert_eq!(body["leftovers"], end["leftovers"]);
    let wanted = json!([
        {"command": "a", "exit_code": 1, "signal": null},
        {"command": null, "exit_code": null, "signal": 13}
    ]);
    assert_eq!(body["stages"], wanted);
}

#[test]
fn a_request_that_does_not_fit_is_a_fault_that_shows_no_value() {
    for (key, value, wanted) in [
        (
            "command_id",
            json!("hunter2 hunter2"),
            "`command_id`: expected the id of a record",
        ),
        (
            "command_id",
            json!(""),
            "`command_id`: expected the id of a record",
        ),
        (
            "parent_command_id",
            json!("x".repeat(65)),
            "`parent_command_id`: ",
        ),
        (
            "attempt",
            json!(0),
            "`attempt`: attempts are counted from 1",
        ),
        (
            "attempt",
            json!(-1),
            "`attempt`: expected a whole number, found -1",
        ),
        (
            "command",
            json!([]),
            "`command`: expected at least the program",
        ),
        (
            "command",
            json!(["hunter2"]),
            "`command[0]`: expected an object, found a text",
        ),
        (
            "command",
            json!([{"text": "a"}, {}]),
            "`command[1]`: expected `text` or `base64`",
        ),
        (
            "command",
            json!([{"base64": "hunter2"}]),
            "`command[0]`: expected base64",
        ),
        (
            "cwd",
            json!("hunter2"),
            "`cwd`: expected an object, found a text",
        ),
        (
            "cwd",
            json!({"text": ["hunter2"]}),
            "`cwd.text`: expected a text, found a list",
        ),
        (
            "started_at",
            json!("hunter2"),
            "`started_at`: expected an RFC 3339 time",
        ),
        (
            "agent_note",
            json!({"hunter2": 1}),
            "`agent_note`: expected a text, found an object",
        ),
    ] {
        let (code, message) = request_fault(&with(request(), key, value));
        assert_eq!(code, FaultCode::InvalidJson);
        assert!(message.contains(wanted), "{message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
    let fault = intend(&policy(), "{\"command_id\": hunter2}").unwrap_err();
    assert!(
        fault.message.contains("line 1 column 16"),
        "{}",
        fault.message
    );
    assert!(!fault.message.contains("hunter2"));
}

#[test]
fn a_newer_minor_schema_is_read_and_another_major_is_not() {
    let intent = intent_of(&request());
    let minor = intent.replacen("\"1.0\"", "\"1.9\",\"new\":{\"x\":[]}", 1);
    assert!(recover(&minor).is_ok());
    let major = intent.replacen("\"1.0\"", "\"2.0\"", 1);
    let codes = [
        recover(&major).unwrap_err().code,
        identify(&major).unwrap_err().code,
        build(&policy(), &major, captured("", ""), "{}")
            .unwrap_err()
            .code,
    ];
    assert_eq!(codes, [FaultCode::UnsupportedSchema; 3]);
    assert_eq!(recover("{}").unwrap_err().code, FaultCode::InvalidJson);
}

#[test]
fn every_document_says_whose_it_is() {
    let intent = intent_of(&request());
    let identity = identify(&intent).unwrap();
    assert_eq!(
        (identity.command_id.as_str(), identity.kind),
        ("0190-a", DocumentKind::Intent)
    );
    let body = recover(&intent).unwrap();
    assert_eq!(identify(&body).unwrap().kind, DocumentKind::Body);
    assert!(recover(&body).is_err());
    let facts = json!({
        "command_id": "0190-d", "at": "2026-03-01T12:00:00.000Z", "files": 1,
        "first_seq": 1, "last_seq": 900
    });
    let notice = note_drop(&facts.to_string()).unwrap();
    assert_eq!(
        notice,
        concat!(
            r#"{"schema_version":"1.0","kind":"drop","command_id":"0190-d","#,
            r#""at":"2026-03-01T12:00:00.000Z","files":1,"first_seq":1,"last_seq":900}"#
        )
    );
    let identity = identify(&notice).unwrap();
    assert_eq!(
        (identity.command_id.as_str(), identity.kind),
        ("0190-d", DocumentKind::Body)
    );
    for text in [
        "",
        "{}",
        "[]",
        r#"{"schema_version":"1.0","kind":"x","command_id":"a"}"#,
    ] {
        assert_eq!(
            identify(text).unwrap_err().code,
            FaultCode::InvalidJson,
            "{text}"
        );
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let asked = request().to_string();
    let end = ending(&json!({"kind": "exited", "code": 0})).to_string();
    let once = || {
        let intent = intend(&policy(), &asked).unwrap();
        build(&policy(), &intent, captured("a", "b"), &end).unwrap()
    };
    assert_eq!(once(), once());
}

/// A token that opens nothing, made so that none stands in the source.
fn token() -> String {
    format!("{}_{}", "ghp", "a1B2c3D4e5".repeat(4).split_at(36).0)
}

#[test]
fn nothing_unredacted_is_in_an_intent_or_a_body() {
    let secret = token();
    let mut asked = request();
    asked["command"] = json!([{"text": "echo"}, {"text": secret}, {"text": format!("a {secret}")}]);
    asked["cwd"] = json!({ "text": format!("/w/{secret}/x") });
    asked["agent_note"] = json!(format!("uses\n{secret}"));
    asked["runner"] = json!(secret);
    asked["expect"] = json!([{ "kind": "line", "expected": format!("a {secret} b") }]);
    let mut end = ending(&json!({"kind": "not-started", "cause": "other", "errno": secret}));
    end["error"] = json!(format!("no such program: `{secret}`"));
    end["leftovers"] = json!([{ "pid": 7, "name": secret, "fate": "kept" }]);
    end["stages"] = json!([{ "command": format!("echo {secret}"), "exit_code": 0 }]);
    let intent = intent_of(&asked);
    assert!(!intent.contains(&secret), "{intent}");
    let streams = captured(&secret, &secret);
    let body = build(&policy(), &intent, streams, &end.to_string()).unwrap();
    assert!(!body.contains(&secret), "{body}");
    assert!(!recover(&intent).unwrap().contains(&secret));
    let record: Value = serde_json::from_str(&body).unwrap();
    let lines = record["redactions"]["lines"].as_array().unwrap();
    let places: Vec<&str> = lines
        .iter()
        .map(|line| line["in"].as_str().unwrap())
        .collect();
    for place in [
        "command",
        "cwd",
        "agent_note",
        "runner",
        "expectations",
        "error",
        "outcome_detail",
        "leftovers",
        "stages",
        "stdout",
        "stderr",
    ] {
        assert!(places.contains(&place), "{place}: {places:?}");
    }
    let told: u64 = lines
        .iter()
        .map(|line| line["count"].as_u64().unwrap())
        .sum();
    assert_eq!(record["redactions"]["count"], told);
}

#[test]
fn the_bytes_of_a_redacted_command_are_not_kept() {
    let secret = super::base64::encode(&[token().as_bytes(), &[b' ', 0xff]].concat());
    let other = super::base64::encode(&[b'x', 0xff]);
    let arguments = json!([{"text": "echo"}, {"base64": secret}, {"base64": other}]);
    let asked = with(request(), "command", arguments);
    let asked = with(asked, "cwd", json!({ "base64": secret }));
    let intent: Value = serde_json::from_str(&intent_of(&asked)).unwrap();
    assert!(intent.get("command_base64").is_none() && intent.get("cwd_base64").is_none());
    assert_eq!(intent["command"][2], "x\u{fffd}");
}

#[test]
fn a_flag_and_its_value_are_read_together() {
    let value = ["correct", "horse", "7staple"].concat();
    let arguments = json!([{"text": "login"}, {"text": "--password"}, {"text": value}]);
    let intent = intent_of(&with(request(), "command", arguments));
    assert!(!intent.contains(&value), "{intent}");
}

#[test]
fn a_known_value_is_hidden_in_a_note() {
    let value = ["blue", "Giraffe", "42"].concat();
    let environment = json!({ "DB_PASSWORD": value }).to_string();
    let knowing = Policy::parse("", &environment).unwrap();
    let asked = with(request(), "agent_note", json!(format!("log in as {value}")));
    let intent = intend(&knowing, &asked.to_string()).unwrap();
    assert!(!intent.contains(&value), "{intent}");
}

#[test]
fn a_secret_is_not_cut_before_it_is_hidden() {
    let secret = token();
    for lead in 990..1_000 {
        let note = format!("{} {secret}", "n".repeat(lead));
        let intent = intent_of(&with(request(), "agent_note", json!(note)));
        assert!(!intent.contains(secret.split_at(5).0), "{lead}");
    }
}

#[test]
fn an_id_that_is_a_secret_is_a_fault() {
    let (_, message) = request_fault(&with(request(), "parent_command_id", json!(token())));
    assert_eq!(
        message,
        "request: `parent_command_id`: expected the id of a record"
    );
}

/// A body whose capture was told what to expect, as a host does it.
fn watched(expect: &Value, out: &str, end: &Value, exploration: bool) -> Value {
    let policy = policy();
    let mut asked = request();
    asked["expect"] = expect.clone();
    asked["exploration"] = json!(exploration);
    let options = json!({ "expect": expect }).to_string();
    let mut capture = policy.capture(&options).unwrap();
    capture.push(Source::Stdout, out.as_bytes());
    capture.end(Source::Stdout);
    capture.end(Source::Stderr);
    let intent = intent_of(&asked);
    let body = build(&policy, &intent, capture.finish(), &end.to_string()).unwrap();
    serde_json::from_str(&body).unwrap()
}

#[test]
fn a_record_says_which_expectation_held_and_what_was_seen() {
    let expect = json!([
        {"kind": "min-count", "expected": {"pattern": "N passed", "count": 12}},
        {"kind": "no-line", "expected": "panicked"}
    ]);
    let exited = ending(&json!({"kind": "exited", "code": 0}));
    let body = watched(&expect, "0 passed\n", &exited, false);
    let wanted = json!([
        {"kind": "min-count", "expected": {"pattern": "N passed", "count": 12}, "held": false,
            "seen": {"in": "stdout", "line": 1, "text": "0 passed", "number": 0}},
        {"kind": "no-line", "expected": "panicked", "held": true, "seen": null}
    ]);
    assert_eq!(body["expectations"], wanted);
    assert_eq!(body["failure_signature"].as_str().unwrap().len(), 16);
    let verdict = may_continue(&policy(), &body.to_string());
    let codes: Vec<ReasonCode> = verdict.reasons.iter().map(|reason| reason.code).collect();
    assert_eq!(codes, [ReasonCode::UnmetExpectation]);
    let body = watched(&expect, "12 passed\n", &exited, false);
    assert!(body.get("failure_signature").is_none());
    let verdict = may_continue(&policy(), &body.to_string());
    assert_eq!(verdict.decision, Decision::Pass);
}

#[test]
fn what_the_capture_was_told_instead_of_the_intent_does_not_count() {
    let policy = policy();
    let mut asked = request();
    asked["expect"] = json!([{"kind": "line", "expected": "12 passed"}]);
    let options = json!({"expect": [{"kind": "line", "expected": "."}]}).to_string();
    let mut capture = policy.capture(&options).unwrap();
    capture.push(Source::Stdout, b"anything\n");
    let exited = ending(&json!({"kind": "exited", "code": 0}));
    let body = build(
        &policy,
        &intent_of(&asked),
        capture.finish(),
        &exited.to_string(),
    )
    .unwrap();
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["expectations"][0]["held"], false);
}

#[test]
fn an_exploration_is_marked_and_its_failure_has_no_signature() {
    let failed = ending(&json!({"kind": "exited", "code": 1}));
    let body = watched(&json!([]), "x\n", &failed, true);
    assert_eq!(body["exploration"], true);
    assert!(body.get("failure_signature").is_none());
    let body = watched(&json!([]), "x\n", &failed, false);
    assert!(body.get("exploration").is_none());
    assert!(body.get("failure_signature").is_some());
    let mut both = request();
    both["exploration"] = json!(true);
    both["expect"] = json!([{"kind": "line", "expected": "x"}]);
    let (code, message) = request_fault(&both);
    assert_eq!(code, FaultCode::InvalidJson);
    assert!(message.contains("`exploration`"), "{message}");
    let forbids = Policy::parse(r#"{"gate":{"explore":"forbid"}}"#, "").unwrap();
    both["expect"] = json!([]);
    let fault = intend(&forbids, &both.to_string()).unwrap_err();
    assert_eq!(fault.code, FaultCode::InvalidPolicy);
}

#[test]
fn the_lines_of_many_expectations_leave_a_record_within_its_limit() {
    let line = "\"".repeat(5_000);
    let expect: Vec<Value> = (0..30)
        .map(|number| json!({"kind": "line", "expected": format!("[\"]{{{}}}", number + 1)}))
        .collect();
    let exited = ending(&json!({"kind": "exited", "code": 1}));
    let body = watched(&json!(expect), &line, &exited, false);
    assert_eq!(body["expectations"].as_array().unwrap().len(), 30);
    // The largest record without expectations has this much room left.
    assert!(body["expectations"].to_string().len() < 48 * 1024);
}
