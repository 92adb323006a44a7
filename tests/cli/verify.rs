//! Checking a store: every damage is named with its file and line, and the head is printed.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::background::{Background, eventually};
use crate::sandbox::Sandbox;
use crate::sealed::{Chain, digest, sealed};

fn verify(sandbox: &Sandbox) -> (i32, Value) {
    let called = sandbox.call(["verify", "--json"]);
    (called.status, called.json())
}

/// Three runs, and the lines that they left.
fn three_runs() -> (Sandbox, Vec<String>) {
    let sandbox = Sandbox::new();
    for word in ["one", "two", "three"] {
        sandbox.run(["echo", word]);
    }
    let text = fs::read_to_string(sandbox.record_file()).expect("a file");
    let lines = text.lines().map(str::to_owned).collect();
    (sandbox, lines)
}

fn rewrite(sandbox: &Sandbox, lines: &[String]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(sandbox.record_file(), text).expect("written");
}

#[test]
fn a_sound_store_exits_0_and_prints_its_head() {
    let (sandbox, lines) = three_runs();
    let head = digest(&lines[2]);
    let (status, found) = verify(&sandbox);
    assert_eq!((status, &found["state"]), (0, &"sound".into()), "{found}");
    assert_eq!(found["head"]["seq"], 3);
    assert_eq!(found["head"]["hash"], head.as_str());
    assert_eq!(found["records"], 3);
    let shown = sandbox.call(["verify"]);
    assert_eq!(shown.status, 0);
    assert!(shown.stdout.starts_with("sound: 3 records in 1 file"));
    assert!(shown.stdout.contains(&format!("head: 3:{head}")));
    assert_eq!(shown.stderr, "");
}

#[test]
fn what_is_wrong_is_named_with_file_and_line() {
    let (sandbox, lines) = three_runs();
    let edited = lines[1].replace("two", "2wo");
    // Whoever edits a line can make its checksum right, but not the hash in the next one.
    let body = edited.split(",\"seq\":").next().expect("a body");
    let forged = sealed(&format!("{body}}}"), 2, &digest(&lines[0]));
    let all = |second: &str| vec![lines[0].clone(), second.to_owned(), lines[2].clone()];
    for (damaged, line, words) in [
        (all(&edited), 2, "no record"),
        (all(&forged), 3, "follows another line"),
        (
            vec![lines[0].clone(), lines[2].clone()],
            2,
            "records 2 to 2 are missing",
        ),
        (
            vec![lines[1].clone(), lines[2].clone()],
            1,
            "records 1 to 1 are missing",
        ),
        (all(&lines[0]), 2, "is number 1, where 2 was due"),
        (all(""), 2, "is empty"),
        (all(&lines[1][..100]), 2, "100 bytes are no record"),
    ] {
        rewrite(&sandbox, &damaged);
        let (status, found) = verify(&sandbox);
        assert_eq!((status, &found["state"]), (1, &"damaged".into()), "{words}");
        let first = &found["damages"][0];
        assert_eq!(first["line"], line, "{found}");
        assert_eq!(first["undecided"], false, "{found}");
        assert!(
            first["what"].as_str().expect("a text").contains(words),
            "{found}"
        );
        let file = sandbox.record_file().display().to_string();
        assert_eq!(first["file"], file.as_str());
        let shown = sandbox.call(["verify"]);
        assert_eq!(shown.status, 1);
        assert!(
            shown.stdout.contains(&format!("`{file}` line {line}: ")),
            "{}",
            shown.stdout
        );
    }
}

#[test]
fn a_rotated_file_that_went_is_damage() {
    let sandbox = Sandbox::new();
    let mut chain = Chain::default();
    for name in [
        "feedback_record.jsonl.2",
        "feedback_record.jsonl.1",
        "feedback_record.jsonl",
    ] {
        let lines: String = (0..5).map(|_| chain.run(10)).collect();
        sandbox.write(name, lines);
    }
    assert_eq!(verify(&sandbox).0, 0);
    let middle = sandbox.path().join("feedback_record.jsonl.1");
    let kept = fs::read(&middle).expect("a file");
    fs::remove_file(&middle).expect("removed");
    let (status, found) = verify(&sandbox);
    assert_eq!(status, 1);
    let what = found["damages"][0]["what"].as_str().expect("a text");
    assert!(what.contains("records 6 to 10 are missing"), "{found}");

    // A link in its place is not followed, even where it leads to the same content.
    symlink(sandbox.write("elsewhere", kept), &middle).expect("a link");
    let (status, found) = verify(&sandbox);
    assert_eq!(status, 1);
    assert_eq!(found["damages"][0]["what"], "is a symbolic link", "{found}");
}

