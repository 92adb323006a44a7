//! A limit that passes is told as such, whatever the process does then, and time is bounded.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::rig::{Done, Trial, eventually, folder, is_alive, pid_in, state, word};
use crate::time::in_time;
use serde_json::json;

/// Runs the puppet with a deadline that leaves it time to say `ready`. Returns the deadline in
/// milliseconds as well.
fn past_the_deadline<const N: usize>(words: [&str; N], grace: u64) -> (u64, Done) {
    in_time(|millis| {
        let done = Trial::puppet(words).timeout(millis).grace(grace).run();
        assert_eq!(done.outcome()["kind"], "timed-out", "{done:?}");
        done.text().contains("ready").then_some((millis, done))
    })
}

/// A grace that is not over before what it is given for has happened.
const LONG: u64 = 60_000;

#[test]
fn a_command_that_dies_on_sigterm_at_the_deadline_is_timed_out() {
    let (deadline, done) = past_the_deadline(["say", "ready", "wait"], LONG);
    assert_eq!(
        done.outcome(),
        json!({"kind": "timed-out", "limit": "deadline", "after_ms": deadline, "escalated": false, "then": {"signal": 15}})
    );
    assert_eq!(done.ending.exit_code(), None);
    assert_eq!(done.text(), "ready\n");
    assert!(done.ending.duration_ms >= deadline);
}

#[test]
fn a_command_that_exits_0_on_sigterm_is_still_timed_out() {
    let (_, done) = past_the_deadline(["exit-on", "15", "say", "ready", "wait"], LONG);
    assert_eq!(done.outcome()["then"], json!({"exit_code": 0}));
    assert_eq!(done.ending.exit_code(), None);
}

#[test]
fn a_command_that_ignores_sigterm_is_killed_after_the_grace() {
    let (deadline, done) = past_the_deadline(["ignore", "15", "say", "ready", "wait"], 200);
    assert_eq!(
        done.outcome(),
        json!({"kind": "timed-out", "limit": "deadline", "after_ms": deadline, "escalated": true, "then": {"signal": 9}})
    );
    assert!(done.took >= Duration::from_millis(deadline + 200));
    assert_eq!(done.text(), "ready\n");
}

#[test]
fn a_stopped_command_is_continued_so_that_it_hears_sigterm() {
    let done = Trial::puppet(["stop", "wait"])
        .timeout(300)
        .grace(LONG)
        .run();
    assert_eq!(done.outcome()["escalated"], false);
    assert_eq!(done.outcome()["then"], json!({"signal": 15}));
}

#[test]
fn silence_is_a_limit_of_its_own() {
    let (silence, done) = in_time(|millis| {
        let done = Trial::puppet(["say", "before", "wait"])
            .silence(millis)
            .timeout(600_000)
            .run();
        assert_eq!(done.outcome()["kind"], "timed-out");
        assert_eq!(done.outcome()["limit"], "silence");
        (done.text() == "before\n").then_some((millis, done))
    });
    assert_eq!(done.outcome()["after_ms"], json!(silence));
}

#[test]
fn a_busy_command_is_not_silent() {
    in_time(|millis| {
        let done = Trial::puppet(["chatter"])
            .silence(millis)
            .timeout(millis + millis / 2)
            .run();
        (done.outcome()["limit"] == "deadline").then_some(())
    });
}

#[test]
fn a_command_that_exited_before_the_deadline_is_never_late() {
    // The sink keeps the runner busy until the command has exited and the deadline has passed.
    in_time(|millis| {
        let began = Instant::now();
        let done = Trial::puppet(["say-pid", "exit", "0"])
            .timeout(millis)
            .when("pid ", move |text, _| {
                let pid = text.trim().strip_prefix("pid ").unwrap().parse().unwrap();
                eventually("the command has exited", || state(pid) == Some('Z'));
                while began.elapsed() < Duration::from_millis(2 * millis) {}
            })
            .run();
        // Without a word in time it was late.
        (!done.text().is_empty()).then(|| done.exited(0).took)
    });
}

#[test]
fn a_deadline_that_passes_while_a_background_child_holds_the_pipe_changes_nothing() {
    in_time(|millis| {
        let folder = folder();
        let file = folder.path().join("pid");
        let done = Trial::puppet(["leave", word(&file), "exit", "0"])
            .timeout(millis)
            .drain(2 * millis)
            .run();
        assert!(
            done.took >= Duration::from_millis(millis),
            "{:?}",
            done.took
        );
        // The command itself may have been late.
        (done.outcome()["kind"] == "exited").then(|| done.exited(0).took)
    });
}

#[test]
fn a_tree_that_talks_on_in_another_session_ends_in_bounded_time_with_its_output_kept() {
    in_time(|millis| {
        let folder = folder();
        let file = folder.path().join("chatter");
        let file = word(&file);
        let before = ["say", "before", "leave-session", file, "ignore"];
        let done = Trial::of_puppet(&[&before[..], &["15", "say", "ready", "wait"]].concat())
            .timeout(millis)
            .grace(300)
            .run();
        assert_eq!(done.outcome()["kind"], "timed-out");
        if !done.text().contains("ready") {
            return None;
        }
        assert_eq!(done.outcome()["escalated"], true);
        assert!(done.text().starts_with("before\n"));
        assert!(!is_alive(pid_in(Path::new(file))));
        // Deadline, grace and half a second; a slow machine has more of all.
        (done.took < Duration::from_millis(millis + 300 + 500.max(millis))).then_some(())
    });
}

#[test]
fn a_busy_background_child_cannot_prolong_the_run() {
    in_time(|millis| {
        let folder = folder();
        let file = folder.path().join("chatter");
        let done = Trial::puppet(["leave", word(&file), "exit", "0"])
            .drain(millis)
            .run();
        done.exited(0);
        assert!(!done.ending.stdout.end_seen);
        let is_bounded = done.took < Duration::from_millis(3 * millis + 350);
        (is_bounded && done.text().contains("chatter")).then_some(())
    });
}

#[test]
fn descendants_have_the_rest_of_the_grace_after_the_leader_is_gone() {
    in_time(|millis| {
        let folder = folder();
        let file = folder.path().join("resist");
        let done = Trial::puppet(["leave-session", word(&file), "say", "ready", "wait"])
            .timeout(millis)
            .grace(400)
            .run();
        if !done.text().contains("ready") {
            return None;
        }
        assert_eq!(done.outcome()["then"], json!({"signal": 15}));
        assert_eq!(done.outcome()["escalated"], true);
        let least = Duration::from_millis(millis + 400);
        assert!(done.took >= least, "{:?}", done.took);
        assert_eq!(done.json()["leftovers"][0]["fate"], "killed");
        assert!(!is_alive(pid_in(&file)));
        Some(())
    });
}

#[test]
fn a_runner_that_was_held_up_past_the_grace_still_sees_the_killed_command_end() {
    in_time(|millis| {
        let done = Trial::puppet(["report-on", "15", "say", "ready", "wait"])
            .timeout(millis)
            .grace(100)
            .when("heard", |_, _| {
                std::thread::sleep(Duration::from_millis(2200));
            })
            .run();
        if !done.text().contains("ready") {
            return None;
        }
        assert_eq!(done.outcome()["then"], json!({"signal": 9}));
        assert_eq!(done.json()["leftovers"], json!([]));
        Some(())
    });
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
