//! What a command leaves behind is found, named and ended; what is not its own is left alone.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::rig::{
    Driver, PATIENCE, Trial, eventually, folder, has_groups, install, is_alive, kill, pid_in,
    puppet, state, word,
};
use feedback_host::ending::Fate;
use serde_json::json;

#[test]
fn a_background_child_that_holds_stdout_does_not_hold_the_run() {
    let folder = folder();
    let file = folder.path().join("pid");
    let done = Trial::puppet(["say", "before", "leave", word(&file), "exit", "0"])
        .timeout(600_000)
        .run();
    done.exited(0);
    assert!(done.took < PATIENCE, "{:?}", done.took);
    assert!(!done.ending.stdout.end_seen && !done.ending.stderr.end_seen);
    assert_eq!(done.text(), "before\n");
    let pid = pid_in(&file);
    assert_eq!(
        done.json()["leftovers"],
        json!([{"pid": pid, "name": "puppet", "fate": "killed"}])
    );
    assert!(!is_alive(pid));
}

#[test]
fn a_daemon_that_forked_twice_into_its_own_session_is_swept_and_named() {
    let folder = folder();
    let file = folder.path().join("pid");
    let done = Trial::puppet(["leave-daemon", word(&file), "exit", "0"]).run();
    done.exited(0);
    assert!(done.ending.stdout.end_seen);
    let pid = pid_in(&file);
    assert_eq!(
        done.json()["leftovers"],
        json!([{"pid": pid, "name": "puppet", "fate": "killed"}])
    );
    assert!(!is_alive(pid));
}

#[test]
fn a_leftover_that_ignores_sigterm_is_killed() {
    let folder = folder();
    let file = folder.path().join("resist");
    let done = Trial::puppet(["leave-session", word(&file), "exit", "3"]).run();
    done.exited(3);
    assert_eq!(done.ending.leftovers[0].fate, Fate::Killed);
    assert!(!is_alive(pid_in(&file)));
}

#[test]
fn background_processes_are_kept_on_request_and_the_record_says_so() {
    let folder = folder();
    let file = folder.path().join("pid");
    let done = Trial::puppet(["leave-daemon", word(&file), "exit", "0"])
        .keep_background()
        .run();
    done.exited(0);
    let pid = pid_in(&file);
    assert_eq!(
        done.json()["leftovers"],
        json!([{"pid": pid, "name": "puppet", "fate": "kept"}])
    );
    assert!(is_alive(pid));
    kill(pid, libc::SIGKILL);
}

#[test]
fn leftovers_of_a_command_that_was_killed_are_swept_too() {
    let folder = folder();
    let file = folder.path().join("pid");
    let done = Trial::puppet(["leave", word(&file), "kill-self", "9"]).run();
    assert_eq!(done.outcome()["signal"], 9);
    assert_eq!(done.ending.leftovers.len(), 1);
    assert!(!is_alive(pid_in(&file)));
}

#[test]
fn a_command_that_kills_its_own_group_does_not_reach_the_runner() {
    let done = Trial::puppet(["say", "before", "kill-group"]).run();
    assert_eq!(done.outcome()["signal"], 9);
    assert_eq!(done.text(), "before\n");
}

