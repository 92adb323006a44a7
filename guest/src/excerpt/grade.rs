//! Grades a line: how likely it is to explain a failure.
//!
//! It looks at one line alone; repetition and neighbourhood are the picker's business.

use super::decoration::undecorated;
use super::form;
use super::line::prefix;
use super::location::starts_with_location;
use super::place::Place;
use super::screen;
use super::search::{Found, each_phrase};
use super::words::Kind;

/// The highest grade.
pub(super) const HIGHEST: u8 = 8;
/// Lines of this grade and above are kept with the lines around them.
pub(crate) const EXPLAINED: u8 = 4;
/// Lines of this grade and above are those by which a tool says that something failed.
pub(super) const MARKED: u8 = 5;
/// The bytes of a line that are looked at.
pub(super) const LOOKED_AT: usize = 1000;

/// Returns the grade of a line, 0 to [`HIGHEST`].
pub(crate) fn grade(line: &str) -> u8 {
    let line = prefix(line, LOOKED_AT);
    if screen::may_matter(line) {
        grade_of_what_may_matter(line)
    } else {
        0
    }
}

/// Returns the grade of a line of at most [`LOOKED_AT`] bytes that is known to be worth grading.
pub(super) fn grade_of_what_may_matter(line: &str) -> u8 {
    let text = undecorated(line);
    let ends = form::ends(text);
    let evidence = Evidence::of(text);
    let grade = evidence.raise(ends, starts_with_location(text));
    if grade == 0 {
        return 0;
    }
    evidence.lower(grade, ends, text).min(HIGHEST)
}

/// What the words of a line say together.
#[derive(Debug, Default)]
struct Evidence {
    /// The weight of the weightiest phrase.
    best: u8,
    /// How many kinds of evidence there are.
    kinds: u8,
    /// Which, as bits.
    seen: u16,
    /// A count of failures is above zero.
    summary: bool,
    /// A count of failures is zero.
    zero: bool,
    warning: bool,
    calm: bool,
}

impl Evidence {
    fn of(text: &str) -> Self {
        let mut evidence = Self::default();
        each_phrase(text, |found| evidence.add(text, &found));
        evidence
    }

    fn add(&mut self, text: &str, found: &Found) {
        let place = Place::new(text, found.start, found.end);
        let weight = match found.kind {
            Kind::Calm => {
                self.calm = true;
                0
            }
            Kind::Warning => {
                self.warning |= !place.in_name();
                0
            }
            Kind::Error | Kind::Exception | Kind::Fail => match place.count() {
                Some(above_zero) => {
                    self.summary |= above_zero;
                    self.zero |= !above_zero;
                    0
                }
                None => place.weight(found.kind),
            },
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
                    found.weight
                }
            }
        };
        if weight > 0 {
            self.best = self.best.max(weight);
            let bit = found.kind.bit();
            self.kinds += u8::from(self.seen & bit == 0);
            self.seen |= bit;
        }
    }

    /// Returns the grade of the form of the line, of its words, and of what they add to it.
    fn raise(&self, ends: u8, located: bool) -> u8 {
        let mut grade = ends.max(self.best);
        if located {
            grade = grade.max(if self.warning && self.best <= 1 { 1 } else { 4 });
        }
        if grade >= 3 {
            let counted = u8::from(ends < self.best || ends == 0);
            grade += self.kinds.saturating_sub(counted).min(2);
        }
        if self.summary {
            grade = grade.max(3) + 1;
        }
        grade
    }

    /// Returns the grade less what speaks against it.
    fn lower(&self, grade: u8, ends: u8, text: &str) -> u8 {
        let mut grade = grade;
        if self.calm || form::is_calm(text) {
            grade = grade.saturating_sub(4);
        }
        if grade > 2 && form::is_aside(text) {
            grade = 2;
        }
        let all_zero = self.zero && !self.summary;
        let only_warns = self.warning && ends < 5 && self.best < 5;
        if all_zero || only_warns {
            grade.min(1)
        } else {
            grade
        }
    }
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
