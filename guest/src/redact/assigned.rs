//! Reads what is assigned to a name: `=`, `:`, `=>` and the like, and the value behind it.
//!
//! Whether the value is a secret is judged elsewhere.

use super::bytes::{at, before, has_at, is_blank, part, run_end, skip_blanks, text};
use super::keyed::Name;
use super::name::Meaning;

/// Where a value was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    /// Where it begins, behind its quote.
    pub(super) start: usize,
    /// Where it ends, before its quote.
    pub(super) end: usize,
    /// Quotes of the surrounding language hold it.
    pub(super) is_quoted: bool,
}

/// Reads `name = value` in its many forms.
pub(super) fn assigned(line: &str, name: &Name) -> Option<Value> {
    let bytes = line.as_bytes();
    let closed = closers_end(bytes, name.end);
    let is_closed = closed > name.end;
    if at(bytes, name.end) == b'>' {
        return element(line, name.end + 1);
    }
    let position = skip_blanks(bytes, closed);
    let separator = separator_end(line, name, position, is_closed)?;
    let position = skip_blanks(bytes, separator.end);
    if separator.may_have_type
        && let Some(typed) = typed_value(bytes, position)
    {
        return Some(read(line, name, typed, false));
    }
    Some(read(line, name, position, separator.ends_line))
}

/// Returns where the marks end that close the name itself: quotes and brackets.
fn closers_end(bytes: &[u8], from: usize) -> usize {
    let quote = run_end(bytes, from, |byte| {
        matches!(byte, b'"' | b'\'' | b'`' | b'*')
    });
    let bracket = run_end(bytes, quote, |byte| {
        matches!(byte, b']' | b')' | b'?' | b'!')
    });
    // `[project.token]` and `f(token)` close a bracket without a name having been quoted;
    // what follows is another matter unless a separator follows at once.
    bracket.min(from + 4).max(from)
}

struct Separator {
    end: usize,
    may_have_type: bool,
    ends_line: bool,
}

impl Separator {
    const fn plain(end: usize, ends_line: bool) -> Self {
        Self {
            end,
            may_have_type: false,
            ends_line,
        }
    }
}

fn separator_end(line: &str, name: &Name, position: usize, is_closed: bool) -> Option<Separator> {
    let bytes = line.as_bytes();
    let ends_line = begins_line(line, name.start);
    if text(line, name.start, name.end) == "PASS" && at(bytes, position) == b':' {
        // So test runners tell that a test passed.
        return None;
    }
    match (at(bytes, position), at(bytes, position + 1)) {
        (b'=', b'=') => Some(Separator::plain(
            run_end(bytes, position, |byte| byte == b'='),
            false,
        )),
        (b'=', b'~') | (b':', b':') => None,
        (b'=', b'>') | (b':', b'=') | (b'-', b'>') => Some(Separator::plain(position + 2, false)),
        (b'=', _) => Some(Separator::plain(position + 1, ends_line && !is_closed)),
        (b':', _) => Some(Separator {
            end: position + 1,
            may_have_type: true,
            ends_line: ends_line && is_blank(at(bytes, position + 1)) && !is_closed,
        }),
        (b',', _) if is_closed => listed(bytes, position),
        (b'v', _) | (b'V', _) if is_closed && has_at(bytes, position, b"value") => {
            let after = skip_blanks(bytes, position + 5);
            (at(bytes, after) == b'=').then(|| Separator::plain(after + 1, false))
        }
        (b'|', _) => Some(Separator::plain(position + 1, false)),
        _ => None,
    }
}

/// Reads the comma of `define('NAME', 'value')`, `["--name", "value"]` and
/// `"name": "NAME", "value": "x"`.
fn listed(bytes: &[u8], position: usize) -> Option<Separator> {
    let next = skip_blanks(bytes, position + 1);
    let quote = at(bytes, next);
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    if has_at(bytes, next + 1, b"value") {
        let closed = run_end(bytes, next + 6, |byte| matches!(byte, b'"' | b'\''));
        let colon = skip_blanks(bytes, closed);
        return (at(bytes, colon) == b':').then(|| Separator::plain(colon + 1, false));
    }
    Some(Separator::plain(next, false))
}

/// Says whether nothing but indentation, a gutter or a shell word stands before `start`.
pub(super) fn begins_line(line: &str, start: usize) -> bool {
    let ahead = text(line, 0, start).trim_end();
    let word = ahead.trim_start_matches(|character: char| {
        character.is_ascii_digit()
            || character.is_whitespace()
            || matches!(character, '+' | '-' | '>' | '|' | '#' | ':' | '$')
    });
    matches!(
        word,
        "" | "export"
            | "set"
            | "declare -x"
            | "export -"
            | "ENV"
            | "ARG"
            | "env"
            | "SET"
            | "local"
            | "readonly"
    ) && !(word == "env" && ahead.ends_with('('))
}

