//! Grades a line: how likely it is to explain a failure.
//!
//! It looks at one line alone; repetition and neighbourhood are the picker's business.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

use super::form;
use super::line::prefix;
use super::screen;
use super::words::{Kind, PHRASES};

/// The highest grade.
pub(super) const HIGHEST: u8 = 8;
/// Lines of this grade and above are kept with the lines around them.
pub(super) const EXPLAINED: u8 = 4;
/// The bytes of a line that are looked at.
pub(super) const LOOKED_AT: usize = 1000;

/// Returns the grade of a line, 0 to [`HIGHEST`].
pub(super) fn grade(line: &str) -> u8 {
    let line = prefix(line, LOOKED_AT);
    if !screen::may_matter(line) {
        return 0;
    }
    let text = undecorated(line);
    let ends = form::ends(text);
    let evidence = weigh(text);
    let place = form::is_place(text);
    let mut grade = ends.max(evidence.best);
    if place {
        grade = grade.max(if evidence.warning && evidence.best <= 1 {
            1
        } else {
            4
        });
    }
    if grade >= 3 {
        let more = evidence
            .kinds
            .saturating_sub(u8::from(ends < evidence.best || ends == 0));
        grade += more.min(2);
    }
    if evidence.summary {
        grade = grade.max(3) + 1;
    }
    if evidence.calm || form::is_calm(text) {
        grade = grade.saturating_sub(4);
    }
    if evidence.warning && ends < 5 && evidence.best < 5 {
        grade = grade.min(1);
    }
    grade.min(HIGHEST)
}

/// What the words of a line say together.
#[derive(Debug, Default)]
struct Evidence {
    best: u8,
    kinds: u8,
    summary: bool,
    warning: bool,
    calm: bool,
}

fn weigh(text: &str) -> Evidence {
    let mut evidence = Evidence::default();
    let mut seen: u16 = 0;
    for found in phrases()
        .into_iter()
        .flat_map(|search| search.find_overlapping_iter(text))
    {
        let Some(&(_, kind, weight)) = PHRASES.get(found.pattern().as_usize()) else {
            continue;
        };
        let place = Place::new(text, found.start(), found.end());
        let weight = match kind {
            Kind::Calm => {
                evidence.calm = true;
                continue;
            }
            Kind::Warning => {
                evidence.warning |= !place.in_name();
                continue;
            }
            Kind::Error | Kind::Exception | Kind::Fail => {
                if let Some(count) = place.count() {
                    evidence.summary |= count;
                    evidence.calm |= !count;
                    continue;
                }
                place.weight(kind)
            }
            _ if place.in_name() => 0,
            _ => weight,
        };
        if weight > 0 {
            evidence.best = evidence.best.max(weight);
            let bit = 1u16 << (u16::from(kind_number(kind)) & 15);
            evidence.kinds += u8::from(seen & bit == 0);
            seen |= bit;
        }
    }
    evidence
}

fn kind_number(kind: Kind) -> u8 {
    match kind {
        Kind::Error => 0,
        Kind::Fail => 1,
        Kind::Exception => 2,
        Kind::Warning => 3,
        Kind::Fatal => 4,
        Kind::Undefined => 5,
        Kind::Cannot => 6,
        Kind::System => 7,
        Kind::Syntax => 8,
        Kind::Expected => 9,
        Kind::Exit => 10,
        Kind::Calm => 11,
    }
}

/// A word and what stands around it.
struct Place<'a> {
    before: &'a str,
    word: &'a str,
    after: &'a str,
}

impl<'a> Place<'a> {
    fn new(text: &'a str, start: usize, end: usize) -> Self {
        let (before, rest) = text.split_at_checked(start).unwrap_or((text, ""));
        let (word, after) = rest.split_at_checked(end - start).unwrap_or((rest, ""));
        // The endings of `errors`, `failed`, `failures`.
        let ending = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let after = match after.split_at_checked(ending) {
            Some((ending, rest))
                if [
                    "s", "ed", "ure", "ures", "ing", "ings", "S", "ED", "URE", "URES",
                ]
                .contains(&ending) =>
            {
                rest
            }
            _ => after,
        };
        Self {
            before,
            word,
            after,
        }
    }

    /// Returns whether the word is part of an identifier or a path.
    fn in_name(&self) -> bool {
        let before = self.before.bytes().next_back().unwrap_or(b' ');
        let mut after = self.after.bytes();
        let next = after.next().unwrap_or(b' ');
        let then = after.next().unwrap_or(b' ');
        before.is_ascii_alphanumeric()
            || matches!(before, b'_' | b'/' | b'\\' | b'$')
            || (before == b'-' && !self.before.ends_with(" -") && !self.before.ends_with("--"))
            || (before == b'.' && next != b':')
            || next.is_ascii_alphanumeric()
            || matches!(next, b'_' | b'/')
            || (matches!(next, b'.' | b'-') && then.is_ascii_alphanumeric())
    }

