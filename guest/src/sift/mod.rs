//! One pass over a block of text that tells which of its lines redaction and which the excerpt
//! have to read with care, by the texts that such lines hold.
//!
//! It answers exactly, and does not say which text it was; what a text means is known to the two
//! that asked for it. One search for both costs as much as one for either.

mod group;
mod rarity;

use self::group::{Groups, SPAN, STRIDE};

/// Who reads the lines that hold a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Redaction,
    Excerpt,
}

/// A text of at least three bytes without a newline; ASCII letters in either case count as one.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) text: Box<[u8]>,
    pub(crate) reader: Reader,
    /// It counts only at the start of a word: not behind a letter, a digit, or a byte that is
    /// not ASCII.
    pub(crate) starts_word: bool,
}

/// Places in the lines that a reader wants, at most one of each line, in order.
#[derive(Debug, Default)]
pub(crate) struct Places {
    places: Vec<usize>,
    /// Where the line ends that holds the newest.
    line_end: usize,
}

/// The lines of one block that somebody wants.
#[derive(Debug, Default)]
pub(crate) struct Sifted {
    redaction: Places,
    excerpt: Places,
}

/// Finds the lines that hold one of many texts.
#[derive(Debug)]
pub(crate) struct Sift {
    texts: Texts,
}

/// Finds many texts wherever they stand.
#[derive(Debug)]
pub(crate) struct Texts {
    groups: Groups,
    texts: Vec<Wanted>,
}

impl Sift {
    /// Prepares the search.
    pub(crate) fn new(texts: Vec<Wanted>) -> Self {
        Self {
            texts: Texts::new(texts),
        }
    }

    /// Finds the lines of a block and forgets those of the block before.
    pub(crate) fn lines(&self, block: &[u8], sifted: &mut Sifted) {
        sifted.clear();
        self.texts.candidates(block, |wanted, _, start| {
            let places = sifted.places(wanted.reader);
            if places.is_open(start) && wanted.is_at(block, start) {
                places.add(block, start);
            }
        });
    }

    /// Says whether a line holds a text of a reader.
    pub(crate) fn holds(&self, line: &[u8], reader: Reader) -> bool {
        let mut holds = false;
        self.texts.candidates(line, |wanted, _, start| {
            holds |= !holds && wanted.reader == reader && wanted.is_at(line, start);
        });
        holds
    }
}

impl Texts {
    /// Prepares the search.
    pub(crate) fn new(texts: Vec<Wanted>) -> Self {
        Self {
            groups: Groups::new(texts.iter().map(|wanted| &*wanted.text)),
            texts,
        }
    }

    /// Calls `found` with the number of every text in a line and where it starts.
    pub(crate) fn each(&self, line: &[u8], mut found: impl FnMut(usize, usize)) {
        self.candidates(line, |wanted, number, start| {
            if wanted.is_at(line, start) {
                found(number, start);
            }
        });
    }

    /// Calls `judge` with the texts that may be in a block, their numbers and where they would
    /// start; with one that is there, once.
    #[inline(always)]
    fn candidates(&self, block: &[u8], mut judge: impl FnMut(&Wanted, usize, usize)) {
        let mut at = 0;
        let mut rest = block;
        while rest.len() >= SPAN {
            let steps = self.groups.steps_with_any(rest);
            let mut left = steps.with_any;
            while left != 0 {
                let step = usize::try_from(left.trailing_zeros()).unwrap_or(0);
                left &= left - 1;
                let here = rest.get(step * STRIDE..).unwrap_or_default();
                if let Some(span) = here.first_chunk() {
                    self.read(span, at + step * STRIDE, &mut judge);
                }
            }
            at += steps.count * STRIDE;
            rest = rest.get(steps.count * STRIDE..).unwrap_or_default();
        }
        // Behind the end, where no text goes on, any byte does.
        let mut last = [0; STRIDE + SPAN];
        for (to, byte) in last.iter_mut().zip(rest) {
            *to = *byte;
        }
        if let Some(span) = last.first_chunk() {
            self.read(span, at, &mut judge);
        }
        if rest.len() > STRIDE
            && let Some(span) = last.last_chunk()
        {
            self.read(span, at + STRIDE, &mut judge);
        }
    }

    /// Offers the texts that the groups of one step belong to.
    #[inline(always)]
    fn read(&self, span: &[u8; SPAN], at: usize, judge: &mut impl FnMut(&Wanted, usize, usize)) {
        self.groups.each(span, |step, number, back| {
            let start = (at + step + 1).checked_sub(back);
            if let Some((wanted, start)) = self.texts.get(number).zip(start) {
                judge(wanted, number, start);
            }
        });
    }
}

impl Sifted {
    /// Returns a place in every line that the reader wants, in order.
    pub(crate) fn of(&self, reader: Reader) -> &[usize] {
        match reader {
            Reader::Redaction => &self.redaction.places,
            Reader::Excerpt => &self.excerpt.places,
        }
    }

