//! What the gate tells beside its decision: which files, which run, and what it did not look at.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::sandbox::{Called, Sandbox, text};
use crate::sealed::Chain;

fn reason(verdict: &Value) -> (&str, &str) {
    let reason = &verdict["reasons"][0];
    (text(reason, "code"), text(reason, "message"))
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder);
    command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    let done = command.env("GIT_CONFIG_GLOBAL", "/dev/null").status();
    assert!(done.expect("git").success());
}

/// Calls `feedback gate --json` in a folder, with these variables.
fn gate_in(sandbox: &Sandbox, folder: &Path, options: &[&str], env: &[(&str, &str)]) -> Called {
    let mut command = sandbox.feedback();
    command.args(["gate", "--json"]).args(options);
    command.current_dir(folder).envs(env.iter().copied());
    Called::from(command.output().expect("the binary runs"))
}

/// Asserts that these words are in what a call prints.
fn prints(called: &Called, status: i32, words: &[&str]) {
    assert_eq!(called.status, status, "{}{}", called.stdout, called.stderr);
    for word in words {
        let is_there = called.stdout.contains(word);
        assert!(is_there, "`{word}` in: {}", called.stdout);
    }
}

#[test]
fn files_that_changed_under_a_run_are_named_in_the_record_and_by_the_gate() {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c", "d", "e", "f", "g", "same"] {
        sandbox.write(&format!("src/{name}"), "1");
    }
    let script = "cd src; echo 2 > a; rm b; echo 2 > bb; chmod +x c; rm d; mkdir d; rm e f g";
    let record = sandbox.run_with(["--inputs", "src"], ["sh", "-c", script]);
    let named = |path: &str, how: &str| json!({"path": path, "how": how});
    assert_eq!(
        record["inputs"]["changed"],
        json!([
            named("src/a", "changed"),
            named("src/b", "removed"),
            named("src/bb", "added"),
            named("src/c", "changed"),
            named("src/d", "removed")
        ])
    );
    assert_eq!(record["inputs"]["changed_omitted"], 3);
    for options in [&[][..], &["--last"]] {
        let (status, verdict) = sandbox.gate(options);
        let (code, message) = reason(&verdict);
        assert_eq!((status, code), (1, "changed-during-run"));
        let words = "`src/a` changed, `src/b` removed, `src/bb` added, `src/c` changed, `src/d` removed, and 3 more";
        assert!(message.ends_with(words), "{message}");
    }
    let shown = sandbox.call(["show", "--text"]).stdout;
    let words = "MOVED     inputs, while it ran: `src/a` changed, `src/b` removed,";
    assert!(shown.contains(words), "{shown}");
    let script = "echo 3 > src/a";
    let inputs = ["run", "--inputs", "src", "--", "sh", "-c", script];
    let words = ["the gate will refuse this run", "`src/a` changed"];
    sandbox.call(inputs).says(0, &words);
}

#[test]
fn of_inputs_that_git_does_not_show_nothing_is_decided() {
    let sandbox = Sandbox::new();
    git(sandbox.path(), &["init", "-q"]);
    sandbox.write("a.rs", "1");
    sandbox.write(".gitignore", "feedback_record*\n");
    sandbox.run_with(["--inputs", "git"], ["true"]);
    assert_eq!(sandbox.gate(&[]).0, 0);
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path().display().to_string();
    for (env, words) in [
        (
            vec![("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1"), ("HOME", &home)],
            ["git does not trust", "safe.directory"],
        ),
        (
            vec![("PATH", "/nowhere")],
            ["`git` was not found", "install it"],
        ),
    ] {
        let asked = gate_in(&sandbox, sandbox.path(), &[], &env);
        let verdict = asked.json();
        assert_eq!(asked.status, 2, "{verdict}");
        assert_eq!(verdict["decision"], "undecided");
        for word in words {
            assert!(reason(&verdict).1.contains(word), "{verdict}");
        }
        assert!(text(&verdict["reasons"][0], "remedy").contains("ask again"));
    }
    // What is known to be wrong refuses all the same.
    sandbox.run(["false"]);
    let asked = gate_in(&sandbox, sandbox.path(), &[], &[("PATH", "/nowhere")]);
    assert_eq!(asked.status, 1);
    assert_eq!(asked.json()["reasons"].as_array().expect("a list").len(), 2);
}

