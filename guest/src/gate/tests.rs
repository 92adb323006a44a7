//! Chains, later successes, damage, and texts that are no records.

use serde_json::{Map, Value, json};

use super::table_tests::{policy, record};
use super::{Decision, History, ReasonCode, Review, Verdict, may_continue};
use crate::policy::Policy;

const NOW: &str = "2026-03-01T13:00:00.000Z";

/// A record of the store under construction.
struct Run(Map<String, Value>);

fn run(id: &str, exit_code: i32) -> Run {
    Run(record("run", "exited", &json!(exit_code))).with("command_id", &json!(id))
}

impl Run {
    fn with(mut self, key: &str, value: &Value) -> Self {
        self.0.insert(key.to_owned(), value.clone());
        self
    }

    fn retries(self, parent: &str) -> Self {
        self.with("parent_command_id", &json!(parent))
            .with("attempt", &json!(2))
    }

    fn of(self, command: &[&str]) -> Self {
        self.with("command", &json!(command))
    }

    fn at(self, time: &str) -> Self {
        self.with("started_at", &json!(format!("2026-03-01T{time}Z")))
    }

    fn line(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }

    fn sealed(&self, seq: u64) -> String {
        let body = self.line();
        let open = body.strip_suffix('}').unwrap();
        format!(r#"{open},"seq":{seq},"prev":"sha256:{seq}","crc":"0000000{seq}"}}"#)
    }
}

fn review_with(policy: &Policy, facts: &Value, lines: &[String]) -> Verdict {
    let mut review = Review::start(policy, &facts.to_string()).unwrap();
    for line in lines {
        review.consider(line);
    }
    review.conclude()
}

fn review(runs: &[Run]) -> Verdict {
    let lines: Vec<String> = runs.iter().map(Run::line).collect();
    review_with(&policy(""), &json!({ "now": NOW }), &lines)
}

fn codes(verdict: &Verdict) -> Vec<(ReasonCode, &str)> {
    let reasons = verdict.reasons.iter();
    reasons
        .map(|reason| (reason.code, reason.command_id.as_str()))
        .collect()
}

fn passes(runs: &[Run]) -> bool {
    review(runs).decision == Decision::Pass
}

#[test]
fn an_empty_store_is_undecided() {
    let verdict = review(&[]);
    assert_eq!(verdict.decision, Decision::Undecided);
    assert_eq!(codes(&verdict), [(ReasonCode::NoRecords, "")]);
}

#[test]
fn notices_and_explorations_are_no_runs() {
    let drop = Run(record("drop", "exited", &json!(0)));
    let exploration = run("a", 1).with("exploration", &json!(true));
    let verdict = review(&[drop, exploration]);
    assert_eq!((verdict.decision, verdict.judged), (Decision::Undecided, 0));
}

#[test]
fn only_success_passes() {
    let verdict = review(&[run("a", 0), run("b", 0).of(&["make"])]);
    assert_eq!((verdict.decision, verdict.judged), (Decision::Pass, 2));
    assert!(verdict.reasons.is_empty() && verdict.superseded.is_empty());
}

#[test]
fn one_failure_among_successes_is_refused_with_its_command_and_id() {
    let verdict = review(&[
        run("a", 0),
        run("b", 7).of(&["make", "all it"]),
        run("c", 0),
    ]);
    assert_eq!(codes(&verdict), [(ReasonCode::NonZeroExit, "b")]);
    let reason = &verdict.reasons[0];
    assert_eq!(reason.message, "`make 'all it'` (b) exited with code 7");
    assert!(!reason.remedy.is_empty());
}

#[test]
fn three_failures_and_a_success_are_one_story() {
    let verdict = review(&[
        run("a", 1),
        run("b", 2).retries("a"),
        run("c", 3).retries("b").of(&["cargo", "test", "-v"]),
        run("d", 0).retries("c").of(&["cargo", "test", "-vv"]),
    ]);
    assert_eq!(verdict.decision, Decision::Pass);
    assert_eq!(verdict.judged, 4);
    assert_eq!(
        verdict.superseded,
        [
            "`cargo test` (a) exited with code 1; made up for by `cargo test -vv` (d)",
            "`cargo test` (b) exited with code 2; made up for by `cargo test -vv` (d)",
            "`cargo test -v` (c) exited with code 3; made up for by `cargo test -vv` (d)",
        ]
    );
}

#[test]
fn a_chain_whose_newest_attempt_failed_is_refused_once() {
    let verdict = review(&[
        run("a", 1),
        run("b", 0).retries("a"),
        run("c", 2).retries("b"),
    ]);
    assert_eq!(codes(&verdict), [(ReasonCode::NonZeroExit, "c")]);
}

#[test]
fn of_two_retries_of_one_attempt_the_newest_speaks() {
    assert!(passes(&[
        run("a", 1),
        run("b", 1).retries("a"),
        run("c", 0).retries("a")
    ]));
    assert!(!passes(&[
        run("a", 1),
        run("b", 0).retries("a"),
        run("c", 1).retries("a")
    ]));
}

#[test]
fn an_attempt_whose_parent_was_rotated_away_starts_its_own_chain() {
    assert!(passes(&[run("b", 0).retries("gone")]));
    assert!(!passes(&[
        run("b", 1).retries("gone"),
        run("c", 0).retries("gone").of(&["x"])
    ]));
}

#[test]
fn a_later_success_of_the_same_command_makes_up_for_a_failure_without_a_link() {
    let verdict = review(&[run("a", 1), run("b", 0)]);
    assert_eq!(verdict.decision, Decision::Pass);
    assert_eq!(verdict.superseded.len(), 1);
}

#[test]
fn an_earlier_success_makes_up_for_nothing() {
    assert!(!passes(&[run("a", 0), run("b", 1)]));
    // Recorded later, but begun earlier.
    assert!(!passes(&[
        run("a", 1).at("12:00:02"),
        run("b", 0).at("12:00:01")
    ]));
}

#[test]
fn of_two_later_successes_the_one_that_began_later_counts() {
    let slow = || run("slow", 0).at("12:00:01");
    let quick = || run("quick", 0).at("12:00:03");
    assert!(passes(&[run("a", 1).at("12:00:02"), quick(), slow()]));
    assert!(passes(&[run("a", 1).at("12:00:02"), slow(), quick()]));
}

#[test]
fn another_command_directory_or_byte_is_another_command() {
    assert!(!passes(&[
        run("a", 1),
        run("b", 0).of(&["cargo", "test", "-q"])
    ]));
    assert!(!passes(&[run("a", 1), run("b", 0).of(&["cargo test"])]));
    assert!(!passes(&[
        run("a", 1),
        run("b", 0).with("cwd", &json!("/v"))
    ]));
    assert!(!passes(&[
        run("a", 1),
        run("b", 0).with("command_base64", &json!([null, "/w=="]))
    ]));
}

#[test]
fn a_redacted_or_shortened_command_is_the_same_as_no_other() {
    let secret = ["login", "[REDACTED:password#1]"];
    assert!(!passes(&[run("a", 1).of(&secret), run("b", 0).of(&secret)]));
    assert!(passes(&[
        run("a", 1).of(&secret),
        run("b", 0).of(&secret).retries("a")
    ]));
    let hidden = json!("/home/[REDACTED]");
    assert!(!passes(&[
        run("a", 1).with("cwd", &hidden),
        run("b", 0).with("cwd", &hidden)
    ]));
    for key in ["command", "cwd"] {
        let clamped = json!({ key: 5 });
        let short = |id, code| run(id, code).with("clamped", &clamped);
        assert!(!passes(&[short("a", 1), short("b", 0)]));
    }
}

#[test]
fn links_in_a_circle_neither_loop_nor_hide_a_failure() {
    assert!(passes(&[
        run("a", 1).retries("b"),
        run("b", 0).retries("a")
    ]));
    assert!(!passes(&[
        run("a", 0).retries("b"),
        run("b", 1).retries("a").of(&["x"])
    ]));
    // A link to a later line is no link.
    assert!(!passes(&[run("a", 1).retries("b"), run("b", 0).of(&["x"])]));
}

#[test]
fn a_long_chain_takes_no_stack() {
    let mut runs = vec![run("0", 1)];
    runs.extend((1..3_000).map(|n| run(&n.to_string(), 1).retries(&(n - 1).to_string())));
    runs.push(run("last", 0).retries("2999"));
    let verdict = review(&runs);
    assert_eq!(
        (verdict.decision, verdict.superseded.len()),
        (Decision::Pass, 3_000)
    );
}

#[test]
fn a_record_without_an_exit_code_is_refused_with_its_own_reason() {
    for (outcome, code) in [
        ("signaled", ReasonCode::Signaled),
        ("timed-out", ReasonCode::TimedOut),
        ("cancelled", ReasonCode::Cancelled),
        ("not-started", ReasonCode::NotStarted),
        ("runner-died", ReasonCode::RunnerDied),
    ] {
        let failed = Run(record("run", outcome, &Value::Null));
        assert_eq!(codes(&review(&[failed])), [(code, "id-1")]);
    }
}

#[test]
fn a_fallback_never_passes_but_a_retry_does() {
    let fallback = || Run(record("fallback", "exited", &json!(0))).with("command_id", &json!("a"));
    assert_eq!(
        codes(&review(&[fallback()])),
        [(ReasonCode::FallbackRecord, "a")]
    );
    assert!(passes(&[fallback(), run("b", 0).retries("a")]));
}

#[test]
fn a_success_that_cannot_be_trusted_makes_up_for_nothing() {
    let edited = run("b", 0).with("signal", &json!(9));
    let verdict = review(&[run("a", 1), edited]);
    let wanted = [
        (ReasonCode::NonZeroExit, "a"),
        (ReasonCode::ContradictoryRecord, "b"),
    ];
    assert_eq!(codes(&verdict), wanted);
    let edited = run("b", 0).retries("a").with("signal", &json!(9));
    let verdict = review(&[run("a", 1), edited, run("c", 0).retries("b")]);
    assert_eq!(codes(&verdict), [(ReasonCode::ContradictoryRecord, "b")]);
}

#[test]
fn the_same_line_twice_is_one_run_and_another_line_is_damage() {
    let twice = |first: String, second: String| {
        review_with(&policy(""), &json!({ "now": NOW }), &[first, second])
    };
    let verdict = twice(run("a", 0).sealed(1), run("a", 0).sealed(2));
    assert_eq!((verdict.decision, verdict.judged), (Decision::Pass, 1));
    let verdict = twice(run("a", 0).line(), run("a", 0).sealed(2));
    assert_eq!((verdict.decision, verdict.judged), (Decision::Pass, 1));
    for second in [
        run("a", 1),
        run("a", 0).with("stdout_tail", &json!("12 passed")),
    ] {
        let verdict = twice(run("a", 0).sealed(1), second.sealed(2));
        assert_eq!(codes(&verdict), [(ReasonCode::StoreDamaged, "a")]);
    }
    // What only looks like a seal belongs to the content.
    let inner = |n| run("a", 0).with("stdout_tail", &json!(format!(r#","seq":{n}}}"#)));
    let verdict = twice(inner(1).line(), inner(2).line());
    assert_eq!(codes(&verdict), [(ReasonCode::StoreDamaged, "a")]);
}

#[test]
fn a_run_from_the_future_is_refused_beyond_five_minutes() {
    assert!(passes(&[run("a", 0).at("13:05:00.000")]));
    let verdict = review(&[run("a", 0).at("13:05:00.001")]);
    assert_eq!(codes(&verdict), [(ReasonCode::FromTheFuture, "a")]);
}

#[test]
fn an_open_run_is_refused_until_its_record_is_there() {
    let facts = json!({ "now": NOW, "open_runs": [{ "command_id": "a", "command": ["make"] }] });
    let verdict = review_with(&policy(""), &facts, &[run("b", 0).line()]);
    assert_eq!(codes(&verdict), [(ReasonCode::OpenRun, "a")]);
    assert_eq!(
        verdict.reasons[0].message,
        "`make` (a) has begun and not ended"
    );
    let verdict = review_with(&policy(""), &facts, &[run("a", 0).line()]);
    assert_eq!(verdict.decision, Decision::Pass);
    let verdict = review_with(
        &policy(""),
        &json!({ "now": NOW, "open_runs": [5, ""] }),
        &[],
    );
    assert_eq!(
        (verdict.decision, verdict.reasons.len()),
        (Decision::Refuse, 2)
    );
}

#[test]
fn damage_is_refused_beside_any_success() {
    let facts = json!({ "now": NOW, "damage": ["line 3 is torn", "line 9\nis gone"] });
    let verdict = review_with(&policy(""), &facts, &[run("b", 0).line()]);
    let wanted = [
        (ReasonCode::StoreDamaged, ""),
        (ReasonCode::StoreDamaged, ""),
    ];
    assert_eq!(codes(&verdict), wanted);
    assert_eq!(verdict.reasons[1].message, "line 9\\nis gone");
}

#[test]
fn reasons_stand_in_record_order() {
    let lines = [
        run("a", 1).line(),
        "{".to_owned(),
        run("b", 2).of(&["x"]).line(),
    ];
    let verdict = review_with(&policy(""), &json!({ "now": NOW }), &lines);
    let wanted = [
        (ReasonCode::NonZeroExit, "a"),
        (ReasonCode::StoreDamaged, ""),
        (ReasonCode::NonZeroExit, "b"),
    ];
    assert_eq!(codes(&verdict), wanted);
}

#[test]
fn facts_without_a_time_are_a_fault() {
    for facts in ["", "{}", r#"{"now":"soon"}"#, r#"{"now":5}"#, "[]"] {
        assert!(Review::start(&policy(""), facts).is_err(), "{facts}");
    }
}

#[test]
fn the_policy_can_require_a_component_and_refuse_sigpipe() {
    let digest = format!("sha256:{}", "1f".repeat(32));
    let wanted = policy(&json!({"gate": {"require_component": digest}}).to_string());
    let verdict = may_continue(&wanted, &run("a", 0).line());
    assert_eq!(codes(&verdict), [(ReasonCode::UnknownComponent, "a")]);
    let same = run("a", 0).with("component", &json!(digest));
    assert_eq!(may_continue(&wanted, &same.line()).decision, Decision::Pass);
    let stages = json!([{ "exit_code": 141 }, { "exit_code": 0 }]);
    let strict = policy(r#"{"gate":{"sigpipe":"refuse"}}"#);
    let verdict = may_continue(&strict, &run("a", 0).with("stages", &stages).line());
    assert_eq!(codes(&verdict), [(ReasonCode::StageFailed, "a")]);
}

#[test]
fn a_key_that_stands_twice_never_passes() {
    let line = run("a", 1).line();
    for key in [
        r#""exit_code":0"#,
        r#""outcome":"exited""#,
        r#""kind":"run""#,
    ] {
        let doubled = line.replacen('{', &format!("{{{key},"), 1);
        let verdict = may_continue(&policy(""), &doubled);
        assert_eq!(verdict.reasons[0].code, ReasonCode::StoreDamaged, "{key}");
    }
}

#[test]
fn no_text_passes_but_a_whole_success() {
    let policy = policy("");
    let line = run("a", 0).line();
    for at in 0..line.len() {
        let (cut, rest) = line.split_at(at);
        assert_ne!(
            may_continue(&policy, cut).decision,
            Decision::Pass,
            "cut at {at}"
        );
        // Takes one character out; only free texts and unread keys may still pass.
        let without: String = cut.chars().chain(rest.chars().skip(1)).collect();
        let verdict = may_continue(&policy, &without);
        if verdict.decision == Decision::Pass {
            let still: Value = serde_json::from_str(&without).unwrap();
            assert_eq!(still["exit_code"], 0);
            assert_eq!(still["outcome"], "exited");
        }
    }
    for text in [
        "",
        " ",
        "null",
        "0",
        "[]",
        "{}",
        "\u{0}",
        "\"exited\"",
        "{\"a\":",
        "💥",
    ] {
        assert_eq!(
            may_continue(&policy, text).decision,
            Decision::Refuse,
            "{text}"
        );
    }
    let array = format!("[{}]", line);
    assert_eq!(may_continue(&policy, &array).decision, Decision::Refuse);
    assert_eq!(
        may_continue(&policy, &"[".repeat(100_000)).decision,
        Decision::Refuse
    );
}

#[test]
fn a_message_stays_short_whatever_the_record_holds() {
    let long = "x\n".repeat(100_000);
    let big = run(&long, 1).of(&[&long]).with("error", &json!(long));
    let verdict = may_continue(&policy(""), &big.line());
    for reason in &verdict.reasons {
        assert!(
            reason.message.chars().count() < 700,
            "{}",
            reason.message.len()
        );
        assert!(!reason.message.contains('\n') && !reason.command_id.contains('\n'));
    }
}

#[test]
fn a_success_of_another_program_does_not_make_up_for_a_failure() {
    let store = || [run("a", 1), run("b", 0).of(&["true"]).retries("a")];
    let verdict = review(&store());
    assert_eq!(codes(&verdict), [(ReasonCode::NonZeroExit, "a")]);
    let message = &verdict.reasons[0].message;
    assert!(
        message.ends_with("its retry `true` (b) is another command and does not make up for it"),
        "{message}"
    );
    let lines: Vec<String> = store().iter().map(Run::line).collect();
    let any = policy(r#"{"gate":{"retry":"any-command"}}"#);
    let verdict = review_with(&any, &json!({ "now": NOW }), &lines);
    assert_eq!(verdict.decision, Decision::Pass);
    assert!(
        verdict.superseded[0].ends_with("`true` (b), which is another program"),
        "{:?}",
        verdict.superseded
    );
}

fn expecting(run: Run, kind: &str, expected: &Value, held: bool) -> Run {
    let seen = json!({ "in": "stdout", "line": 1, "text": "2 passed" });
    let mut all = run.0.get("expectations").cloned().unwrap_or(json!([]));
    let one = match kind {
        "exit-code" => {
            json!({ "kind": kind, "expected": expected, "held": held, "seen": run.0["exit_code"] })
        }
        _ => json!({ "kind": kind, "expected": expected, "held": held, "seen": seen }),
    };
    all.as_array_mut().unwrap().push(one);
    run.with("expectations", &all)
}

#[test]
fn a_run_that_expects_less_makes_up_for_nothing() {
    let count = |count: u64| json!({ "pattern": "N passed", "count": count });
    let failed = || expecting(run("a", 0), "min-count", &count(12), false);
    for less in [
        run("b", 0),
        expecting(run("b", 0), "min-count", &count(2), true),
    ] {
        for less in [Run(less.0.clone()), less.retries("a")] {
            let verdict = review(&[failed(), less]);
            assert_eq!(codes(&verdict), [(ReasonCode::UnmetExpectation, "a")]);
            let message = &verdict.reasons[0].message;
            assert!(
                message.ends_with("(b) expects less and does not make up for it"),
                "{message}"
            );
        }
    }
    // Nor where the newest success asks for less and an earlier one for as much.
    let met = |id: &str| {
        let more = json!({ "in": "stdout", "line": 1, "text": "14 passed" });
        let mut met = expecting(run(id, 0), "min-count", &count(13), true);
        met.0["expectations"][0]["seen"] = more;
        met
    };
    assert!(passes(&[failed(), met("b")]));
    assert!(passes(&[failed(), met("b"), run("c", 0)]));
}

#[test]
fn a_failure_is_not_renamed_a_success_by_naming_its_code() {
    let renamed = || expecting(run("b", 1), "exit-code", &json!([1]), true);
    let verdict = review(&[run("a", 1), renamed().retries("a")]);
    assert_eq!(codes(&verdict), [(ReasonCode::NonZeroExit, "a")]);
    let verdict = review(&[run("a", 1), renamed()]);
    assert_eq!(codes(&verdict), [(ReasonCode::NonZeroExit, "a")]);
    // By itself it is one, and 0 is narrower than both.
    assert!(passes(&[renamed()]));
    let both = expecting(run("a", 3), "exit-code", &json!([0, 2]), false);
    assert!(passes(&[both, run("b", 0)]));
}

#[test]
fn the_strictest_policy_wants_the_very_same_command() {
    let strict = policy(r#"{"gate":{"retry":"same-command"}}"#);
    let judge = |retry: Run| {
        let lines = [run("a", 1).line(), retry.retries("a").line()];
        review_with(&strict, &json!({ "now": NOW }), &lines).decision
    };
    assert_eq!(judge(run("b", 0)), Decision::Pass);
    assert_eq!(
        judge(run("b", 0).of(&["cargo", "test", "--lib"])),
        Decision::Refuse
    );
    assert_eq!(
        judge(run("b", 0).with("cwd", &json!("/elsewhere"))),
        Decision::Refuse
    );
}

#[test]
fn a_command_that_was_never_started_is_corrected_by_another() {
    let typo = Run(record("run", "not-started", &Value::Null))
        .with("command_id", &json!("a"))
        .of(&["crago", "test"]);
    let verdict = review(&[typo, run("b", 0).retries("a")]);
    assert_eq!(verdict.decision, Decision::Pass);
    assert!(
        verdict.superseded[0].ends_with("which is another program"),
        "{:?}",
        verdict.superseded
    );
}

#[test]
fn a_chain_that_left_and_came_back_is_judged_by_what_came_back() {
    assert!(passes(&[
        run("a", 1),
        run("b", 1).of(&["ls"]).retries("a"),
        run("c", 0).of(&["ls"]).retries("b"),
        run("d", 0).retries("c"),
    ]));
    let verdict = review(&[
        run("a", 1),
        run("b", 0).of(&["ls"]).retries("a"),
        run("c", 1).retries("b"),
    ]);
    assert_eq!(codes(&verdict), [(ReasonCode::NonZeroExit, "c")]);
}

fn failing(id: &str, signature: &str) -> Run {
    run(id, 1).with("failure_signature", &json!(signature))
}

#[test]
fn the_same_failure_more_often_than_allowed_is_named() {
    let limited = policy(r#"{"gate":{"max_same_failures":2}}"#);
    let (one, other) = ("0123456789abcdef", "fedcba9876543210");
    let judge = |runs: &[Run]| {
        let lines: Vec<String> = runs.iter().map(Run::line).collect();
        let verdict = review_with(&limited, &json!({ "now": NOW }), &lines);
        let codes: Vec<ReasonCode> = verdict.reasons.iter().map(|reason| reason.code).collect();
        (codes, verdict)
    };
    let plain = vec![ReasonCode::NonZeroExit, ReasonCode::NonZeroExit];
    let named = |count: usize| {
        let mut codes = vec![ReasonCode::NonZeroExit; count];
        codes.push(ReasonCode::SameFailure);
        codes
    };
    assert_eq!(judge(&[failing("a", one), failing("b", one)]).0, plain);
    let three = [failing("a", one), failing("b", one), failing("c", one)];
    assert_eq!(judge(&three).0, named(3));
    // Retries with other arguments are in the same row.
    let chain = [
        failing("a", one),
        failing("b", one).of(&["cargo", "test", "-v"]).retries("a"),
        failing("c", one).retries("b"),
    ];
    let (codes, verdict) = judge(&chain);
    assert_eq!(codes, named(1));
    assert!(
        verdict.reasons[1]
            .message
            .contains("3 times in a row; the policy allows 2")
    );
    // Another failure, and a success, begin anew.
    let moved = [
        failing("a", one),
        failing("b", one),
        failing("c", other),
        failing("d", one),
    ];
    assert_eq!(judge(&moved).0, vec![ReasonCode::NonZeroExit; 4]);
    let fixed = [
        failing("a", one),
        failing("b", one),
        failing("c", one),
        run("d", 0),
    ];
    assert_eq!(judge(&fixed).1.decision, Decision::Pass);
}

#[test]
fn a_failure_that_was_called_an_exploration_by_hand_is_found() {
    let edited = failing("a", "0123456789abcdef").with("exploration", &json!(true));
    let verdict = review(&[run("b", 0), edited, run("c", 0)]);
    assert_eq!(codes(&verdict), [(ReasonCode::ContradictoryRecord, "a")]);
}

#[test]
fn an_exploration_neither_fails_nor_makes_up_for_anything() {
    let explores = |id, code| run(id, code).with("exploration", &json!(true));
    assert!(passes(&[run("a", 0), explores("b", 1).of(&["grep", "x"])]));
    let verdict = review(&[run("a", 1), explores("b", 0), explores("c", 0).retries("a")]);
    assert_eq!(codes(&verdict), [(ReasonCode::NonZeroExit, "a")]);
    assert_eq!(verdict.judged, 1);
}

fn history(policy: &Policy, runs: &[Run]) -> History {
    let mut history = History::start(policy).unwrap();
    runs.iter().for_each(|run| history.consider(&run.line()));
    history
}

fn next(policy: &Policy, runs: &[Run], change: &Value) -> Value {
    let mut request = json!({
        "command_id": "new", "command": [{"text": "cargo"}, {"text": "test"}], "cwd": {"text": "/w"},
        "started_at": NOW
    });
    let keys = change.as_object().unwrap().clone();
    request.as_object_mut().unwrap().extend(keys);
    let answer = history(policy, runs)
        .next(policy, &request.to_string())
        .unwrap();
    serde_json::from_str(&answer).unwrap()
}

#[test]
fn a_retry_finds_the_newest_failure_of_the_same_command() {
    let runs = || {
        [
            run("a", 1),
            run("b", 1).retries("a"),
            run("c", 1).of(&["make"]),
            run("d", 1).with("cwd", &json!("/elsewhere")),
        ]
    };
    let retry = json!({ "retry": true });
    let answer = next(&policy(""), &runs(), &retry);
    let wanted = json!({ "parent_command_id": "b", "attempt": 3, "refusal": null });
    assert_eq!(answer, wanted);
    let none = next(&policy(""), &[run("a", 0)], &retry);
    let refusal = none["refusal"].as_str().unwrap();
    assert!(
        refusal.contains("no failed run of `cargo test` in `/w`"),
        "{refusal}"
    );
    let plain = next(&policy(""), &runs(), &json!({}));
    assert_eq!(
        plain,
        json!({ "parent_command_id": null, "attempt": 1, "refusal": null })
    );
}

#[test]
fn a_blind_retry_is_refused_until_something_else_was_run() {
    let limited = policy(r#"{"gate":{"max_same_failures":2}}"#);
    let (one, other) = ("0123456789abcdef", "fedcba9876543210");
    let refused = |runs: &[Run], change: &Value| !next(&limited, runs, change)["refusal"].is_null();
    let twice = || vec![failing("a", one), failing("b", one)];
    assert!(refused(&twice(), &json!({})));
    assert!(refused(&twice(), &json!({ "retry": true })));
    assert!(!refused(&twice(), &json!({ "exploration": true })));
    assert!(!refused(
        &twice(),
        &json!({ "command": [{"text": "cargo"}, {"text": "test"}, {"text": "-v"}] })
    ));
    assert!(!refused(&twice()[..1], &json!({})));
    assert!(!refused(
        &[failing("a", one), failing("b", other)],
        &json!({})
    ));
    let looked = run("c", 1)
        .of(&["grep", "x"])
        .with("exploration", &json!(true));
    let mut runs = twice();
    runs.push(looked);
    assert!(!refused(&runs, &json!({})));
    runs.push(failing("d", one));
    assert!(refused(&runs, &json!({})), "once more without a look");
    let unlimited = policy("");
    assert!(next(&unlimited, &twice(), &json!({}))["refusal"].is_null());
}

#[test]
fn a_chain_shows_every_attempt_and_what_became_of_it() {
    let one = "0123456789abcdef";
    let runs = [
        run("z", 0).of(&["make"]),
        failing("a", one),
        failing("b", one).retries("a"),
        run("x", 1)
            .of(&["grep"])
            .retries("b")
            .with("exploration", &json!(true)),
        run("c", 0).retries("b"),
    ];
    let history = history(&policy(""), &runs);
    let chain = |id: &str| -> Value { serde_json::from_str(&history.chain(id)).unwrap() };
    let newest = chain("");
    assert_eq!(newest, chain("a"));
    let of = |key: &str| -> Vec<Value> {
        let attempts = newest["chain"].as_array().unwrap().iter();
        attempts.map(|attempt| attempt[key].clone()).collect()
    };
    assert_eq!(of("command_id"), ["a", "b", "x", "c"]);
    assert_eq!(
        of("standing"),
        ["failed", "failed", "exploration", "success"]
    );
    assert_eq!(
        of("same_failure_as"),
        [Value::Null, json!("a"), Value::Null, Value::Null]
    );
    assert_eq!(of("made_up_for_by")[..2], ["c", "c"]);
    assert_eq!(chain("z")["chain"].as_array().unwrap().len(), 1);
    assert_eq!(chain("nobody"), json!({ "chain": [] }));
}

#[test]
fn another_script_of_one_interpreter_is_another_program() {
    let shell = |id: &str, code: i32, script: &str| run(id, code).of(&["sh", "-ec", script]);
    let verdict = review(&[
        shell("a", 1, "make test"),
        shell("b", 0, "true").retries("a"),
    ]);
    assert_eq!(codes(&verdict), [(ReasonCode::NonZeroExit, "a")]);
    assert!(passes(&[
        run("a", 1).of(&["python3.11", "-m", "pytest"]),
        run("b", 0)
            .of(&["python3.11", "-m", "pytest", "-x"])
            .retries("a"),
    ]));
    assert!(passes(&[
        run("a", 1).of(&["python3", "test.py"]),
        run("b", 0).of(&["python3", "test.py", "-v"]).retries("a"),
    ]));
}
