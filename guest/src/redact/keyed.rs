//! Values behind sensitive names, in the forms of shells, configurations, languages and prose.
//!
//! Names are judged in `name`, values in `value`; this reads what stands between them.

use super::assigned::{Value, assigned, begins_line, quoted, read};
use super::bytes::{at, before, find_from, has_at, part, run_end, run_start, skip_blanks, text};
use super::hit::{Family, Hit};
use super::name::{Meaning, meaning};
use super::value::{is_opaque, is_secret};

/// Longest name that is considered.
const NAME_MAX: usize = 120;

/// A sensitive name in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    /// Where it begins, without leading marks.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// What it means.
    pub(super) meaning: Meaning,
    /// It is written as a flag: `-name` or `--name`.
    pub(super) is_flag: bool,
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Returns the sensitive name that the word at `position` is a part of.
pub(super) fn name_at(line: &str, position: usize) -> Option<Name> {
    let bytes = line.as_bytes();
    // Of a word that is too long for a name not all is looked at: it may hold many names.
    let reach = NAME_MAX + 1;
    let until = bytes.len().min(position + reach);
    let end = run_end(part(bytes, 0, until), position, is_name);
    let from = position.saturating_sub(reach);
    let before_it = part(bytes, from, position);
    let mut start = from + run_start(before_it, before_it.len(), is_name);
    let dashes = run_end(bytes, start, |byte| byte == b'-');
    let is_flag = dashes > start
        && matches!(
            before(bytes, start),
            0 | b' ' | b'"' | b'\'' | b'\t' | b'[' | b'=' | b'`'
        );
    start = run_end(bytes, start, |byte| matches!(byte, b'-' | b'.'));
    let end = run_start(part(bytes, 0, end), end, |byte| matches!(byte, b'-' | b'.')).max(start);
    let end = spoken_end(line, start, end);
    if end - start > NAME_MAX {
        return None;
    }
    let meaning = meaning(text(line, start, end))?;
    Some(Name {
        start,
        end,
        meaning,
        is_flag,
    })
}

/// Returns where a name of two words ends, as prose writes it: `API key`.
fn spoken_end(line: &str, start: usize, end: usize) -> usize {
    let is_first = ["api", "access", "secret", "signing", "encryption"]
        .iter()
        .any(|word| text(line, start, end).eq_ignore_ascii_case(word));
    let bytes = line.as_bytes();
    if is_first && has_at(bytes, end, b" key") && !at(bytes, end + 4).is_ascii_alphanumeric() {
        end + 4
    } else {
        end
    }
}

/// Returns the value of `name`, where it has one that is a secret.
pub(super) fn find(line: &str, name: &Name) -> Option<Hit> {
    let family = if name.is_flag {
        Family::Argument
    } else if text(line, name.start, name.start + 2).eq_ignore_ascii_case("x-") {
        Family::Header
    } else {
        Family::KeyedValue
    };
    let found = assigned(line, name)
        .filter(|value| accepts(line, name, value))
        .or_else(|| spaced(line, name))
        .or_else(|| told(line, name))?;
    Some(Hit::of(family, name.start, found.start, found.end))
}

fn accepts(line: &str, name: &Name, value: &Value) -> bool {
    let written = text(line, value.start, value.end);
    let follows_scheme = text(line, 0, name.start).ends_with("://");
    if follows_scheme || is_complaint(line, name) {
        return false;
    }
    is_secret(written, name.meaning, value.is_quoted)
        || (name.meaning == Meaning::Password
            && value.is_quoted
            && text(line, name.start, name.end)
                .to_ascii_lowercase()
                .ends_with("passphrase")
            && written.len() >= 12)
}

/// Says whether the line complains of the token of a grammar: `unexpected token: "x"`.
pub(super) fn is_complaint(line: &str, name: &Name) -> bool {
    let ahead = text(line, 0, name.start).trim_end_matches([' ', '\'', '"', '`']);
    let last = ahead.rsplit([' ', '(', ':']).next().unwrap_or_default();
    [
        "unexpected",
        "expected",
        "invalid",
        "unknown",
        "illegal",
        "stray",
        "bad",
    ]
    .iter()
    .any(|word| last.eq_ignore_ascii_case(word))
        && name.meaning == Meaning::Secret
        && text(line, name.start, name.end).eq_ignore_ascii_case("token")
}

/// Reads `--name value`, `setenv NAME value`, columns, and `login x password y`.
fn spaced(line: &str, name: &Name) -> Option<Value> {
    let bytes = line.as_bytes();
    let position = skip_blanks(bytes, name.end);
    let gap = position - name.end;
    if gap == 0 || at(bytes, position) == b'-' {
        return None;
    }
    let value = read(line, name, position, true);
    let value = unwrapped(line, value);
    let written = text(line, value.start, value.end);
    let ahead = text(line, 0, name.start).trim_end();
    let lower = ahead.to_ascii_lowercase();
    let is_named = name.is_flag
        || ["setenv", "env", "set -x", "-gx", "-gux", "-ux"]
            .iter()
            .any(|word| ahead.ends_with(word))
        || ahead.ends_with("ENV")
        || (lower.contains("login ") && name.meaning == Meaning::Password)
        || text(line, name.start, name.end) == "requirepass";
    let accepted = if is_named {
        is_secret(written, name.meaning, value.is_quoted)
    } else if ahead.is_empty()
        && line.trim_end().len() == value.end
        && gap == 1
        && at(bytes, name.end) == b' '
    {
        // A line of a login file: `password value` and nothing else.
        text(line, name.start, name.end) == "password"
            && is_opaque(written, 8)
            && has_digit_and_letter(written)
    } else if gap >= 2 || at(bytes, name.end) == b'\t' {
        let begins = begins_line(line, name.start) && (gap < 40);
        let shortest = if line.trim_end().len() == value.end {
            10
        } else {
            12
        };
        begins && is_opaque(written, shortest) && has_digit_and_letter(written)
    } else {
        let shortest = if name.meaning == Meaning::Password {
            10
        } else {
            20
        };
        is_opaque(written, shortest) && is_random(written)
    };
    accepted.then_some(value)
}

