//! Requirements, inputs, and where evidence begins.

use serde_json::{Map, Value, json};

use super::table_tests::{policy, record};
use super::{Decision, ReasonCode, Review, Verdict};
use crate::policy::Policy;
use crate::requirement::plan;

const NOW: &str = "2026-03-01T13:00:00.000Z";

pub(super) const REQUIRED: &str = r#"{"gate": {"requirements": [
    {"name": "tests", "command": ["cargo", "test", "**", "!--no-run"], "max_age": "2h",
     "expect": [{"kind": "line", "expected": "ok"}], "inputs": ["git"]},
    {"name": "lint", "command": ["cargo", "clippy"]}]}}"#;

/// A record as the runner leaves it under a policy: the plan is declared and held.
pub(super) fn run(
    policy: &Policy,
    id: &str,
    command: &[&str],
    exit_code: i32,
) -> Map<String, Value> {
    let intended = json!({ "command": command, "cwd": "/w", "folder": "/w" });
    let planned: Value = plan(policy, &intended.to_string())
        .map(|json| serde_json::from_str(&json).unwrap())
        .unwrap();
    let mut keys = record("run", "exited", &json!(exit_code));
    keys.insert("command_id".to_owned(), json!(id));
    keys.insert("command".to_owned(), json!(command));
    if !planned["requirement"].is_null() {
        keys.insert("requirement".to_owned(), planned["requirement"].clone());
    }
    let held = planned["expect"].as_array().unwrap().iter().map(|expect| {
        let mut expect = expect.clone();
        expect["held"] = json!(true);
        expect["seen"] = json!({"in": "stdout", "line": 1, "text": "ok"});
        expect
    });
    keys.insert("expectations".to_owned(), held.collect());
    if planned["inputs"] != json!([]) {
        keys.insert(
            "inputs".to_owned(),
            inputs(&planned["inputs"], "sha256:a", "sha256:a"),
        );
    }
    keys
}

pub(super) fn inputs(patterns: &Value, before: &str, after: &str) -> Value {
    json!({ "patterns": patterns, "folder": "/w", "files": 2, "before": before, "after": after })
}

pub(super) fn review(
    policy: &Policy,
    facts: &Value,
    sight: &Value,
    runs: &[Map<String, Value>],
) -> Verdict {
    let mut all = json!({ "now": NOW, "folder": "/w" });
    all.as_object_mut()
        .unwrap()
        .extend(facts.as_object().unwrap().clone());
    let mut review = Review::start(policy, &all.to_string()).unwrap();
    for keys in runs {
        review.consider(&Value::Object(keys.clone()).to_string());
    }
    review.see_inputs(&sight.to_string()).unwrap();
    review.conclude()
}

/// The files are as they were.
pub(super) fn unchanged() -> Value {
    json!({ "folder": "/w", "inputs": [{ "patterns": ["git"], "digest": "sha256:a", "files": 2 }] })
}

pub(super) fn codes(verdict: &Verdict) -> Vec<(ReasonCode, &str)> {
    let reasons = verdict.reasons.iter();
    reasons
        .map(|reason| (reason.code, reason.command_id.as_str()))
        .collect()
}

/// The verdict over the runs, where the files are as they were.
pub(super) fn judged(runs: &[Map<String, Value>]) -> Verdict {
    review(&policy(REQUIRED), &json!({}), &unchanged(), runs)
}

pub(super) fn tests(id: &str, exit_code: i32) -> Map<String, Value> {
    run(&policy(REQUIRED), id, &["cargo", "test"], exit_code)
}

pub(super) fn lint() -> Map<String, Value> {
    run(&policy(REQUIRED), "lint", &["cargo", "clippy"], 0)
}

