//! The schema and the parser know the same keys and the same names.

use serde_json::{Map, Value, json};

use super::{Policy, SCHEMA};

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// The object of the schema that describes the place of a policy.
const PLACES: [(&str, &str); 7] = [
    ("", ""),
    ("/properties/run", "run"),
    ("/properties/excerpt", "excerpt"),
    ("/properties/redaction", "redaction"),
    (
        "/properties/redaction/properties/rules/items",
        "redaction.rules",
    ),
    ("/properties/gate", "gate"),
    ("/$defs/requirement", "gate.requirements"),
];

/// A policy in which `value` stands at that place; a list holds it as its only item.
fn policy_with(place: &str, value: Value) -> String {
    let in_list = ["redaction.rules", "gate.requirements"].contains(&place);
    let mut all = if in_list { json!([value]) } else { value };
    for key in place.rsplit('.').filter(|key| !key.is_empty()) {
        all = json!({ key: all });
    }
    all.to_string()
}

/// The names that the parser says it knows where it meets this one, which it does not.
fn known(text: &str) -> Vec<String> {
    let message = Policy::parse(text, "").unwrap_err().message;
    let (_, expected) = message
        .split_once("expected ")
        .unwrap_or_else(|| panic!("{message}"));
    let names = expected.split('`').skip(1).step_by(2).map(str::to_owned);
    sorted(names.collect())
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

#[test]
fn every_key_of_the_parser_is_in_the_schema_and_the_other_way_round() {
    let schema = schema();
    for (pointer, place) in PLACES {
        let described = schema.pointer(pointer).unwrap();
        assert_eq!(described["additionalProperties"], false, "{place}");
        let properties = described["properties"].as_object().unwrap();
        let keys = sorted(properties.keys().cloned().collect());
        let text = policy_with(place, json!({ "qqqqqqqqqqqq": 1 }));
        assert_eq!(known(&text), keys, "{place}");
        for (key, property) in properties {
            let described = property.get("description").is_some();
            assert!(described || property.get("$ref").is_some(), "{place}.{key}");
        }
    }
}

#[test]
fn every_object_of_the_effective_policy_is_in_the_list_of_places() {
    fn objects(value: &Map<String, Value>, above: &str, found: &mut Vec<String>) {
        found.push(above.to_owned());
        for (key, value) in value {
            // Its keys are the ids of rules.
            if let Some(below) = value.as_object().filter(|_| key != "scopes") {
                objects(below, key, found);
            }
        }
    }
    let effective = Policy::parse("", "").unwrap().effective_json();
    let effective: Value = serde_json::from_str(&effective).unwrap();
    let mut found = Vec::new();
    objects(effective.as_object().unwrap(), "", &mut found);
    for place in found {
        assert!(PLACES.iter().any(|(_, known)| *known == place), "{place}");
    }
}

#[test]
fn every_choice_of_the_parser_is_in_the_schema() {
    let schema = schema();
    let mut choices = 0;
    for (pointer, place) in PLACES {
        let properties = schema.pointer(&format!("{pointer}/properties")).unwrap();
        for (key, property) in properties.as_object().unwrap() {
            let Some(names) = property.get("enum").and_then(Value::as_array) else {
                continue;
            };
            let names = names.iter().map(|name| name.as_str().unwrap().to_owned());
            let text = policy_with(place, json!({ key: "qqqqqqqqqqqq" }));
            assert_eq!(known(&text), sorted(names.collect()), "{place}.{key}");
            choices += 1;
        }
    }
    assert_eq!(choices, 6);
    let kinds = schema
        .pointer("/$defs/expectation/properties/kind/enum")
        .unwrap();
    let kinds = kinds.as_array().unwrap().iter();
    let kinds = sorted(
        kinds
            .map(|kind| kind.as_str().unwrap().to_owned())
            .collect(),
    );
    let text = r#"{"gate":{"requirements":[{"expect":[{"kind":"qqqqqqqqqqqq"}]}]}}"#;
    assert_eq!(known(text), kinds);
}

#[test]
fn every_default_of_the_schema_is_the_parsers() {
    let effective = Policy::parse("", "").unwrap().effective_json();
    let effective: Value = serde_json::from_str(&effective).unwrap();
    let schema = schema();
    for (pointer, place) in PLACES
        .iter()
        .filter(|(pointer, _)| !pointer.contains("rules"))
    {
        let properties = schema.pointer(&format!("{pointer}/properties")).unwrap();
        for (key, property) in properties.as_object().unwrap() {
            let Some(default) = property
                .get("default")
                .filter(|_| *place != "gate.requirements")
            else {
                continue;
            };
            assert_eq!(effective[*place][key], *default, "{place}.{key}");
        }
    }
}

#[test]
fn the_effective_policy_is_a_policy_and_says_the_same() {
    for text in [
        "",
        r#"{"record_file":"a","run":{"timeout":"90s","grace":"0s"},"excerpt":{"head_lines":0}}"#,
        r#"{"gate":{"others":"refuse","retry":"any-command","explore":"forbid",
            "max_same_failures":2,"sigpipe":"refuse","inputs":["git","!docs"],"requirements":[
            {"name":"tests","command":["cargo","test","**","!-h"],"cwd":"web","max_age":"1h",
             "inputs":["src"],"expect":[{"kind":"line","expected":"ok$"},
                                        {"kind":"within","expected":"90s"}]}]}}"#,
    ] {
        let policy = Policy::parse(text, "").unwrap();
        let effective = policy.effective_json();
        let again = Policy::parse(&effective, "").unwrap();
        assert_eq!(again.effective_json(), effective);
        assert_eq!(
            (&again.gate, &again.excerpt),
            (&policy.gate, &policy.excerpt)
        );
        assert_eq!(again.settings_json(), policy.settings_json());
    }
}

