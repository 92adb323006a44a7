//! Values of the environment that must not be shown, in every form that programs print them in.
//!
//! Which variables hold secrets is decided by their names; the values never leave this module
//! but as texts to be found.

use std::collections::{BTreeSet, BinaryHeap};

use serde_json::Value;

use super::escaped::pieces;
use super::forms::{Edges, Form, forms_of};
use super::name::meaning;
use super::starts::Starts;
use crate::document;

/// The secret values of one environment.
#[derive(Debug, Default)]
pub(super) struct Known {
    forms: Option<Starts>,
    /// For each pattern the number of its value, from 1, and what belongs to it beside itself.
    patterns: Vec<(usize, Edges)>,
    /// Beginnings of all patterns, and pieces of values that are escaped further, for the first
    /// look at a text.
    anchors: Vec<Vec<u8>>,
    not_covered: Vec<String>,
}

/// Shortest value that is hidden, and the shortest where it mixes kinds of characters.
const SHORTEST: usize = 8;
pub(super) const SHORTEST_MIXED: usize = 6;
/// How much of a pattern the first look uses.
const ANCHOR: usize = 12;

impl Known {
    /// Chooses the secret values of `environment` and prepares their forms. Those of the
    /// variables in `named` are secret whatever their names say.
    pub(super) fn new(environment: &[(String, String)], named: &[String]) -> Self {
        let is_named = |name: &str| named.iter().any(|other| other == name);
        let mut harmless = BTreeSet::new();
        // A heap sorts with a fraction of the code of a sort.
        let mut variables = BinaryHeap::new();
        for (name, value) in environment {
            variables.push((name.as_str(), value.as_str()));
            if is_plain_name(name) && !is_named(name) {
                harmless.insert(value.as_str());
            }
        }
        let mut known = Self::default();
        let mut forms = BinaryHeap::new();
        let mut number = 0;
        let mut variables = variables.into_sorted_vec();
        variables.dedup();
        for (name, value) in variables {
            let secrets = match is_named(name) {
                true => lines_of(value.trim()),
                false => secrets_of(name, value),
            };
            let mut is_covered = secrets.is_empty();
            for secret in secrets {
                if is_hidden(&secret) && !harmless.contains(secret.as_str()) {
                    is_covered = true;
                    number += 1;
                    known.anchors.extend(pieces(secret.as_bytes()));
                    forms.extend(forms_of(&secret).into_iter().map(|form| (form, number)));
                }
            }
            if !is_covered && !value.is_empty() {
                known.not_covered.push(name.to_owned());
            }
        }
        known.not_covered.dedup();
        known.prepare(forms.into_sorted_vec());
        known
    }

    fn prepare(&mut self, mut forms: Vec<(Form, usize)>) {
        forms.dedup_by(|left, right| left.0.text == right.0.text);
        let beginning = |(form, _): &(Form, usize)| form.text.bytes().take(ANCHOR).collect();
        self.anchors.extend(forms.iter().map(beginning));
        let pattern = |(form, number): &(Form, usize)| (*number, form.edges());
        self.patterns = forms.iter().map(pattern).collect();
        if !forms.is_empty() {
            let texts = forms.iter().map(|(form, _)| form.text.as_bytes());
            self.forms = Some(Starts::new(texts));
        }
    }

    /// Returns what the first look must search for.
    pub(super) fn anchors(&self) -> &[Vec<u8>] {
        &self.anchors
    }

    /// Returns the names whose values are too short to be hidden.
    pub(super) fn not_covered(&self) -> &[String] {
        &self.not_covered
    }

    pub(super) fn name_uncovered(&mut self, names: Vec<String>) {
        self.not_covered.extend(names);
    }

