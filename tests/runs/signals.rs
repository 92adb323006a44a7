//! What the runner is told reaches the command, ends the run, and is told apart from everything else.

use std::os::unix::process::CommandExt;
use std::time::Duration;

use crate::rig::{
    Driver, PATIENCE, Trial, eventually, folder, is_alive, pid_in, puppet, state, word,
};
use crate::time::in_time;
use serde_json::json;

#[test]
fn every_request_to_end_is_passed_on_and_cancels_the_run() {
    for (number, name, byte) in [
        (1, "SIGHUP", &[1]),
        (2, "SIGINT", &[2]),
        (3, "SIGQUIT", &[3]),
        (15, "SIGTERM", &[15]),
    ] {
        let done = Trial::puppet(["say", "ready", "wait"])
            .signal_when("ready", byte)
            .run();
        assert_eq!(
            done.outcome(),
            json!({"kind": "cancelled", "signal": number, "name": name, "escalated": false, "then": {"signal": number}})
        );
        assert_eq!(done.ending.exit_code(), None);
        assert_eq!(done.ending.interrupted, Some(number));
        assert_eq!(done.text(), "ready\n");
    }
}

#[test]
fn a_cancelled_command_that_exits_0_is_still_cancelled() {
    let done = Trial::puppet(["exit-on", "2", "say", "ready", "wait"])
        .signal_when("ready", &[2])
        .run();
    assert_eq!(done.outcome()["kind"], "cancelled");
    assert_eq!(done.outcome()["then"], json!({"exit_code": 0}));
    assert_eq!(done.ending.exit_code(), None);
}

#[test]
fn a_command_that_ignores_the_request_is_killed_after_the_grace() {
    let done = Trial::puppet(["ignore", "15", "say", "ready", "wait"])
        .grace(200)
        .signal_when("ready", &[15])
        .run();
    assert_eq!(done.outcome()["escalated"], true);
    assert_eq!(done.outcome()["then"], json!({"signal": 9}));
}

#[test]
fn a_second_request_kills_at_once() {
    let done = Trial::puppet(["ignore", "2", "say", "ready", "wait"])
        .grace(3_600_000)
        .signal_when("ready", &[2, 2])
        .run();
    assert_eq!(done.outcome()["kind"], "cancelled");
    assert_eq!(done.outcome()["escalated"], true);
}

#[test]
fn a_request_while_a_limit_is_enforced_kills_at_once_and_the_run_stays_timed_out() {
    in_time(|millis| {
        let done = Trial::puppet(["report-on", "15", "say", "ready", "wait"])
            .timeout(millis)
            .grace(3_600_000)
            .signal_when("heard", &[2])
            .run();
        assert_eq!(done.outcome()["kind"], "timed-out");
        if !done.text().contains("ready") {
            return None;
        }
        assert_eq!(done.outcome()["escalated"], true);
        assert_eq!(done.ending.interrupted, Some(2));
        Some(())
    });
}

#[test]
fn a_request_before_the_start_starts_nothing() {
    let folder = folder();
    let file = folder.path().join("was-run");
    let done = Trial::puppet(["touch", word(&file)])
        .signal_first(&[2])
        .run();
    assert_eq!(
        done.outcome(),
        json!({"kind": "cancelled", "signal": 2, "name": "SIGINT", "escalated": false, "then": null})
    );
    assert!(!file.exists());
    assert_eq!(done.ending.interrupted, Some(2));
}

#[test]
fn a_request_after_the_command_has_exited_changes_no_outcome_but_ends_the_waiting() {
    let folder = folder();
    let file = folder.path().join("chatter");
    let done = Trial::puppet(["say-pid", "leave", word(&file), "exit", "0"])
        .drain(3_600_000)
        .when("chatter", |text, control| {
            let pid = text
                .lines()
                .find_map(|line| line.strip_prefix("pid ")?.parse().ok())
                .unwrap();
            eventually("the command has exited", || state(pid) == Some('Z'));
            rustix::io::write(control, &[15]).unwrap();
        })
        .run();
    done.exited(0);
    assert_eq!(done.ending.interrupted, Some(15));
    assert!(!is_alive(pid_in(&file)));
}

