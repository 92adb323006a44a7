//! A limit that passes is told as such, whatever the process does then, and time is bounded.

use std::time::{Duration, Instant};

use crate::rig::{Trial, folder, is_alive, pid_in, word};
use serde_json::json;

#[test]
fn a_command_that_dies_on_sigterm_at_the_deadline_is_timed_out() {
    let done = Trial::puppet(["say", "before", "wait"]).timeout(700).run();
    assert_eq!(
        done.outcome(),
        json!({"kind": "timed-out", "limit": "deadline", "after_ms": 700, "escalated": false, "then": {"signal": 15}})
    );
    assert_eq!(done.ending.exit_code(), None);
    assert_eq!(done.text(), "before\n");
    assert!(done.ending.duration_ms >= 700);
}

#[test]
fn a_command_that_exits_0_on_sigterm_is_still_timed_out() {
    let done = Trial::puppet(["exit-on", "15", "wait"]).timeout(700).run();
    assert_eq!(done.outcome()["kind"], "timed-out");
    assert_eq!(done.outcome()["then"], json!({"exit_code": 0}));
    assert_eq!(done.ending.exit_code(), None);
}

#[test]
fn a_command_that_ignores_sigterm_is_killed_after_the_grace() {
    let done = Trial::puppet(["ignore", "15", "say", "before", "wait"])
        .timeout(700)
        .grace(200)
        .run();
    assert_eq!(
        done.outcome(),
        json!({"kind": "timed-out", "limit": "deadline", "after_ms": 700, "escalated": true, "then": {"signal": 9}})
    );
    assert!(done.took >= Duration::from_millis(900));
    assert_eq!(done.text(), "before\n");
}

#[test]
fn a_stopped_command_is_continued_so_that_it_hears_sigterm() {
    let done = Trial::puppet(["stop", "wait"])
        .timeout(300)
        .grace(60_000)
        .run();
    assert_eq!(done.outcome()["escalated"], false);
    assert_eq!(done.outcome()["then"], json!({"signal": 15}));
}

#[test]
fn silence_is_a_limit_of_its_own() {
    let done = Trial::puppet(["say", "before", "wait"])
        .silence(300)
        .timeout(60_000)
        .run();
    assert_eq!(done.outcome()["kind"], "timed-out");
    assert_eq!(
        (
            done.outcome()["limit"].clone(),
            done.outcome()["after_ms"].clone()
        ),
        (json!("silence"), json!(300))
    );
    assert_eq!(done.text(), "before\n");
}

#[test]
fn a_busy_command_is_not_silent() {
    let done = Trial::puppet(["chatter"]).silence(1000).timeout(1500).run();
    assert_eq!(done.outcome()["limit"], "deadline");
}

#[test]
fn a_command_that_exited_before_the_deadline_is_never_late() {
    // The sink keeps the runner busy until the deadline has passed.
    let began = Instant::now();
    let done = Trial::puppet(["say", "done", "exit", "0"])
        .timeout(400)
        .when("done", move |_, _| {
            while began.elapsed() < Duration::from_millis(900) {}
        })
        .run();
    assert!(done.took >= Duration::from_millis(900));
    done.exited(0);
}

#[test]
fn a_deadline_that_passes_while_a_background_child_holds_the_pipe_changes_nothing() {
    let folder = folder();
    let file = folder.path().join("pid");
    let done = Trial::puppet(["leave", word(&file), "exit", "0"])
        .timeout(1500)
        .drain(2500)
        .run();
    done.exited(0);
    assert!(done.took >= Duration::from_millis(2500), "{:?}", done.took);
}

#[test]
fn a_tree_that_talks_on_in_another_session_ends_in_bounded_time_with_its_output_kept() {
    let folder = folder();
    let file = folder.path().join("chatter");
    let words = [
        "say",
        "before",
        "leave-session",
        word(&file),
        "ignore",
        "15",
        "say",
        "ready",
        "wait",
    ];
    let done = Trial::puppet(words).timeout(1000).grace(300).run();
    assert_eq!(done.outcome()["kind"], "timed-out");
    assert_eq!(done.outcome()["escalated"], true);
    // Deadline, grace and half a second; and another second for a busy machine.
    assert!(
        done.took < Duration::from_millis(1000 + 300 + 500 + 1000),
        "{:?}",
        done.took
    );
    assert!(done.text().starts_with("before\n"));
    assert!(!is_alive(pid_in(&file)));
}

#[test]
fn a_busy_background_child_cannot_prolong_the_run() {
    let folder = folder();
    let file = folder.path().join("chatter");
    let done = Trial::puppet(["leave", word(&file), "exit", "0"])
        .drain(300)
        .run();
    done.exited(0);
    assert!(
        done.took < Duration::from_millis(300 + 350 + 1000),
        "{:?}",
        done.took
    );
    assert!(!done.ending.stdout.end_seen);
    assert!(done.text().contains("chatter"));
}

#[test]
fn descendants_have_the_rest_of_the_grace_after_the_leader_is_gone() {
    let folder = folder();
    let file = folder.path().join("resist");
    let done = Trial::puppet(["leave-session", word(&file), "wait"])
        .timeout(800)
        .grace(400)
        .run();
    assert_eq!(done.outcome()["then"], json!({"signal": 15}));
    assert_eq!(done.outcome()["escalated"], true);
    assert!(done.took >= Duration::from_millis(1200), "{:?}", done.took);
    assert_eq!(done.json()["leftovers"][0]["fate"], "killed");
    assert!(!is_alive(pid_in(&file)));
}

#[test]
fn limits_may_be_as_long_as_a_number_can_say() {
    let mut trial = Trial::puppet(["say", "ready", "wait"]).signal_when("ready", &[15]);
    trial.limits.timeout = Some(Duration::MAX);
    trial.limits.silence = Some(Duration::MAX);
    trial.limits.grace = Duration::MAX;
    trial.limits.drain = Duration::MAX;
    assert_eq!(trial.run().outcome()["kind"], "cancelled");
}
