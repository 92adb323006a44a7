//! Whether what stands behind a sensitive name is a value, or a placeholder, code or prose.
//!
//! It knows nothing of names but how sure they are.

use super::name::Meaning;
use super::placeholder::{is_lookup, is_placeholder};

/// Says whether the value is a regular expression.
fn is_pattern(value: &str) -> bool {
    [
        "[^", "[0-9", "[a-z", "[A-Z", "(?:", "(?P", "\\d", "\\w", "\\s", "](", ")$", "+$",
    ]
    .iter()
    .any(|mark| value.contains(mark))
}

/// Says whether the value reads like an identifier or words: letters in words of some length,
/// joined by marks or by case, with at most a few digits.
pub(super) fn is_identifier(value: &str) -> bool {
    let mut words = 0_usize;
    let mut letters = 0_usize;
    let mut digits = 0_usize;
    let mut capitals_in_a_row = 0_usize;
    let mut acronyms = 0_usize;
    let mut is_in_acronym = false;
    let mut previous = b' ';
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' => {
                words += usize::from(!previous.is_ascii_alphabetic());
                letters += 1;
            }
            b'A'..=b'Z' => {
                words += usize::from(!previous.is_ascii_uppercase());
                if previous.is_ascii_uppercase() {
                    capitals_in_a_row += 1;
                    acronyms += usize::from(!is_in_acronym);
                }
                is_in_acronym = previous.is_ascii_uppercase();
                letters += 1;
            }
            b'0'..=b'9' => digits += 1,
            b'_' | b'-' | b'.' | b'/' | b':' | b'@' | b'\'' | b'?' | b'!' | b'(' | b')' | b'&'
            | b'*' | b' ' | b',' => {}
            _ => return false,
        }
        previous = byte;
    }
    let trailing = value.bytes().rev().take_while(u8::is_ascii_digit).count();
    let is_single_case = !value.bytes().any(|byte| byte.is_ascii_lowercase())
        || !value.bytes().any(|byte| byte.is_ascii_uppercase());
    if letters == 0 {
        return false;
    }
    let has_marks = value.bytes().any(|byte| byte.is_ascii_punctuation());
    if acronyms >= 2 && acronyms * 10 > letters && !is_single_case {
        return false;
    }
    if digits > 0 && is_single_case && !is_wordlike(value) {
        return false;
    }
    // Letters at random have capitals side by side; names have words.
    match digits {
        0 => {
            (is_single_case && value.len() < 40)
                || (capitals_in_a_row == 0 && letters >= words * 2)
                || letters >= words * 4
                || acronyms == 1 && letters >= words * 3 && letters >= 8
        }
        1 | 2 if digits == trailing && digits == 1 => {
            letters >= words * 3 && (capitals_in_a_row == 0 || letters >= words * 4)
        }
        1 | 2 if is_single_case && !has_marks && value.len() >= 16 => false,
        1 | 2 => letters >= 12 && letters >= words * 4 && capitals_in_a_row <= 2,
        _ => false,
    }
}

/// Says whether the letters could be spoken: a vowel in four, and not five consonants in a row.
fn is_wordlike(value: &str) -> bool {
    let mut vowels = 0_usize;
    let mut letters = 0_usize;
    let mut consonants_in_a_row = 0_usize;
    let mut longest = 0_usize;
    for byte in value.bytes().map(|byte| byte.to_ascii_lowercase()) {
        match byte {
            b'a' | b'e' | b'i' | b'o' | b'u' | b'y' => {
                vowels += 1;
                letters += 1;
                consonants_in_a_row = 0;
            }
            b'a'..=b'z' => {
                letters += 1;
                consonants_in_a_row += 1;
                longest = longest.max(consonants_in_a_row);
            }
            _ => consonants_in_a_row = 0,
        }
    }
    letters <= 3 || (vowels * 4 >= letters && longest <= 4)
}

/// Says whether the value is a place: a path or an address, or a version or a date.
fn is_place_or_number(value: &str) -> bool {
    let starts = ["/", "./", "../", "~/", ".\\", "file:", "@/"];
    let is_path = starts.iter().any(|start| value.starts_with(start))
        && (value.len() < 40
            || value.contains('.')
            || value.bytes().filter(|byte| *byte == b'/').count() > 2);
    let is_drive = value
        .as_bytes()
        .get(1..3)
        .is_some_and(|rest| rest == b":\\" || rest == b":/");
    let is_number = value.bytes().all(|byte| {
        byte.is_ascii_digit()
            || matches!(
                byte,
                b'.' | b',' | b':' | b'-' | b'+' | b'/' | b'%' | b'T' | b'Z' | b'x'
            )
    });
    let is_file = value.rsplit('.').next().is_some_and(|extension| {
        value.contains('.')
            && [
                "rs", "py", "js", "ts", "go", "json", "yml", "yaml", "toml", "txt", "pem", "key",
                "java", "md", "html", "css", "xml", "sh", "rb", "php", "c", "h", "log", "cfg",
                "ini", "tsx", "env",
            ]
            .contains(&extension)
    });
    is_path || is_drive || is_number || is_file || value.contains("://")
}