    /// Returns whether the count beside the word is above zero, where there is one.
    fn count(&self) -> Option<bool> {
        let before = self.before.trim_end_matches([' ', '(', '*']);
        let before = [
            "test",
            "tests",
            "examples",
            "test(s)",
            "assertion",
            "fatal",
            "compile",
            "specs",
        ]
        .iter()
        .find_map(|noun| before.strip_suffix(noun))
        .unwrap_or(before)
        .trim_end();
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            let (rest, number) = before.split_at_checked(before.len() - digits)?;
            if !rest.ends_with([':', '.', '[', '#', '-', '/'])
                && !rest.ends_with(char::is_alphanumeric)
            {
                return Some(number.bytes().any(|byte| byte != b'0'));
            }
        }
        let after = self.after.strip_prefix("(s)").unwrap_or(self.after);
        let after = after.strip_prefix([':', '='])?.trim_start();
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = after.split_at_checked(digits)?;
        let ends = rest.is_empty() || rest.starts_with([',', ' ', ')', ';', '.', ']']);
        (digits > 0 && digits < 7 && ends).then(|| number.bytes().any(|byte| byte != b'0'))
    }

    /// Returns what `error`, `fail` or `exception` weighs where it stands.
    fn weight(&self, kind: Kind) -> u8 {
        let capital = self.word.starts_with(|c: char| c.is_ascii_uppercase());
        let inside = self.before.ends_with(|c: char| c.is_ascii_alphanumeric());
        let next = self.after.bytes().next().unwrap_or(b' ');
        if capital && inside && kind != Kind::Fail {
            return self.name_weight(next);
        }
        if self.in_name() {
            return 0;
        }
        let upper = self.word.bytes().all(|byte| byte.is_ascii_uppercase());
        let opened =
            self.before.is_empty() || self.before.ends_with([' ', '[', '(', '\t', '*', ':']);
        let labelled = matches!(next, b':' | b'[' | b']' | b'!')
            || [" TS", " CS", " MSB", " NU", " FS", " E", " C", " LNK", "  "]
                .iter()
                .any(|code| self.after.starts_with(code) && kind == Kind::Error);
        match (opened && labelled, upper) {
            (true, _) if kind == Kind::Error => 5,
            (true, _) => 4,
            (false, true) => 4,
            (false, false) => 2,
        }
    }

    /// `TypeError: …`, but neither `TypeError.java` nor `raises_TypeError()`.
    fn name_weight(&self, next: u8) -> u8 {
        let then = self.after.bytes().nth(1).unwrap_or(b' ');
        match next {
            b':' => 5,
            b'.' if then.is_ascii_alphanumeric() => 0,
            b'(' if then == b')' => 0,
            b'_' | b'/' | b'-' => 0,
            _ if next.is_ascii_alphanumeric() => 0,
            _ => 4,
        }
    }
}

/// Returns the line without its indentation and what loggers and CI put before the message.
fn undecorated(line: &str) -> &str {
    let mut text = line.trim();
    for _ in 0..3 {
        let rest = without_prefix(text);
        if rest.len() == text.len() {
            break;
        }
        text = rest;
    }
    text
}

fn without_prefix(text: &str) -> &str {
    let stamp = text
        .bytes()
        .take_while(|byte| {
            byte.is_ascii_digit()
                || matches!(byte, b':' | b'.' | b'-' | b'T' | b'Z' | b'/' | b'+' | b',')
        })
        .count();
    let bracket = text.strip_prefix('[').unwrap_or(text);
    if stamp >= 8 && text.bytes().filter(|byte| *byte == b':').take(2).count() == 2 {
        return text.get(stamp..).unwrap_or(text).trim_start();
    }
    if bracket.len() < text.len()
        && let Some((inside, rest)) = bracket.split_once(']')
        && (matches!(
            inside,
            "INFO" | "info" | "exec" | "java" | "javac" | "junit"
        ) || inside.bytes().all(|byte| {
            byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-' | b'T' | b' ' | b'%' | b'/')
        }))
    {
        return rest.trim_start();
    }
    if let Some(rest) = text.strip_prefix('#')
        && rest.starts_with(|c: char| c.is_ascii_digit())
        && let Some((_, rest)) = rest.split_once(' ')
    {
        return rest
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
            .trim_start();
    }
    text.strip_prefix("| ")
        .or_else(|| text.strip_prefix("> "))
        .unwrap_or(text)
        .trim_start()
}

/// Returns the search for the phrases, built on first use.
fn phrases() -> Option<&'static AhoCorasick> {
    static SEARCH: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    // The phrases are fixed and few, so building cannot fail; if it did, lines would be graded
    // by their ends alone.
    SEARCH
        .get_or_init(|| {
            AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .build(PHRASES.iter().map(|(phrase, ..)| phrase))
                .ok()
        })
        .as_ref()
}
