//! The excerpt once more, from the whole text at once and without regard to cost, to compare
//! the streaming picker with.

use super::bucket::Look;
use super::form::is_calm;
use super::grade::{LOOKED_AT, grade};
use super::line::{Line, prefix};
use super::policy::ExcerptPolicy;
use super::{Cut, Picker};
use crate::redact::Sink;

/// A whole text and what was chosen of it.
struct Whole<'a> {
    policy: ExcerptPolicy,
    lines: Vec<&'a str>,
    grades: Vec<u8>,
    kept: Vec<Option<usize>>,
}

/// Candidates of some grades by their line's index.
#[derive(Default)]
struct Chosen {
    distinct: Vec<usize>,
    alike: Vec<usize>,
}

impl<'a> Whole<'a> {
    fn new(text: &'a str, policy: &ExcerptPolicy) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        Self {
            policy: policy.clone(),
            grades: lines.iter().map(|line| grade(line)).collect(),
            kept: vec![None; lines.len()],
            lines,
        }
    }

    fn line(&self, at: usize) -> Line {
        let length = self.lines[at].len() as u64;
        Line::new(
            at as u64 + 1,
            self.lines[at],
            length,
            self.policy.line_bytes,
        )
    }

    fn text(&self) -> String {
        let mut rows = Vec::new();
        let mut missing = 0;
        for (at, kept) in self.kept.iter().enumerate() {
            match kept {
                None => missing += 1,
                Some(limit) => {
                    if missing > 0 {
                        rows.push(format!("...truncated {missing} lines..."));
                    }
                    missing = 0;
                    let mut row = String::new();
                    self.line(at).show(*limit, &mut row);
                    rows.push(row);
                }
            }
        }
        if missing > 0 {
            rows.push(format!("...truncated {missing} lines..."));
        }
        rows.join("\n")
    }

    fn offer(&mut self, at: usize, budget: usize) -> bool {
        if self.kept[at].is_some() {
            return true;
        }
        self.kept[at] = Some(self.policy.line_bytes);
        let fits = self.text().len() <= budget;
        if !fits {
            self.kept[at] = None;
        }
        fits
    }

    fn offer_free(&mut self, at: usize) {
        let length = self.text().len();
        self.offer(at, length);
    }

    fn floor(&mut self, share: usize) {
        let count = self.lines.len();
        let mut limit = self.policy.line_bytes;
        loop {
            for at in (0..count.min(3)).chain(count.saturating_sub(5)..count) {
                self.kept[at] = Some(limit);
            }
            if self.text().len() < share / 4 * 3 || limit <= 48 {
                return;
            }
            limit = (limit / 2).max(48);
        }
    }

    fn add_tail(&mut self, budget: usize) {
        for at in (0..self.lines.len()).rev() {
            if !self.offer(at, budget) {
                return;
            }
        }
    }

    fn look(&self, at: usize) -> Look {
        Look::of(prefix(self.lines[at], LOOKED_AT))
    }

    /// At most so many candidates of one grade from one end, alike ones at most six times.
    fn of_one_end(&self, candidates: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut taken: Vec<usize> = Vec::new();
        for at in candidates {
            let look = self.look(at);
            let same = taken
                .iter()
                .any(|other| self.look(*other).text == look.text);
            let alike = taken
                .iter()
                .filter(|other| self.look(**other).template == look.template)
                .count();
            if !same && alike < 6 && taken.len() < (self.policy.max_bytes / 16).min(512) {
                taken.push(at);
            }
        }
        taken
    }

    fn chosen(&self, grades: std::ops::RangeInclusive<u8>, seen: &mut Vec<u64>) -> Chosen {
        let mut chosen = Chosen::default();
        for grade in grades.rev() {
            let of_grade = (0..self.lines.len()).filter(|at| self.grades[*at] == grade);
            let mut ends = [
                self.of_one_end(of_grade.clone()).into_iter(),
                self.of_one_end(of_grade.rev()).into_iter(),
            ];
            loop {
                let mut found = false;
                for end in &mut ends {
                    for at in end.by_ref() {
                        let look = self.look(at);
                        let new = !seen.contains(&look.template);
                        seen.push(look.template);
                        let reads_new = !seen.contains(&look.text);
                        seen.push(look.text);
                        if new {
                            chosen.distinct.push(at);
                            found = true;
                            break;
                        }
                        if reads_new {
                            chosen.alike.push(at);
                        }
                    }
                }
                if !found {
                    break;
                }
            }
        }
        chosen
    }

    fn before(&self, at: usize) -> Option<usize> {
        at.checked_sub(1)
            .filter(|at| !self.lines[*at].trim_ascii().is_empty())
    }

    fn after(&self, at: usize) -> Vec<usize> {
        (at + 1..(at + 15).min(self.lines.len()))
            .filter(|at| !self.lines[*at].trim_ascii().is_empty())
            .take(10)
            .collect()
    }

    fn add_context(&mut self, candidates: &[usize], steps: std::ops::Range<usize>, share: usize) {
        let mut told = Vec::new();
        for step in steps {
            for at in candidates {
                if self.kept[*at].is_none() {
                    continue;
                }
                let after = self.after(*at).get(step).copied();
                let before = self.before(*at).filter(|_| step == 0);
                for near in after.into_iter().chain(before) {
                    let line = self.line(near);
                    let template = Look::of(line.text()).template;
                    let new = !told.contains(&template);
                    told.push(template);
                    if !is_calm(line.text().trim()) && (new || step < 4) {
                        self.offer(near, share);
                    }
                }
            }
        }
    }

    fn add_lines(&mut self, candidates: &[usize], share: usize) {
        for at in candidates {
            self.offer(*at, share);
        }
    }

    fn cut(mut self, share: usize) -> String {
        self.floor(share);
        self.add_tail(share / 5);
        let mut seen = Vec::new();
        let marked = self.chosen(5..=8, &mut seen);
        let strong = self.chosen(4..=4, &mut seen);
        let weak = self.chosen(1..=3, &mut seen);
        let foremost = &marked.distinct[..marked.distinct.len().min(4)];
        self.add_lines(foremost, share);
        self.add_context(foremost, 0..2, share);
        self.add_lines(&marked.distinct, share);
        self.add_context(&marked.distinct, 0..4, share);
        self.add_lines(&strong.distinct, share);
        self.add_context(&strong.distinct, 0..4, share);
        self.add_lines(&marked.alike, share);
        self.add_context(&marked.distinct, 4..10, share);
        self.add_lines(&strong.alike, share);
        let half = (self.text().len() + 1).midpoint(share);
        self.add_tail(half);
        self.add_lines(&weak.distinct, share);
        self.add_tail(share);
        self.fill(&marked.distinct);
        self.fill(&strong.distinct);
        self.text()
    }

    /// Keeps lines that are no longer than the marker in their place.
    fn fill(&mut self, candidates: &[usize]) {
        for at in candidates {
            let last = self
                .after(*at)
                .last()
                .filter(|_| self.after(*at).len() == 10)
                .copied();
            let last = last.unwrap_or((at + 14).min(self.lines.len() - 1));
            for near in at.saturating_sub(1)..=last {
                self.offer_free(near);
            }
        }
    }
}