#[test]
fn a_paused_run_is_stopped_and_the_clock_of_its_limits_with_it() {
    in_time(|millis| {
        let folder = folder();
        let file = folder.path().join("go-on");
        let timeout = millis.to_string();
        let mut runner = Driver::start(
            &["--timeout", &timeout],
            &["say-pid", "await-file", word(&file), "exit", "0"],
        );
        let command: i32 = runner.line().strip_prefix("pid ")?.parse().unwrap();
        runner.signal(libc::SIGTSTP);
        let pid = runner.pid();
        let mut is_over = false;
        eventually("the runner has stopped or ended", || {
            is_over = !is_alive(pid);
            is_over || state(pid) == Some('T')
        });
        if !is_over {
            eventually("the command has stopped", || state(command) == Some('T'));
            // The deadline passes meanwhile; time is what this test is about.
            std::thread::sleep(Duration::from_millis(millis + 100));
            std::fs::write(&file, "x").unwrap();
            runner.signal(libc::SIGCONT);
        }
        let ending = runner.ending();
        if ending["outcome"]["kind"] == "timed-out" {
            // The time before the pause and after it was too long.
            return None;
        }
        assert_eq!(ending["outcome"], json!({"kind": "exited", "code": 0}));
        assert!(ending["duration_ms"].as_u64().unwrap() > millis);
        Some(())
    });
}

#[test]
fn a_paused_run_can_be_cancelled() {
    let done = Trial::puppet(["say", "ready", "wait"])
        .signal_when("ready", &[20, 15])
        .run();
    assert_eq!(done.outcome()["kind"], "cancelled");
    assert_eq!(done.outcome()["then"], json!({"signal": 15}));
}

#[test]
fn a_control_whose_other_end_is_gone_is_no_request() {
    let done = Trial::puppet(["say", "ready", "exit", "0"])
        .signal_when("ready", &[])
        .run();
    done.exited(0);
    assert_eq!(done.ending.interrupted, None);
}

#[test]
fn a_runner_process_hears_real_signals() {
    for (signal, name) in [
        (libc::SIGINT, "SIGINT"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGQUIT, "SIGQUIT"),
    ] {
        let mut runner = Driver::start(&[], &["say", "ready", "wait"]);
        assert_eq!(runner.line(), "ready");
        runner.signal(signal);
        let ending = runner.ending();
        assert_eq!(
            (
                ending["outcome"]["kind"].as_str(),
                ending["outcome"]["name"].as_str()
            ),
            (Some("cancelled"), Some(name))
        );
    }
}

#[test]
fn a_terminal_that_closes_leaves_no_orphan_in_any_session() {
    let folder = folder();
    let file = folder.path().join("resist");
    let mut runner = Driver::start(
        &["--grace", "200"],
        &["leave-daemon", word(&file), "say", "ready", "wait"],
    );
    assert_eq!(runner.line(), "ready");
    runner.signal(libc::SIGHUP);
    let ending = runner.ending();
    assert_eq!(ending["outcome"]["name"], "SIGHUP");
    assert_eq!(ending["children"], json!([]));
    assert!(!is_alive(pid_in(&file)));
}

#[test]
fn a_runner_within_a_run_passes_the_end_on_and_tells_its_own_story() {
    let puppet = puppet();
    in_time(|millis| {
        let done = Trial::puppet(["drive", word(&puppet), "say-pid", "wait"])
            .timeout(millis)
            .grace(60_000)
            .run();
        assert_eq!(done.outcome()["kind"], "timed-out");
        let text = done.text();
        let (first, second) = text.split_once('\n')?;
        let command = first.strip_prefix("pid ")?;
        assert_eq!(done.outcome()["then"], json!({"exit_code": 0}));
        assert!(!is_alive(command.parse().unwrap()));
        let inner: serde_json::Value =
            serde_json::from_str(second.trim().strip_prefix("ENDING ").unwrap()).unwrap();
        assert_eq!(inner["outcome"]["kind"], "cancelled");
        assert_eq!(inner["outcome"]["signal"], 15);
        Some(())
    });
}

#[test]
fn a_signal_that_was_ignored_from_the_start_stays_ignored() {
    let mut runner = ignoring(libc::SIGHUP, &[], &["say", "ready", "wait"]);
    assert_eq!(runner.line(), "ready");
    runner.signal(libc::SIGHUP);
    runner.signal(libc::SIGTERM);
    assert_eq!(runner.ending()["outcome"]["name"], "SIGTERM");
}

