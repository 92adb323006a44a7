//! Reads a JSON document into a type, and says in a fault where it does not fit.
//!
//! A fault names the whole path of the key (`excerpt.max_byte`), never a value that could hold
//! a captured byte. It does not read record lines: those are many, and judged by the gate.

mod mistake;
mod reader;
mod tree;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::fault::{Fault, FaultCode};

use tree::Twice;

/// Reads `text` as JSON. A byte order mark is tolerated; a key that stands twice is not.
///
/// # Errors
/// `invalid-json` with line and column.
pub fn parse(what: &str, text: &str) -> Result<Value, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    tree::read(text, Twice::Neither).map_err(|cause| Fault::json(what, &cause))
}

/// Reads a text of others, of which nothing is asked but that it is JSON: of two keys with one
/// name the last counts. `None` where it is not.
#[must_use]
pub fn foreign(text: &str) -> Option<Value> {
    tree::read(text, Twice::Last).ok()
}

/// Reads a part of a parsed document into a type.
///
/// # Errors
/// `code`, with the path of the key that does not fit.
pub fn fit<T: DeserializeOwned>(what: &str, value: &Value, code: FaultCode) -> Result<T, Fault> {
    T::deserialize(reader::Reader::new(value))
        .map_err(|mistake| Fault::new(code, format!("{what}: {mistake}")))
}

/// Reads `text` as JSON into a type.
///
/// # Errors
/// `invalid-json` with line and column, or with the path of the key that does not fit.
pub fn read<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, Fault> {
    fit(what, &parse(what, text)?, FaultCode::InvalidJson)
}

/// Writes a document on one line.
///
/// # Errors
/// `invalid-json` where the value has no JSON form.
pub fn write<T: serde::Serialize>(what: &str, value: &T) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|cause| Fault::json(what, &cause))
}

/// Returns a value that was read as text on one line. Its own `to_string` would bring a second
/// writer, and one for people.
#[must_use]
pub fn shown(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[serde(default)]
        max_bytes: u32,
    }

    #[derive(Debug, serde::Deserialize)]
    struct Outer {
        #[serde(default)]
        list: Vec<Inner>,
    }

    fn fault(text: &str) -> String {
        match read::<Outer>("policy", text) {
            Ok(outer) => panic!("{:?}", outer.list.first().map(|inner| inner.max_bytes)),
            Err(fault) => fault.message,
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_path_and_the_closest_known_key() {
        assert_eq!(
            fault(r#"{"list":[{},{"max_byte":1}]}"#),
            "policy: `list[1].max_byte`: unknown key, did you mean `max_bytes`? expected `max_bytes`"
        );
    }

    #[test]
    fn a_wrong_type_is_named_without_the_value() {
        assert_eq!(
            fault(r#"{"list":[{"max_bytes":"hunter2"}]}"#),
            "policy: `list[0].max_bytes`: expected a whole number, found a text"
        );
        assert_eq!(
            fault(r#"{"list":{"a":1}}"#),
            "policy: `list`: expected a list, found an object"
        );
        assert!(fault("[]").contains("found a list"));
    }

    #[test]
    fn a_number_out_of_range_is_named_with_its_path() {
        assert!(
            fault(r#"{"list":[{"max_bytes":-1}]}"#).starts_with("policy: `list[0].max_bytes`: ")
        );
    }

    #[test]
    fn bad_json_has_line_and_column() {
        assert!(fault("{\n  \"list\": [,]\n}").contains("line 2 column 12"));
    }

    #[test]
    fn a_key_that_stands_twice_is_a_fault() {
        assert!(fault(r#"{"a":{"b":1,"b":2}}"#).contains("the key `b` stands twice"));
    }

    #[test]
    fn a_byte_order_mark_is_tolerated() {
        assert!(read::<Outer>("policy", "\u{feff}{}").is_ok());
    }

    #[test]
    fn endless_nesting_is_a_fault() {
        assert!(parse("policy", &"[".repeat(100_000)).is_err());
    }
}