/// Naming the code of a failure beforehand makes it a success, but not one that is required.
#[test]
fn a_code_that_only_the_command_line_names_meets_no_requirement() {
    let widened = |id: &str, code: i32| {
        let mut keys = tests(id, code);
        let expected = json!({"kind": "exit-code", "expected": [101], "held": true, "seen": 101});
        let expectations = keys["expectations"].as_array_mut().unwrap();
        expectations.push(expected);
        keys
    };
    let verdict = judged(&[widened("a", 101), lint()]);
    assert_eq!(codes(&verdict), [(ReasonCode::NonZeroExit, "a")]);
    let verdict = judged(&[tests("a", 1), widened("b", 101), lint()]);
    let both = [
        (ReasonCode::NonZeroExit, "a"),
        (ReasonCode::NonZeroExit, "b"),
    ];
    assert_eq!(codes(&verdict), both, "and it makes up for nothing");
    let verdict = judged(&[widened("a", 101), tests("b", 0), lint()]);
    assert_eq!(verdict.decision, Decision::Pass);
}

#[test]
fn every_requirement_needs_a_record_and_names_its_evidence() {
    let verdict = judged(&[]);
    assert_eq!(verdict.decision, Decision::Refuse);
    assert_eq!(codes(&verdict), [(ReasonCode::NeverRun, ""); 2]);
    let reason = &verdict.reasons[0];
    assert!(
        reason.message.contains("`cargo test '**' '!--no-run'`"),
        "{}",
        reason.message
    );
    assert_eq!(reason.requirement, "tests");

    let verdict = judged(&[tests("a", 0), lint()]);
    assert_eq!(verdict.decision, Decision::Pass, "{:?}", verdict.reasons);
    let met: Vec<_> = verdict
        .evidence
        .iter()
        .map(|met| (&*met.requirement, &*met.command_id))
        .collect();
    assert_eq!(met, [("tests", "a"), ("lint", "lint")]);
}

#[test]
fn the_newest_run_of_a_requirement_is_the_one_that_counts() {
    assert_eq!(
        codes(&judged(&[tests("a", 0), tests("b", 1), lint()])),
        [(ReasonCode::NonZeroExit, "b")]
    );
    let verdict = judged(&[tests("a", 1), tests("b", 0), lint()]);
    assert_eq!(verdict.decision, Decision::Pass);
    assert_eq!(verdict.superseded.len(), 1);
}

#[test]
fn a_failure_of_a_required_command_is_not_made_up_for_by_another_command() {
    let policy = policy(REQUIRED);
    let mut trick = run(&policy, "b", &["true"], 0);
    trick.insert("parent_command_id".to_owned(), json!("a"));
    let narrow = run(&policy, "c", &["cargo", "test", "one"], 0);
    assert_eq!(
        codes(&judged(&[tests("a", 1), trick, narrow, lint()])),
        [(ReasonCode::NonZeroExit, "a")]
    );
    let mut retry = run(&policy, "d", &["cargo", "test", "-v"], 0);
    retry.insert("parent_command_id".to_owned(), json!("a"));
    assert_eq!(
        judged(&[tests("a", 1), retry, lint()]).decision,
        Decision::Pass
    );
}

#[test]
fn what_only_looks_the_same_makes_up_for_nothing_and_hides_nothing() {
    // Both ran in a directory that led to the project once, and elsewhere later.
    let linked = |id: &str, exit_code: i32| {
        let mut keys = tests(id, exit_code);
        keys.insert("cwd".to_owned(), json!("/link"));
        keys
    };
    let elsewhere = |id: &str| {
        let mut keys = linked(id, 0);
        keys.remove("requirement");
        keys
    };
    let stale = json!({ "inputs": [{ "patterns": ["git"], "digest": "sha256:b" }] });
    let runs = [linked("a", 0), elsewhere("b"), lint()];
    let verdict = review(&policy(REQUIRED), &json!({}), &stale, &runs);
    assert_eq!(codes(&verdict), [(ReasonCode::Stale, "a")]);
    let verdict = judged(&[linked("a", 1), elsewhere("b"), lint()]);
    assert_eq!(codes(&verdict), [(ReasonCode::NonZeroExit, "a")]);
}