#[test]
fn after_an_exploration_the_newest_run_that_counts_is_judged() {
    let sandbox = Sandbox::new();
    sandbox.run_with(["--explore"], ["true"]);
    sandbox.call(["gate", "--last"]).says(
        2,
        &[
            "no run that counts",
            "1 that only explore",
            "without `--explore`",
        ],
    );
    sandbox.run(["false"]);
    sandbox.run_with(["--explore"], ["true"]);
    sandbox.run_with(["--explore"], ["ls"]);
    let (status, verdict) = sandbox.gate(&["--last"]);
    assert_eq!((status, reason(&verdict).0), (1, "non-zero-exit"));
    assert_eq!(
        verdict["left_out"],
        json!({"explorations": 2, "other_projects": 0})
    );
    sandbox.run(["true"]);
    sandbox.run_with(["--explore"], ["false"]);
    let (_, verdict) = sandbox.gate(&["--last"]);
    let id = text(&verdict, "command_id");
    let shown = sandbox.call(["gate", "--last"]);
    assert_eq!(
        shown.stdout,
        format!("pass: 1 run judged: `true` ({id}); left out: 1 that only explore\n")
    );
    assert_eq!(shown.status, 0);
}

#[test]
fn no_older_run_is_judged_where_the_newest_is_not_known() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let asks = |words: &[&str]| sandbox.call(["gate", "--last"]).says(2, words);
    let (ready, go) = (sandbox.path().join("ready"), sandbox.path().join("go"));
    for name in [&ready, &go] {
        let made = Command::new("mkfifo").arg(name).status();
        assert!(made.expect("it starts").success());
    }
    let mut running = sandbox.feedback();
    running.args(["run", "--", "sh", "-c", "echo > ready; read line < go"]);
    let mut running = running.stdout(Stdio::null()).spawn().expect("it starts");
    fs::read(&ready).expect("it has begun");
    asks(&["began later and has not ended", "feedback recover"]);
    // A runner that dies leaves a run of which nothing is known.
    running.kill().expect("it dies");
    running.wait().expect("it is gone");
    asks(&["began later and has not ended"]);
    // Opened for both, as it does not wait for who may be gone.
    let both = fs::OpenOptions::new().read(true).write(true).open(&go);
    both.expect("a pipe")
        .write_all(b"\n")
        .expect("it is let go");
    sandbox.call(["recover"]);
    assert_eq!(reason(&sandbox.gate(&["--last"]).1).0, "runner-died");
    sandbox.run(["true"]);
    assert_eq!(sandbox.gate(&["--last"]).0, 0);
    let store = sandbox.record_file();
    let whole = fs::read(&store).expect("it is there");
    let cut = whole.len() - 20;
    fs::write(&store, &whole[..cut]).expect("it is written");
    asks(&["ends without a newline", "feedback verify"]);
}

#[test]
fn the_newest_failure_is_what_the_gate_refuses_and_no_success() {
    let sandbox = Sandbox::new();
    let shows = |record: &Value| {
        let shown = sandbox.call(["show", "--failed", "--json"]);
        let shown = shown.json();
        assert_eq!(shown["command_id"], record["command_id"], "{shown}");
    };
    let unmet = sandbox.run_with(["--expect-line", "nope"], ["echo", "hi"]);
    shows(&unmet);
    let hidden = sandbox.run_with(["--shell"], ["false | cat"]);
    shows(&hidden);
    // What was expected to fail, and what only explores, are none.
    sandbox.run_with(["--expect-exit", "1"], ["false"]);
    sandbox.run_with(["--explore"], ["false"]);
    shows(&hidden);
    shows(&sandbox.run(["false"]));
}

