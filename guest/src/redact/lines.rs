//! Redacts line by line, with what one line says about the next.
//!
//! It is given whole lines, or windows of long ones; where they come from is the stream's part.

use memchr::memchr;

use super::Rules;
use super::armour::is_joined;
use super::bare::{Held, Verdict, may_be_bare};
use super::block::{Block, Step};
use super::findings::{Findings, Ordinals};
use super::hit::{Family, Hit, RuleRef};
use super::scan::{Mark, Scanned, fingerprint, is_chosen, joined, key_line, scan, scan_readings};
use super::view::{is_dressed, may_hold_escapes, undressed};
use crate::text::{SEAM, SEAM_BYTE};

/// What stands for a whole line.
pub(super) const LINE: &str = "[REDACTED]";

/// Returns what stands for this line, with the carriage return that belongs to its end.
fn taken(line: &str) -> String {
    let end = if line.ends_with('\r') { "\r" } else { "" };
    format!("{LINE}{end}")
}

/// What is carried from line to line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) block: Block,
    pub(super) findings: Findings,
    pub(super) ordinals: Ordinals,
    /// Complete lines before the one at hand.
    pub(super) number: u64,
    /// Lines that are held back until it shows whether they are a key's.
    held: Held,
    /// The marker of the key whose body is being read.
    key_marker: Option<String>,
    /// Every line with an escape is looked at, whatever the first look says of it.
    is_careful: bool,
    /// Marks of seams stand in the lines, and are not given.
    has_seams: bool,
}

impl Lines {
    /// Returns the state before a text that is short enough to be looked at line by line.
    pub(super) fn careful(ordinals: Ordinals) -> Self {
        Self {
            is_careful: true,
            ordinals,
            ..Self::default()
        }
    }

    /// Returns the state before a text with marks of seams.
    pub(super) fn with_seams() -> Self {
        Self {
            has_seams: true,
            ..Self::default()
        }
    }

    /// Says whether the line holds a mark that is not to be given.
    fn is_seamed(&self, line: &str) -> bool {
        self.has_seams && memchr(SEAM_BYTE, line.as_bytes()).is_some()
    }

    /// Says whether the next line is to be looked at whatever it holds.
    pub(super) const fn is_waiting(&self) -> bool {
        self.is_careful || self.block.is_open() || !self.held.is_empty()
    }

    /// Offers the next complete line and says whether it is held back. Gives every line that was
    /// held back and is so no longer to `each`, in order.
    pub(super) fn offer(&mut self, line: &str, mut each: impl FnMut(&mut Self, &str)) -> bool {
        if self.block.is_open()
            || self.held.is_empty() && !may_be_bare(line) && !self.is_seamed(line)
        {
            return false;
        }
        let dressed = is_dressed(line).then(|| undressed(line));
        let reading = dressed.as_ref().map_or(line, |view| view.text.as_str());
        match self.held.take(line, reading) {
            Verdict::Ordinary => false,
            Verdict::Held => true,
            Verdict::Ended(block) => {
                self.release(block, &mut each);
                !self.block.is_open() && matches!(self.held.take(line, reading), Verdict::Held)
            }
        }
    }

    /// Gives every line that is still held back to `each`; those before the line at hand.
    pub(super) fn give_held(&mut self, mut each: impl FnMut(&mut Self, &str)) {
        if !self.held.is_empty() {
            let block = self.held.end();
            self.release(block, &mut each);
        }
    }

    fn release(&mut self, block: Block, each: &mut impl FnMut(&mut Self, &str)) {
        let held = self.held.drain();
        let count = u64::try_from(held.len()).unwrap_or(u64::MAX);
        self.number = self.number.saturating_sub(count);
        self.block = block;
        for line in held {
            each(self, &line);
            self.number += 1;
        }
    }

    /// Returns the redacted form of a complete line, or nothing where it stays as it is;
    /// `is_chosen` says that the line is known to be worth a look.
    pub(super) fn redacted(
        &mut self,
        rules: &Rules,
        line: &str,
        is_chosen: bool,
    ) -> Option<String> {
        if let Some(redacted) = self.key_body(rules, line) {
            return Some(redacted);
        }
        let scanned = self.scanned(rules, line, is_chosen);
        if let Some(rule) = scanned.whole {
            self.findings
                .add(self.number + 1, rules.id(rule), line.len());
            return Some(taken(line));
        }
        (!scanned.marks.is_empty() || self.is_seamed(line))
            .then(|| self.replaced(rules, line, 0, line.len(), &scanned.marks))
    }

    /// Looks through a line that is no key's body, with what the line before says of it;
    /// `is_known` says that it is known to be worth a look.
    pub(super) fn scanned(&mut self, rules: &Rules, line: &str, is_known: bool) -> Scanned {
        let mut scanned = Scanned::default();
        let is_escaped = self.is_careful && (may_hold_escapes(line) || is_dressed(line));
        if is_known || is_escaped || is_chosen(rules, line) {
            let dressed = is_dressed(line).then(|| undressed(line));
            scanned = scan_readings(rules, line, dressed.as_ref());
            if matches!(self.block, Block::Public { .. }) {
                // The shape of lines says nothing where it is known what they are.
                scanned.marks.retain(|mark| {
                    mark.hit.rule != RuleRef::Family(Family::PrivateKey)
                        || !is_joined(super::bytes::text(line, mark.hit.start, mark.hit.end))
                });
            }
            let reading = dressed.as_ref().map_or(line, |view| view.text.as_str());
            self.block.open(reading);
            self.block.open_body(line, &scanned.marks);
        }
        scanned
    }