    /// Calls `found` with the number, the start and the end of every value in `line`.
    pub(super) fn find(&self, line: &str, mut found: impl FnMut(usize, usize, usize)) {
        let Some(forms) = &self.forms else {
            return;
        };
        let mut last: Option<(usize, usize, u32)> = None;
        let mut give = |hit: Option<(usize, usize, u32)>| {
            if let Some((start, end, form)) = hit {
                let pattern = usize::try_from(form).ok();
                let pattern = pattern.and_then(|form| self.patterns.get(form)).copied();
                let (number, edges) = pattern.unwrap_or_default();
                let (start, end) = edges.around(line, start, end);
                found(number, start, end);
            }
        };
        // Of the values that start at one place, the longest counts.
        forms.each(line.as_bytes(), |start, end, form| match last {
            Some((begun, reached, _)) if begun == start && reached >= end => {}
            Some((begun, ..)) if begun == start => last = Some((start, end, form)),
            _ => give(last.replace((start, end, form))),
        });
        give(last);
    }
}

/// Returns what of a variable's value is secret: all, its lines, what sensitive names hold in
/// it, or the password of an address.
fn secrets_of(name: &str, value: &str) -> Vec<String> {
    let value = value.trim();
    if let Some(password) = address_password(value) {
        return vec![password.to_owned()];
    }
    if !is_secret_name(name) || value.contains("://") && !value.contains(['@', '{']) {
        return Vec::new();
    }
    if value.starts_with(['{', '['])
        && let Some(document) = document::foreign(value)
    {
        let mut secrets = Vec::new();
        collect(&document, false, &mut secrets);
        return secrets;
    }
    lines_of(value)
}

