//! The exit code is the process's own, or there is none.

use crate::rig::{Driver, Trial};
use feedback_host::ending::Outcome;

#[test]
fn every_exit_code_is_recorded_as_itself() {
    for code in 0..=255_u8 {
        Trial::puppet(["exit", &code.to_string()])
            .run()
            .exited(code);
    }
}

#[test]
fn every_signal_that_ends_a_process_leaves_no_exit_code() {
    // By default these are ignored or stop the process.
    let harmless = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];
    let stopping = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
    for number in (1..=64).filter(|number| !harmless.contains(number) && !stopping.contains(number))
    {
        let done = Trial::puppet(["kill-self", &number.to_string()]).run();
        assert_eq!(done.ending.exit_code(), None);
        let Outcome::Signaled {
            signal,
            name,
            core_dumped,
            hint,
        } = done.ending.outcome
        else {
            panic!("{number}: {done:?}");
        };
        assert_eq!(
            (signal, name.is_some(), core_dumped, hint),
            (number, number < 32, false, None)
        );
    }
}

#[test]
fn a_signal_that_ends_nothing_changes_nothing() {
    for number in [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH] {
        Trial::puppet(["kill-self", &number.to_string(), "exit", "3"])
            .run()
            .exited(3);
    }
    for number in [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU] {
        let done = Trial::puppet(["halt", &number.to_string(), "exit", "3"])
            .timeout(300)
            .grace(60_000)
            .run();
        assert_eq!(done.outcome()["kind"], "timed-out", "{number}");
        assert_eq!(done.outcome()["then"]["signal"], 15, "{number}");
    }
}

#[test]
fn a_killed_child_has_null_exit_code_in_the_document() {
    let done = Trial::puppet(["kill-self", "9"]).run();
    let expected = serde_json::json!({"kind": "signaled", "signal": 9, "name": "SIGKILL", "core_dumped": false});
    assert_eq!(done.outcome(), expected);
    assert!(done.json()["error"].is_null());
}

#[test]
fn a_shell_that_exits_137_or_143_or_124_is_not_translated() {
    for code in [137, 143, 124] {
        Trial::of(["sh", "-c", &format!("exit {code}")])
            .timeout(60_000)
            .run()
            .exited(code);
    }
}

#[test]
fn no_output_and_exit_0_is_a_success_with_two_empty_streams_that_ended() {
    let done = Trial::puppet(["exit", "0"]).run();
    done.exited(0);
    assert!(done.ending.stdout.end_seen && done.ending.stderr.end_seen);
    assert_eq!(
        (done.ending.stdout.bytes, done.ending.stdout.last_byte_ms),
        (0, None)
    );
    assert!(done.ending.leftovers.is_empty() && done.ending.stages.is_empty());
}

#[test]
fn output_that_speaks_of_failure_changes_no_outcome() {
    Trial::puppet([
        "say",
        "permission denied",
        "complain",
        "error: exit 1",
        "exit",
        "0",
    ])
    .run()
    .exited(0);
}

#[test]
fn cpu_time_and_peak_memory_are_those_of_the_command() {
    let usage = Trial::puppet(["spin", "60", "grow", "100"])
        .run()
        .ending
        .usage
        .unwrap();
    assert!(
        (50..10_000).contains(&(usage.user_ms + usage.system_ms)),
        "{usage:?}"
    );
    assert!(
        (100 << 20..300 << 20).contains(&usage.max_rss_bytes.unwrap()),
        "{usage:?}"
    );
}

#[test]
fn peak_memory_that_is_only_the_runners_own_is_not_reported_as_the_commands() {
    let heavy = Driver::start(&["--ballast", "64"], &["exit", "0"]).ending();
    assert_eq!(heavy["ballast"], 64 << 20);
    assert!(heavy["usage"].get("max_rss_bytes").is_none(), "{heavy}");
    let light = Driver::start(&[], &["grow", "16", "exit", "0"]).ending();
    let peak = light["usage"]["max_rss_bytes"].as_u64().unwrap();
    assert!((16 << 20..64 << 20).contains(&peak), "{light}");
}