    /// Returns the span of a line that belongs to a key's block or is the value of the name
    /// above, and goes on to the state after it.
    pub(super) fn open_mark(&mut self, line: &str) -> Option<Mark> {
        if !self.block.is_open() {
            return None;
        }
        let clean = is_dressed(line).then(|| undressed(line));
        let reading = clean.as_ref().map_or(line, |view| view.text.as_str());
        let (start, end, is_key) = match self.block.step(reading) {
            Step::Ordinary => return None,
            Step::Key(start, end) => (start, end, true),
            Step::Value(start, end) => (start, end, false),
        };
        let digest = fingerprint(super::bytes::text(reading, start, end));
        let (start, end) = clean.map_or((start, end), |view| view.original(start, end));
        let hit = if is_key {
            key_line(start, end)
        } else {
            Hit::of(Family::KeyedValue, 0, start, end)
        };
        Some(Mark { hit, digest })
    }

    /// Returns the redacted form of a line that belongs to a key's block or is the value of the
    /// name above.
    pub(super) fn key_body(&mut self, rules: &Rules, line: &str) -> Option<String> {
        if !self.block.is_open() {
            return None;
        }
        let mark = self.open_mark(line);
        let is_key = mark
            .as_ref()
            .is_some_and(|mark| mark.hit.rule == RuleRef::Family(Family::PrivateKey));
        if !self.block.is_open() && !is_key {
            self.key_marker = None;
        }
        let mark = mark?;
        let marker = match (&self.key_marker, is_key) {
            (Some(marker), true) => marker.clone(),
            _ => self.ordinals.marker(rules, &mark),
        };
        if is_key {
            self.key_marker = Some(marker.clone());
        }
        if !self.block.is_open() {
            self.key_marker = None;
        }
        let (start, end, beside) = beside(rules, line, &mark);
        self.findings
            .add(self.number + 1, rules.id(mark.hit.rule), end - start);
        if rules.takes_line(mark.hit.rule) {
            return Some(taken(line));
        }
        if let Some(rule) = beside.whole {
            self.findings
                .add(self.number + 1, rules.id(rule), line.len() - (end - start));
            return Some(taken(line));
        }
        let head = self.replaced(rules, line, 0, start, &beside.marks);
        let tail = self.replaced(rules, line, end, line.len(), &beside.marks);
        Some(format!("{head}{marker}{tail}"))
    }

    /// Looks through the first part of a line that is too long to be judged whole, with what the
    /// lines before say of it.
    pub(super) fn scanned_after(&mut self, rules: &Rules, line: &str) -> Scanned {
        let mark = self.open_mark(line);
        if mark.is_some() || !self.block.is_open() {
            self.key_marker = None;
        }
        let mut scanned = self.scanned(rules, line, mark.is_some());
        if let Some(mark) = mark {
            if rules.takes_line(mark.hit.rule) {
                scanned.whole = scanned.whole.or(Some(mark.hit.rule));
            }
            scanned.marks.push(mark);
            scanned.marks = joined(scanned.marks);
        }
        scanned
    }

    /// Returns the part of a line with its marks replaced, and counts them.
    pub(super) fn replaced(
        &mut self,
        rules: &Rules,
        line: &str,
        from: usize,
        until: usize,
        marks: &[Mark],
    ) -> String {
        let mut redacted = String::with_capacity(until.saturating_sub(from));
        let mut position = from;
        for mark in marks {
            let start = line.floor_char_boundary(mark.hit.start.max(position));
            let end = line.ceil_char_boundary(mark.hit.end);
            if end <= position || start >= until {
                continue;
            }
            redacted.push_str(line.get(position..start).unwrap_or_default());
            redacted.push_str(&self.ordinals.marker(rules, mark));
            self.findings
                .add(self.number + 1, rules.id(mark.hit.rule), end - start);
            position = end;
        }
        redacted.push_str(line.get(position..until.max(position)).unwrap_or_default());
        if self.is_seamed(&redacted) {
            redacted.retain(|character| character != SEAM);
        }
        redacted
    }

    /// Says which rule takes a whole text, for arguments.
    pub(super) fn take(
        &mut self,
        rules: &Rules,
        number: u64,
        rule: RuleRef,
        bytes: usize,
    ) -> String {
        self.findings.add(number, rules.id(rule), bytes);
        LINE.to_owned()
    }
}

/// Returns the span of a mark with what overlaps it, and what else is found in the line.
pub(super) fn beside(rules: &Rules, line: &str, mark: &Mark) -> (usize, usize, Scanned) {
    let mut scanned = scan(rules, line);
    let Hit { start, end, .. } = mark.hit;
    let (mut first, mut last) = (start, end);
    scanned.marks.retain(|other| {
        let is_beside = other.hit.end <= start || other.hit.start >= end;
        if !is_beside {
            first = first.min(other.hit.start);
            last = last.max(other.hit.end);
        }
        is_beside
    });
    (first, last, scanned)
}