    fn places(&mut self, reader: Reader) -> &mut Places {
        match reader {
            Reader::Redaction => &mut self.redaction,
            Reader::Excerpt => &mut self.excerpt,
        }
    }

    fn clear(&mut self) {
        for places in [&mut self.redaction, &mut self.excerpt] {
            places.places.clear();
            places.line_end = 0;
        }
    }
}

impl Places {
    /// Says whether the line of this place is not among them yet.
    fn is_open(&self, place: usize) -> bool {
        place >= self.line_end
    }

    fn add(&mut self, block: &[u8], place: usize) {
        let rest = block.get(place..).unwrap_or_default();
        self.line_end = place + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.places.push(place);
    }
}

impl Wanted {
    fn is_at(&self, block: &[u8], start: usize) -> bool {
        block
            .get(start..start + self.text.len())
            .is_some_and(|here| here.eq_ignore_ascii_case(&self.text))
            && !(self.starts_word
                && start
                    .checked_sub(1)
                    .and_then(|before| block.get(before))
                    .is_some_and(|before| !before.is_ascii() || before.is_ascii_alphanumeric()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(text: &str, reader: Reader) -> Wanted {
        Wanted {
            text: text.as_bytes().into(),
            reader,
            starts_word: false,
        }
    }

    const TEXTS: [&str; 9] = [
        "pwd",
        "_key",
        "://",
        "fail",
        "secret",
        "\u{e9}t\u{e9}",
        "access_token",
        "aaa",
        "aaaaaaa",
    ];

    #[test]
    fn every_text_is_found_wherever_it_stands() {
        for text in TEXTS {
            let sift = Sift::new(vec![wanted(text, Reader::Excerpt)]);
            let upper = text.to_ascii_uppercase();
            for before in 0..=1200 {
                let after = before % 41;
                let block = format!("{}{upper}{}", " ".repeat(before), "x".repeat(after));
                let mut sifted = Sifted::default();
                sift.lines(block.as_bytes(), &mut sifted);
                assert_eq!(sifted.of(Reader::Excerpt), [before], "{block}");
                assert!(sifted.of(Reader::Redaction).is_empty());
                let cut = &block.as_bytes()[..before + text.len() - 1];
                assert!(!sift.holds(cut, Reader::Excerpt), "{block}");
            }
        }
    }

    #[test]
    fn every_line_that_holds_a_text_is_told_once_to_its_reader() {
        let texts = TEXTS.iter().enumerate().map(|(index, text)| {
            let reader = [Reader::Redaction, Reader::Excerpt][index % 2];
            wanted(text, reader)
        });
        let texts: Vec<Wanted> = texts.collect();
        let sift = Sift::new(texts.clone());
        let mut state = 1_u64;
        let mut throw = move |below: u64| {
            state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            usize::try_from((state >> 33) % below).unwrap()
        };
        for _ in 0..2000 {
            let mut block = String::new();
            for _ in 0..throw(60) {
                let text = TEXTS[throw(9)];
                match throw(8) {
                    0..=2 => block.push('\n'),
                    3 => block.push_str(text.get(1..).unwrap_or_default()),
                    4 => block.push_str(text),
                    _ => block.extend("x yaw_:/".chars().take(throw(9))),
                }
            }
            let mut sifted = Sifted::default();
            sift.lines(block.as_bytes(), &mut sifted);
            for reader in [Reader::Redaction, Reader::Excerpt] {
                let places = sifted.of(reader).iter().copied();
                let told: Vec<usize> = places
                    .map(|at| {
                        block.as_bytes()[..at]
                            .iter()
                            .filter(|b| **b == b'\n')
                            .count()
                    })
                    .collect();
                let holds = |line: &str| {
                    let mut texts = texts.iter().filter(|wanted| wanted.reader == reader);
                    texts.any(|wanted| {
                        let text = std::str::from_utf8(&wanted.text).unwrap();
                        line.contains(text)
                    })
                };
                let lines = block.split('\n').enumerate();
                let expected = lines.filter(|(_, line)| holds(line)).map(|(at, _)| at);
                assert_eq!(told, expected.collect::<Vec<_>>(), "{block:?}");
            }
        }
    }

    #[test]
    fn a_text_that_starts_a_word_is_not_found_within_one() {
        let mut text = wanted("fail", Reader::Excerpt);
        text.starts_word = true;
        let sift = Sift::new(vec![text]);
        for offset in 0..40 {
            let blanks = " ".repeat(offset);
            for (before, is_found) in [("x", false), ("7", false), ("\u{e9}", false), ("_", true)] {
                let line = format!("{blanks}{before}fail");
                assert_eq!(
                    sift.holds(line.as_bytes(), Reader::Excerpt),
                    is_found,
                    "{line}"
                );
            }
        }
        assert!(sift.holds(b"fail", Reader::Excerpt));
        assert!(sift.holds(b"x\nfail", Reader::Excerpt));
    }
}
