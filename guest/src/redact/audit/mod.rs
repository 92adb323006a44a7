//! Tells what the rules find in a text that streams by, and what looks like a secret that no
//! rule covers.
//!
//! No answer holds a character of what was found. It replaces nothing.

mod look;
mod record;
mod suspect;
mod tag;
#[cfg(test)]
mod tests;
mod words;

use std::rc::Rc;

use memchr::memchr;

use super::Rules;
use super::lines::Lines;
use super::scan::Mark;
use super::window::{Cut, WINDOW, cut_of};
use crate::fault::Fault;
use crate::text::Decoder;

use look::{Look, Place};
use tag::Tagger;

/// How much of an unfinished line is held back in case it is a record.
const HOLD: usize = 1 << 20;
/// How much of a long line is looked at again, for what stands before a value.
const CONTEXT: usize = 256;

/// Something that a rule found, or that looks like a secret and that no rule covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sighting {
    /// The rule's id, or nothing for a suspect: what looks like a secret by its characters, or is
    /// a word behind the name of a password.
    pub rule: Option<String>,
    /// The line, from 1.
    pub line: u64,
    /// In a record: the JSON pointer of the text. Otherwise empty.
    pub field: String,
    /// In a record: the line of the text, from 1. Otherwise 0.
    pub field_line: u64,
    /// Where in the line it begins, in characters from 1.
    pub column: u64,
    /// How many characters it has.
    pub length: u64,
    /// Says whether the rule takes the whole line.
    pub takes_line: bool,
    /// Is equal for equal secrets under one key, and tells nothing without the key.
    pub tag: String,
}

/// The end of an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// What was seen in the part that was held back.
    pub sightings: Vec<Sighting>,
    /// How many lines there were.
    pub lines: u64,
    /// How many of them were records.
    pub records: u64,
}

/// An audit of a text that arrives in pieces. Its memory does not depend on the text's length.
#[derive(Debug)]
pub struct Auditor {
    decoder: Decoder,
    reading: Reading,
}

impl Auditor {
    /// Starts at the beginning of a text. Tags are made with `key`.
    ///
    /// # Errors
    /// `limit-exceeded` where the key is too long.
    pub fn new(rules: Rc<Rules>, key: &[u8]) -> Result<Self, Fault> {
        Ok(Self {
            decoder: Decoder::default(),
            reading: Reading {
                look: Look {
                    rules,
                    tagger: Tagger::new(key)?,
                },
                lines: Lines::default(),
                ended: 0,
                records: 0,
                pending: String::new(),
                given: 0,
                before: 0,
                long: Long::No,
                in_key: false,
            },
        })
    }

    /// Takes the next bytes and returns what was seen in the lines that are complete by now.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Sighting> {
        let Self { decoder, reading } = self;
        let mut seen = Vec::new();
        decoder.push(bytes, |text| reading.text(text, &mut seen));
        seen
    }

    /// Returns what was seen in the rest, and how much there was.
    #[must_use]
    pub fn finish(self) -> Audited {
        let Self {
            mut decoder,
            mut reading,
        } = self;
        let mut sightings = Vec::new();
        decoder.finish(|text| reading.text(text, &mut sightings));
        if reading.is_within_line() {
            reading.end_line(&mut sightings);
        }
        reading.give_held(&mut sightings);
        Audited {
            sightings,
            lines: reading.ended,
            records: reading.records,
        }
    }
}

/// Whether the unfinished line is judged in windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Long {
    No,
    Yes,
    /// A secret goes on until a blank or a quote.
    Swallowed,
}

/// The text, line by line.
#[derive(Debug)]
struct Reading {
    look: Look,
    lines: Lines,
    /// Complete lines so far.
    ended: u64,
    records: u64,
    /// The unfinished line, or the part of it that was not judged yet and what stands before.
    pending: String,
    /// How much of `pending` was judged.
    given: usize,
    /// How many characters of the line stand before `pending`.
    before: u64,
    long: Long,
    /// The line before was part of a private key, which is told once.
    in_key: bool,
}

