//! Values behind the name of a password that no rule takes, since they read like words or are
//! numbers.
//!
//! Where they are configuration they may be passwords, in code and in prose they are not: they
//! are told to whoever reviews, and nothing is redacted for them.

use super::super::Rules;
use super::super::assigned::{Value, assigned, read};
use super::super::bytes::{at, run_end, skip_blanks, text};
use super::super::keyed::{Name, is_complaint, name_at};
use super::super::name::Meaning;
use super::super::placeholder::{is_lookup, is_placeholder};
use super::super::scan::is_chosen;
use super::super::words::Action;

/// Shortest value that is suspected, and the longest, in bytes.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=128;
/// Most words of a phrase in quotes.
const WORDS: usize = 8;

/// Calls `found` with the start and the end of every such value.
pub(super) fn each(rules: &Rules, line: &str, mut found: impl FnMut(usize, usize)) {
    if !is_chosen(rules, line) {
        return;
    }
    let mut reached = 0;
    rules.anchors().each(line, |anchor| {
        if anchor.action != Action::Name || anchor.start < reached {
            return;
        }
        let Some(name) = name_at(line, anchor.start) else {
            return;
        };
        reached = name.end;
        let word = text(line, name.start, name.end);
        if (name.meaning == Meaning::Password || word == "pwd")
            && let Some(value) = value_of(line, &name)
            && is_suspect(line, &name, value)
        {
            found(value.start, value.end);
        }
    });
}

fn value_of(line: &str, name: &Name) -> Option<Value> {
    let bytes = line.as_bytes();
    let behind_flag = || {
        let start = skip_blanks(bytes, name.end);
        let is_value = name.is_flag && start > name.end && at(bytes, start) != b'-';
        is_value.then(|| read(line, name, start, false))
    };
    assigned(line, name).or_else(behind_flag)
}

fn is_suspect(line: &str, name: &Name, value: Value) -> bool {
    let written = text(line, value.start, value.end);
    let lower = written.to_ascii_lowercase();
    // What repeats the name is a variable, a field or a label.
    let repeats = ["pass", "pwd", "secret", "credential"];
    let words = written.split(' ').count();
    LENGTHS.contains(&written.len())
        && !is_placeholder(written)
        && !is_lookup(written)
        && !repeats.iter().any(|word| lower.contains(word))
        && !written.contains(['/', '\\', '<', '>', '(', '{', '$'])
        && words <= WORDS
        && (value.is_quoted || ends(line, value.end))
        && !is_complaint(line, name)
}

/// Says whether nothing follows a value but what ends one: prose goes on with words.
fn ends(line: &str, end: usize) -> bool {
    let bytes = line.as_bytes();
    let next = skip_blanks(bytes, end);
    if next == end {
        return matches!(
            at(bytes, end),
            0 | b',' | b';' | b'&' | b'"' | b'\'' | b')' | b']' | b'}' | b'<' | b'|' | b'\r'
        );
    }
    // The next name of a list, or a remark.
    let word = run_end(bytes, next, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
    });
    matches!(
        at(bytes, next),
        0 | b'#' | b'-' | b'|' | b',' | b'}' | b'\r'
    ) || word > next && matches!(at(bytes, word), b'=' | b':')
}

#[cfg(test)]
mod tests {
    use crate::redact::tests::rules;

    fn suspects(line: &str) -> Vec<&str> {
        let mut found = Vec::new();
        super::each(&rules(), line, |start, end| {
            found.extend(line.get(start..end));
        });
        found
    }

    #[test]
    fn words_and_numbers_behind_a_password_are_suspects() {
        for (line, value) in [
            ("password: sunshine", "sunshine"),
            ("  passwd = correcthorse  # x", "correcthorse"),
            ("DB_PASSWORD=Trustno", "Trustno"),
            (r#"{"user":"me","password":"letmein","port":1}"#, "letmein"),
            ("user=me;pwd=qwerty;host=h", "qwerty"),
            ("login: me passphrase: monkey host: h", "monkey"),
            ("mysql --password dragon --host h", "dragon"),
            (
                "password: \"correct horse battery\"",
                "correct horse battery",
            ),
            ("password: 12345678", "12345678"),
            ("<password>iloveyou</password>", "iloveyou"),
        ] {
            assert_eq!(suspects(line), [value], "{line}");
        }
    }

    #[test]
    fn prose_code_and_placeholders_are_none() {
        for line in [
            "password: is required for this user",
            "Password: enter your password",
            "password = get_password(user)",
            "let password = self.password;",
            "password: String,",
            "password: null",
            "password: ${DB_PASSWORD}",
            "password: <hidden>",
            "password: ********",
            "password_file: /run/secrets/db",
            "no password given",
            "token: sunshine",
        ] {
            assert!(suspects(line).is_empty(), "{line}");
        }
    }
}
