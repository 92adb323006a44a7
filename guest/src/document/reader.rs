//! Deserializes from a JSON value and keeps track of the path.
//!
//! It does not parse text.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Value, map};

use super::mistake::Mistake;

/// A JSON value as a source of data. Its errors know their path.
pub(super) struct Reader<'de>(&'de Value);

impl<'de> Reader<'de> {
    pub(super) fn new(value: &'de Value) -> Self {
        Self(value)
    }

    fn misfit(&self, expected: &dyn Expected) -> Mistake {
        Mistake::invalid_type(unexpected(self.0), expected)
    }
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Unexpected::Unsigned(number),
            (None, Some(number)) => Unexpected::Signed(number),
            (None, None) => Unexpected::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

/// Lets a value be read as another kind of JSON value. Were all read as *any*, each type that is
/// read would be compiled for every kind, and most of the component would be that.
macro_rules! forward {
    ($($to:ident: $($from:ident)*;)*) => {
        $($(
            fn $from<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
                self.$to(visitor)
            }
        )*)*
    };
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(_) => self.deserialize_bool(visitor),
            Value::Number(_) => self.deserialize_f64(visitor),
            Value::String(_) => self.deserialize_str(visitor),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Object(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0.as_bool() {
            Some(value) => visitor.visit_bool(value),
            None => Err(self.misfit(&visitor)),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        if let Some(value) = self.0.as_u64() {
            visitor.visit_u64(value)
        } else if let Some(value) = self.0.as_i64() {
            visitor.visit_i64(value)
        } else {
            Err(self.misfit(&visitor))
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0.as_f64() {
            Some(value) if self.0.is_f64() => visitor.visit_f64(value),
            Some(_) | None => self.deserialize_u64(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0.as_str() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => Err(self.misfit(&visitor)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0.as_array() {
            Some(items) => visitor.visit_seq(Items {
                rest: items.iter(),
                position: 0,
            }),
            None => Err(self.misfit(&visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0.as_object() {
            Some(entries) => visitor.visit_map(Entries {
                rest: entries.iter(),
                open: None,
            }),
            None => Err(self.misfit(&visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => visitor.visit_some(self),
        }
    }

    /// A derived type would take a list for an object as well, by position.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.deserialize_map(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let choice = match self.0 {
            Value::String(name) => Some((name, None)),
            Value::Object(entries) if entries.len() == 1 => entries
                .iter()
                .next()
                .map(|(name, content)| (name, Some(content))),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        };
        match choice {
            Some((name, content)) => visitor.visit_enum(Choice { name, content }),
            None => Err(Mistake::invalid_type(
                Unexpected::Other("no choice"),
                &"one of the known names",
            )),
        }
    }

    forward! {
        deserialize_u64: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_u8 deserialize_u16 deserialize_u32;
        deserialize_f64: deserialize_f32;
        deserialize_str: deserialize_char deserialize_string deserialize_identifier;
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i128 u128 bytes byte_buf unit unit_struct tuple tuple_struct
    }
}

struct Items<'de> {
    rest: std::slice::Iter<'de, Value>,
    position: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Mistake> {
        let Some(item) = self.rest.next() else {
            return Ok(None);
        };
        let position = self.position;
        self.position += 1;
        seed.deserialize(Reader(item))
            .map(Some)
            .map_err(|mistake| mistake.at(position))
    }
}

struct Entries<'de> {
    rest: map::Iter<'de>,
    open: Option<(&'de str, &'de Value)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mistake> {
        let Some((key, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.open = Some((key, value));
        seed.deserialize(StrDeserializer::<Mistake>::new(key))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mistake> {
        match self.open.take() {
            Some((key, value)) => seed
                .deserialize(Reader(value))
                .map_err(|mistake| mistake.under(key)),
            None => Err(Mistake::custom("a value was asked for before its key")),
        }
    }
}

struct Choice<'de> {
    name: &'de str,
    content: Option<&'de Value>,
}

impl<'de> EnumAccess<'de> for Choice<'de> {
    type Error = Mistake;
    type Variant = Content<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Content<'de>), Mistake> {
        let variant = seed.deserialize(StrDeserializer::<Mistake>::new(self.name))?;
        Ok((variant, Content(self)))
    }
}

struct Content<'de>(Choice<'de>);

impl<'de> Content<'de> {
    fn reader(&self) -> Result<Reader<'de>, Mistake> {
        self.0
            .content
            .map(Reader)
            .ok_or_else(|| Mistake::custom("expected an object, found a text").under(self.0.name))
    }
}

impl<'de> VariantAccess<'de> for Content<'de> {
    type Error = Mistake;

    fn unit_variant(self) -> Result<(), Mistake> {
        match self.0.content {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(Mistake::custom("expected a text, found an object")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Mistake> {
        seed.deserialize(self.reader()?)
            .map_err(|mistake| mistake.under(self.0.name))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Mistake> {
        self.reader()?
            .deserialize_seq(visitor)
            .map_err(|mistake| mistake.under(self.0.name))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.reader()?
            .deserialize_map(visitor)
            .map_err(|mistake| mistake.under(self.0.name))
    }
}
