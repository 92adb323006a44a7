//! The forms in which programs print a value: plain, encoded, escaped.
//!
//! It does not choose the values.

use super::bytes::{at, before, is_base64};
use super::encoding::fixed_part;
use super::known::SHORTEST_MIXED;

/// A form that a value is printed in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Form {
    /// What is looked for.
    pub(super) text: String,
    edges: Edges,
}

/// Where a form in base64 shares a character with what stands beside the value. Such a character
/// cannot be looked for, and yet it tells some bits of the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edges {
    /// The one before it.
    start: bool,
    /// The one after it, which padding may follow.
    end: bool,
}

impl Form {
    /// Returns what belongs to its edges.
    pub(super) fn edges(&self) -> Edges {
        self.edges
    }
}

impl Edges {
    /// Returns all of what stands from `start` to `end`, with the shared characters and the
    /// padding.
    pub(super) fn around(self, line: &str, start: usize, end: usize) -> (usize, usize) {
        let bytes = line.as_bytes();
        let is_shared = |byte| is_base64(byte) && byte != b'=';
        let start = match self.start && is_shared(before(bytes, start)) {
            true => start.saturating_sub(1),
            false => start,
        };
        if !self.end || !is_shared(at(bytes, end)) {
            return (start, end);
        }
        let end = end.saturating_add(1);
        let is_padding = |length: &usize| at(bytes, end.saturating_add(*length)) == b'=';
        // A group of four has two at most.
        let padding = (0..2).take_while(is_padding).count();
        (start, end.saturating_add(padding))
    }
}

/// Returns every form a value is printed in.
pub(super) fn forms_of(secret: &str) -> Vec<Form> {
    let other = |text| Form {
        text,
        edges: Edges::default(),
    };
    let mut forms = in_base64(secret);
    forms.extend(in_texts(secret).into_iter().map(other));
    forms
}

fn in_base64(secret: &str) -> Vec<Form> {
    let mut forms = Vec::new();
    for shift in 0..3 {
        let edges = Edges {
            start: shift > 0,
            end: !(secret.len() + shift).is_multiple_of(3),
        };
        let fixed = fixed_part(secret.as_bytes(), shift);
        if fixed.len() >= 8 {
            let url = fixed.replace('+', "-").replace('/', "_");
            forms.extend([url, fixed].map(|text| Form { text, edges }));
        }
    }
    forms
}

fn in_texts(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    let once = json(secret);
    forms.push(json(&once));
    // PHP escapes strokes, Python and PHP what is not ASCII, Go the signs of HTML.
    let ascii = ascii_json(&once);
    forms.push(once.replace('/', r"\/"));
    forms.push(ascii.replace('/', r"\/"));
    forms.push(ascii);
    forms.push(html_json(&once));
    forms.push(once);
    let encoded = percent(secret, STRICT, upper);
    forms.push(percent(secret, STRICT, lower));
    forms.push(encoded.replace("%20", "+"));
    forms.push(percent(&encoded, STRICT, upper));
    forms.push(encoded);
    forms.push(percent(secret, LOOSE, upper));
    forms.push(secret.replace('\'', r"'\''"));
    forms.push(secret.replace('\'', "'\"'\"'"));
    forms.push(shell(secret));
    forms.push(xml(secret));
    forms.push(xml(secret).replace("&#39;", "&apos;"));
    forms.push(xml(secret).replace("&#39;", "&#x27;"));
    forms.push(secret.replace('\\', r"\\"));
    forms.push(secret.replace('\\', r"\\").replace('\'', r"\'"));
    forms.push(secret.bytes().map(|byte| format!("{byte:02x}")).collect());
    forms.retain(|form| form.len() >= SHORTEST_MIXED);
    forms
}

fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or_default()
        .to_owned()
}

fn ascii_json(quoted: &str) -> String {
    let mut ascii = String::with_capacity(quoted.len());
    for character in quoted.chars() {
        if character.is_ascii() {
            ascii.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                ascii.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    ascii
}

fn html_json(quoted: &str) -> String {
    quoted
        .replace('&', r"\u0026")
        .replace('<', r"\u003c")
        .replace('>', r"\u003e")
}

/// The marks that percent encoding leaves as they are.
const STRICT: &[u8] = b"-_.~";

/// The ones that browsers and `encodeURI` leave.
const LOOSE: &[u8] = b"-_.~!*'()";

fn percent(text: &str, marks: &[u8], escape: fn(u8) -> String) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || marks.contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&escape(byte));
        }
    }
    encoded
}

fn upper(byte: u8) -> String {
    format!("%{byte:02X}")
}

fn lower(byte: u8) -> String {
    format!("%{byte:02x}")
}

/// Escapes as `printf %q` does.
fn shell(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii()
            && !character.is_ascii_alphanumeric()
            && !"_-./:=@%+,".contains(character)
        {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is taken of a text that holds the value in base64.
    fn taken(secret: &str, line: &str) -> Vec<String> {
        let found = in_base64(secret).into_iter().filter_map(|form| {
            let start = line.find(&form.text)?;
            let (start, end) = form.edges().around(line, start, start + form.text.len());
            line.get(start..end).map(str::to_owned)
        });
        found.collect()
    }

    #[test]
    fn base64_is_taken_with_the_characters_that_it_shares_and_its_padding() {
        // "tr0ub4dor", its beginning, and its beginning behind "x", "xy" and before "z".
        for (secret, line, wanted) in [
            ("tr0ub4dor", "dHIwdWI0ZG9y.", "dHIwdWI0ZG9y"),
            ("tr0ub4do", "dHIwdWI0ZG8=.", "dHIwdWI0ZG8="),
            ("tr0ub4d", "dHIwdWI0ZA==.", "dHIwdWI0ZA=="),
            ("tr0ub4d", "dHIwdWI0ZA===", "dHIwdWI0ZA=="),
            ("tr0ub4d", "dHIwdWI0ZHo=", "dHIwdWI0ZH"),
            ("tr0ub4d", "eHRyMHViNGQ=", "HRyMHViNGQ="),
            ("tr0ub4d", "eHl0cjB1YjRk", "l0cjB1YjRk"),
            ("tr0ub4d", "(dHIwdWI0Z", "dHIwdWI0Z"),
            ("tr0ub4d", "dHIwdWI0Z) A==", "dHIwdWI0Z"),
        ] {
            let taken = taken(secret, line);
            assert!(taken.contains(&wanted.to_owned()), "{line}: {taken:?}");
        }
    }
}
