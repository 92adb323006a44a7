//! The searches of redaction once more, without any haste, to compare the fast ones with.
//!
//! It judges nothing.

use super::ahead::Ahead;
use super::anchors::Anchors;
use super::encoded::beginnings;
use super::tests::{in_pieces, rules};
use super::tokens::TOKENS;
use super::words::{Action, COMMON, COMMON_PREFIXES, RARE};
use crate::redact::catalogue::builtin;
use crate::sift::{Reader, Sifted};

const LONG: usize = 23;

/// Returns what makes a line worth a look, in lower case.
fn rare() -> Vec<Vec<u8>> {
    let tokens = TOKENS.iter().flat_map(|token| {
        token.prefixes.iter().filter(|prefix| {
            prefix.len() + token.shortest < LONG
                || prefix.len() >= 4 && !COMMON_PREFIXES.contains(prefix)
        })
    });
    RARE.iter()
        .map(|(text, _)| *text)
        .chain(tokens.copied())
        .map(|text| text.to_ascii_lowercase().into_bytes())
        .collect()
}

fn is_chosen(rare: &[Vec<u8>], line: &str) -> bool {
    let lower = line.to_ascii_lowercase().into_bytes();
    let is_run = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    rare.iter()
        .any(|text| lower.windows(text.len()).any(|here| here == text))
        || line
            .as_bytes()
            .split(|byte| !is_run(byte))
            .any(|run| run.len() >= LONG && run.iter().any(u8::is_ascii_digit))
}

/// Returns where every anchor of a line stands, by ends and starts, with how many there are.
fn anchors_of(line: &str) -> Vec<(usize, usize)> {
    let lower = line.to_ascii_lowercase().into_bytes();
    let words = RARE.iter().chain(COMMON);
    let words = words.filter(|(_, action)| *action != Action::Look);
    let mut all = Vec::new();
    let mut find = |text: &str| {
        let text = text.to_ascii_lowercase().into_bytes();
        for start in 0..lower.len() {
            if lower[start..].starts_with(&text) {
                all.push((start + text.len(), start));
            }
        }
    };
    words.for_each(|(text, _)| find(text));
    for token in TOKENS {
        token.prefixes.iter().for_each(|prefix| find(prefix));
    }
    for beginning in beginnings() {
        find(&beginning.text);
    }
    all.sort_unstable();
    all
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

/// Returns a text of lines made from the rules' own words, ordinary ones and odd characters.
fn text(dice: &mut Dice, lines: usize) -> String {
    const ORDINARY: [&str; 22] = [
        "error",
        "cc -c",
        "src/main.c:12:",
        "path",
        "pass",
        "INFO",
        "2026-11-30",
        "key",
        "=",
        ": ",
        "\"",
        "_",
        "-",
        ".",
        "|",
        "a1B2c3D4e5",
        "deadbeef",
        "%20",
        "\\n",
        "'",
        "//",
        "to",
    ];
    const ODD: [&str; 14] = [
        "\u{1b}[1m",
        "\u{8}",
        "~",
        "q~",
        "\u{ad}",
        "\u{200b}",
        "\u{2060}",
        "\u{feff}",
        "\u{e9}",
        "\u{2713}",
        "\u{2019}",
        "\u{a0}",
        "\r",
        "\t",
    ];
    let examples: Vec<String> = builtin()
        .into_iter()
        .flat_map(|rule| [rule.example, rule.counter_example])
        .collect();
    let rare = rare();
    let mut text = String::new();
    for _ in 0..lines {
        for _ in 0..dice.throw(9) {
            match dice.throw(12) {
                0 => text.push_str(&examples[dice.throw(examples.len())]),
                1 => text.push_str(ODD[dice.throw(ODD.len())]),
                2 => text.push_str(&String::from_utf8_lossy(&rare[dice.throw(rare.len())])),
                3 => {
                    let word = &rare[dice.throw(rare.len())];
                    let part = &word[..dice.throw(word.len())];
                    text.push_str(&String::from_utf8_lossy(part).to_ascii_uppercase());
                }
                4 => text.push_str(&"aZ09_-".repeat(dice.throw(6))),
                _ => text.push_str(ORDINARY[dice.throw(ORDINARY.len())]),
            }
            if dice.throw(2) == 0 {
                text.push(' ');
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_same_lines_are_chosen_as_without_haste() {
    let anchors = Anchors::new(&[], &[]);
    let rare = rare();
    let mut dice = Dice(1);
    for _ in 0..20 {
        let text = text(&mut dice, 60);
        let mut sifted = Sifted::default();
        anchors.sift(text.as_bytes(), &mut sifted);
        let mut ahead = Ahead::new(sifted.of(Reader::Redaction));
        let mut position = 0;
        for line in text.split_terminator('\n') {
            let expected = is_chosen(&rare, line);
            assert_eq!(anchors.chooses(line.as_bytes()), expected, "{line:?}");
            let next = ahead.next(text.as_bytes(), position);
            let end = position + line.len();
            let is_here = next.is_some_and(|at| (position..=end).contains(&at));
            assert_eq!(is_here, expected, "{line:?}");
            position = end + 1;
        }
    }
}

#[test]
fn the_same_anchors_are_found_as_without_haste() {
    let anchors = Anchors::new(&[], &[]);
    let text = text(&mut Dice(2), 150);
    for line in text.split_terminator('\n') {
        let mut found = Vec::new();
        anchors.each(line, |anchor| found.push((anchor.end, anchor.start)));
        assert_eq!(found, anchors_of(line), "{line:?}");
    }
}

#[test]
fn the_pieces_do_not_matter() {
    let rules = rules();
    let text = text(&mut Dice(3), 100);
    let whole = in_pieces(&rules, &text, text.len());
    for size in [1, 2, 3, 7, 64, 1000] {
        assert_eq!(in_pieces(&rules, &text, size), whole, "{size}");
    }
}
