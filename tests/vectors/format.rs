//! Reads `tests/vectors/*.json`, plays them on a host, and compares every answer, byte for byte.
//!
//! `BLESS=1` writes the answers of the host that plays them into the files. The notation is
//! described in `README.md` beside this file. It knows no host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Texts of an answer that are longer, in bytes, stand in a file as their SHA-256.
const LONGEST_TEXT: usize = 1500;
/// The largest number that every language reads exactly.
const LARGEST_NUMBER: u64 = (1 << 53) - 1;

/// One argument of a call.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    /// A text, or the name of an enum's case.
    Text(String),
    /// Bytes of a stream.
    Bytes(Vec<u8>),
    /// A whole number.
    Number(u64),
    /// The name under which an earlier call's resource was kept.
    Kept(String),
}

/// What a call gave.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A value, with the names of the contract.
    Gives(Value),
    /// A fault, as `{ "code", "message" }`.
    Fault(Value),
    /// A resource: the host has kept it under the name that it was told.
    Resource,
}

/// Something that answers the calls of the contract.
pub(crate) trait Host {
    /// Forgets everything: the next call is made on a fresh instance.
    fn reset(&mut self);
    /// Makes a call, `interface.function` or `interface.resource.function`. A resource is kept
    /// under `keep`.
    fn call(&mut self, name: &str, arguments: &[Argument], keep: &str) -> Answer;
}

/// Returns the files with vectors.
pub(crate) fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("tests/vectors")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no vectors");
    files
}

/// Returns a file's content.
pub(crate) fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("a file");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Plays every file and returns how many calls were made. Panics where an answer is another.
pub(crate) fn play(host: &mut dyn Host, may_bless: bool) -> usize {
    let bless = may_bless && env::var_os("BLESS").is_some();
    let (mut calls, mut wrong) = (0, Vec::new());
    for path in files() {
        let mut file = read(&path);
        let sessions = file["sessions"].as_array_mut().expect("sessions");
        for session in sessions {
            host.reset();
            let name = session["name"].as_str().expect("a name").to_owned();
            let mut texts = BTreeMap::new();
            for call in session["calls"].as_array_mut().expect("calls") {
                calls += 1;
                let answered = answer(host, call, &mut texts);
                let keys = ["call", "with", "keep"].map(|key| (key, call[key].clone()));
                let mut wanted: Map<String, Value> = keys
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect();
                wanted.extend(answered);
                if bless {
                    *call = Value::Object(wanted);
                } else if *call != Value::Object(wanted.clone()) {
                    let file = path.file_name().unwrap_or_default().to_string_lossy();
                    let found = Value::Object(wanted);
                    wrong.push(format!(
                        "{file}: {name}:\n  wanted {call}\n  found  {found}"
                    ));
                }
            }
        }
        if bless {
            fs::write(&path, written(&file)).expect("written");
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    calls
}

/// Makes one call and returns the keys that its answer has in a file.
fn answer(
    host: &mut dyn Host,
    call: &Value,
    texts: &mut BTreeMap<String, String>,
) -> Map<String, Value> {
    let arguments: Vec<Argument> = call["with"]
        .as_array()
        .expect("arguments")
        .iter()
        .map(|value| argument(value, texts))
        .collect();
    let keep = call["keep"].as_str().unwrap_or_default();
    let name = call["call"].as_str().expect("a call");
    let (key, value) = match host.call(name, &arguments, keep) {
        Answer::Resource => return Map::new(),
        Answer::Fault(fault) => ("fault", fault),
        Answer::Gives(value) => {
            // A document's or a line's text can be an argument of a later call.
            let text = ["json", "line"].iter().find_map(|key| value[*key].as_str());
            if let (false, Some(text)) = (keep.is_empty(), text) {
                texts.insert(keep.to_owned(), text.to_owned());
            }
            ("gives", value)
        }
    };
    Map::from_iter([(key.to_owned(), shown(value))])
}

/// Returns an answer as it stands in a file.
fn shown(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > LONGEST_TEXT => {
            json!({ "sha256": hex(&Sha256::digest(&text)), "bytes": text.len() })
        }
        Value::Number(number) if number.as_u64().is_some_and(|n| n > LARGEST_NUMBER) => {
            json!(number.to_string())
        }
        Value::Array(items) => items.into_iter().map(shown).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            Value::Object(members.map(|(key, value)| (key, shown(value))).collect())
        }
        plain => plain,
    }
}

fn argument(value: &Value, texts: &BTreeMap<String, String>) -> Argument {
    if let Some(text) = value.as_str() {
        return Argument::Text(text.to_owned());
    }
    if let Some(number) = value.as_u64() {
        return Argument::Number(number);
    }
    let (key, inner) = value
        .as_object()
        .and_then(|object| object.iter().next())
        .expect("a notation");
    match key.as_str() {
        "text" => Argument::Text(String::from_utf8(pieces(inner, texts)).expect("a text")),
        "bytes" => Argument::Bytes(pieces(inner, texts)),
        "json" => Argument::Text(inner.to_string()),
        "u64" => Argument::Number(inner.as_str().expect("digits").parse().expect("digits")),
        "kept" => {
            let name = inner.as_str().expect("a name");
            let text = texts.get(name).cloned().map(Argument::Text);
            text.unwrap_or_else(|| Argument::Kept(name.to_owned()))
        }
        other => panic!("`{other}` is no notation"),
    }
}

fn pieces(value: &Value, texts: &BTreeMap<String, String>) -> Vec<u8> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let piece = |piece: &Value| match piece {
        Value::String(text) => text.clone().into_bytes(),
        hex if hex["hex"].is_string() => unhex(&text(&hex["hex"])),
        kept if kept["kept"].is_string() => texts[&text(&kept["kept"])].clone().into_bytes(),
        repeated => {
            let times = repeated["times"].as_u64().expect("a number");
            let times = usize::try_from(times).expect("a small number");
            text(&repeated["repeat"]).repeat(times).into_bytes()
        }
    };
    value
        .as_array()
        .expect("pieces")
        .iter()
        .flat_map(piece)
        .collect()
}

fn unhex(digits: &str) -> Vec<u8> {
    let digits: Vec<u32> = digits
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .collect();
    let byte = |pair: &[u32]| u8::try_from(pair[0] * 16 + pair[1]).expect("a byte");
    digits.chunks(2).map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One call on one line.
fn written(file: &Value) -> String {
    let sessions = file["sessions"].as_array().expect("sessions").iter();
    let session = |session: &Value| {
        let calls: Vec<String> = session["calls"]
            .as_array()
            .expect("calls")
            .iter()
            .map(|call| format!("    {call}"))
            .collect();
        format!(
            "  {{ \"name\": {}, \"calls\": [\n{}\n  ] }}",
            session["name"],
            calls.join(",\n")
        )
    };
    let sessions: Vec<String> = sessions.map(session).collect();
    format!(
        "{{ \"about\": {},\n\"sessions\": [\n{}\n] }}\n",
        file["about"],
        sessions.join(",\n")
    )
}
