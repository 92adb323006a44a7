//! What stands for a value without being one: placeholders, variables, masks, look-ups.
//!
//! It does not judge values.

use super::value::{is_identifier, is_opaque};

/// Says whether the whole value plainly is none: empty, a placeholder, a variable, a look-up.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let bare = value.trim_matches(|mark| matches!(mark, '"' | '\'' | '`' | '[' | ']' | '(' | ')'));
    bare.is_empty()
        || is_wrapped(value)
        || is_variable(value)
        || is_masked(bare)
        || is_word_for_nothing(bare)
        || is_lookup(value)
}

fn is_wrapped(value: &str) -> bool {
    const PAIRS: [(&str, &str); 9] = [
        ("<", ">"),
        ("${", "}"),
        ("{{", "}}"),
        ("$(", ")"),
        ("{", "}"),
        ("%(", ")s"),
        ("#{", "}"),
        ("[", "]"),
        ("(", ")"),
    ];
    PAIRS.iter().any(|(open, close)| {
        value
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close))
            .is_some_and(|inner| !inner.contains(close))
    }) || [
        "${",
        "{{",
        "$(",
        "<%",
        "#{",
        "$env:",
        "!Ref",
        "!env",
        "arn:",
        "@Microsoft",
    ]
    .iter()
    .any(|open| value.starts_with(open))
        || value.starts_with("[REDACTED")
}

/// Says whether a text can name a variable.
pub(super) fn is_name_of_variable(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_variable(value: &str) -> bool {
    let dollar = value.strip_prefix('$').is_some_and(|rest| {
        is_name_of_variable(rest)
            && (rest.bytes().all(|byte| !byte.is_ascii_lowercase()) || is_identifier(rest))
    });
    let member = value.strip_prefix('$').is_some_and(|rest| {
        let end = super::bytes::run_end(rest.as_bytes(), 0, |byte| {
            byte.is_ascii_alphanumeric() || byte == b'_'
        });
        let after = super::bytes::text(rest, end, rest.len());
        end > 0
            && ["->", "::", "[", ".", "("]
                .iter()
                .any(|mark| after.starts_with(mark))
    });
    let percent = value
        .strip_prefix('%')
        .and_then(|rest| rest.strip_suffix('%'))
        .is_some_and(is_name_of_variable);
    dollar
        || member
        || percent
        || matches!(
            value,
            "%s" | "%v" | "%q" | "%d" | "%r" | "{}" | "{0}" | "$@" | "$1" | "$2"
        )
}

/// From this length on, a value with three dots behind it is one at the end of a sentence, and not
/// the beginning of a longer one, of which programs show four to eight characters.
const LONGEST_SHORTENED: usize = 15;

/// Says whether the value is a mask: stars, dots, x or one character over and over.
fn is_masked(value: &str) -> bool {
    let mut bytes = value.bytes().filter(|byte| *byte != b'-' && *byte != b' ');
    let Some(first) = bytes.next() else {
        return true;
    };
    let same = bytes.all(|byte| byte == first);
    (same && (value.len() > 2 || matches!(first, b'*' | b'.' | b'x' | b'X')))
        || value.contains("***") && !shows_rest(value)
        || (value.ends_with("...") && value.len() < LONGEST_SHORTENED)
        || value.contains('…')
        || value.contains("xxxxxxxx")
        || value.contains("XXXXXXXX")
}

/// Says whether a secret goes on behind a mask that covers only its beginning: `***restOfSecret1`.
/// Fewer than eight characters are shown on purpose, to tell secrets apart.
pub(super) fn shows_rest(value: &str) -> bool {
    let rest = value.trim_start_matches('*');
    value.len() - rest.len() >= 3
        && !rest.contains("***")
        && rest.starts_with(|first: char| first.is_ascii_alphanumeric())
        && rest.bytes().any(|byte| byte.is_ascii_digit())
        && is_opaque(rest, 8)
}

fn is_word_for_nothing(value: &str) -> bool {
    const WORDS: [&str; 44] = [
        "none",
        "null",
        "nil",
        "undefined",
        "true",
        "false",
        "yes",
        "no",
        "on",
        "off",
        "string",
        "str",
        "&str",
        "bool",
        "boolean",
        "int",
        "integer",
        "number",
        "bytes",
        "any",
        "object",
        "text",
        "required",
        "optional",
        "redacted",
        "removed",
        "masked",
        "hidden",
        "secret",
        "password",
        "token",
        "sensitive",
        "missing",
        "empty",
        "example",
        "changeme",
        "change_me",
        "change-me",
        "todo",
        "tbd",
        "unset",
        "invalid",
        "sensitive value",
        "default",
    ];
    let starts = |start: &str| {
        value
            .get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || [
            "your-",
            "your_",
            "my-secret",
            "insert-",
            "replace-",
            "replace_me",
            "example-",
            "<",
        ]
        .iter()
        .any(|start| starts(start))
}

/// Says whether the value is read from somewhere else: a call, a path of names, an index.
pub(super) fn is_lookup(value: &str) -> bool {
    let bytes = value.as_bytes();
    let names = super::bytes::run_end(bytes, 0, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'&' | b'!' | b'?')
    });
    if names == 0 {
        return false;
    }
    let head = super::bytes::text(value, 0, names);
    match super::bytes::at(bytes, names) {
        b'(' => head.bytes().any(|byte| byte.is_ascii_alphabetic()),
        b'[' => is_path_of_names(head) || is_identifier(head),
        b'<' => head.bytes().all(|byte| byte.is_ascii_alphabetic()) && value.ends_with('>'),
        _ if names == value.len() => {
            head.contains("::")
                || (is_path_of_names(head) && !head.bytes().any(|byte| byte.is_ascii_digit()))
                || (is_path_of_names(head)
                    && [
                        "os.",
                        "process.",
                        "self.",
                        "this.",
                        "env.",
                        "settings.",
                        "config.",
                        "var.",
                        "local.",
                        "data.",
                        "module.",
                        "secrets.",
                        "vault.",
                        "args.",
                        "cfg.",
                        "conf.",
                        "opts.",
                        "options.",
                        "params.",
                        "request.",
                        "req.",
                        "std.",
                        "ENV.",
                    ]
                    .iter()
                    .any(|start| head.starts_with(start)))
        }
        _ => false,
    }
}

fn is_path_of_names(value: &str) -> bool {
    value.contains('.')
        && value.split('.').all(|part| {
            part.bytes()
                .next()
                .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
}