fn stream(
    text: &str,
    policy: &ExcerptPolicy,
    share: usize,
    mut piece: impl FnMut() -> usize,
) -> Cut {
    let mut picker = Picker::new(policy.clone());
    let mut rest = text;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rest.ceil_char_boundary(piece().min(rest.len())));
        picker.text(now);
        rest = later;
    }
    picker.end();
    picker.cut(share)
}

/// A generator of numbers that are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

const PHRASES: &[&str] = &[
    "",
    "",
    "ok 3 - reads",
    "compiling io",
    "error: no such file",
    "io.c:3:5: error: x",
    "FAILED reads",
    "warning: unused",
    "  at read (io.js:3)",
    "expected 3",
    "got 4",
    "1 failed, 3 passed",
    "E   assert 3 == 4",
    "could not open",
    "Caused by: IoError: x",
    "some text that says nothing",
    "--- FAIL: TestRead",
    "é→😀 unicode",
    "0 errors",
    "missing",
    "ok 3 - passes",
    "reads PASSED",
];

fn text(numbers: &mut Numbers) -> String {
    let mut text = String::new();
    let lines = 1 + numbers.below(160);
    let noise = 1 + numbers.below(8);
    for _ in 0..lines {
        let phrase = if numbers.below(noise) == 0 {
            numbers.below(PHRASES.len())
        } else {
            15
        };
        text += PHRASES[phrase];
        match numbers.below(8) {
            0 | 1 => text += &format!(" {}", numbers.below(1000)),
            2 => text += &" long→".repeat(numbers.below(200)),
            3 | 4 => text += [" a", " b", " c"][numbers.below(3)],
            _ => {}
        }
        text.push('\n');
    }
    if numbers.below(3) == 0 {
        text.pop();
    }
    text
}

#[test]
fn the_streaming_picker_keeps_what_the_whole_text_gives() {
    let mut numbers = Numbers(0x5eed_0001);
    for round in 0..150 {
        let text = text(&mut numbers);
        let policy = ExcerptPolicy {
            max_bytes: [512, 1024, 4096][round % 3],
            line_bytes: [400, 80][round % 2],
            ..ExcerptPolicy::default()
        };
        let share = policy.max_bytes - numbers.below(policy.max_bytes / 2);
        let size = 1 + numbers.below(400);
        let cut = stream(&text, &policy, share, || 1 + numbers.below(size));
        let bare = text.strip_suffix('\n').unwrap_or(&text);
        let expected = if bare.len() <= share {
            bare.to_owned()
        } else {
            Whole::new(&text, &policy).cut(share)
        };
        assert_eq!(cut.text, expected, "round {round}");
    }
}
