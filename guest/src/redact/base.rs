//! The five base rules, which take the whole line.
//!
//! When in doubt the line goes: only what is plainly no value is let through.

use super::bytes::{at, before, part, run_end, run_start, skip_blanks, text};
use super::hit::{Family, Hit};
use super::placeholder::{is_lookup, is_name_of_variable, is_placeholder, shows_rest};

/// Reads `Bearer ` and a token; `position` is where `bearer` begins.
pub(super) fn bearer(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let after = position + "bearer".len();
    let start = run_end(bytes, after, |byte| byte.is_ascii_whitespace());
    if start == after || before(bytes, position).is_ascii_alphanumeric() {
        return None;
    }
    let mask = run_end(bytes, start, |byte| byte == b'*');
    let end = run_end(bytes, mask, is_token);
    let token = text(line, start, end);
    let trimmed = token.trim_end_matches(['.', ',', ':', ';']);
    let is_prose = trimmed
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_' | b'.' | b'/'))
        && (is_word(trimmed) || trimmed.len() < 3);
    let is_parameter = [
        "realm=",
        "error=",
        "scope=",
        "error_description=",
        "charset=",
        "resource_metadata=",
    ]
    .iter()
    .any(|name| super::bytes::has_at(bytes, start, name.as_bytes()));
    let is_nothing = trimmed.is_empty()
        || is_prose
        || is_parameter
        || mask > start && !shows_rest(trimmed)
        || is_placeholder(trimmed)
        || is_code(bytes, start, end);
    (!is_nothing).then(|| Hit::of(Family::Bearer, position, start, end))
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'.'
                | b'_'
                | b'~'
                | b'+'
                | b'/'
                | b'='
                | b':'
                | b'|'
                | b'!'
                | b'@'
                | b'#'
                | b'^'
                | b'&'
                | b'?'
        )
}

/// Says whether this is one word of prose or one name: all letters in one case, or a capital first.
fn is_word(text: &str) -> bool {
    text.split(['-', '_', '.', '/']).all(|part| {
        let rest = part.get(1..).unwrap_or_default();
        part.len() <= 16
            && (rest.bytes().all(|byte| byte.is_ascii_lowercase())
                || part.bytes().all(|byte| byte.is_ascii_uppercase())
                || is_camel(part))
    })
}

fn is_camel(part: &str) -> bool {
    let capitals = part.bytes().filter(u8::is_ascii_uppercase).count();
    capitals > 0 && part.len() >= (capitals + 1) * 4
}

/// Says whether what stands there is an expression: a call, an index, a template.
fn is_code(bytes: &[u8], start: usize, end: usize) -> bool {
    let next = at(bytes, end);
    let name = part(bytes, start, end)
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':'));
    name && matches!(next, b'(' | b'[' | b'{') && end > start
}

/// Reads `password=` and a value; `position` is where the word begins.
pub(super) fn password(line: &str, position: usize) -> Option<Hit> {
    let after = position + "password=".len();
    assignment(line, after)
        .map(|(start, end)| Hit::of(Family::PasswordAssignment, position, start, end))
}

/// Reads `api_key=` and a value; `position` is where the word begins, `equals` behind the sign.
pub(super) fn api_key(line: &str, position: usize, equals: usize) -> Option<Hit> {
    assignment(line, equals)
        .map(|(start, end)| Hit::of(Family::ApiKeyAssignment, position, start, end))
}