#[test]
fn a_pass_says_what_it_did_not_look_at() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(["false"]);
    sandbox.run(["true"]);
    sandbox.run_with(["--explore"], ["ls"]);
    let (status, verdict) = sandbox.gate(&["--since", "1h"]);
    assert_eq!(status, 1, "{verdict}");
    let since = sandbox.call(["show", "--json"]).json();
    assert_ne!(since["command_id"], first["command_id"]);
    let newest = sandbox.run(["echo", "x"]);
    let shown = sandbox.call(["gate", "--since", text(&newest, "command_id")]);
    assert_eq!(
        shown.stdout,
        "pass: 1 run judged; left out: 3 before `--since`; the policy requires no command\n"
    );
    let policy = r#"{"gate": {"requirements": [{"name": "lint", "command": ["true"]}]}}"#;
    sandbox.write("feedback.json", policy);
    sandbox.run(["true"]);
    let (status, verdict) = sandbox.gate(&[]);
    // The run before the policy fits, and is made up for by the one under it.
    assert_eq!(
        (status, &verdict["requirements"]),
        (0, &json!(1)),
        "{verdict}"
    );
    let left_out = json!({"rotated_out": 0, "before_since": 0, "other_projects": 0,
                          "explorations": 1, "not_required": 2});
    assert_eq!(verdict["left_out"], left_out);
}

#[test]
fn records_that_were_rotated_out_are_counted() {
    let sandbox = Sandbox::new();
    let mut chain = Chain::default();
    chain.seq = 40;
    let notice = json!({
        "schema_version": "1.0", "kind": "drop", "command_id": "00000000-0000-7000-8000-00000000000d",
        "at": "2026-03-01T12:00:00.000Z", "files": 1, "first_seq": 1, "last_seq": 40});
    fs::write(sandbox.record_file(), chain.line(&notice.to_string())).expect("written");
    sandbox.run(["true"]);
    assert_eq!(sandbox.call(["verify"]).status, 0);
    let shown = sandbox.call(["gate"]);
    assert_eq!(
        shown.stdout,
        "pass: 1 run judged; left out: 40 rotated out; the policy requires no command\n"
    );
}

#[test]
fn a_missing_run_is_told_with_the_one_that_comes_nearest() {
    let sandbox = Sandbox::new();
    sandbox.write("web/x", "");
    let policy = r#"{"gate": {"requirements": [{"name": "lint", "command": ["true", "-a"]}]}}"#;
    sandbox.write("feedback.json", policy);
    let told = |options: &[&str], argv: &[&str], words: &str| {
        let record = sandbox.run_with(options, argv);
        let (status, verdict) = sandbox.gate(&[]);
        let (code, message) = reason(&verdict);
        assert_eq!((status, code), (1, "never-run"));
        let id = text(&record, "command_id");
        assert!(message.contains(id) && message.contains(words), "{message}");
    };
    told(&[], &["/bin/true", "-b"], "has other arguments");
    let web = sandbox.path().join("web");
    let web = web.canonicalize().expect("a folder").display().to_string();
    told(
        &["--cwd", "web"],
        &["true", "-a"],
        &format!("ran in `{web}`"),
    );
    told(&["--explore"], &["true", "-a"], "ran with `--explore`");
}

#[test]
fn of_several_projects_in_one_store_only_the_own_is_judged() {
    let (shared, one, two) = (Sandbox::new(), Sandbox::new(), Sandbox::new());
    let store = shared.record_file().display().to_string();
    let env = [("FEEDBACK_RECORD_FILE", store.as_str())];
    for project in [&one, &two] {
        project.write("feedback.json", "{}");
    }
    let run = |project: &Sandbox, program: &str| {
        let mut command = project.feedback();
        command.args(["run", "--", program]).envs(env);
        command.output().expect("the binary runs");
    };
    let gate = |project: &Sandbox, options: &[&str]| {
        let asked = gate_in(project, project.path(), options, &env);
        (asked.status, asked.json())
    };
    run(&one, "true");
    run(&two, "false");
    for options in [&[][..], &["--last"]] {
        let (status, verdict) = gate(&one, options);
        assert_eq!(status, 0, "{verdict}");
        assert_eq!(verdict["left_out"]["other_projects"], 1);
        assert_eq!(gate(&two, options).0, 1);
    }
    // A folder without a policy is no project: its runs count for each, and it counts all.
    run(&shared, "false");
    assert_eq!(gate(&one, &[]).0, 1);
    assert_eq!(gate(&shared, &[]).1["left_out"]["other_projects"], 0);
    // What stands in the own folder is the own, wherever it was recorded.
    fs::copy(shared.record_file(), one.record_file()).expect("copied");
    let (status, verdict) = one.gate(&[]);
    assert_eq!(
        (status, &verdict["left_out"]["other_projects"]),
        (1, &json!(0))
    );
}

