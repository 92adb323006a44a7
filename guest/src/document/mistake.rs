//! Where a document does not fit its type, and how.
//!
//! It never shows a text value of the document: that may hold a captured byte.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

/// The path of a key, and what is wrong there.
///
/// It is one pointer: every place that reads a key hands it on, and there are hundreds.
#[derive(Debug)]
pub(super) struct Mistake(Box<Place>);

#[derive(Debug)]
struct Place {
    /// From the innermost segment to the outermost, since it is filled on the way out.
    path: Vec<String>,
    what: String,
}

impl Mistake {
    #[cold]
    fn new(what: String) -> Self {
        Self(Box::new(Place {
            path: Vec::new(),
            what,
        }))
    }

    /// Says under which key the mistake was met.
    pub(super) fn under(mut self, key: &str) -> Self {
        self.0.path.push(format!(".{}", brief(key)));
        self
    }

    /// Says at which position of a list, from 0, the mistake was met.
    pub(super) fn at(mut self, position: usize) -> Self {
        self.0.path.push(format!("[{position}]"));
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path: String = self.0.path.iter().rev().map(String::as_str).collect();
        let path = path.strip_prefix('.').unwrap_or(&path);
        if !path.is_empty() {
            write!(f, "`{path}`: ")?;
        }
        f.write_str(&self.0.what)
    }
}

impl std::error::Error for Mistake {}

impl Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let what = format!("expected {}, found {}", plain(expected), kind(&found));
        Self::new(what)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = number(&found).unwrap_or_else(|| kind(&found).to_owned());
        Self::new(format!("expected {}, found {found}", plain(expected)))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!(
            "`{}` is not known{}",
            brief(variant),
            known(variant, expected)
        ))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("unknown key{}", known(field, expected))).under(field)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new("missing".to_owned()).under(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new("stands twice".to_owned()).under(field)
    }
}

/// What may stand there, and the one of them that was probably meant.
fn known(found: &str, expected: &[&str]) -> String {
    let closest = expected
        .iter()
        .map(|name| (distance(found, name), *name))
        .min()
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4);
    let hint = closest.map_or_else(
        || ",".to_owned(),
        |(_, name)| format!(", did you mean `{name}`?"),
    );
    let names: Vec<String> = expected.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => ", no key is expected here".to_owned(),
        [one] => format!("{hint} expected {one}"),
        many => format!("{hint} expected one of {}", many.join(", ")),
    }
}

/// The number of single-character edits between two names.
fn distance(found: &str, name: &str) -> usize {
    let found: Vec<char> = found.chars().take(60).collect();
    let mut row: Vec<usize> = (0..=found.len()).collect();
    for (line, wanted) in name.chars().enumerate() {
        let mut left = line + 1;
        let mut next = vec![left];
        for (pair, have) in row.windows(2).zip(&found) {
            if let [corner, above] = pair {
                let swapped = corner + usize::from(*have != wanted);
                left = swapped.min(above + 1).min(left + 1);
                next.push(left);
            }
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

fn brief(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Says in words for people what a derived type expects.
fn plain(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "a string" => "a text".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "an object".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" => {
            "a whole number".to_owned()
        }
        "a nonzero u32" => "a whole number from 1".to_owned(),
        other if other.starts_with("struct ") => "an object".to_owned(),
        _ => text,
    }
}

/// A number may be shown: it tells more than its kind, and no secret is one.
fn number(found: &Unexpected<'_>) -> Option<String> {
    if let Unexpected::Signed(number) = found {
        Some(number.to_string())
    } else if let Unexpected::Unsigned(number) = found {
        Some(number.to_string())
    } else {
        None
    }
}

fn kind(found: &Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "true or false",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "a number",
        Unexpected::Float(_) => "a number with a fraction",
        Unexpected::Char(_) | Unexpected::Str(_) => "a text",
        Unexpected::Bytes(_) => "bytes",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq => "a list",
        Unexpected::Map | Unexpected::NewtypeStruct => "an object",
        Unexpected::Enum
        | Unexpected::UnitVariant
        | Unexpected::NewtypeVariant
        | Unexpected::TupleVariant
        | Unexpected::StructVariant
        | Unexpected::Other(_) => "something else",
    }
}
