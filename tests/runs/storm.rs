//! Many runs, eight at once: each right, and nothing left in the process that ran them.

use std::process::Command;

use crate::rig::puppet;

fn storm(adoption: &str) {
    let output = Command::new(puppet())
        .args(["storm", adoption])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let rest = text.strip_prefix("right 160 of 160, descriptors ");
    let numbers = rest
        .and_then(|rest| rest.split_once(','))
        .unwrap_or_else(|| panic!("{text}"));
    let (before, after) = numbers.0.split_once(' ').unwrap();
    assert_eq!(before, after, "{text}");
    assert!(numbers.1.starts_with(" children []"), "{text}");
}

#[test]
fn many_runs_at_once_leave_no_zombie_and_no_descriptor() {
    storm("none");
}

#[test]
fn many_runs_at_once_with_a_helper_each_leave_no_zombie_and_no_descriptor() {
    storm("with-helpers");
}

#[test]
fn many_runs_at_once_in_a_process_that_adopts_do_not_take_each_others_processes() {
    storm("adopting");
}