/// Collects the texts that stand behind sensitive names in a document.
fn collect(document: &Value, is_secret: bool, secrets: &mut Vec<String>) {
    match document {
        Value::Object(members) => {
            for (name, member) in members {
                let is_secret = is_secret_name(name) || name == "private_key_id";
                collect(member, is_secret, secrets);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect(item, is_secret, secrets);
            }
        }
        Value::String(text) if is_secret => secrets.extend(lines_of(text)),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

fn lines_of(value: &str) -> Vec<String> {
    if !value.contains('\n') {
        return vec![value.to_owned()];
    }
    let lines: Vec<String> = value
        .lines()
        .map(str::trim)
        .filter(|line| line.len() >= SHORTEST && !line.starts_with("-----"))
        .map(str::to_owned)
        .collect();
    // Where no line is long enough, the value is told as one that is not hidden.
    if lines.is_empty() {
        vec![value.lines().next().unwrap_or_default().to_owned()]
    } else {
        lines
    }
}

fn address_password(value: &str) -> Option<&str> {
    let (scheme, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let is_scheme = scheme
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b':'));
    let (_, password) = user.split_once(':')?;
    (is_scheme && !password.is_empty()).then_some(password)
}

fn is_secret_name(name: &str) -> bool {
    const ENDINGS: [&str; 12] = [
        "_NAME", "_URL", "_URI", "_PATH", "_FILE", "_HELPER", "_DIR", "_ID", "_TYPE", "_SOCK",
        "_USER", "_HOST",
    ];
    const STARTS: [&str; 3] = ["TOKENIZERS_", "KEYBOARD_", "npm_config_"];
    let upper = name.to_ascii_uppercase();
    let is_harmless = ENDINGS.iter().any(|ending| upper.ends_with(ending))
        || STARTS.iter().any(|start| upper.starts_with(start))
        || matches!(upper.as_str(), "PWD" | "OLDPWD");
    !is_harmless
        && (meaning(name).is_some()
            || ["_PAT", "_DSN", "_PIN", "_SALT", "_PASSPHRASE", "_COOKIE"]
                .iter()
                .any(|ending| upper.ends_with(ending))
            || matches!(
                upper.as_str(),
                "AUTH" | "TOKEN" | "SECRET" | "PASSWORD" | "PASS"
            ))
}

/// Says whether a variable of this name is known to hold nothing secret.
fn is_plain_name(name: &str) -> bool {
    matches!(
        name,
        "USER"
            | "LOGNAME"
            | "HOME"
            | "PWD"
            | "OLDPWD"
            | "SHELL"
            | "HOSTNAME"
            | "HOST"
            | "LANG"
            | "TERM"
            | "PATH"
            | "USERNAME"
            | "MAIL"
    ) || !is_secret_name(name)
}

/// Says whether a value is one that can be hidden without hiding ordinary words.
fn is_hidden(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    let kinds = [
        has(u8::is_ascii_lowercase),
        has(u8::is_ascii_uppercase),
        has(u8::is_ascii_digit),
        has(u8::is_ascii_punctuation),
    ]
    .into_iter()
    .filter(|held| *held)
    .count();
    let is_long = value.len() >= SHORTEST || (value.len() >= SHORTEST_MIXED && kinds >= 2);
    let is_number = value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b',' | b':'));
    let is_word = value.len() < 20
        && value.bytes().all(|byte| byte.is_ascii_alphabetic())
        && value.get(1..).is_some_and(|rest| {
            rest.bytes().all(|byte| byte.is_ascii_lowercase())
                || value.bytes().all(|byte| byte.is_ascii_uppercase())
        });
    let is_words = value.len() < 24
        && value
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b' '));
    let is_path = value.starts_with('/')
        && value.bytes().filter(|byte| *byte == b'/').count() >= 2
        && !value.contains(['+', '=']);
    is_long && !is_number && !is_word && !is_words && !is_path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn count(known: &Known, line: &str) -> usize {
        let mut count = 0;
        known.find(line, |_, _, _| count += 1);
        count
    }

    #[test]
    fn a_value_is_found_in_its_forms() {
        let known = Known::new(&environment(&[("APP_PASSWORD", "x y/v\"L0'bI&Q")]), &[]);
        for line in [
            "x y/v\"L0'bI&Q",
            "x%20y%2Fv%22L0%27bI%26Q",
            "x%20y%2fv%22L0%27bI%26Q",
            r#"x y/v\"L0'bI&Q"#,
            r#"x y/v\\\"L0'bI&Q"#,
            r#"x y/v"L0'\''bI&Q"#,
            "x+y%2Fv%22L0%27bI%26Q",
            "x y/v&quot;L0&#39;bI&amp;Q",
        ] {
            assert!(count(&known, line) > 0, "{line}");
        }
    }

    #[test]
    fn short_values_and_plain_words_are_listed_and_left_alone() {
        let known = Known::new(
            &environment(&[
                ("A_TOKEN", "test"),
                ("B_SECRET", "1"),
                ("C_PASSWORD", "production"),
                ("D_KEY_PATH", "/a/b/c"),
                ("USER", "builder01"),
                ("E_PASSWORD", "builder01"),
                ("F_TOKEN", "true"),
            ]),
            &[],
        );
        assert_eq!(count(&known, "test 1 production /a/b/c builder01 true"), 0);
        assert_eq!(
            known.not_covered(),
            ["A_TOKEN", "B_SECRET", "C_PASSWORD", "E_PASSWORD", "F_TOKEN"]
        );
    }

    #[test]
    fn the_password_of_an_address_is_known() {
        let known = Known::new(
            &environment(&[("DATABASE_URL", "postgres://u:pW12xy99@h/db")]),
            &[],
        );
        assert_eq!(count(&known, "auth failed with pW12xy99"), 1);
        assert_eq!(count(&known, "postgres h db u"), 0);
    }

    #[test]
    fn lines_of_a_value_count_but_not_its_brackets() {
        let known = Known::new(
            &environment(&[(
                "GCP_CREDENTIALS",
                "{\n  \"private_key_id\": \"a1b2c3d4e5\"\n}\n",
            )]),
            &[],
        );
        assert_eq!(count(&known, "{ } [ ]"), 0);
        assert_eq!(count(&known, "id a1b2c3d4e5"), 1);
    }

    #[test]
    fn a_variable_that_the_policy_names_is_known() {
        let pairs = environment(&[("INTERNAL_THING", "q7Xk2M9v"), ("OTHER", "z8Yw3N5b")]);
        let known = Known::new(&pairs, &["INTERNAL_THING".to_owned()]);
        assert_eq!(count(&known, "q7Xk2M9v z8Yw3N5b"), 1);
        let short = Known::new(&environment(&[("PIN", "12")]), &["PIN".to_owned()]);
        assert_eq!(short.not_covered(), ["PIN"]);
    }
}