#[test]
fn a_command_does_not_outlive_a_runner_that_was_killed() {
    let mut runner = Driver::start(&[], &["ignore", "15", "say-pid", "wait"]);
    let command: i32 = runner.line().strip_prefix("pid ").unwrap().parse().unwrap();
    runner.child().kill().unwrap();
    runner.child().wait().unwrap();
    eventually("the command has ended", || !is_alive(command));
}

#[test]
fn a_runner_that_was_started_with_sigchld_ignored_still_learns_exit_codes() {
    let ending = ignoring(libc::SIGCHLD, &[], &["exit", "3"]).ending();
    assert_eq!(ending["outcome"], json!({"kind": "exited", "code": 3}));
}

#[test]
fn a_library_in_a_process_that_ignores_sigchld_starts_nothing() {
    let folder = folder();
    let file = folder.path().join("was-run");
    let ending = ignoring(libc::SIGCHLD, &["--adopt-nothing"], &["touch", word(&file)]).ending();
    assert_eq!(
        ending["outcome"],
        json!({"kind": "not-started", "cause": "other"})
    );
    assert!(ending["error"].as_str().unwrap().contains("SIGCHLD"));
    assert!(!file.exists());
}

#[test]
fn a_status_that_somebody_else_has_collected_is_no_success() {
    let folder = folder();
    let file = folder.path().join("go-on");
    let go_on = file.clone();
    let done = Trial::puppet(["say-pid", "await-file", word(&file), "exit", "0"])
        .without_helper()
        .when("pid", move |text, _| {
            std::fs::write(&go_on, "x").unwrap();
            let pid: i32 = text.trim().strip_prefix("pid ").unwrap().parse().unwrap();
            // SAFETY: passes three numbers.
            assert_eq!(unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) }, pid);
        })
        .run();
    assert_eq!(done.outcome(), json!({"kind": "runner-died"}));
    assert_eq!(done.ending.exit_code(), None);
}

#[test]
fn a_library_in_a_process_that_ignores_sigchld_learns_exit_codes_through_its_helper() {
    let ending = ignoring(libc::SIGCHLD, &["--with-helper"], &["exit", "3"]).ending();
    assert_eq!(ending["outcome"], json!({"kind": "exited", "code": 3}));
    assert_eq!(ending["children"], json!([]));
}

#[test]
fn a_command_that_kills_its_helper_has_no_exit_code_and_leaves_nothing() {
    let folder = folder();
    let file = folder.path().join("resist");
    let done = Trial::puppet(["leave-daemon", word(&file), "kill-parent", "9", "wait"]).run();
    assert_eq!(done.outcome(), json!({"kind": "runner-died"}));
    assert_eq!(done.ending.exit_code(), None);
    assert_eq!(done.ending.leftovers.len(), 1, "{done:?}");
    assert!(!is_alive(pid_in(&file)));
}

#[test]
fn a_command_that_stops_its_helper_cannot_hold_the_run() {
    let done = Trial::puppet(["kill-parent", "19", "exit", "0"]).run();
    done.exited(0);
    assert!(done.took < PATIENCE, "{:?}", done.took);
    let done = Trial::puppet(["kill-parent", "15", "kill-parent", "1", "exit", "4"]).run();
    done.exited(4);
}

#[test]
fn a_library_user_that_is_killed_takes_the_whole_tree_along_even_what_has_hidden_itself() {
    let folder = folder();
    let file = folder.path().join("pid");
    let mut runner = Driver::start(
        &["--with-helper", "--keep"],
        &["leave-bare", word(&file), "ignore", "15", "say-pid", "wait"],
    );
    let command: i32 = runner.line().strip_prefix("pid ").unwrap().parse().unwrap();
    let daemon = pid_in(&file);
    runner.child().kill().unwrap();
    runner.child().wait().unwrap();
    eventually("the command has ended", || !is_alive(command));
    eventually("the daemon has ended", || !is_alive(daemon));
}

/// Starts a runner in which a signal is ignored from the beginning.
fn ignoring(signal: i32, options: &[&str], words: &[&str]) -> Driver {
    Driver::start_with(options, words, |command| {
        let hook = move || {
            // SAFETY: installs no code.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
            Ok(())
        };
        // SAFETY: the hook makes one system call.
        unsafe { command.pre_exec(hook) };
    })
}
