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
    if form::is_aside(text) {
        grade = grade.min(2);
    }
    let zero = evidence.zero && !evidence.summary;
    if zero || (evidence.warning && ends < 5 && evidence.best < 5) {
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
    /// A count of failures is zero.
    zero: bool,
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
                    evidence.zero |= !count;
                    continue;
                }
                place.weight(kind)
            }
            Kind::Exit if place.is_exit_zero() => 0,
            Kind::Fatal
            | Kind::Undefined
            | Kind::Cannot
            | Kind::System
            | Kind::Syntax
            | Kind::Expected
            | Kind::Exit => {
                if place.in_name() {
                    0
                } else {
                    weight
                }
            }
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

/// The endings of `errors`, `failed`, `failures`, `warnings`.
const ENDINGS: &[&str] = &["s", "ed", "ure", "ures", "ing", "ings"];

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
        let ending = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let after = match after.split_at_checked(ending) {
            Some((ending, rest))
                if ENDINGS
                    .iter()
                    .any(|known| ending.eq_ignore_ascii_case(known)) =>
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
        self.joins_before() || self.joins_after()
    }

    fn joins_before(&self) -> bool {
        let before = self.before.bytes().next_back().unwrap_or(b' ');
        let next = self.after.bytes().next().unwrap_or(b' ');
        self.word.starts_with(|c: char| c.is_ascii_alphanumeric())
            && (before.is_ascii_alphanumeric()
                || matches!(before, b'_' | b'/' | b'\\' | b'$')
                || (before == b'-' && !self.before.ends_with(" -") && !self.before.ends_with("--"))
                || (before == b'.' && next != b':'))
    }

    fn joins_after(&self) -> bool {
        let mut after = self.after.bytes();
        let next = after.next().unwrap_or(b' ');
        let then = after.next().unwrap_or(b' ');
        self.word.ends_with(|c: char| c.is_ascii_alphanumeric())
            && (next.is_ascii_alphanumeric()
                || matches!(next, b'_' | b'/')
                || (matches!(next, b'.' | b'-') && then.is_ascii_alphanumeric()))
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
        // `# fail 1`, the summary of TAP producers.
        let after = match after.strip_prefix(' ') {
            Some(number) if self.before == "# " => number,
            _ => after,
        };
        let after = if self.before == "# " {
            after
        } else {
            after.strip_prefix([':', '='])?
        };
        let after = after.trim_start_matches([':', ' ']);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = after.split_at_checked(digits)?;
        let ends = rest.is_empty() || rest.starts_with([',', ' ', ')', ';', '.', ']']);
        (digits > 0 && digits < 7 && ends).then(|| number.bytes().any(|byte| byte != b'0'))
    }

    /// Returns whether what follows `exit code` or `exited with` is a zero.
    fn is_exit_zero(&self) -> bool {
        let code = self.after.trim_start_matches([':', '=', ' ']);
        let code = code.strip_prefix("code").unwrap_or(code);
        let code = code.strip_prefix("status").unwrap_or(code);
        let mut code = code.trim_start_matches([':', '=', ' ']).bytes();
        code.next() == Some(b'0') && !code.next().is_some_and(|byte| byte.is_ascii_alphanumeric())
    }

    /// Returns what `error`, `fail` or `exception` weighs where it stands.
    fn weight(&self, kind: Kind) -> u8 {
        let capital = self.word.starts_with(|c: char| c.is_ascii_uppercase());
        let inside = self.before.ends_with(|c: char| c.is_ascii_alphanumeric());
        let next = self.after.bytes().next().unwrap_or(b' ');
        if capital && inside && kind != Kind::Fail {
            return if self.follows_snake() {
                0
            } else {
                self.name_weight(next)
            };
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
            (false, false) if kind == Kind::Error && self.before.ends_with(": ") => 4,
            (false, false) => 2,
        }
    }

    /// Returns whether the word ends a name with underscores in it, such as `test_raises_TypeError`.
    fn follows_snake(&self) -> bool {
        self.before
            .bytes()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .any(|byte| byte == b'_')
    }

    /// `TypeError: …`, but neither `TypeError.java` nor `raises_TypeError()`.
    fn name_weight(&self, next: u8) -> u8 {
        let then = self.after.as_bytes().get(1).copied().unwrap_or(b' ');
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

#[cfg(test)]
mod tests {
    use super::grade;

    #[test]
    fn the_forms_of_all_tools_have_their_grades() {
        let cases = include_str!("../../tests/cases/grades.txt");
        let mut wrong = String::new();
        for case in cases
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let (bound, line) = case.split_once('\t').unwrap();
            let (number, side) = bound.split_at(1);
            let number: u8 = number.parse().unwrap();
            let grade = grade(line);
            if (side == "+" && grade < number) || (side == "-" && grade > number) {
                wrong += &format!("\n{grade}, not {bound}: {line}");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }
}

#[cfg(test)]
mod dump {
    #[test]
    fn dump() {
        let Ok(path) = std::env::var("DUMP") else {
            return;
        };
        let mut seen = std::collections::HashSet::new();
        let bytes = std::fs::read(&path).unwrap();
        for line in String::from_utf8_lossy(&bytes).lines() {
            let mut plain = String::new();
            let mut text = crate::text::PlainText::default();
            text.push(line.as_bytes(), |piece| plain.push_str(piece));
            text.finish(|piece| plain.push_str(piece));
            let grade = super::grade(&plain);
            if seen.insert(crate::excerpt::bucket::template(&plain)) && grade > 0 {
                println!("{grade} {}", plain.chars().take(170).collect::<String>());
            }
        }
    }
}