fn unwrapped(line: &str, value: Value) -> Value {
    let first = at(line.as_bytes(), value.start);
    if matches!(first, b'"' | b'\'') {
        quoted(line, value.start + 1, first)
    } else {
        value
    }
}

fn has_digit_and_letter(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_random(value: &str) -> bool {
    value.bytes().filter(u8::is_ascii_digit).count() >= 2
        && value.bytes().any(|byte| byte.is_ascii_lowercase())
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
        && value
            .bytes()
            .all(|byte| super::bytes::is_base64(byte) || byte == b'.')
}

/// Reads prose: `the password for admin is value`.
fn told(line: &str, name: &Name) -> Option<Value> {
    let bytes = line.as_bytes();
    let window = part(bytes, 0, (name.end + 64).min(bytes.len()));
    let verb = [" is ", " is: ", " was ", " to ", " are ", " set to ", "] "]
        .iter()
        .filter_map(|verb| {
            find_from(window, name.end, verb.as_bytes()).map(|found| found + verb.len())
        })
        .min()
        .or_else(|| find_from(window, name.end, b": ").map(|found| found + 2))?;
    let between = part(bytes, name.end, verb);
    if between
        .iter()
        .any(|byte| matches!(byte, b'=' | b'{' | b',' | b'('))
    {
        return None;
    }
    // A number of hexadecimal digits in prose is a revision unless it is what the name is.
    let follows_at_once = verb - name.end <= 5;
    let value = read(line, name, skip_blanks(bytes, verb), false);
    let written = text(line, value.start, value.end);
    let value_end = value.end + usize::from(value.is_quoted);
    let ends = matches!(
        at(bytes, value_end),
        0 | b' ' | b'.' | b',' | b'\n' | b'\r' | b')' | b';' | b'"' | b'\'' | b'!'
    );
    let trimmed = written.trim_end_matches(['.', '!', ':']);
    (ends
        && is_opaque(trimmed, 8)
        && has_digit_and_letter(trimmed)
        && (!is_hex(trimmed) || follows_at_once))
        .then_some(Value {
            end: value.start + trimmed.len(),
            ..value
        })
}

fn is_hex(value: &str) -> bool {
    value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte) || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(line: &str) -> Option<&str> {
        let lower = line.to_ascii_lowercase();
        let position = ["passw", "secret", "token", "key", "pwd"]
            .iter()
            .find_map(|word| lower.find(word))?;
        let name = name_at(line, position)?;
        find(line, &name).map(|hit| text(line, hit.start, hit.end))
    }

    #[test]
    fn every_form_gives_its_value() {
        let value = ["xK9", "mQ2", "vB7tR4"].concat();
        for form in [
            "DB_PASSWORD={}",
            "export API_TOKEN={}",
            "\"password\": \"{}\"",
            "'secret' => '{}'",
            "password: {}",
            "token := \"{}\"",
            "<password>{}</password>",
            "token=\"{}\" b=1",
            "token: Some(\"{}\")",
            "{Password:{} Port:1}",
            "Login(token={}, id=2)",
            "env['API_TOKEN'] = '{}'",
            "+  secret: {}",
            "12:  secret: {}",
            "--token {} --x",
            "setenv DB_PASSWORD {}",
            "let password: &str = \"{}\";",
            "define('DB_PASSWORD', '{}')",
            "{\"name\":\"DB_PASSWORD\",\"value\":\"{}\"}",
            "<add key=\"Password\" value=\"{}\"/>",
            "the password for admin is {}",
            "machine h login u password {}",
            "[\"--token\",\"{}\"]",
            "| API_TOKEN | {} |",
            "\"token\":\"{}\",\"b\":\"c\"",
        ] {
            let line = form.replace("{}", &value);
            assert_eq!(value_of(&line), Some(value.as_str()), "{form}");
        }
    }

    #[test]
    fn code_and_messages_have_no_value() {
        for line in [
            "let token = env::var(\"APP_TOKEN\")?;",
            "secret \"registry-creds\" unchanged",
            "password: \"{{ lookup('env', 'DB_PASSWORD') }}\"",
            "token: ${{ secrets.RELEASE_TOKEN }}",
            "    --token <TOKEN>  access token [env: APP_TOKEN]",
            "  + password = (sensitive value)",
            "unexpected token: \"abc12345\"",
            "could not find credentials file at /root/x.json",
            "3 | validate_password(password, token); }",
            "secret_key_base must be set",
            "warning: unused import: `crate::token::Token`",
            "PASSWORD: ",
        ] {
            assert_eq!(value_of(line), None, "{line}");
        }
    }
}
