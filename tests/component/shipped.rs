//! What is built in: no imports, the whole contract, and the bytes that are in the tree.

use std::path::Path;
use std::{env, fs};

use feedback_host::component::Origin;
use serde_json::{Value, json};

use crate::built_in;

#[test]
fn the_component_imports_nothing() {
    assert_eq!(built_in().imports(), Vec::<String>::new());
}

#[test]
fn the_component_exports_every_interface_of_the_contract() {
    let names: Vec<String> = built_in()
        .exports()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let wanted = [
        "about",
        "captures",
        "chains",
        "gate",
        "policies",
        "records",
        "redaction",
        "types",
    ]
    .map(|name| format!("feedback:policy/{name}@0.1.0"));
    for name in &wanted {
        assert!(names.contains(name), "{name} in {names:?}");
    }
    assert_eq!(names.len(), wanted.len(), "{names:?}");
}

#[test]
fn the_component_says_what_it_is() {
    let about = built_in().describe().expect("a description");
    assert_eq!(about.name, "feedback");
    assert_eq!(about.contract, "0.1.0");
    assert_eq!(about.record_schema, "1.0");
    assert_eq!(about.rule_set.len(), 8, "{}", about.rule_set);
}

/// `BLESS=1` writes the shipped files anew.
#[test]
fn the_shipped_component_is_the_one_built_from_source() {
    let component = built_in();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("component");
    let (wasm, about) = (folder.join("feedback.wasm"), folder.join("feedback.json"));
    let digest = component.digest().trim_start_matches("sha256:");
    if env::var_os("BLESS").is_some() {
        assert_eq!(
            component.origin(),
            Origin::Source,
            "only a build from source is shipped"
        );
        let described = json!({
            "sha256": digest,
            "sources": feedback_host::component::SOURCES_DIGEST,
            "toolchain": feedback_host::component::TOOLCHAIN,
        });
        let described = serde_json::to_string_pretty(&described).expect("JSON");
        fs::write(&wasm, component.bytes()).expect("written");
        fs::write(&about, described + "\n").expect("written");
    }
    let shipped = fs::read(&wasm).expect("the shipped component");
    assert!(
        shipped == component.bytes(),
        "renew it with `BLESS=1 cargo test -p feedback-host --test component shipped`"
    );
    let described: Value =
        serde_json::from_slice(&fs::read(&about).expect("a file")).expect("JSON");
    assert_eq!(described["sha256"], digest);
    assert_eq!(
        described["sources"],
        feedback_host::component::SOURCES_DIGEST
    );
}