#[test]
fn a_process_that_is_not_of_the_run_is_neither_signalled_nor_reaped() {
    let mut stranger = Command::new(puppet())
        .arg("wait")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut dead = Command::new(puppet())
        .args(["exit", "7"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let dead_pid = i32::try_from(dead.id()).unwrap();
    eventually("the other child has ended", || !is_alive(dead_pid));
    let folder = folder();
    let done = Trial::puppet([
        "leave-daemon",
        word(&folder.path().join("pid")),
        "exit",
        "0",
    ])
    .run();
    assert_eq!(done.ending.leftovers.len(), 1);
    assert_eq!(stranger.try_wait().unwrap(), None);
    assert_eq!(dead.wait().unwrap().code(), Some(7));
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn a_runner_that_adopts_finds_even_what_has_hidden_its_mark_and_leaves_no_zombie() {
    for options in [&[][..], &["--no-group"]] {
        let folder = folder();
        let file = folder.path().join("pid");
        let ending = Driver::start(options, &["leave-bare", word(&file), "exit", "0"]).ending();
        let pid = pid_in(&file);
        assert_eq!(ending["outcome"], json!({"kind": "exited", "code": 0}));
        assert_eq!(
            ending["leftovers"],
            json!([{"pid": pid, "name": "puppet", "fate": "killed"}])
        );
        assert_eq!(ending["children"], json!([]));
        assert!(!is_alive(pid));
    }
}

#[test]
fn a_control_group_alone_finds_what_has_hidden_its_mark_and_is_removed() {
    let folder = folder();
    let file = folder.path().join("pid");
    let done = Trial::puppet(["leave-bare", word(&file), "groups", "exit", "0"])
        .without_helper()
        .run();
    let pid = pid_in(&file);
    if has_groups() {
        let named = json!([{"pid": pid, "name": "puppet", "fate": "killed"}]);
        assert_eq!(done.json()["leftovers"], named);
        assert!(!is_alive(pid));
        let group = done.text();
        let name = group.trim().rsplit_once('/').unwrap().1;
        assert!(name.starts_with("feedback-run-"), "{group}");
        let folders = Command::new("find")
            .args(["/sys/fs/cgroup", "-maxdepth", "6", "-name", name])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&folders.stdout), "");
    } else {
        // What a run without a helper and without a group cannot find is all that is lost.
        assert_eq!(done.json()["leftovers"], json!([]));
        kill(pid, libc::SIGKILL);
    }
    done.exited(0);
}

#[test]
fn a_run_has_no_control_group_where_none_is_wanted() {
    let done = Trial::puppet(["groups", "exit", "0"]).without_group().run();
    assert!(!done.text().contains("feedback-run-"), "{}", done.text());
}

#[test]
fn a_storm_of_forks_ends_with_the_run() {
    for in_group in [true, false] {
        // By its name, its processes are told from those of other tests.
        let folder = folder();
        let name = word(folder.path());
        let trial = Trial::puppet(["fork-storm", "20", name]);
        let trial = if in_group {
            trial
        } else {
            trial.without_group()
        };
        let done = trial.timeout(500).grace(100).run();
        assert_eq!(done.outcome()["kind"], "timed-out");
        // It takes the time that it would leave to others.
        assert!(done.took < 10 * PATIENCE, "{:?}", done.took);
        let alive = done.ending.leftovers.iter();
        let alive: Vec<_> = alive.filter(|left| left.fate == Fate::Survived).collect();
        assert!(alive.is_empty(), "{alive:?}");
        let left = Command::new("pgrep").args(["-f", name]).output();
        assert_eq!(String::from_utf8_lossy(&left.unwrap().stdout), "");
    }
}

#[test]
fn a_library_finds_even_what_has_hidden_its_mark_and_reaps_nobody_elses_child() {
    let mut dead = Command::new(puppet())
        .args(["exit", "7"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let folder = folder();
    let file = folder.path().join("pid");
    let done = Trial::puppet(["leave-bare", word(&file), "exit", "0"])
        .without_group()
        .run();
    done.exited(0);
    let pid = pid_in(&file);
    assert_eq!(
        done.json()["leftovers"],
        json!([{"pid": pid, "name": "puppet", "fate": "killed"}])
    );
    assert!(!is_alive(pid));
    assert_eq!(dead.wait().unwrap().code(), Some(7));
}

#[test]
fn a_helper_keeps_nothing_of_its_user_open_and_goes_when_the_run_is_over() {
    let (read, write) = std::io::pipe().unwrap();
    let helper = std::sync::Arc::new(std::sync::Mutex::new(0));
    let seen = helper.clone();
    let mut write = Some(write);
    let mut read = Some(read);
    let folder = folder();
    let file = folder.path().join("go-on");
    let go_on = file.clone();
    let done = Trial::puppet(["say-parent", "await-file", word(&file), "exit", "0"])
        .when("parent ", move |text, _| {
            let parent = text.trim().strip_prefix("parent ").unwrap();
            *seen.lock().unwrap() = parent.parse().unwrap();
            let name = std::fs::read_to_string(format!("/proc/{parent}/comm")).unwrap();
            assert_eq!(name, "feedback-keeper\n");
            // The end comes although the helper lives: it does not hold the writing end.
            drop(write.take());
            let mut text = String::new();
            read.take().unwrap().read_to_string(&mut text).unwrap();
            std::fs::write(&go_on, "x").unwrap();
        })
        .run();
    done.exited(0);
    assert_eq!(state(*helper.lock().unwrap()), None);
}

#[test]
fn background_processes_survive_the_helper_on_request() {
    let folder = folder();
    let file = folder.path().join("pid");
    let done = Trial::puppet(["leave-bare", word(&file), "exit", "0"])
        .keep_background()
        .run();
    let pid = pid_in(&file);
    assert_eq!(done.ending.leftovers[0].fate, Fate::Kept);
    assert!(is_alive(pid));
    kill(pid, libc::SIGKILL);
}

#[test]
fn a_runner_that_adopts_keeps_background_processes_on_request() {
    let folder = folder();
    let file = folder.path().join("pid");
    let ending = Driver::start(&["--keep"], &["leave-daemon", word(&file), "exit", "0"]).ending();
    let pid = pid_in(&file);
    assert_eq!(ending["leftovers"][0]["fate"], "kept");
    assert!(is_alive(pid));
    kill(pid, libc::SIGKILL);
}

#[test]
fn a_process_that_cannot_be_ended_is_named_and_the_run_still_ends() {
    if !rustix::process::geteuid().is_root() {
        // Only root can make a process that the runner may not signal.
        return;
    }
    let Some(folder) = folder_for_all() else {
        return eprintln!("no folder where another user may run a program of root: not tried here");
    };
    let (file, copy) = (folder.path().join("resist"), folder.path().join("puppet"));
    install(&puppet(), &copy, "755");
    let other = folder.path().join("of-root");
    let mut runner = Command::new(&copy);
    runner
        .arg("drive")
        .arg(&other)
        .args(["become-root", "leave", word(&file), "exit", "0"]);
    let output = runner
        .uid(65534)
        .gid(65534)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let ending: serde_json::Value =
        serde_json::from_str(text.trim().strip_prefix("ENDING ").unwrap()).unwrap();
    let pid = pid_in(&file);
    assert_eq!(ending["outcome"], json!({"kind": "exited", "code": 0}));
    assert_eq!(
        ending["leftovers"],
        json!([{"pid": pid, "name": "of-root", "fate": "survived"}])
    );
    assert!(is_alive(pid));
    kill(pid, libc::SIGKILL);
}

/// Returns a folder with the puppet as `of-root`, which is root's whoever starts it.
fn folder_for_all() -> Option<tempfile::TempDir> {
    let places = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    places.into_iter().find_map(|place| {
        let folder = tempfile::tempdir_in(place).ok()?;
        let all = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(folder.path(), all).unwrap();
        let other = folder.path().join("of-root");
        install(&puppet(), &other, "4755");
        let said = Command::new(&other).arg("say-user").uid(65534).output();
        (said.ok()?.stdout == b"user 0\n").then_some(folder)
    })
}

#[test]
fn a_sink_that_panics_leaves_no_process_behind() {
    let (send, receive) = std::sync::mpsc::channel();
    let run = std::thread::spawn(move || {
        Trial::puppet(["say-pid", "wait"])
            .when("pid ", move |text, _| {
                send.send(text.trim().strip_prefix("pid ").unwrap().parse().unwrap())
                    .unwrap();
                panic!("on purpose");
            })
            .run()
    });
    assert!(run.join().is_err());
    let pid = receive.recv().unwrap();
    eventually("the process is gone", || state(pid).is_none());
}
