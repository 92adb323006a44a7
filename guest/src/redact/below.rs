//! Values that stand on the line below their name.
//!
//! The state between the two lines is kept in `block`.

use super::block::{Block, Step};
use super::bytes::{at, has_at, run_end, skip_blanks, text};
use super::keyed::name_at;
use super::name::Meaning;
use super::value::{is_opaque, is_secret};

/// Opens at `name: PASSWORD` alone on its line, and at `password: |`.
pub(super) fn opened_value(line: &str) -> Option<Block> {
    let trimmed = line.trim().trim_start_matches("- ").trim_start();
    if trimmed.len() > 120 {
        return None;
    }
    let (key, value) = trimmed.split_once(':')?;
    let value = value.trim().trim_end_matches(',');
    let key = key.trim_matches(['"', '\'']);
    if key.eq_ignore_ascii_case("name") || key.eq_ignore_ascii_case("key") {
        let name = value.trim_matches(['"', '\'']);
        let whole = name_at(name, 0).filter(|found| found.start == 0 && found.end == name.len())?;
        return Some(Block::Value {
            meaning: whole.meaning,
            is_named: true,
            is_quoted: false,
        });
    }
    let is_json = value.is_empty() && trimmed.starts_with('"');
    if is_json || matches!(value, "|" | ">" | "|-" | ">-" | "|+") {
        let name = name_at(key, 0).filter(|found| found.start == 0 && found.end == key.len())?;
        return Some(Block::Value {
            meaning: name.meaning,
            is_named: false,
            is_quoted: value.is_empty(),
        });
    }
    None
}

pub(super) fn value_step(line: &str, meaning: Meaning, is_named: bool, needs_quotes: bool) -> Step {
    let bytes = line.as_bytes();
    let mut start = skip_blanks(bytes, 0);
    if is_named {
        start = run_end(bytes, start, |byte| matches!(byte, b'"' | b'\''));
        if !has_at(bytes, start, b"value") {
            return Step::Ordinary;
        }
        let closed = run_end(bytes, start + 5, |byte| matches!(byte, b'"' | b'\''));
        if at(bytes, closed) != b':' {
            return Step::Ordinary;
        }
        start = skip_blanks(bytes, closed + 1);
    } else if start == 0 {
        return Step::Ordinary;
    }
    let quote = at(bytes, start);
    let is_quoted = matches!(quote, b'"' | b'\'');
    if is_quoted {
        start += 1;
    }
    let end = run_end(bytes, start, |byte| {
        if is_quoted {
            byte != quote
        } else {
            !byte.is_ascii_whitespace()
        }
    });
    let value = text(line, start, end);
    let is_alone = is_quoted || line.trim_end().len() == end;
    let accepted = if needs_quotes && !is_quoted {
        false
    } else if is_named {
        is_secret(value, meaning, is_quoted)
    } else {
        is_opaque(value, 8) && is_alone
    };
    if accepted {
        Step::Value(start, end)
    } else {
        Step::Ordinary
    }
}
