//! That an audit's SARIF has the shape of SARIF 2.1.0.
//!
//! The schema is written by hand from the standard, as far as the report uses it: of every object
//! which properties there are, of which type, and which must be there. The standard allows no
//! others.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::sandbox::Sandbox;

/// What a property holds.
#[derive(Clone, Copy)]
enum Is {
    Text,
    /// A reference to a place, with nothing in it that must be written otherwise.
    Uri,
    /// A number from this one on.
    From(i64),
    OneOf(&'static [&'static str]),
    Object(&'static [Property]),
    /// A list of these; whether no two may be equal.
    List(&'static [Property], bool),
    /// Any names, and texts.
    Texts,
    /// Whatever the program likes.
    Bag,
}

/// Name, type, whether it must be there.
type Property = (&'static str, Is, bool);

const MESSAGE: &[Property] = &[("text", Is::Text, true)];
const RULE: &[Property] = &[
    ("id", Is::Text, true),
    ("shortDescription", Is::Object(MESSAGE), false),
];
const DRIVER: &[Property] = &[
    ("name", Is::Text, true),
    ("version", Is::Text, false),
    ("rules", Is::List(RULE, true), false),
];
const REGION: &[Property] = &[
    ("startLine", Is::From(1), false),
    ("startColumn", Is::From(1), false),
    ("endColumn", Is::From(1), false),
];
const PHYSICAL: &[Property] = &[
    (
        "artifactLocation",
        Is::Object(&[("uri", Is::Uri, false)]),
        true,
    ),
    ("region", Is::Object(REGION), false),
];
const LOGICAL: &[Property] = &[
    ("fullyQualifiedName", Is::Text, false),
    ("kind", Is::Text, false),
];
const LOCATION: &[Property] = &[
    ("physicalLocation", Is::Object(PHYSICAL), false),
    ("logicalLocations", Is::List(LOGICAL, true), false),
];
const RESULT: &[Property] = &[
    ("message", Is::Object(MESSAGE), true),
    ("ruleId", Is::Text, false),
    ("ruleIndex", Is::From(-1), false),
    (
        "level",
        Is::OneOf(&["none", "note", "warning", "error"]),
        false,
    ),
    ("locations", Is::List(LOCATION, false), false),
    ("partialFingerprints", Is::Texts, false),
];
const RUN: &[Property] = &[
    (
        "tool",
        Is::Object(&[("driver", Is::Object(DRIVER), true)]),
        true,
    ),
    (
        "columnKind",
        Is::OneOf(&["utf16CodeUnits", "unicodeCodePoints"]),
        false,
    ),
    ("results", Is::List(RESULT, false), false),
    ("properties", Is::Bag, false),
];
const LOG: &[Property] = &[
    ("$schema", Is::Uri, false),
    ("version", Is::OneOf(&["2.1.0"]), true),
    ("runs", Is::List(RUN, false), true),
];

/// Adds a line for everything in which the object has another shape.
fn check(at: &str, value: &Value, properties: &[Property], faults: &mut Vec<String>) {
    let Some(object) = value.as_object() else {
        faults.push(format!("{at} is no object"));
        return;
    };
    for (name, _, is_required) in properties {
        if *is_required && !object.contains_key(*name) {
            faults.push(format!("{at}/{name} is missing"));
        }
    }
    for (name, value) in object {
        let at = format!("{at}/{name}");
        let Some((_, is, _)) = properties.iter().find(|(known, ..)| known == name) else {
            faults.push(format!("{at} is unknown"));
            continue;
        };
        if !holds(&at, value, *is, faults) {
            faults.push(format!("{at}: {value}"));
        }
    }
}

fn holds(at: &str, value: &Value, is: Is, faults: &mut Vec<String>) -> bool {
    let text = value.as_str();
    let is_uri = |text: &str| {
        let allowed =
            |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#@!$&'()*+,;=%".contains(&byte);
        text.bytes().all(allowed)
    };
    match is {
        Is::Text => text.is_some(),
        Is::Uri => text.is_some_and(is_uri),
        Is::From(least) => value.as_i64().is_some_and(|number| number >= least),
        Is::OneOf(words) => text.is_some_and(|text| words.contains(&text)),
        Is::Bag => value.is_object(),
        Is::Texts => value
            .as_object()
            .is_some_and(|texts| texts.values().all(Value::is_string)),
        Is::Object(properties) => {
            check(at, value, properties, faults);
            true
        }
        Is::List(properties, is_set) => {
            let Some(list) = value.as_array() else {
                return false;
            };
            for (number, value) in list.iter().enumerate() {
                check(&format!("{at}/{number}"), value, properties, faults);
            }
            !is_set || (1..list.len()).all(|at| !list[..at].contains(&list[at]))
        }
    }
}

fn faults(log: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check("", log, LOG, &mut faults);
    faults
}

fn token() -> String {
    format!("ghp_{}", "aB3dE5gH".repeat(5))
}

#[test]
fn every_report_has_the_shape_of_the_standard() {
    let sandbox = Sandbox::new();
    let opaque = ["q7Xk2M9vR4t", "Z8b3WyH6pLd1S"].concat();
    let leaks = format!("x {}\nid {opaque}\npass{}hunter2hunter\n", token(), "word=");
    sandbox.write("a b#\u{e9}%.log", &leaks);
    sandbox.write("many.log", leaks.repeat(2_000));
    sandbox.write("clean.log", "one line\n");
    sandbox.write("empty.log", "");
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(leaks.as_bytes()).expect("packed");
    sandbox.write("old.log.gz", packed.finish().expect("packed"));
    sandbox.run(["true"]);
    let record = std::fs::read_to_string(sandbox.record_file()).expect("a file");
    let leak = record.replacen(
        "\"agent_note\":null",
        &format!("\"agent_note\":\"{}\"", token()),
        1,
    );
    assert_ne!(leak, record);
    sandbox.write("records.jsonl", leak);
    let all = [
        "a b#\u{e9}%.log",
        "clean.log",
        "old.log.gz",
        "records.jsonl",
        "many.log",
    ];
    for (files, results) in [
        (&all[..], 100),
        (&["clean.log"], 0),
        (&["empty.log"], 0),
        (&["old.log.gz"], 3),
        (&["feedback_record.jsonl"], 0),
    ] {
        let called = sandbox.call(["audit", "--sarif"].iter().chain(files));
        let log = called.json();
        assert_eq!(faults(&log), [""; 0], "{files:?}");
        let runs = log["runs"].as_array().expect("a list");
        assert_eq!(runs.len(), 1);
        let found = runs[0]["results"]
            .as_array()
            .expect("a list, empty where nothing is found");
        assert!(
            found.len() >= results && (results > 0) != found.is_empty(),
            "{files:?}"
        );
        for result in found {
            let rule =
                usize::try_from(result["ruleIndex"].as_u64().expect("a place")).expect("small");
            assert_eq!(
                runs[0]["tool"]["driver"]["rules"][rule]["id"],
                result["ruleId"]
            );
            let region = &result["locations"][0]["physicalLocation"]["region"];
            let ends = region["endColumn"].as_u64();
            assert!(ends.is_none_or(|end| Some(end) > region["startColumn"].as_u64()));
        }
    }
}

#[test]
fn another_shape_is_told_from_the_standard_s() {
    let sandbox = Sandbox::new();
    sandbox.write("a.log", format!("x {}\n", token()));
    let log = sandbox.call(["audit", "--sarif", "a.log"]).json();
    assert_eq!(faults(&log), [""; 0]);
    for (pointer, wrong) in [
        ("", Value::Null),
        ("/version", Value::from("2.0.0")),
        ("/runs/0/tool", Value::from("feedback")),
        ("/runs/0/results/0/level", Value::from("fatal")),
        ("/runs/0/results/0/ruleIndex", Value::Null),
        (
            "/runs/0/results/0/locations/0/physicalLocation/region/startLine",
            Value::from(0),
        ),
        (
            "/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri",
            Value::from("a b"),
        ),
    ] {
        let mut other = log.clone();
        *other.pointer_mut(pointer).expect("it is there") = wrong;
        assert_ne!(faults(&other), [""; 0], "{pointer}");
    }
}
