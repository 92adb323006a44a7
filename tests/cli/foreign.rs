//! Another component in place of the built-in one: one in another language, and ones that do harm.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use feedback_host::component::Component;

use crate::patch::{Deed, patched};
use crate::sandbox::{Called, Sandbox, holds, text};
use crate::tools::{self, Tool};

/// Calls `feedback` in a place where what was compiled once is found again by the other tests.
fn call(sandbox: &Sandbox, arguments: &[&str]) -> Called {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let mut command = sandbox.feedback();
    command.env("XDG_CACHE_HOME", cache).args(arguments);
    Called::from(command.output().expect("the binary runs"))
}

/// Writes the policy in JavaScript as a component, with a policy file that names it.
fn javascript(sandbox: &Sandbox) -> Option<PathBuf> {
    let componentize = tools::find(Tool::Componentize)?;
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let component = sandbox.path().join("policy/javascript.wasm");
    fs::create_dir_all(sandbox.path().join("policy")).expect("a folder");
    tools::output(
        Command::new("node")
            .arg(componentize)
            .arg("--wit")
            .arg(root.join("wit"))
            .arg("--js")
            .arg(root.join("tests/component/policy.js"))
            .arg("-o")
            .arg(&component)
            .args(["--stub-wasi", "--sync", "--opt-size"]),
    );
    sandbox.write("feedback.json", r#"{"component":"policy/javascript.wasm"}"#);
    Some(component)
}

#[test]
fn a_policy_in_javascript_replaces_the_built_in_one() {
    let sandbox = Sandbox::new();
    if javascript(&sandbox).is_none() {
        return;
    }
    let script = "echo fine; echo the secret plan";
    assert_eq!(call(&sandbox, &["run", "--", "sh", "-c", script]).status, 0);
    let failed = call(&sandbox, &["run", "--note", "no secret", "--", "false"]);
    assert_eq!(failed.status, 1);
    let records = sandbox.records();
    assert_eq!(text(&records[0], "stdout_tail"), "fine\n[HIDDEN]");
    assert_eq!(text(&records[1], "agent_note"), "[HIDDEN]");
    assert!(!holds(&sandbox.every_byte(), b"secret plan"));

    let shown = call(&sandbox, &["component", "--json"]).json();
    assert_eq!(shown["name"], "javascript-example");
    assert_eq!(records[0]["component"], shown["digest"]);
    assert_eq!(shown["limits"]["steps"], 2_000_000_000_u64);

    let gate = call(&sandbox, &["gate"]);
    assert_eq!(gate.status, 1);
    assert!(
        gate.stdout.contains("the JavaScript policy wants"),
        "{}",
        gate.stdout
    );
    // What it wrote is a store like any other, and its digest can be refused.
    let mut built_in = sandbox.feedback();
    fs::write(sandbox.path().join("feedback.json"), "{}").expect("written");
    let found = Called::from(built_in.arg("verify").output().expect("the binary runs"));
    assert_eq!(found.status, 0, "{}", found.stderr);
    let own = Component::built_in().expect("the built-in component");
    let policy = format!(r#"{{"gate":{{"require_component":"{}"}}}}"#, own.digest());
    sandbox.write("feedback.json", policy);
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(status, 1);
    assert_eq!(verdict["reasons"][0]["code"], "unknown-component");
    sandbox.run(["true"]);
    assert_eq!(sandbox.gate(&["--last"]).0, 0, "its own records count");
}

#[test]
fn what_cannot_be_used_starts_nothing_and_decides_nothing() {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    let before = fs::read(sandbox.record_file()).expect("a file");
    sandbox.write("module.wasm", b"\0asm\x01\0\0\0");
    sandbox.write("garbage.wasm", b"garbage");
    // A component without anything in it, and one that imports a function.
    sandbox.write("empty.wasm", b"\0asm\x0d\0\x01\0");
    sandbox.write(
        "imports.wasm",
        b"\0asm\x0d\0\x01\0\x07\x05\x01\x40\0\x01\0\x0a\x0a\x01\0\x05clock\x01\0",
    );
    for (file, words) in [
        ("module.wasm", "a core module, not a component"),
        ("garbage.wasm", "not a component"),
        (
            "empty.wasm",
            "does not export `feedback:policy/types@0.1.x`",
        ),
        ("imports.wasm", "the component wants `clock`: refused"),
        ("none.wasm", "No such file"),
    ] {
        for (command, status) in [
            (&["run", "--", "touch", "started"][..], 125),
            (&["gate"][..], 2),
            (&["gate", "--last"][..], 2),
            (&["verify"][..], 2),
            (&["redact", "module.wasm"][..], 2),
            (&["component"][..], 2),
        ] {
            let mut arguments = vec!["--component", file];
            arguments.extend(command);
            call(&sandbox, &arguments).says(status, &[file, words]);
        }
        let policy = format!(r#"{{"component":"{file}"}}"#);
        sandbox.write("feedback.json", policy);
        call(&sandbox, &["gate"]).says(2, &[file, words]);
        fs::remove_file(sandbox.path().join("feedback.json")).expect("removed");
    }
    assert!(!sandbox.path().join("started").exists());
    assert_eq!(fs::read(sandbox.record_file()).expect("a file"), before);
    sandbox.write("feedback.json", r#"{"component":5}"#);
    call(&sandbox, &["gate"]).says(2, &["feedback.json", "`component`"]);
}

/// Writes the built-in component with some functions that do harm.
fn harmful(sandbox: &Sandbox) -> String {
    let deeds = [
        ("records#build", Deed::Hog),
        ("gate#[static]review.conclude", Deed::Loop),
        ("gate#may-continue", Deed::Panic),
        ("redaction#[method]filter.push", Deed::Flood),
        ("captures#[static]capture.finish", Deed::Loop),
    ];
    let own = Component::built_in().expect("the built-in component");
    let path = sandbox.write("harmful.wasm", patched(own.bytes(), &deeds));
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_component_that_does_harm_leaves_a_fallback_record_and_passes_nothing() {
    let sandbox = Sandbox::new();
    let file = harmful(&sandbox);
    let with = |arguments: &[&str]| {
        let mut all = vec!["--component", file.as_str()];
        all.extend(arguments);
        call(&sandbox, &all)
    };
    let ran = with(&["run", "--", "sh", "-c", "echo printed; exit 3"]);
    assert_eq!(ran.status, 125, "{}", ran.stderr);
    assert!(ran.stderr.contains("stopped in `build`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("bytes of memory"), "{}", ran.stderr);
    let record = sandbox.records().pop().expect("a record");
    assert_eq!(record["kind"], "fallback");
    assert_eq!(record["exit_code"], 3);
    assert!(!holds(
        &fs::read(sandbox.record_file()).expect("a file"),
        b"\"printed\""
    ));

    with(&["gate"]).says(2, &["review.conclude", "steps in one call"]);
    with(&["gate", "--last"]).says(2, &["may-continue", "a panic"]);
    let text = sandbox.write("text.txt", "one line\n");
    let text = text.to_str().expect("UTF-8");
    with(&["redact", text]).says(2, &["filter.push", "16777216 bytes in one call"]);
    with(&["excerpt", text]).says(2, &["capture.finish", "steps in one call"]);
    // The store is whole, and the built-in component refuses what is in it.
    assert_eq!(sandbox.call(["verify"]).status, 0);
    let (status, verdict) = sandbox.gate(&[]);
    assert_eq!(
        (status, &verdict["reasons"][0]["code"]),
        (1, &"fallback-record".into())
    );
}
