//! The literal texts that a line must hold to be looked at, and what each of them leads to.
//!
//! A first look goes over whole blocks for the rare texts, so that ordinary output is passed on
//! at little cost; a second one goes over the lines that were chosen, for all of the texts.

use std::collections::BTreeSet;

use super::encoded::{Beginning, beginnings};
use super::escaped;
use super::sweep::{LONG, first_shape};
use super::tokens::TOKENS;
use super::words::{Action, COMMON, COMMON_PREFIXES, RARE};
use crate::excerpt;
use crate::sift::{Reader, Sift, Sifted, Texts, Wanted};

/// Where an anchor stands and what it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// What it leads to.
    pub(super) action: Action,
    /// Where it begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// The first look at blocks, and the second at lines.
#[derive(Debug)]
pub(super) struct Anchors {
    rare: Sift,
    all: Texts,
    /// What the texts lead to, and how long they are.
    actions: Vec<(Action, usize)>,
    /// The texts of one or two bytes, which are apart.
    short: Short,
    encoded: Vec<Beginning>,
}

impl Anchors {
    /// Prepares both; `literals` come from the policy, `values` from the environment.
    pub(super) fn new(literals: &[String], values: &[Vec<u8>]) -> Self {
        let encoded = beginnings();
        let prefixes = TOKENS
            .iter()
            .enumerate()
            .flat_map(|(index, token)| token.prefixes.iter().map(move |prefix| (*prefix, index)));
        // Characters without width are found as shapes.
        let words = RARE.iter().filter(|(text, _)| text.is_ascii());
        let mut rare: Vec<&[u8]> = words.map(|(text, _)| text.as_bytes()).collect();
        let mut all: Vec<(&[u8], Action)> = RARE
            .iter()
            .chain(COMMON)
            .filter(|(_, action)| *action != Action::Look)
            .map(|(text, action)| (text.as_bytes(), *action))
            .collect();
        for (prefix, index) in prefixes {
            // What is shorter than a long run must be searched for, however common.
            let is_short = TOKENS
                .get(index)
                .is_some_and(|token| prefix.len() + token.shortest < LONG);
            if is_short || prefix.len() >= 4 && !COMMON_PREFIXES.contains(&prefix) {
                rare.push(prefix.as_bytes());
            }
            all.push((prefix.as_bytes(), Action::Token(index)));
        }
        for (index, literal) in literals.iter().enumerate() {
            rare.push(literal.as_bytes());
            all.push((literal.as_bytes(), Action::User(index)));
        }
        for (index, beginning) in encoded.iter().enumerate() {
            all.push((beginning.text.as_bytes(), Action::Encoded(index)));
        }
        let escaped = escaped::texts(literals);
        rare.extend(escaped.iter().map(Vec::as_slice));
        rare.extend(values.iter().map(Vec::as_slice));
        let short = Short::new(all.iter().filter(|(text, _)| text.len() < 3));
        all.retain(|(text, _)| text.len() >= 3);
        let actions = all.iter().map(|(text, action)| (*action, text.len()));
        Self {
            rare: Sift::new(wanted(rare)),
            actions: actions.collect(),
            all: Texts::new(all.iter().map(|(text, _)| whole(*text)).collect()),
            short,
            encoded,
        }
    }

    /// Finds the lines of a block that hold one of the rare texts, and those that the excerpt
    /// wants to read.
    pub(super) fn sift(&self, block: &[u8], sifted: &mut Sifted) {
        self.rare.lines(block, sifted);
    }

    /// Says whether a line is to be looked at.
    pub(super) fn chooses(&self, line: &[u8]) -> bool {
        self.rare.holds(line, Reader::Redaction) || first_shape(line, 0).is_some()
    }

    /// Calls `found` for every anchor of a line.
    pub(super) fn each(&self, line: &str, mut found: impl FnMut(Found)) {
        let bytes = line.as_bytes();
        // Room for those of most lines: growing copies.
        let mut all = Vec::with_capacity(32);
        self.all.each(bytes, |number, start| {
            if let Some((action, length)) = self.actions.get(number) {
                all.push((start + length, start, number, *action));
            }
        });
        let first = self.actions.len();
        self.short.each(bytes, |number, action, start, end| {
            all.push((end, start, first + number, action));
        });
        // By their ends: of the words of a name, the last says what it means.
        all.sort_unstable_by_key(|(end, start, number, _)| (*end, *start, *number));
        for (end, start, _, action) in all {
            found(Found { action, start, end });
        }
    }

    /// Returns the beginning of base64 at this position.
    pub(super) fn beginning(&self, index: usize) -> Option<&Beginning> {
        self.encoded.get(index)
    }
}

/// Texts of one or two bytes, and what they lead to.
#[derive(Debug)]
struct Short {
    /// The first byte, the second where there is one, in lower case.
    texts: Vec<(u8, Option<u8>, Action)>,
    /// For every byte, in either case, which of the texts begin with it, the first in the lowest bit.
    begins: Box<[u64; 256]>,
}

impl Short {
    fn new<'a>(texts: impl Iterator<Item = &'a (&'a [u8], Action)>) -> Self {
        let lower = |byte: &u8| byte.to_ascii_lowercase();
        let texts = texts.filter_map(|(text, action)| {
            let (first, rest) = text.split_first()?;
            Some((lower(first), rest.first().map(lower), *action))
        });
        let texts: Vec<_> = texts.collect();
        let mut begins = Box::new([0; 256]);
        for (byte, begins) in (0..=u8::MAX).zip(begins.iter_mut()) {
            let with = |(first, ..): &(u8, _, _)| u64::from(*first == lower(&byte));
            *begins = texts
                .iter()
                .rev()
                .fold(0, |bits, text| bits << 1 | with(text));
        }
        Self { texts, begins }
    }

    /// Calls `found` with the number of each text in a line, what it leads to, its start and its end.
    fn each(&self, line: &[u8], mut found: impl FnMut(usize, Action, usize, usize)) {
        for (start, byte) in line.iter().enumerate() {
            let mut left = self.begins.get(usize::from(*byte)).copied().unwrap_or(0);
            while left != 0 {
                let number = usize::try_from(left.trailing_zeros()).unwrap_or(0);
                left &= left - 1;
                let Some((_, second, action)) = self.texts.get(number) else {
                    continue;
                };
                let next = line.get(start + 1).map(u8::to_ascii_lowercase);
                if second.is_none() || *second == next {
                    found(
                        number,
                        *action,
                        start,
                        start + 1 + usize::from(second.is_some()),
                    );
                }
            }
        }
    }
}

fn whole(text: impl Into<Box<[u8]>>) -> Wanted {
    Wanted {
        text: text.into(),
        reader: Reader::Redaction,
        starts_word: false,
    }
}

/// Returns the texts of redaction and those of the excerpt: one search finds both.
fn wanted(rare: Vec<&[u8]>) -> Vec<Wanted> {
    // Shorter ones are found as shapes.
    let rare = rare
        .into_iter()
        .filter(|text| text.len() >= 3 && !text.contains(&b'\n'));
    let mut sorted = BTreeSet::new();
    sorted.extend(rare.map(<[u8]>::to_ascii_lowercase));
    let rare = sorted.into_iter().map(whole);
    rare.chain(excerpt::telling_texts()).collect()
}
