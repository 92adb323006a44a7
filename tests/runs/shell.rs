//! A pipeline shows the status of every stage, through no part of its output.

use crate::rig::{Done, Trial, folder};
use serde_json::{Value, json};

fn stages(done: &Done) -> Value {
    done.json()["stages"].clone()
}

fn codes(script: &str) -> Vec<Option<i32>> {
    Trial::shell(script)
        .run()
        .ending
        .stages
        .iter()
        .map(|stage| stage.exit_code)
        .collect()
}

#[test]
fn a_failure_before_the_last_stage_is_seen() {
    let done = Trial::shell("(echo out; exit 3) | cat | cat").run();
    done.exited(0);
    assert_eq!(
        stages(&done),
        json!([
            {"command": "(echo out; exit 3)", "exit_code": 3, "signal": null},
            {"command": "cat", "exit_code": 0, "signal": null},
            {"command": "cat", "exit_code": 0, "signal": null},
        ])
    );
}

#[test]
fn a_reader_that_stops_early_shows_as_sigpipe_and_not_as_a_code() {
    let done = Trial::shell("yes | head -n 1").run();
    done.exited(0);
    assert_eq!(done.text(), "y\n");
    assert_eq!(
        stages(&done)[0],
        json!({"command": "yes", "exit_code": null, "signal": 13})
    );
    assert_eq!(stages(&done)[1]["exit_code"], 0);
}

#[test]
fn the_exit_code_of_the_script_is_its_own() {
    let done = Trial::shell("true | (exit 7)").run();
    done.exited(7);
    assert_eq!(stages(&done)[1]["exit_code"], 7);
    Trial::shell("kill -9 $$").run().json()["outcome"]["signal"]
        .as_i64()
        .filter(|signal| *signal == 9)
        .unwrap();
}

#[test]
fn no_script_can_swallow_the_report() {
    for script in [
        "false | true # x",
        "false | true \\",
        "false | true; exit",
        "set -e\nfalse | true\n",
        "false | true\n\n",
        "exec 2>&-; false | true",
        "set -eux; false | true",
        "cd /; false | true",
    ] {
        assert_eq!(codes(script), [Some(1), Some(0)], "{script}");
    }
    assert_eq!(
        codes("set -e; false | false; echo not reached"),
        [Some(1), Some(1)]
    );
}

#[test]
fn what_fails_before_the_last_pipeline_is_seen_wherever_a_command_follows() {
    for script in [
        "false | true; echo done",
        "f() { false | true; }; f; echo",
        "f() { false | true; return 0; }; f",
        "(false | true; echo in)",
        "x=$(false | true; echo in); echo \"$x\"",
        "for i in 1 2; do false | true; done; echo",
        "if true; then false | true; fi; echo",
        "if false | true; then echo; fi",
        "eval 'false | true; echo'; echo",
        "set -eux; false | true; echo",
        "IFS=; false | true; echo",
        "(false | true; echo) | cat",
        "exec 2>&-; false | true; echo",
        "echo 'false | true' > src; . ./src; echo",
        "false | true && echo || echo; true | true",
    ] {
        let folder = folder();
        let done = Trial::shell(script).cwd(folder.path()).run();
        done.exited(0);
        let failed = &done.ending.stages[0];
        assert_eq!(
            (failed.exit_code, &failed.command),
            (Some(1), &None),
            "{script}"
        );
    }
}

#[test]
fn what_an_earlier_pipeline_shows_by_itself_is_the_scripts_own_affair() {
    for script in [
        "true | false; echo",
        "if echo a | grep -q b; then echo; fi; true",
        "false || true; echo",
        "true | true; echo",
    ] {
        assert_eq!(codes(script), [Some(0)], "{script}");
    }
    let done = Trial::shell("yes | head -n 1; echo").run();
    assert_eq!(stages(&done)[0]["signal"], 13);
    // What is documented as out of sight: nothing follows in the shell that ran the pipeline.
    for script in [
        "eval 'false | true'; echo",
        "(false | true); echo",
        "echo $(false | true)",
    ] {
        assert_eq!(codes(script), [Some(0)], "{script}");
    }
}

