//! `feedback component`: what it shows, and the file that it writes.

use std::fs;

use feedback_host::component::Component;

use crate::sandbox::Sandbox;

#[test]
fn the_component_is_shown_with_its_exports_limits_and_what_a_record_uses() {
    let sandbox = Sandbox::new();
    let own = Component::built_in().expect("the built-in component");
    let shown = sandbox.call(["component", "--json"]).json();
    assert_eq!(shown["digest"], own.digest());
    assert_eq!(shown["bytes"], own.bytes().len());
    assert_eq!(shown["imports"], serde_json::json!([]));
    assert_eq!(shown["contract"], "0.1.0");
    let uses = &shown["typical_record"];
    let number = |key: &str| {
        uses[key]
            .as_u64()
            .unwrap_or_else(|| panic!("{key} in {uses}"))
    };
    assert!(
        number("memory_bytes") < shown["limits"]["memory_bytes"].as_u64().expect("a number") / 4
    );
    assert!(number("output_bytes") > 1000 && number("time_us") > 0);
    // Every interface and function is explained.
    let exports = shown["exports"].as_array().expect("a list");
    assert_eq!(exports.len(), 8);
    for interface in exports {
        assert!(interface["documentation"].is_string(), "{interface}");
        for function in interface["functions"].as_array().expect("a list") {
            assert!(
                function["documentation"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty()),
                "{function}"
            );
            assert!(
                function["signature"]
                    .as_str()
                    .is_some_and(|text| text.contains("func("))
            );
        }
    }

    let text = sandbox.call(["component"]);
    assert_eq!(text.status, 0);
    for words in [
        "imports   none",
        own.digest(),
        "filter.push: func(bytes: list<u8>) -> string",
    ] {
        assert!(text.stdout.contains(words), "`{words}` in {}", text.stdout);
    }
}

#[test]
fn the_digest_is_in_the_version_and_in_every_record() {
    let sandbox = Sandbox::new();
    let own = Component::built_in().expect("the built-in component");
    assert!(sandbox.call(["--version"]).stdout.contains(own.digest()));
    assert_eq!(sandbox.run(["true"])["component"], own.digest());
    assert_eq!(sandbox.run(["no-such-program"])["component"], own.digest());
}

#[test]
fn the_component_is_written_out_exactly_and_never_over_something() {
    let sandbox = Sandbox::new();
    let own = Component::built_in().expect("the built-in component");
    let file = sandbox.path().join("feedback.wasm");
    let written = sandbox.call(["component", "extract", "feedback.wasm"]);
    assert_eq!(written.stdout.trim(), own.digest());
    assert!(fs::read(&file).expect("a file") == own.bytes());

    sandbox.write("feedback.wasm", "mine");
    sandbox
        .call(["component", "extract", "feedback.wasm"])
        .says(2, &["`feedback.wasm`", "--force"]);
    assert_eq!(fs::read(&file).expect("a file"), b"mine");
    assert_eq!(
        sandbox
            .call(["component", "extract", "--force", "feedback.wasm"])
            .status,
        0
    );
    assert!(fs::read(&file).expect("a file") == own.bytes());
    sandbox
        .call(["component", "extract", "no/such/folder.wasm"])
        .says(2, &["`no/such/folder.wasm`"]);
    // What is written out can be given back.
    let again = sandbox.call(["component", "extract", "feedback.wasm", "--force"]);
    assert_eq!(again.stdout.trim(), own.digest());
}
