//! What the gate tells beside its decision: what changed, what came near, and what was left out.

use serde_json::{Map, Value, json};

use super::evidence_tests::{REQUIRED, codes, inputs, judged, lint, review, run, tests, unchanged};
use super::table_tests::{policy, record};
use super::{Decision, ReasonCode, Review, Verdict, may_continue};

const NOW: &str = "2026-03-01T13:00:00.000Z";

fn plain(id: &str, command: &[&str], cwd: &str) -> Map<String, Value> {
    let mut keys = record("run", "exited", &json!(0));
    keys.insert("command_id".to_owned(), json!(id));
    keys.insert("command".to_owned(), json!(command));
    keys.insert("cwd".to_owned(), json!(cwd));
    keys
}

fn with(mut keys: Map<String, Value>, key: &str, value: Value) -> Map<String, Value> {
    keys.insert(key.to_owned(), value);
    keys
}

fn scope(policy_text: &str, facts: &Value, runs: &[Map<String, Value>]) -> Value {
    let mut all = json!({ "now": NOW, "folder": "/w" });
    let keys = all.as_object_mut().unwrap();
    keys.extend(facts.as_object().unwrap().clone());
    let mut review = Review::start(&policy(policy_text), &all.to_string()).unwrap();
    for run in runs {
        review.consider(&Value::Object(run.clone()).to_string());
    }
    serde_json::from_str(&review.scope()).unwrap()
}

#[test]
fn inputs_that_changed_during_the_run_are_named_and_the_others_counted() {
    let mut moved = inputs(&json!(["git"]), "sha256:a", "sha256:b");
    moved["changed"] = json!([
        {"path": "src/a.rs", "how": "changed"}, {"path": "b\u{1b}c", "how": "added"},
        {"path": "old.rs", "how": "removed"}]);
    moved["changed_omitted"] = json!(12);
    let keys = with(plain("a", &["make"], "/w"), "inputs", moved.clone());
    let judge = |keys: Map<String, Value>| {
        let verdict = may_continue(&policy(""), &Value::Object(keys).to_string());
        assert_eq!(codes(&verdict), [(ReasonCode::ChangedDuringRun, "a")]);
        verdict.reasons[0].message.clone()
    };
    let told = judge(keys);
    let wanted =
        "while it ran: `src/a.rs` changed, `b\\u{1b}c` added, `old.rs` removed, and 12 more";
    assert!(told.ends_with(wanted), "{told}");
    // A record of an older runner names none, and one that was edited is still bounded.
    moved["changed"] = Value::Null;
    let told = judge(with(plain("a", &["make"], "/w"), "inputs", moved.clone()));
    assert!(told.ends_with("while it ran"), "{told}");
    moved["changed"] = json!(vec![json!({"path": "x".repeat(5_000)}); 400]);
    let told = judge(with(plain("a", &["make"], "/w"), "inputs", moved));
    assert!(told.chars().count() < 2_000 && told.ends_with("and 407 more"));
}

#[test]
fn of_inputs_that_cannot_be_read_nothing_is_decided_but_a_failure_still_refuses() {
    let sight = json!({ "folder": "/w", "inputs": [{ "patterns": ["git"], "error": "git does not trust `/w`" }] });
    let judge = |runs: &[Map<String, Value>]| review(&policy(REQUIRED), &json!({}), &sight, runs);
    let verdict = judge(&[tests("a", 0), lint()]);
    assert_eq!(verdict.decision, Decision::Undecided);
    assert_eq!(codes(&verdict), [(ReasonCode::Stale, "a")]);
    let reason = &verdict.reasons[0];
    assert!(
        reason.message.ends_with("git does not trust `/w`"),
        "{}",
        reason.message
    );
    assert!(reason.remedy.contains("ask again"), "{}", reason.remedy);
    let mut failed = lint();
    failed.insert("exit_code".to_owned(), json!(1));
    assert_eq!(judge(&[tests("a", 0), failed]).decision, Decision::Refuse);
    // That the files are gone is a change, and known.
    let gone = json!({ "inputs": [{ "patterns": ["git"], "files": 0, "error": "no file" }] });
    let verdict = review(
        &policy(REQUIRED),
        &json!({}),
        &gone,
        &[tests("a", 0), lint()],
    );
    assert_eq!(verdict.decision, Decision::Refuse);
    let remedy = &verdict.reasons[0].remedy;
    assert!(remedy.starts_with("bring the files back"), "{remedy}");
    // Asked from elsewhere, it may be there that they cannot be found.
    let elsewhere =
        json!({ "folder": "/v", "inputs": [{ "patterns": ["git"], "error": "no git" }] });
    let verdict = review(
        &policy(REQUIRED),
        &json!({}),
        &elsewhere,
        &[tests("a", 0), lint()],
    );
    let told = &verdict.reasons[0].message;
    assert!(told.ends_with("no git; they were in `/w` then"), "{told}");
}