#[test]
fn a_script_does_not_notice_that_it_is_watched() {
    let script = "echo one; false | (exit 4) | true; echo \"$_ $? ${PIPESTATUS[*]}\"; \
        false | (exit 4) | true; echo \"${PIPESTATUS[*]} $? $_\"; f() { echo \"$# $1 $LINENO\"; }; f a b; \
        set -u; (exit 7) | true || true; echo $? $_; echo \"$BASH_COMMAND\"; (exit 9)";
    let plain = Trial::of(["bash", "-c", script, "bash"]);
    let (plain, watched) = (plain.run(), Trial::shell(script).run());
    plain.exited(9);
    watched.exited(9);
    assert_eq!(watched.text(), plain.text());
    assert_eq!(watched.stderr, plain.stderr);
    let traced = Trial::shell("set -x; false | true; echo a").run();
    let trace = String::from_utf8_lossy(&traced.stderr);
    let mut trace: Vec<_> = trace.lines().collect();
    // The stages run at the same time.
    trace.sort_unstable();
    assert_eq!(trace, ["+ echo a", "+ false", "+ true"]);
}

#[test]
fn more_failures_than_fit_into_the_report_hold_up_nothing_and_are_no_success() {
    let done =
        Trial::shell("for ((i = 0; i < 3000; i++)); do (exit $((i % 9 + 1))) | :; done; echo end")
            .run();
    done.exited(0);
    assert_eq!(done.text(), "end\n");
    assert!(
        done.ending.stages.len() >= 32,
        "{:?}",
        done.ending.stages.len()
    );
    assert!(
        done.ending
            .stages
            .iter()
            .any(|stage| stage.exit_code != Some(0))
    );
}

#[test]
fn a_script_that_bash_cannot_read_fails_and_reports_no_success() {
    let done = Trial::shell("echo 'x | cat").run();
    assert_ne!(done.ending.exit_code(), Some(0));
    assert!(String::from_utf8_lossy(&done.stderr).contains("unexpected EOF"));
}

#[test]
fn a_script_may_use_descriptors_of_its_own() {
    let folder = folder();
    let script = "for n in 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do eval \"exec $n> file\"; done; \
                  echo mine >&9; false | true";
    let done = Trial::shell(script).cwd(folder.path()).run();
    assert_eq!(stages(&done)[0]["exit_code"], 1);
    let file = std::fs::read_to_string(folder.path().join("file")).unwrap();
    assert_eq!(file, "mine\n");
}

#[test]
fn the_report_does_not_show_in_the_output() {
    let done = Trial::shell("echo a | cat").run();
    assert_eq!((done.text().as_str(), done.stderr.len()), ("a\n", 0));
    let traced = Trial::shell("set -x; false | true").run();
    let stderr = String::from_utf8_lossy(&traced.stderr);
    assert!(
        stderr.contains("+ false") && !stderr.contains("printf"),
        "{stderr}"
    );
    assert_eq!(traced.ending.stages.len(), 2);
}

#[test]
fn what_follows_the_script_are_its_parameters() {
    let mut trial = Trial::of(["echo \"$1-$2\"", "a b", "c"]);
    trial.command.shell = true;
    assert_eq!(trial.run().text(), "a b-c\n");
}

#[test]
fn without_bash_the_pipeline_is_not_started() {
    let folder = folder();
    let error = Trial::shell("true | true")
        .env("PATH", folder.path())
        .run()
        .not_started("program-not-found", "ENOENT");
    assert_eq!(
        error,
        "program not found: `bash`, which a shell pipeline needs"
    );
}

#[test]
fn a_plain_command_has_no_stages() {
    assert_eq!(stages(&Trial::of(["true"]).run()), json!([]));
}

#[test]
fn a_command_alone_that_a_script_lets_fail_is_no_hidden_failure() {
    for script in [
        "while read -r line; do : \"$line\"; done < /dev/null",
        "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done",
        "if grep -q zzz /dev/null; then echo y; fi",
        "! grep -q zzz /dev/null",
        "ls nosuch 2> /dev/null; exit 0",
    ] {
        Trial::shell(script).run().exited(0);
        assert_eq!(codes(script), [Some(0)], "{script}");
    }
    // It is a script's own affair what a command alone does, not what a pipe hides.
    assert_eq!(
        codes("if false | true; then exit 0; fi"),
        [Some(1), Some(0)]
    );
    assert_eq!(codes("false; exit 3"), [Some(3)]);
}