#[test]
fn a_wrong_time_is_told_with_the_forms_that_are_right() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    for wrong in ["2026-13-01", "2026-11-30 12:00", "9999-99-99T00:00:00Z"] {
        let words = [&format!("`--since {wrong}`"), "give the id of a record"];
        sandbox.call(["gate", "--since", wrong]).says(2, &words);
    }
}

#[test]
fn a_store_full_of_lines_that_are_none_is_told_in_few_words() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let store = fs::read_to_string(sandbox.record_file()).expect("a file");
    for rubbish in ["\n", "{}\n"] {
        fs::write(
            sandbox.record_file(),
            store.clone() + &rubbish.repeat(200_000),
        )
        .expect("written");
        let (status, verdict) = sandbox.gate(&[]);
        assert_eq!(status, 1);
        let reasons = verdict["reasons"].as_array().expect("a list");
        assert_eq!(reasons.len(), 101);
        assert!(text(&reasons[100], "message").contains("199900 more places"));
        let words = ["line 200001", "so the newest record is not known"];
        sandbox.call(["gate", "--last"]).says(2, &words);
        assert_eq!(sandbox.call(["verify"]).status, 1);
    }
}

#[test]
fn a_policy_in_a_folder_below_takes_no_required_run_away() {
    let shared = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::new();
    sandbox.write(
        "feedback.json",
        r#"{"gate":{"requirements":[{"name":"t","command":["sh","t.sh"]}]}}"#,
    );
    sandbox.write("t.sh", "exit 0");
    sandbox.write("below/feedback.json", "{}");
    let store = shared.path().join("records.jsonl");
    let call = |folder: &str, arguments: &[&str]| {
        let mut command = sandbox.feedback();
        command.current_dir(sandbox.path().join(folder));
        command.env("FEEDBACK_RECORD_FILE", &store).args(arguments);
        Called::from(command.output().expect("the binary runs"))
    };
    prints(&call("", &["run", "--", "sh", "t.sh"]), 0, &[]);
    prints(&call("", &["gate"]), 0, &["pass: 1 run"]);
    sandbox.write("t.sh", "exit 1");
    prints(
        &call("below", &["run", "--cwd", "..", "--", "sh", "t.sh"]),
        1,
        &[],
    );
    for question in [&["gate"][..], &["gate", "--last"]] {
        prints(&call("", question), 1, &["non-zero-exit"]);
    }
    // What runs below is the other project's.
    prints(&call("below", &["run", "--", "false"]), 1, &[]);
    prints(
        &call("", &["gate"]),
        1,
        &["2 runs judged; left out: 1 of other projects"],
    );
}

#[test]
fn a_ci_is_shown_what_is_made_up_for() {
    let sandbox = Sandbox::new();
    sandbox.write("t.sh", "test -e ready");
    sandbox.run(["sh", "t.sh"]);
    sandbox.write("ready", "");
    sandbox.run(["sh", "t.sh"]);
    let junit = sandbox.call(["gate", "--format", "junit"]);
    prints(&junit, 0, &["<system-out>pass: ", "made up for: "]);
    let github = sandbox.call(["gate", "--format", "github"]);
    prints(&github, 0, &["::notice title=feedback: made up for::"]);
}
