//! Looks through one line with what the lines before say of it, and tells what is in it.
//!
//! Where lines come from is not its part.

use std::rc::Rc;

use super::super::catalogue::KNOWN_ID;
use super::super::hit::{Family, Hit, RuleRef};
use super::super::lines::{Lines, beside};
use super::super::scan::{Mark, Scanned, joined};
use super::super::{Rules, bytes};
use super::tag::Tagger;
use super::{Sighting, characters, suspect};

/// Where a line stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) field: String,
    pub(super) field_line: u64,
    /// Characters of the line that stand before what is looked at.
    pub(super) before: u64,
}

/// What was found in a line.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) scanned: Scanned,
    /// The line belongs to a private key.
    pub(super) is_key: bool,
}

const KEY: RuleRef = RuleRef::Family(Family::PrivateKey);

impl Found {
    /// Leaves out the line of a private key that the line before is a part of too: a key is told
    /// once. What stands beside it is told all the same.
    pub(super) fn go_on(&mut self, was_key: bool) {
        if was_key && self.is_key {
            self.scanned.marks.retain(|mark| mark.hit.rule != KEY);
        }
    }
}

/// The rules, and the key for tags.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) rules: Rc<Rules>,
    pub(super) tagger: Tagger,
}

impl Look {
    /// Looks through a line with what the lines before say of it.
    pub(super) fn line(&self, lines: &mut Lines, line: &str) -> Found {
        let Some(mark) = lines.open_mark(line) else {
            return Found {
                scanned: lines.scanned(&self.rules, line, false),
                is_key: false,
            };
        };
        let rule = mark.hit.rule;
        let (start, end, beside) = beside(&self.rules, line, &mark);
        let hit = Hit {
            start,
            end,
            ..mark.hit
        };
        let mut marks = beside.marks;
        marks.push(Mark { hit, ..mark });
        Found {
            is_key: rule == KEY,
            scanned: Scanned {
                marks: joined(marks),
                whole: self.rules.takes_line(rule).then_some(rule).or(beside.whole),
            },
        }
    }

    /// Tells what was found between two positions of a line, in order of place.
    pub(super) fn report(
        &self,
        place: &Place,
        line: &str,
        within: std::ops::Range<usize>,
        found: &Found,
        seen: &mut Vec<Sighting>,
    ) {
        let marks = &found.scanned.marks;
        let mut spans: Vec<(usize, usize, Option<RuleRef>)> = marks
            .iter()
            .map(|mark| (mark.hit.start, mark.hit.end, Some(mark.hit.rule)))
            .collect();
        if !found.is_key {
            suspect::each(&self.rules, line, marks, |start, end| {
                let at = spans.partition_point(|(before, _, _)| *before <= start);
                spans.insert(at, (start, end, None));
            });
        }
        spans.retain(|(start, _, _)| within.contains(start));
        let mut counted = 0;
        let mut column = place.before + 1;
        for (start, end, rule) in spans {
            let start = line.floor_char_boundary(start);
            let secret = bytes::text(line, start, line.ceil_char_boundary(end));
            column += characters(bytes::text(line, counted, start));
            counted = start;
            let id = rule.map(|rule| self.rules.id(rule).to_owned());
            seen.push(Sighting {
                takes_line: rule.is_some()
                    && rule == found.scanned.whole
                    && id.as_deref() != Some(KNOWN_ID),
                rule: id,
                line: place.line,
                field: place.field.clone(),
                field_line: place.field_line,
                column,
                length: characters(secret),
                tag: self.tagger.tag(secret),
            });
        }
    }
}