#[test]
fn a_requirement_whose_newest_record_cannot_be_trusted_has_no_evidence() {
    let mut broken = tests("b", 0);
    broken.insert("signal".to_owned(), json!(9));
    let verdict = judged(&[tests("a", 0), broken, lint()]);
    let wanted = [
        (ReasonCode::ContradictoryRecord, "b"),
        (ReasonCode::NeverRun, ""),
    ];
    assert_eq!(codes(&verdict), wanted);
    assert_eq!(verdict.evidence.len(), 1);
}

#[test]
fn a_look_alike_is_no_evidence() {
    let policy = policy(REQUIRED);
    let look_alike = run(&policy, "a", &["cargo", "test", "--no-run"], 0);
    assert_eq!(
        codes(&judged(&[look_alike, lint()])),
        [(ReasonCode::NeverRun, "")]
    );
    let mut elsewhere = tests("a", 0);
    elsewhere.insert("cwd".to_owned(), json!("/tmp/w"));
    elsewhere.remove("requirement");
    assert_eq!(
        codes(&judged(&[elsewhere, lint()])),
        [(ReasonCode::NeverRun, "")]
    );
}

#[test]
fn a_record_of_another_copy_of_the_project_is_no_evidence_here() {
    let copied = review(
        &policy(REQUIRED),
        &json!({ "folder": "/copy" }),
        &unchanged(),
        &[lint()],
    );
    assert_eq!(codes(&copied), [(ReasonCode::NeverRun, ""); 2]);
}

/// The verdict goes to reports and build servers; the policy stays where it is.
#[test]
fn a_secret_in_a_requirement_is_not_told() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let policy = policy(
        &json!({"gate": {"requirements": [
            {"name": "deploy", "command": ["curl", "-u", format!("me:{secret}")], "cwd": secret}]}})
        .to_string(),
    );
    let verdict = review(&policy, &json!({}), &unchanged(), &[]);
    let told = &verdict.reasons[0].message;
    assert!(
        told.contains("`curl") && told.contains("[REDACTED"),
        "{told}"
    );
    assert!(!told.contains(secret.get(4..12).unwrap()), "{told}");
}

#[test]
fn a_run_without_what_is_required_is_refused_with_the_way_out() {
    for (key, value) in [
        ("requirement", Value::Null),
        (
            "requirement",
            json!({ "name": "tests", "digest": "sha256:00" }),
        ),
        ("requirement", json!({ "name": "lint" })),
    ] {
        let mut hand_run = tests("a", 0);
        hand_run.insert(key.to_owned(), value);
        let verdict = judged(&[hand_run, lint()]);
        assert_eq!(codes(&verdict), [(ReasonCode::UnmetExpectation, "a")]);
        assert!(verdict.reasons[0].remedy.contains("feedback run"));
        assert_eq!(verdict.evidence.len(), 1);
    }
}

#[test]
fn other_runs_count_only_where_the_policy_says_so() {
    let others = run(&policy(REQUIRED), "x", &["grep", "y"], 1);
    assert_eq!(
        judged(&[tests("a", 0), lint(), others.clone()]).decision,
        Decision::Pass
    );
    let strict =
        policy(&REQUIRED.replacen("\"gate\": {", "\"gate\": {\"others\": \"refuse\", ", 1));
    let runs = [tests("a", 0), lint(), others];
    let verdict = review(&strict, &json!({}), &unchanged(), &runs);
    assert_eq!(codes(&verdict), [(ReasonCode::NonZeroExit, "x")]);
}

#[test]
fn damage_and_contradictions_refuse_whatever_is_required() {
    let mut contradictory = run(&policy(REQUIRED), "x", &["grep", "y"], 0);
    contradictory.insert("signal".to_owned(), json!(9));
    let runs = [tests("a", 0), lint(), contradictory];
    assert_eq!(
        codes(&judged(&runs)),
        [(ReasonCode::ContradictoryRecord, "x")]
    );
    let facts = json!({ "damage": ["line 3 is torn"] });
    let verdict = review(
        &policy(REQUIRED),
        &facts,
        &unchanged(),
        &[tests("a", 0), lint()],
    );
    assert_eq!(codes(&verdict), [(ReasonCode::StoreDamaged, "")]);
}