fn assignment(line: &str, after: usize) -> Option<(usize, usize)> {
    let bytes = line.as_bytes();
    let open = skip_blanks(bytes, after);
    // `==` compares and `=>` maps; what they hold is read all the same.
    let open = run_end(bytes, open, |byte| matches!(byte, b'=' | b'>' | b' '));
    let mut start = run_end(bytes, open, |byte| {
        matches!(byte, b'"' | b'\'' | b'`' | b'\\')
    });
    let quote = (start > open).then(|| before(bytes, start));
    let is_empty = start == open + 2
        && matches!(
            at(bytes, start),
            0 | b' ' | b',' | b')' | b';' | b'\n' | b'}' | b']'
        );
    if is_empty || is_sentence(bytes, after, open) {
        return None;
    }
    let string_prefix =
        at(bytes, start).is_ascii_alphabetic() && matches!(at(bytes, start + 1), b'"' | b'\'');
    if quote.is_none() && string_prefix {
        start += 2;
    }
    let end = match quote {
        Some(quote) => run_end(bytes, start, |byte| byte != quote && byte != b'\n'),
        None => expression_end(bytes, start),
    };
    let value = text(line, start, line.floor_char_boundary(end));
    if value.is_empty() || is_nothing(value, quote.is_some()) {
        return None;
    }
    Some((start, line.floor_char_boundary(end)))
}

/// Says whether prose goes on behind the sign and a blank: `api_key= must be given`.
fn is_sentence(bytes: &[u8], after: usize, open: usize) -> bool {
    let word = run_end(bytes, open, |byte| byte.is_ascii_lowercase());
    open > after
        && word > open + 1
        && at(bytes, word) == b' '
        && at(bytes, word + 1).is_ascii_lowercase()
}

fn expression_end(bytes: &[u8], start: usize) -> usize {
    let first = at(bytes, start);
    if first == b'<' {
        return (run_end(bytes, start, |byte| byte != b'>' && byte != b'\n') + 1).min(bytes.len());
    }
    if first == b'$' && matches!(at(bytes, start + 1), b'{' | b'(') || first == b'{' {
        let end = run_end(bytes, start, |byte| !matches!(byte, b'}' | b')' | b'\n'));
        return run_end(bytes, end, |byte| matches!(byte, b'}' | b')'));
    }
    if first == b'(' {
        return (run_end(bytes, start, |byte| byte != b')' && byte != b'\n') + 1).min(bytes.len());
    }
    let end = run_end(bytes, start, |byte| {
        !byte.is_ascii_whitespace()
            && !matches!(
                byte,
                b',' | b';' | b'"' | b'\'' | b')' | b']' | b'}' | b'&' | b'`' | b'>' | b'\\' | b'|'
            )
    });
    if part(bytes, start, end)
        .iter()
        .any(|byte| matches!(byte, b'(' | b'['))
    {
        run_end(bytes, end, |byte| !byte.is_ascii_whitespace())
    } else {
        end
    }
}

/// Says whether this is plainly no value.
fn is_nothing(value: &str, is_quoted: bool) -> bool {
    const WORDS: [&str; 22] = [
        "none",
        "null",
        "nil",
        "undefined",
        "true",
        "false",
        "yes",
        "no",
        "str",
        "string",
        "bool",
        "redacted",
        "missing",
        "empty",
        "required",
        "optional",
        "[redacted]",
        "self",
        "sensitive",
        "value",
        "hidden",
        "masked",
    ];
    let trimmed = value.trim_end_matches(['.', ',', ':', ';', ')', ']', '}', '!', '?']);
    if trimmed.is_empty() || WORDS.iter().any(|word| trimmed.eq_ignore_ascii_case(word)) {
        return true;
    }
    let is_marked = (value.starts_with('<') && value.contains('>'))
        || value.starts_with("${")
        || value.starts_with("$(")
        || (value.starts_with('{') && value.contains('}'))
        || value.starts_with("***") && !shows_rest(trimmed)
        || value.starts_with("...")
        || value.starts_with("%(")
        || value.starts_with("[REDACTED")
        || value.starts_with('…')
        || value.ends_with("...")
        || value.ends_with('…')
        || is_yours(trimmed)
        || is_remark(value)
        || matches!(
            value,
            "%s" | "%v" | "%q" | "%r" | "(sensitive value)" | "*" | "**"
        )
        || value
            .bytes()
            .all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_'));
    let is_variable = trimmed.strip_prefix('$').is_some_and(is_name_of_variable)
        || trimmed
            .strip_prefix('%')
            .and_then(|rest| rest.strip_suffix('%'))
            .is_some_and(is_name_of_variable)
        || trimmed
            .strip_prefix("$env:")
            .is_some_and(is_name_of_variable);
    // Upper-case names stand for a value in usage texts.
    let is_name = !is_quoted && is_own_name(trimmed);
    is_marked || is_variable || is_name || (!is_quoted && is_lookup(value))
}