/// Returns where the value begins in `type = value`.
fn typed_value(bytes: &[u8], position: usize) -> Option<usize> {
    let end = run_end(bytes, position, |byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'&' | b'\'' | b'<' | b'>' | b':' | b'_' | b'?')
    });
    let after = skip_blanks(bytes, end);
    let is_type = end > position && end - position < 40 && after > end;
    (is_type && at(bytes, after) == b'=' && is_blank(at(bytes, after + 1)))
        .then(|| skip_blanks(bytes, after + 1))
}

/// Reads an XML element's content.
fn element(line: &str, start: usize) -> Option<Value> {
    let bytes = line.as_bytes();
    let end = run_end(bytes, start, |byte| byte != b'<');
    (has_at(bytes, end, b"</") && end > start).then_some(Value {
        start,
        end,
        is_quoted: true,
    })
}

pub(super) fn read(line: &str, name: &Name, position: usize, ends_line: bool) -> Value {
    let bytes = line.as_bytes();
    let start = openers_end(bytes, position);
    let quote = at(bytes, start);
    if matches!(quote, b'"' | b'\'' | b'`') {
        return quoted(line, start + 1, quote);
    }
    let end = if ends_line {
        form_end(bytes, position)
    } else {
        run_end(bytes, start, |byte| {
            !byte.is_ascii_whitespace()
                && byte.is_ascii()
                && !matches!(
                    byte,
                    b',' | b';'
                        | b'&'
                        | b'"'
                        | b'\''
                        | b')'
                        | b']'
                        | b'}'
                        | b'<'
                        | b'>'
                        | b'|'
                        | b'`'
                )
        })
    };
    let start = if ends_line { position } else { start };
    let mut end = call_end(bytes, start, end);
    let first = at(bytes, start);
    while end > start + 1 {
        let last = before(bytes, end);
        let is_tail = matches!(last, b',' | b';' | b'"' | b'\'' | b'`')
            || (matches!(last, b'.' | b':') && name.meaning != Meaning::Password)
            || (last == b')'
                && first != b'('
                && part(bytes, start, end).iter().all(|byte| *byte != b'('));
        if !is_tail {
            break;
        }
        end -= 1;
    }
    Value {
        start,
        end,
        is_quoted: false,
    }
}

/// Returns where a value ends that has the rest of the line, or of its pair in a form's body.
fn form_end(bytes: &[u8], from: usize) -> usize {
    let end = run_end(bytes, from, |byte| !byte.is_ascii_whitespace());
    let mut position = from;
    while position < end {
        if at(bytes, position) == b'&' {
            let name = run_end(bytes, position + 1, |byte| {
                byte.is_ascii_alphanumeric() || byte == b'_'
            });
            if name > position + 1 && at(bytes, name) == b'=' {
                return position;
            }
        }
        position += 1;
    }
    end
}

/// Keeps the closing bracket with a value that opens one: a call or a template is one value.
fn call_end(bytes: &[u8], start: usize, end: usize) -> usize {
    let open = part(bytes, start, end)
        .iter()
        .any(|byte| matches!(byte, b'(' | b'{' | b'[' | b'<'))
        || at(bytes, start) == b'<';
    if open || at(bytes, end) == b'<' {
        run_end(bytes, end, |byte| matches!(byte, b')' | b'}' | b']' | b'>'))
    } else {
        end
    }
}

/// Returns where what wraps a value ends: `Some(`, a bracket, a string prefix.
fn openers_end(bytes: &[u8], from: usize) -> usize {
    let mut position = from;
    for _ in 0..3 {
        let word = run_end(bytes, position, |byte| byte.is_ascii_alphabetic());
        let is_wrapper = [
            "Some",
            "Ok",
            "Just",
            "Secret",
            "SecretString",
            "String",
            "Optional",
        ]
        .iter()
        .any(|wrapper| part(bytes, position, word) == wrapper.as_bytes());
        if is_wrapper && matches!(at(bytes, word), b'(' | b'[') {
            position = word + 1;
        } else if word - position == 1 && matches!(at(bytes, word), b'"' | b'\'') {
            position = word;
        } else if matches!(at(bytes, position), b'[' | b'(' | b'{' | b'@' | b'&')
            && matches!(at(bytes, position + 1), b'"' | b'\'')
        {
            position += 1;
        } else {
            break;
        }
    }
    position
}

pub(super) fn quoted(line: &str, start: usize, quote: u8) -> Value {
    let bytes = line.as_bytes();
    let mut end = start;
    while let Some(byte) = bytes.get(end) {
        if *byte == quote || *byte == b'\n' {
            break;
        }
        // An escaped backslash escapes nothing behind it.
        end += if *byte == b'\\' && end + 1 < bytes.len() {
            2
        } else {
            1
        };
    }
    Value {
        start,
        end: line.floor_char_boundary(end.min(bytes.len())),
        is_quoted: true,
    }
}