fn is_version_like(value: &str) -> bool {
    let rest = value.trim_start_matches(|character: char| {
        character.is_ascii_alphabetic() || matches!(character, '@' | '^' | '~' | '=')
    });
    let letters = value.len() - rest.len();
    letters <= 8
        && is_wordlike(value)
        && !rest.is_empty()
        && rest.len() <= 6
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'_'))
        && value.len() <= 8
}

/// Says whether a value behind a name of this meaning is a secret.
/// `is_quoted` where quotes of the surrounding language hold it.
pub(super) fn is_secret(value: &str, meaning: Meaning, is_quoted: bool) -> bool {
    if is_placeholder(value) || is_lookup(value) {
        return false;
    }
    let shortest = match (meaning, is_quoted) {
        (Meaning::Password, true) => 5,
        (Meaning::Password, false) => 6,
        (Meaning::Secret, _) => 8,
        (Meaning::SomeKey, _) => 16,
    };
    if value.len() < shortest || is_place_or_number(value) || is_pattern(value) {
        return false;
    }
    if !is_quoted
        && (value.contains("::") || value.starts_with("*const") || value.starts_with("*mut"))
    {
        return false;
    }
    if value.bytes().any(|byte| byte.is_ascii_whitespace()) {
        return false;
    }
    if !value.is_ascii() && !is_quoted {
        return false;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let marks = value
        .bytes()
        .filter(|byte| {
            byte.is_ascii_punctuation()
                && !matches!(
                    byte,
                    b'_' | b'-' | b'.' | b'/' | b':' | b',' | b'?' | b'(' | b')' | b'\''
                )
        })
        .count();
    if is_identifier(value) && marks == 0 {
        return false;
    }
    match meaning {
        Meaning::Password => {
            (digits > 0 && !is_version_like(value)) || marks > 0 || is_mixed(value)
        }
        Meaning::Secret => {
            (digits > 0 && !is_version_like(value) && !is_slug(value))
                || marks > 0 && value.len() >= 10
                || is_mixed(value)
        }
        Meaning::SomeKey => digits > 1 && (is_mixed(value) || value.len() >= 24) && !is_slug(value),
    }
}

fn is_mixed(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_lowercase())
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
        && !is_identifier(value)
}

/// Says whether the value is a name of words and numbers, as of a host or an object: `app-db-2`.
fn is_slug(value: &str) -> bool {
    let parts = value.split(['-', '_', '.', '/', ':']);
    value.len() < 32
        && value.contains(['-', '_', '.', '/', ':'])
        && parts.clone().filter(|part| !part.is_empty()).all(|part| {
            part.bytes().all(|byte| byte.is_ascii_lowercase())
                || part.bytes().all(|byte| byte.is_ascii_uppercase())
                || part.bytes().all(|byte| byte.is_ascii_digit()) && part.len() <= 4
                || part.len() <= 4
        })
}

/// Says whether a free-standing value is opaque enough to be a secret without quotes around it:
/// a letter and a digit or a mark, no words.
pub(super) fn is_opaque(value: &str, shortest: usize) -> bool {
    value.len() >= shortest
        && !is_placeholder(value)
        && !is_place_or_number(value)
        && !is_identifier(value)
        && !is_slug(value)
        && !is_version_like(value)
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && value
            .bytes()
            .any(|byte| byte.is_ascii_digit() || byte.is_ascii_punctuation())
        && !value.bytes().any(|byte| byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_eight_characters_are_secrets() {
        for value in [
            "x7Kq2mPz",
            "Winter2024!",
            "tr0ub4dor",
            "MapleEmber2008#",
            "secur3Pass",
        ] {
            assert!(is_secret(value, Meaning::Password, false), "{value}");
        }
    }

    #[test]
    fn placeholders_code_and_places_are_not() {
        for value in [
            "$DB_PASSWORD",
            "${X}",
            "<password>",
            "****",
            "xxxxxx",
            "None",
            "os.environ",
            "getpass()",
            "crate::token::Token",
            "/run/secrets/db",
            "881",
            "passwordInput",
            "settings.PASSWORD",
            "your-password-here",
            "Option<String>",
            "env::var(",
            "string",
            "0.4.3",
            "{{",
            "...",
        ] {
            assert!(!is_secret(value, Meaning::Password, false), "{value}");
        }
    }
}