#[test]
fn what_is_wrong_is_named_with_line_and_column() {
    for (text, wanted) in [
        (
            "{\n \"gate\": {\n  \"others\": \"maybe\"\n }\n}",
            "`gate.others`: `maybe` is not known",
        ),
        (
            "{\n \"gate\": {\n  \"inputs\": [\"/etc\"]\n }\n}",
            "`gate.inputs`: a pattern names files",
        ),
        (
            "{\n \"gate\": {\n  \"input\": []\n }\n}",
            "did you mean `inputs`?",
        ),
        (
            "{\n \"excerpt\": {\n  \"max_bytes\": 1\n }\n}",
            "`excerpt.max_bytes` is 1",
        ),
        (
            "{\n \"run\": {\n  \"timeout\": \"0s\"\n }\n}",
            "`run.timeout`",
        ),
        (
            "{\n \"gate\": {\n  \"require_component\": \"x\"\n }\n}",
            "`gate.require_component`: expected `sha256:` and 64",
        ),
    ] {
        let message = Policy::parse(text, "").unwrap_err().message;
        assert!(message.contains(wanted), "{message}");
        assert!(message.ends_with("(line 3 column 3)"), "{message}");
    }
    let text = "{\"gate\": {\"requirements\": [{\"name\": \"a\", \"command\": [\"a\"]},\n\
                {\"name\": \"a\", \"command\": [\"b\"]}]}}";
    let message = Policy::parse(text, "").unwrap_err().message;
    assert!(
        message.contains("two requirements have this name (line 2 column 2)"),
        "{message}"
    );
    let text = text.replacen(
        "\n{\"name\": \"a\", \"command\": [\"b\"]",
        "\n{\"name\": \"b\", \"command\": [\"a\"]",
        1,
    );
    let message = Policy::parse(&text, "").unwrap_err().message;
    let wanted = "no run can meet `b`: `a` stands before it";
    assert!(message.contains(wanted), "{message}");
    assert!(message.contains("leave one of them out"), "{message}");
    assert!(message.ends_with("(line 2 column 15)"), "{message}");
    let text = text.replacen(r#""command": ["a"]"#, r#""command": ["a", "**"]"#, 1);
    let message = Policy::parse(&text, "").unwrap_err().message;
    assert!(message.contains(wanted), "{message}");
    assert!(message.contains("put `b` before `a`"), "{message}");
}