/// Says whether the value is a placeholder of documentation: `your-api-key`.
fn is_yours(value: &str) -> bool {
    let is_words = value
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_'));
    is_words
        && value
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case("your"))
}

/// Says whether the value is a remark in brackets: `(not set)`, `[hidden]`.
fn is_remark(value: &str) -> bool {
    value.starts_with(['(', '['])
        && value.bytes().all(|byte| {
            byte.is_ascii_lowercase() || matches!(byte, b'(' | b')' | b'[' | b']' | b' ' | b'-')
        })
}

/// Says whether the value is a variable named for what it holds: `password`, `self.password`,
/// `API_KEY`.
fn is_own_name(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_path = value
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.'));
    is_path
        && [
            "password", "passwd", "pwd", "pass", "api_key", "apikey", "key", "secret", "token",
        ]
        .iter()
        .any(|ending| lower.ends_with(ending))
}

/// Reads `AKIA` and 16; `position` is where it begins.
pub(super) fn aws_id(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let end = run_end(bytes, position, |byte| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit()
    });
    let body = part(bytes, position + 4, end);
    let is_mask = body.iter().all(|byte| *byte == b'X');
    (part(bytes, position, position + 4) == b"AKIA" && body.len() >= 16 && !is_mask)
        .then(|| Hit::of(Family::AwsAccessKeyId, position, position, end))
}

/// Reads `xox`, a letter, a dash and a value; `position` is where it begins.
pub(super) fn slack(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let start = position + "xoxb-".len();
    let end = run_end(bytes, start, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'%')
    });
    let end = run_start(part(bytes, 0, end), end, |byte| byte == b'.');
    let value = text(line, start, end);
    let has_value = value.bytes().any(|byte| byte.is_ascii_alphanumeric())
        && value.len() > 2
        && !is_yours(value);
    has_value.then(|| Hit::of(Family::SlackToken, position, position, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plainly_no_value_is_let_through() {
        for line in [
            "Bearer token missing",
            "Bearer ${VAR}",
            "Bearer $TOKEN",
            "Bearer <token>",
            "Bearer ",
            "Bearer realm=\"x\", error=\"invalid_token\"",
            "Bearer %s",
            "Bearer authentication failed.",
            "Bearer {token}",
            "Bearer ' + token",
            "Bearer ***",
            "Bearer ...",
        ] {
            assert_eq!(bearer(line, 0), None, "{line}");
        }
        for value in [
            "None",
            "null",
            "",
            "$VAR",
            "${VAR}",
            "<secret>",
            "***",
            "os.environ['X']",
            "getpass()",
            "env::var(\"X\")",
            "password)",
            "self.password",
            "%s",
            "{password}",
            "process.env.PASS",
            "\"\"",
            "''",
            "None)",
            "$(pass show x)",
            "os.environ.get(\"X\")",
            "(sensitive value)",
        ] {
            let line = format!("password={value}");
            assert_eq!(password(&line, 0), None, "{line}");
        }
    }

    #[test]
    fn in_doubt_the_line_goes() {
        for value in [
            "hunter",
            "changeme",
            "'abc'",
            "12",
            "a",
            "\"correct horse\"",
            "p@ss",
        ] {
            assert!(
                password(&format!("password={value}"), 0).is_some(),
                "{value}"
            );
        }
        assert!(bearer("Bearer abc123", 0).is_some());
        assert!(bearer("bearer abcdefghijklmnopqrstuvwxyz", 0).is_some());
    }
}
