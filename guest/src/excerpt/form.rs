//! Where on a line a tool says that something failed: marks, labels and places.
//!
//! It looks at the two ends of a line; the words in between are weighed elsewhere.

use std::sync::OnceLock;

use memchr::{memchr, memmem};

use super::marks::{CALM_ENDS, CALM_STARTS, ENDS, STARTS};

/// Returns the grade that the two ends of a line give; 0 where they say nothing.
pub(super) fn ends(line: &str) -> u8 {
    let marks = Marks::telling();
    let bare = without_times(line);
    marks
        .start(line)
        .max(marks.end(bare))
        .max(numbered(line))
        .max(framed(line))
        .max(starred(line))
}

/// Returns the grade that the start of a line gives.
pub(super) fn start(line: &str) -> u8 {
    Marks::telling().start(line)
}

/// Returns whether the two ends of a line say that nothing failed here.
pub(super) fn is_calm(line: &str) -> bool {
    let has = |text: &str| memmem::find(line.as_bytes(), text.as_bytes()).is_some();
    let end = without_times(line);
    Marks::calm().start(line) > 0
        || Marks::calm().end(end) > 0
        || (has(" -o ") && (has(" -c ") || has(" -I") || has(" -l")))
}

/// The marks by the byte that tells most of them apart.
struct Marks {
    starts: Vec<Vec<(&'static str, u8)>>,
    ends: Vec<Vec<(&'static str, u8)>>,
}

impl Marks {
    /// Returns the marks of failure.
    fn telling() -> &'static Self {
        static MARKS: OnceLock<Marks> = OnceLock::new();
        MARKS.get_or_init(|| Self::new(STARTS.iter().copied(), ENDS.iter().copied()))
    }

    /// Returns the marks of lines that tell of none.
    fn calm() -> &'static Self {
        static MARKS: OnceLock<Marks> = OnceLock::new();
        MARKS.get_or_init(|| {
            let starts = CALM_STARTS.iter().map(|mark| (*mark, 1));
            Self::new(starts, CALM_ENDS.iter().map(|mark| (*mark, 1)))
        })
    }

    fn new(
        starts: impl Iterator<Item = (&'static str, u8)>,
        ends: impl Iterator<Item = (&'static str, u8)>,
    ) -> Self {
        Self {
            starts: by_byte(starts, |mark| mark.bytes().next()),
            ends: by_byte(ends, |mark| mark.bytes().next_back()),
        }
    }

    fn start(&self, line: &str) -> u8 {
        let marks = line
            .bytes()
            .next()
            .and_then(|first| self.starts.get(usize::from(first)));
        best(marks, |mark| line.starts_with(mark))
    }

    fn end(&self, line: &str) -> u8 {
        let marks = line
            .bytes()
            .next_back()
            .and_then(|last| self.ends.get(usize::from(last)));
        best(marks, |mark| line.ends_with(mark))
    }
}

/// Returns the marks in a list for each byte.
fn by_byte(
    marks: impl Iterator<Item = (&'static str, u8)>,
    key: impl Fn(&str) -> Option<u8>,
) -> Vec<Vec<(&'static str, u8)>> {
    let mut lists = vec![Vec::new(); 256];
    for (mark, grade) in marks {
        let list = key(mark).and_then(|byte| lists.get_mut(usize::from(byte)));
        if let Some(list) = list {
            list.push((mark, grade));
        }
    }
    lists
}

fn best(marks: Option<&Vec<(&str, u8)>>, holds: impl Fn(&str) -> bool) -> u8 {
    marks
        .into_iter()
        .flatten()
        .filter(|(mark, _)| holds(mark))
        .map(|(_, grade)| *grade)
        .max()
        .unwrap_or(0)
}

/// Returns whether the line only belongs to one that explains more: a stack frame, a note.
pub(super) fn is_aside(line: &str) -> bool {
    (line.starts_with("at ") && line.contains(['(', ':']))
        || memmem::find(line.as_bytes(), b": note:").is_some()
        || line.starts_with("note:")
}

/// Returns the line without the duration or the share of the whole at its end: `(0.01 s)`,
/// `[ 37%]`, `in 0.3s`, `0.01 sec`.
fn without_times(line: &str) -> &str {
    let mut text = line.trim_end();
    if text.ends_with([')', ']'])
        && let Some((before, inside)) = text.rsplit_once(['(', '['])
        && inside.len() < 24
        && inside.bytes().any(|byte| byte.is_ascii_digit())
    {
        text = before.trim_end();
    }
    let bare = text
        .strip_suffix("sec")
        .or_else(|| text.strip_suffix("ms"))
        .or_else(|| text.strip_suffix('s'));
    if let Some(bare) = bare {
        let bare = bare.trim_end();
        let number = bare.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if number.len() < bare.len() {
            let number = number.trim_end();
            text = number.strip_suffix(" in").unwrap_or(number).trim_end();
        }
    }
    text
}

/// `  1) name`: the lists of failures of several test runners.
fn numbered(line: &str) -> u8 {
    let name = line.trim_start_matches(|character: char| character.is_ascii_digit());
    if name.len() < line.len() && line.len() - name.len() <= 4 && name.starts_with(") ") {
        5
    } else {
        0
    }
}

/// `E   assert …`, `____ name ____` and `---- name ----`.
fn framed(line: &str) -> u8 {
    if line.starts_with("E  ") {
        return 6;
    }
    if line.starts_with("---- ") && line.ends_with(" ----") {
        return 5;
    }
    let framed = line.starts_with("___") && line.ends_with("__") && line.contains(' ');
    if framed { 5 } else { 0 }
}

/// `make[2]: *** [target] Error 1` and `***Failed`.
fn starred(line: &str) -> u8 {
    let star = memchr(b'*', line.as_bytes());
    let parts = star.and_then(|at| line.split_at_checked(at));
    let parts = parts.filter(|(_, after)| after.starts_with("***"));
    match parts.map(|(before, after)| (before, after.trim_start_matches('*'))) {
        Some((before, after)) if before.ends_with("]: ") || before.ends_with(": ") => {
            if after.contains("Error") || after.contains("Stop") {
                5
            } else {
                3
            }
        }
        Some((_, after))
            if ["Failed", "Timeout", "Exception", "Not Run", " FAILED"]
                .iter()
                .any(|word| after.starts_with(word)) =>
        {
            6
        }
        _ => 0,
    }
}
