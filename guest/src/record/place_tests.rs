//! What a record says of where it belongs: its project, the files that changed under it, and the
//! program that was not there.

use serde_json::{Value, json};

use super::tests::{body_of, ending, request};

fn secret() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

fn with_inputs() -> Value {
    let mut request = request();
    let digest = format!("sha256:{}", "a".repeat(64));
    request["inputs"] = json!({"patterns": ["git"], "folder": "/w", "files": 2, "before": digest});
    request
}

#[test]
fn the_project_stands_in_the_record_and_is_redacted() {
    let mut request = request();
    let exited = ending(&json!({"kind": "exited", "code": 0}));
    assert!(body_of(&request, &exited).get("project").is_none());
    request["project"] = json!("/home/ada/shop");
    assert_eq!(body_of(&request, &exited)["project"], "/home/ada/shop");
    request["project"] = json!(format!("/srv/{}", secret()));
    let project = body_of(&request, &exited)["project"].to_string();
    assert!(
        project.contains("[REDACTED") && !project.contains("a1B2"),
        "{project}"
    );
}

#[test]
fn files_that_changed_are_named_redacted_and_bounded() {
    let mut exited = ending(&json!({"kind": "exited", "code": 0}));
    let named = |path: &str, how: &str| json!({"path": path, "how": how});
    let mut all = vec![named("a.rs", "changed"), named(&secret(), "added")];
    all.extend(vec![named(&"x".repeat(9_000), "removed"); 8]);
    let after = format!("sha256:{}", "b".repeat(64));
    exited["inputs"] = json!({"after": after, "changed": all, "changed_omitted": 2});
    let inputs = &body_of(&with_inputs(), &exited)["inputs"];
    assert_eq!(
        inputs["changed"][0],
        json!({"path": "a.rs", "how": "changed"})
    );
    assert_eq!(inputs["changed_omitted"], 7);
    let told = inputs["changed"].to_string();
    assert!(told.len() < 2_000 && !told.contains("a1B2"), "{told}");
    exited["inputs"] = json!({"after": after});
    let inputs = &body_of(&with_inputs(), &exited)["inputs"];
    assert_eq!(
        (inputs.get("changed"), inputs.get("changed_omitted")),
        (None, None)
    );
}

/// The largest record without these has this much room left beside its expectations.
#[test]
fn a_project_and_changed_files_take_a_bounded_part_of_a_line() {
    let mut exited = ending(&json!({"kind": "exited", "code": 0}));
    let path = "\u{1d11e}".repeat(5_000);
    let changed = vec![json!({"path": path, "how": "removed"}); 90];
    let after = format!("sha256:{}", "b".repeat(64));
    exited["inputs"] = json!({"after": after, "changed": changed});
    let mut request = with_inputs();
    request["project"] = json!(path);
    let body = body_of(&request, &exited);
    let taken = body["project"].to_string().len() + body["inputs"]["changed"].to_string().len();
    assert!(taken < 24 * 1024, "{taken}");
}

#[test]
fn two_programs_that_are_not_there_are_two_failures() {
    let signature = |program: &str, cwd: &str, cause: &str| {
        let mut request = request();
        request["command"] = json!([{"text": program}]);
        request["cwd"] = json!({"text": cwd});
        let outcome = json!({"kind": "not-started", "cause": cause, "errno": "ENOENT"});
        body_of(&request, &ending(&outcome))["failure_signature"].clone()
    };
    let absent = |program: &str| signature(program, "/w", "program-not-found");
    assert_eq!(absent("pytst"), absent("pytst"));
    assert_ne!(absent("pytst"), absent("cargoo"));
    assert_ne!(absent("pytst"), signature("pytst", "/w", "not-executable"));
    let nowhere = |cwd: &str| signature("make", cwd, "cwd-not-found");
    assert_ne!(nowhere("/w/a"), nowhere("/w/b"));
}
