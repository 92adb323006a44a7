//! An audit as SARIF 2.1.0, for code review and CI.
//!
//! A finding in a record file is an error, in a log a warning; a suspect is a note.

use std::fmt::Write;

use serde_json::{Value, json};

use super::found::{Found, Report};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";
const SUSPECT: &str = "suspect";

/// Returns the audit; `listed` are the rules as the component lists them.
pub(super) fn of(report: &Report, listed: &str) -> String {
    let rules = rules(report, listed);
    let results: Vec<Value> = report
        .listed
        .iter()
        .map(|found| result(report, found, &rules))
        .collect();
    let mut run = json!({
        "tool": { "driver": {
            "name": "feedback",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        } },
        "columnKind": "unicodeCodePoints",
        "results": results,
    });
    if report.omitted > 0
        && let Some(run) = run.as_object_mut()
    {
        run.insert(
            "properties".to_owned(),
            json!({ "omitted": report.omitted }),
        );
    }
    json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] }).to_string()
}

/// Returns the rules that found something, each with what it finds.
fn rules(report: &Report, listed: &str) -> Vec<Value> {
    let listed: Vec<Value> = serde_json::from_str(listed).unwrap_or_default();
    let text = |rule: &Value, key: &str| {
        rule.get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let described = |id: &str| {
        let rule = listed.iter().find(|rule| text(rule, "id") == id);
        let description = rule.map(|rule| text(rule, "description"));
        let description = description.filter(|description| !description.is_empty());
        let said = match id {
            SUSPECT => "looks like a secret, and no rule covers it".to_owned(),
            "known-value" => "the value of a secret variable of the environment".to_owned(),
            id => description.unwrap_or_else(|| id.to_owned()),
        };
        json!({ "id": id, "shortDescription": { "text": said } })
    };
    let mut rules: Vec<Value> = report.per_rule.keys().map(|id| described(id)).collect();
    if report.suspects > 0 {
        rules.push(described(SUSPECT));
    }
    rules
}

fn result(report: &Report, found: &Found, rules: &[Value]) -> Value {
    let Found { sighting, .. } = found;
    let (name, is_record_file) = report.file(found);
    let id = sighting.rule.as_deref().unwrap_or(SUSPECT);
    let (level, message) = match (&sighting.rule, is_record_file) {
        (Some(rule), true) => (
            "error",
            format!("`{rule}` finds something unredacted in a record file"),
        ),
        (Some(rule), false) => ("warning", format!("`{rule}` finds something")),
        (None, _) => (
            "note",
            "this looks like a secret, and no rule covers it".to_owned(),
        ),
    };
    let index = rules
        .iter()
        .position(|rule| rule.get("id").and_then(Value::as_str) == Some(id));
    let mut region = json!({ "startLine": sighting.line });
    let mut location = json!({
        "physicalLocation": { "artifactLocation": { "uri": uri(name) } },
    });
    if sighting.field.is_empty() {
        region = json!({
            "startLine": sighting.line,
            "startColumn": sighting.column,
            "endColumn": sighting.column.saturating_add(sighting.length),
        });
    } else if let Some(location) = location.as_object_mut() {
        let member = json!([{ "fullyQualifiedName": sighting.field, "kind": "member" }]);
        location.insert("logicalLocations".to_owned(), member);
    }
    if let Some(place) = location
        .get_mut("physicalLocation")
        .and_then(Value::as_object_mut)
    {
        place.insert("region".to_owned(), region);
    }
    json!({
        "ruleId": id,
        "ruleIndex": index,
        "level": level,
        "message": { "text": message },
        "locations": [location],
        "partialFingerprints": { "keyedFingerprint/v1": sighting.tag },
    })
}

/// Returns a path as a URI reference: absolute ones with their scheme.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn a_path_becomes_a_uri_reference() {
        assert_eq!(uri("logs/a b#1.log"), "logs/a%20b%231.log");
        assert_eq!(uri("/tmp/ä"), "file:///tmp/%C3%A4");
    }
}
