//! Builds a JSON value, in one piece of code for texts of ours and of others.
//!
//! It does not interpret the value.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// What of two keys with one name counts.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Twice {
    /// Neither: which of the two was meant is anyone's guess.
    Neither,
    /// The last, as most readers of JSON have it.
    Last,
}

/// Reads `text` as one JSON value.
pub(super) fn read(text: &str, twice: Twice) -> serde_json::Result<Value> {
    let mut source = serde_json::Deserializer::from_str(text);
    let value = twice.deserialize(&mut source)?;
    source.end()?;
    Ok(value)
}

impl<'de> DeserializeSeed<'de> for Twice {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Twice {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(self)?;
            if self == Self::Neither && object.contains_key(&key) {
                let shown: String = key.chars().take(60).collect();
                return Err(Error::custom(format_args!(
                    "the key `{shown}` stands twice"
                )));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