#[test]
fn evidence_that_is_too_old_is_stale() {
    for (at, decision) in [
        ("2026-03-01T11:00:00.000Z", Decision::Pass),
        ("2026-03-01T10:59:59.999Z", Decision::Refuse),
    ] {
        let mut old = tests("a", 0);
        old.insert("started_at".to_owned(), json!(at));
        let verdict = judged(&[old, lint()]);
        assert_eq!(verdict.decision, decision, "{at}");
        let stale = [(ReasonCode::Stale, "a")];
        assert!(verdict.reasons.is_empty() || codes(&verdict) == stale);
    }
}

#[test]
fn only_the_newest_run_of_a_requirement_must_be_fresh() {
    let mut part = run(&policy(REQUIRED), "part", &["cargo", "test", "-p", "a"], 0);
    part.insert(
        "inputs".to_owned(),
        inputs(&json!(["git"]), "sha256:0", "sha256:0"),
    );
    let verdict = judged(&[part.clone(), tests("all", 0), lint()]);
    assert_eq!(verdict.decision, Decision::Pass);
    let verdict = judged(&[tests("all", 0), part.clone(), lint()]);
    assert_eq!(codes(&verdict), [(ReasonCode::Stale, "part")]);
    let verdict = judged(&[part, tests("all", 1), lint()]);
    assert_eq!(codes(&verdict), [(ReasonCode::NonZeroExit, "all")]);
}

#[test]
fn evidence_older_than_its_inputs_is_stale_and_names_what_changed() {
    let sight = json!({ "folder": "/w", "inputs": [{
        "patterns": ["git"], "digest": "sha256:b", "files": 3,
        "newest": [{ "path": "src/new.rs", "at": "2026-03-01T12:30:00.000Z" },
                   { "path": "src/old.rs", "at": "2026-03-01T11:00:00.000Z" }] }] });
    let runs = [tests("a", 0), lint()];
    let verdict = review(&policy(REQUIRED), &json!({}), &sight, &runs);
    assert_eq!(codes(&verdict), [(ReasonCode::Stale, "a")]);
    let message = &verdict.reasons[0].message;
    assert!(
        message.contains("changed since: `src/new.rs`; 2 files then, 3 now"),
        "{message}"
    );
    assert_eq!(verdict.evidence.len(), 1, "what is stale shows nothing");
}

#[test]
fn inputs_that_nobody_looked_at_or_could_read_are_not_fresh() {
    for sight in [
        json!({ "inputs": [] }),
        json!({ "inputs": [{ "patterns": ["src"], "digest": "sha256:a" }] }),
        json!({ "inputs": [{ "patterns": ["git"] }] }),
        json!({ "inputs": [{ "patterns": ["git"], "error": "no git here" }] }),
    ] {
        let verdict = review(
            &policy(REQUIRED),
            &json!({}),
            &sight,
            &[tests("a", 0), lint()],
        );
        assert_eq!(codes(&verdict), [(ReasonCode::Stale, "a")], "{sight}");
    }
}

#[test]
fn without_requirements_the_newest_attempt_of_a_chain_must_be_fresh() {
    let fresh = |id: &str, digest: &str| {
        let mut keys = record("run", "exited", &json!(0));
        keys.insert("command_id".to_owned(), json!(id));
        keys.insert("inputs".to_owned(), inputs(&json!(["git"]), digest, digest));
        keys
    };
    let judge = |runs: &[Map<String, Value>]| review(&policy(""), &json!({}), &unchanged(), runs);
    assert_eq!(
        codes(&judge(&[fresh("a", "sha256:b")])),
        [(ReasonCode::Stale, "a")]
    );
    assert_eq!(
        judge(&[fresh("a", "sha256:b"), fresh("b", "sha256:a")]).decision,
        Decision::Pass
    );
    assert_eq!(
        codes(&judge(&[fresh("a", "sha256:a"), fresh("b", "sha256:b")])),
        [(ReasonCode::Stale, "b")],
        "the newest speaks, even where an older one would be fresh"
    );
    let mut failed = fresh("b", "sha256:a");
    failed.insert("exit_code".to_owned(), json!(1));
    assert_eq!(
        codes(&judge(&[fresh("a", "sha256:b"), failed])),
        [(ReasonCode::NonZeroExit, "b")]
    );
}