fn missing(verdict: &Verdict) -> String {
    assert_eq!(codes(verdict)[0], (ReasonCode::NeverRun, ""));
    verdict.reasons[0].message.clone()
}

#[test]
fn the_run_that_comes_nearest_to_a_missing_one_is_named_with_what_differs() {
    let explored = with(
        plain("e", &["cargo", "test"], "/w"),
        "exploration",
        json!(true),
    );
    let runs = [
        plain("nightly", &["cargo", "+nightly", "test"], "/w"),
        plain("no-run", &["/bin/cargo", "test", "--no-run"], "/w"),
        plain("there", &["cargo", "test"], "/w/web"),
        explored,
    ];
    let wanted = [
        "`cargo +nightly test` (nightly), which has other arguments",
        "`/bin/cargo test --no-run` (no-run), which has the argument `--no-run`",
        "`cargo test` (there), which ran in `/w/web`",
        "`cargo test` (e), which ran with `--explore`, so it is no evidence",
    ];
    for (count, wanted) in (1..).zip(wanted) {
        let mut given: Vec<_> = runs.iter().take(count).cloned().collect();
        // Whichever came last: what differs less is nearer.
        given.reverse();
        given.push(lint());
        let told = missing(&judged(&given));
        assert!(
            told.ends_with(&format!("; the nearest is {wanted}")),
            "{told}"
        );
    }
    for command in [&["grep", "test"], &["cargo", "build"]] {
        let told = missing(&judged(&[plain("x", command, "/w"), lint()]));
        assert!(
            told.ends_with("asks for"),
            "{command:?} is not near: {told}"
        );
    }
    let facts = json!({ "since": { "command_id": "lint" } });
    let told = missing(&review(
        &policy(REQUIRED),
        &facts,
        &unchanged(),
        &[tests("a", 0), lint()],
    ));
    assert!(
        told.ends_with("`cargo test` (a), which stands before where evidence begins"),
        "{told}"
    );
}

#[test]
fn what_was_left_out_is_counted_once_each_and_by_its_reason() {
    let explored = |id: &str| with(plain(id, &["ls"], "/w"), "exploration", json!(true));
    let other = |id: &str| with(plain(id, &["make"], "/v"), "project", json!("/v"));
    let runs = [
        plain("old", &["make"], "/w"),
        explored("old-look"),
        plain("first", &["grep"], "/w"),
        explored("look"),
        other("a"),
        with(other("b"), "exploration", json!(true)),
        tests("t", 0),
    ];
    let facts = json!({ "project": "/w", "since": { "command_id": "first" } });
    assert_eq!(
        scope(REQUIRED, &facts, &runs),
        json!({ "requirements": 2, "before_since": 2, "other_projects": 2, "explorations": 1,
                "not_required": 1 })
    );
    let nothing = json!({ "requirements": 0, "before_since": 0, "other_projects": 0,
                          "explorations": 0, "not_required": 0 });
    assert_eq!(
        scope("", &json!({}), &[plain("a", &["make"], "/w")]),
        nothing
    );
}

#[test]
fn evidence_can_begin_with_an_exploration() {
    let look = with(plain("look", &["ls"], "/w"), "exploration", json!(true));
    let failed = with(plain("old", &["make"], "/w"), "exit_code", json!(1));
    let facts = json!({ "since": { "command_id": "look" } });
    let runs = [failed, look, plain("new", &["true"], "/w")];
    let verdict = review(&policy(""), &facts, &unchanged(), &runs);
    assert_eq!((verdict.decision, verdict.judged), (Decision::Pass, 1));
}

#[test]
fn only_a_run_that_names_another_project_is_left_out() {
    let failed = |project: Value| {
        let failed = with(plain("x", &["make"], "/v"), "exit_code", json!(1));
        [
            plain("a", &["true"], "/w"),
            with(failed, "project", project),
        ]
    };
    let facts = json!({ "project": "/w" });
    for (project, decision) in [
        (json!("/v"), Decision::Pass),
        (json!("/w"), Decision::Refuse),
        (Value::Null, Decision::Refuse),
        (json!("/home/[REDACTED:user-name]"), Decision::Refuse),
    ] {
        let verdict = review(&policy(""), &facts, &unchanged(), &failed(project.clone()));
        assert_eq!(verdict.decision, decision, "{project}");
    }
    // Who does not say whose records are asked for has all of them judged.
    let verdict = review(&policy(""), &json!({}), &unchanged(), &failed(json!("/v")));
    assert_eq!(verdict.decision, Decision::Refuse);
    // Nothing is trusted because of where it says it is from, and an open run is of its project.
    let mut broken = failed(json!("/v"));
    broken[1].insert("schema_version".to_owned(), json!("9.0"));
    let verdict = review(&policy(""), &facts, &unchanged(), &broken);
    assert_eq!(codes(&verdict), [(ReasonCode::UnsupportedSchema, "x")]);
    let open = |project: &str| {
        let intent =
            json!({ "command_id": "o", "command": ["x"], "cwd": "/v", "project": project });
        let facts = json!({ "project": "/w", "open_runs": [intent] });
        let runs = [plain("a", &["true"], "/w")];
        review(&policy(""), &facts, &unchanged(), &runs).decision
    };
    assert_eq!(open("/v"), Decision::Pass);
    assert_eq!(open("/w"), Decision::Refuse);
}