#[test]
fn where_nothing_can_be_told_it_is_not_called_sound() {
    let sandbox = Sandbox::new();
    let called = sandbox.call(["verify"]);
    called.says(2, &["holds no record", "feedback run"]);
    assert_eq!(verify(&sandbox).1["state"], "unknown");
    assert!(!sandbox.record_file().exists(), "nothing is created");

    sandbox.write("feedback_record.jsonl", "");
    sandbox.call(["verify"]).says(2, &["holds no record"]);

    fs::remove_file(sandbox.record_file()).expect("removed");
    symlink(sandbox.write("elsewhere", ""), sandbox.record_file()).expect("a link");
    sandbox.call(["verify"]).says(2, &["symbolic link"]);
    sandbox
        .call(["verify", "--record-file", "no/such/folder/r.jsonl"])
        .says(2, &["no/such/folder"]);
}

#[test]
fn a_torn_end_is_no_damage_while_a_run_is_pending_and_is_damage_otherwise() {
    let (sandbox, lines) = three_runs();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    for pending in [true, false] {
        let waiting = pending.then(|| {
            let script = "touch begun; sleep 600";
            let running = Background::start(&sandbox, &["run", "--", "sh", "-c", script]);
            let begun = sandbox.path().join("begun");
            eventually("the command has begun", || begun.exists());
            running
        });
        for cut in [1, 50, lines[2].len() - 1] {
            fs::write(sandbox.record_file(), &text[..text.len() - 1 - cut]).expect("written");
            let (status, found) = verify(&sandbox);
            assert_eq!(status, i32::from(!pending), "{found}");
            assert_eq!(found["head"]["seq"], 2, "{found}");
        }
        if let Some(running) = waiting {
            running.signal(rustix::process::Signal::TERM);
            running.end();
        }
    }
}

#[test]
fn a_head_that_was_kept_elsewhere_shows_what_the_chain_alone_cannot() {
    let (sandbox, lines) = three_runs();
    let against = |kept: &str| sandbox.call(["verify", "--head", kept]);
    let kept: Vec<String> = (1..=3)
        .map(|seq| format!("{seq}:{}", digest(&lines[seq - 1])))
        .collect();
    for head in &kept {
        assert_eq!(against(head).status, 0, "the store may have grown since");
    }

    // The newest record is taken away.
    rewrite(&sandbox, &lines[..2]);
    assert_eq!(sandbox.call(["verify"]).status, 0, "the chain is whole");
    assert_eq!(against(&kept[1]).status, 0);
    let called = against(&kept[2]);
    assert_eq!(called.status, 1);
    assert!(
        called.stdout.contains("ends at record 2"),
        "{}",
        called.stdout
    );

    // The whole chain is written anew.
    let mut chain = Chain::default();
    let anew: String = (0..3).map(|_| chain.run(5)).collect();
    fs::write(sandbox.record_file(), &anew).expect("written");
    assert_eq!(sandbox.call(["verify"]).status, 0, "the chain is whole");
    let called = against(&kept[1]);
    assert_eq!(called.status, 1);
    assert!(
        called.stdout.contains("line 2: is not the line"),
        "{}",
        called.stdout
    );

    for wrong in ["3", "x:sha256:00", "3:sha256:00", "3:md5"] {
        against(wrong).says(2, &[wrong, "12:sha256:"]);
    }
}

#[test]
fn a_head_whose_record_was_dropped_cannot_be_compared() {
    let sandbox = Sandbox::new();
    let mut chain = Chain::default();
    let first = chain.run(5);
    let notice = chain.line(
        r#"{"schema_version":"1.0","kind":"drop","command_id":"d","at":"x","files":1,"first_seq":1,"last_seq":1}"#,
    );
    sandbox.write("feedback_record.jsonl", notice);
    assert_eq!(sandbox.call(["verify"]).status, 0);
    let head = format!("1:{}", digest(first.trim_end()));
    sandbox
        .call(["verify", "--head", &head])
        .says(2, &["record 1 was dropped by rotation"]);
}