#[test]
fn only_the_inputs_that_decide_are_asked_for() {
    let policy = policy(REQUIRED);
    let mut review =
        Review::start(&policy, &json!({ "now": NOW, "folder": "/w" }).to_string()).unwrap();
    let mut other = run(&policy, "x", &["true"], 0);
    other.insert(
        "inputs".to_owned(),
        inputs(&json!(["elsewhere"]), "sha256:a", "sha256:a"),
    );
    for keys in [tests("a", 0), tests("b", 0), tests("c", 1), other] {
        review.consider(&Value::Object(keys).to_string());
    }
    assert_eq!(review.needed_inputs(), r#"[["git"]]"#);
}

#[test]
fn what_stands_before_the_beginning_is_no_evidence() {
    let mut old = tests("a", 0);
    old.insert("started_at".to_owned(), json!("2026-03-01T11:30:00.000Z"));
    let runs = [old, lint(), tests("c", 0)];
    for (since, wanted) in [
        (json!({ "command_id": "a" }), vec![]),
        (json!({ "command_id": "lint" }), vec![]),
        (
            json!({ "command_id": "c" }),
            vec![(ReasonCode::NeverRun, "")],
        ),
        (
            json!({ "command_id": "nobody" }),
            vec![(ReasonCode::NeverRun, ""); 2],
        ),
        (json!({ "time": "2026-03-01T12:00:00Z" }), vec![]),
        (
            json!({ "time": "2026-03-01T12:00:01Z" }),
            vec![(ReasonCode::NeverRun, ""); 2],
        ),
    ] {
        let facts = json!({ "since": since });
        let verdict = review(&policy(REQUIRED), &facts, &unchanged(), &runs);
        assert_eq!(codes(&verdict), wanted, "{facts}");
    }
    let nothing = json!({ "since": { "command_id": "nobody" } });
    let verdict = review(&policy(""), &nothing, &unchanged(), &runs);
    assert_eq!(verdict.decision, Decision::Undecided);
    for wrong in [
        json!({}),
        json!({ "time": "soon" }),
        json!({ "command_id": "a", "time": NOW }),
    ] {
        let facts = json!({ "now": NOW, "folder": "/w", "since": wrong });
        assert!(Review::start(&policy(""), &facts.to_string()).is_err());
    }
}

#[test]
fn an_open_run_refuses_where_it_counts_even_beside_a_record() {
    let intent =
        |id: &str, command: &[&str]| json!({ "command_id": id, "command": command, "cwd": "/w" });
    let runs = [tests("a", 0), lint()];
    let judge = |facts: Value| {
        let verdict = review(&policy(REQUIRED), &facts, &unchanged(), &runs);
        codes(&verdict)
            .iter()
            .map(|(code, _)| *code)
            .collect::<Vec<_>>()
    };
    let required = intent("z", &["cargo", "test"]);
    assert_eq!(
        judge(json!({ "open_runs": [required] })),
        [ReasonCode::OpenRun]
    );
    assert_eq!(
        judge(json!({ "open_runs": [intent("z", &["npm", "start"])] })),
        []
    );
    assert_eq!(
        judge(json!({ "open_runs": [{}] })),
        [ReasonCode::OpenRun],
        "nobody knows what it is"
    );
    let recorded = intent("a", &["cargo", "test"]);
    assert_eq!(judge(json!({ "open_runs": [recorded.clone()] })), []);
    assert_eq!(
        judge(json!({ "open_runs": [recorded], "running": ["a"] })),
        [ReasonCode::OpenRun]
    );
}