#[test]
fn a_failure_that_its_requirement_fits_no_more_is_told_with_its_number_and_the_newest() {
    let marked = |id: &str, command: &[&str], code: i64, name: &str| {
        let mark = json!({ "name": name, "digest": "sha256:old" });
        let failed = with(plain(id, command, "/w"), "exit_code", json!(code));
        with(failed, "requirement", mark)
    };
    let runs = [
        marked("a", &["pytest"], 1, "tests"),
        marked("b", &["pytest", "-q"], 2, "tests"),
        marked("c", &["make"], 1, "all"),
        marked("d", &["make", "a"], 1, "all"),
        marked("e", &["make", "a"], 0, "all"),
        plain("f", &["true"], "/w"),
        tests("t", 0),
        lint(),
    ];
    assert_eq!(judged(&runs).decision, Decision::Pass);
    let scope = scope(REQUIRED, &json!({}), &runs);
    assert_eq!(scope["not_required"], 6);
    assert_eq!(
        scope["set_aside"],
        json!([
            {"requirement": "tests", "failed": 2, "newest": "b", "message":
             "2 failed runs were started under the requirement `tests` as it was then (other words, \
              or another folder), and it does not fit them now, so they are not judged; the newest is \
              `pytest -q` (b), which exited with code 2"},
            {"requirement": "all", "failed": 1, "newest": "c", "message":
             "1 failed run was started under the requirement `all`, which the policy does not have \
              any more, so it is not judged; it is `make` (c), which exited with code 1"}])
    );
    // A store may name any number of them.
    let many = (0..200).map(|at| marked(&format!("m{at}"), &["x"], 1, &format!("n{at}")));
    let scope = self::scope(REQUIRED, &json!({}), &many.collect::<Vec<_>>());
    let aside = scope["set_aside"].as_array().unwrap();
    assert_eq!((aside.len(), &aside[64]["failed"]), (65, &json!(136)));
    let told = aside[64]["message"].as_str().unwrap();
    let wanted = "136 failed runs were started under other requirements, which do not fit now, so";
    assert!(told.starts_with(wanted), "{told}");
    // Where such runs count they are reasons, and nothing is set aside.
    let refusing = REQUIRED.replacen(r#""gate": {"#, r#""gate": {"others": "refuse", "#, 1);
    let scope = self::scope(&refusing, &json!({}), &runs);
    assert_eq!(scope.get("set_aside"), None);
}

#[test]
fn a_requirement_that_is_written_anew_is_met_by_a_run_under_its_new_words() {
    let typo = REQUIRED.replace(r#""expected": "ok""#, r#""expected": "oK""#);
    let mut failed = run(&policy(&typo), "a", &["cargo", "test"], 0);
    failed["expectations"][0]["held"] = json!(false);
    failed["expectations"][0]["seen"] = Value::Null;
    let verdict = judged(&[failed.clone(), tests("b", 0), lint()]);
    assert_eq!(verdict.decision, Decision::Pass, "{:?}", verdict.reasons);
    assert!(
        verdict.superseded[0].ends_with(", under the requirement as it is written now"),
        "{:?}",
        verdict.superseded
    );
    assert_eq!(judged(&[failed.clone(), lint()]).decision, Decision::Refuse);
    // What was asked by hand is taken back by nobody: the words are the same.
    let mut by_hand = tests("a", 0);
    let asked = json!({"kind": "line", "expected": "typo", "held": false, "seen": null});
    by_hand["expectations"].as_array_mut().unwrap().push(asked);
    let verdict = judged(&[by_hand, tests("b", 0), lint()]);
    assert_eq!(codes(&verdict), [(ReasonCode::UnmetExpectation, "a")]);
    assert!(verdict.reasons[0].remedy.contains("--since"));
    // Nor does a later run under the old words, or under none, make up for anything.
    let mut unmarked = tests("b", 0);
    unmarked.remove("requirement");
    assert_ne!(judged(&[failed, unmarked, lint()]).decision, Decision::Pass);
}