impl Reading {
    fn text(&mut self, text: &str, seen: &mut Vec<Sighting>) {
        let mut rest = text;
        while let Some(end) = memchr(b'\n', rest.as_bytes()) {
            let (head, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
            if self.is_within_line() || head.len() >= WINDOW {
                self.hold(head, seen);
                self.end_line(seen);
            } else {
                self.whole(head, seen);
                self.ended += 1;
            }
            rest = tail.strip_prefix('\n').unwrap_or(tail);
        }
        self.hold(rest, seen);
    }

    const fn is_within_line(&self) -> bool {
        !self.pending.is_empty() || !matches!(self.long, Long::No)
    }

    /// Judges a complete line that is no longer than a window, or a record.
    fn whole(&mut self, line: &str, seen: &mut Vec<Sighting>) {
        if let Some(document) = record::parse(line) {
            self.give_held(seen);
            self.records += 1;
            record::audit(&self.look, &document, self.ended + 1, seen);
            return;
        }
        self.lines.number = self.ended;
        let Self {
            look,
            lines,
            in_key,
            ..
        } = self;
        let is_held = lines.offer(line, |lines, line| {
            complete(look, lines, in_key, line, seen);
        });
        if !is_held {
            complete(look, lines, in_key, line, seen);
        }
    }

    /// Judges the lines that are still held back.
    fn give_held(&mut self, seen: &mut Vec<Sighting>) {
        self.lines.number = self.ended;
        let Self {
            look,
            lines,
            in_key,
            ..
        } = self;
        lines.give_held(|lines, line| complete(look, lines, in_key, line, seen));
    }

    fn hold(&mut self, text: &str, seen: &mut Vec<Sighting>) {
        self.pending.push_str(text);
        let most = if self.long == Long::No { HOLD } else { WINDOW };
        if self.pending.len() > most {
            self.windows(seen);
        }
    }

    fn end_line(&mut self, seen: &mut Vec<Sighting>) {
        let is_short = |line: &str| line.len() < WINDOW || record::parse(line).is_some();
        if self.long == Long::No && is_short(&self.pending) {
            let line = std::mem::take(&mut self.pending);
            self.whole(&line, seen);
        } else {
            self.give_held(seen);
            self.windows(seen);
            let rest = std::mem::take(&mut self.pending);
            if self.long != Long::Swallowed {
                self.part(&rest, seen, |_, _| rest.len());
            }
        }
        self.given = 0;
        self.before = 0;
        self.long = Long::No;
        self.ended += 1;
    }

    /// Judges the windows of a long line that are full.
    fn windows(&mut self, seen: &mut Vec<Sighting>) {
        if self.long == Long::No {
            self.give_held(seen);
            self.long = Long::Yes;
        }
        loop {
            if self.long == Long::Swallowed {
                let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
                let end = self.pending.find(ends);
                self.drop_judged(end.unwrap_or(self.pending.len()));
                if end.is_none() {
                    return;
                }
                self.long = Long::Yes;
            }
            if self.pending.len() < WINDOW {
                return;
            }
            self.window(seen);
        }
    }

    fn window(&mut self, seen: &mut Vec<Sighting>) {
        let end = self.pending.floor_char_boundary(WINDOW);
        let window = self.pending.get(..end).unwrap_or_default().to_owned();
        let mut cut = Cut {
            at: end,
            is_open: false,
        };
        self.part(&window, seen, |given, marks| {
            cut = cut_of(&window, given, marks);
            cut.at
        });
        if cut.is_open {
            self.drop_judged(cut.at);
            self.given = 0;
            self.long = Long::Swallowed;
        } else {
            let keep = window.floor_char_boundary(cut.at.saturating_sub(CONTEXT));
            self.drop_judged(keep);
            self.given = cut.at - keep;
        }
    }

    /// Judges a part of a long line from what was judged already to where `cut` says.
    fn part(
        &mut self,
        part: &str,
        seen: &mut Vec<Sighting>,
        cut: impl FnOnce(usize, &[Mark]) -> usize,
    ) {
        let found = self.look.line(&mut self.lines, part);
        let until = cut(self.given, &found.scanned.marks);
        let place = Place {
            line: self.ended + 1,
            before: self.before,
            ..Place::default()
        };
        self.in_key = found.is_key;
        self.look
            .report(&place, part, self.given..until, &found, seen);
    }

    fn drop_judged(&mut self, until: usize) {
        let until = self.pending.floor_char_boundary(until);
        let dropped = self.pending.get(..until).unwrap_or_default();
        self.before += characters(dropped);
        self.pending.drain(..until);
    }
}

/// Judges the line whose number `lines` knows.
fn complete(
    look: &Look,
    lines: &mut Lines,
    in_key: &mut bool,
    line: &str,
    seen: &mut Vec<Sighting>,
) {
    let place = Place {
        line: lines.number + 1,
        ..Place::default()
    };
    let mut found = look.line(lines, line);
    found.go_on(std::mem::replace(in_key, found.is_key));
    look.report(&place, line, 0..line.len(), &found, seen);
}

fn characters(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}
