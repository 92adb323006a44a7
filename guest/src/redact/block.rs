//! What one line says about the next: private keys in blocks, and names whose value stands below.
//!
//! Every judgement is made on whole lines.

use memchr::{memchr, memmem};

use super::below::{opened_value, value_step};
use super::bytes::{before, find_from, part, run_end, run_start, skip_blanks, text};
use super::hit::{Family, RuleRef};
use super::name::Meaning;
use super::scan::Mark;

/// Most lines of one block.
const LINES_MAX: usize = 200;
/// Longest beginning of a line before an armoured one: indentation, a number, a time.
const PREFIX_MAX: usize = 64;

/// The state between lines.
#[derive(Debug, Default)]
pub(super) enum Block {
    /// Nothing is open.
    #[default]
    Closed,
    /// The body of a private key.
    Key {
        /// How many bytes stood before `-----BEGIN`.
        prefix: usize,
        /// Lines of the body so far.
        lines: usize,
        /// Length of its first armoured line, or 0.
        width: usize,
        /// A line shorter than the first was seen, so the body is at its end.
        is_last: bool,
    },
    /// Lines of a key that were announced by number.
    Counted {
        /// How many are to come.
        left: usize,
    },
    /// The value of a sensitive name stands on the next line.
    Value {
        /// What the name means.
        meaning: Meaning,
        /// It must be announced by `value`.
        is_named: bool,
        /// It must stand in quotes.
        is_quoted: bool,
    },
}

/// What the state makes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The line is ordinary.
    Ordinary,
    /// This span of the line belongs to a private key.
    Key(usize, usize),
    /// This span of the line is the value of the name before.
    Value(usize, usize),
}

impl Block {
    /// Says whether the next line is to be looked at whatever it holds.
    pub(super) const fn is_open(&self) -> bool {
        !matches!(self, Self::Closed)
    }

    /// Judges the next line and goes on to the state after it, without looking for openings.
    pub(super) fn step(&mut self, line: &str) -> Step {
        match std::mem::take(self) {
            Self::Closed => Step::Ordinary,
            Self::Counted { left } => self.counted(line, left),
            Self::Value {
                meaning,
                is_named,
                is_quoted,
            } => value_step(line, meaning, is_named, is_quoted),
            Self::Key {
                prefix,
                lines,
                width,
                is_last,
            } => self.key_step(line, prefix, lines, width, is_last),
        }
    }

    fn counted(&mut self, line: &str, left: usize) -> Step {
        let trimmed = line.trim_end();
        let start = run_start(trimmed.as_bytes(), trimmed.len(), is_armour);
        if trimmed.len() - start < 8 {
            return Step::Ordinary;
        }
        if left > 1 {
            *self = Self::Counted { left: left - 1 };
        }
        Step::Key(start, trimmed.len())
    }

    fn key_step(
        &mut self,
        line: &str,
        prefix: usize,
        lines: usize,
        width: usize,
        is_last: bool,
    ) -> Step {
        let again = |width, is_last| Self::Key {
            prefix,
            lines: lines + 1,
            width,
            is_last,
        };
        if lines >= LINES_MAX || line.contains("-----END") || line.contains("-----BEGIN") {
            return Step::Ordinary;
        }
        let end = armour_end(line);
        let bytes = line.as_bytes();
        let run = run_start(bytes, end, is_armour);
        // Only the marks of a diff are letters of a key as well; whatever else stood before BEGIN
        // need not stand before the body.
        let is_marked = text(line, run, prefix)
            .bytes()
            .all(|byte| matches!(byte, b'+' | b'-'));
        let start = if prefix >= run && prefix < end && is_marked {
            prefix
        } else {
            run
        };
        let length = end - start;
        let rest = text(line, start, end);
        let is_blank = end <= prefix && length == 0;
        if is_blank && line.trim().len() <= 2 {
            *self = again(width, is_last);
            return Step::Ordinary;
        }
        if is_armour_header(line) {
            *self = again(width, false);
            return Step::Ordinary;
        }
        let is_placed =
            start <= prefix + 4 && start + 4 >= prefix.min(start + 4) && start <= PREFIX_MAX;
        let is_body = if width == 0 {
            length >= 16 && rest.len() >= 16 && (length >= 40 || has_random(rest))
        } else if is_last {
            rest.starts_with('=') && length == 5
        } else {
            length <= width + 8 && (length >= 40 || length == width || has_random(rest))
        };
        if !is_placed || !is_body {
            return Step::Ordinary;
        }
        let width = if width == 0 { length } else { width };
        *self = again(width, length < width);
        Step::Key(start, end)
    }

    /// Opens at the first line of a key in base64 that is wrapped over several.
    pub(super) fn open_encoded(&mut self, line: &str, marks: &[Mark]) {
        let length = line.trim_end().len();
        let wrapped = marks.iter().find(|mark| {
            mark.hit.rule == RuleRef::Family(Family::EncodedToken)
                && mark.hit.end == length
                && (60..=80).contains(&(mark.hit.end - mark.hit.start))
                && !line.trim_end().ends_with('=')
        });
        if let Some(mark) = wrapped {
            *self = Self::Key {
                prefix: mark.hit.start,
                lines: 1,
                width: mark.hit.end - mark.hit.start,
                is_last: false,
            };
        }
    }

    /// Looks for what the line opens.
    pub(super) fn open(&mut self, line: &str) {
        if let Some(block) = opened_key(line)
            .or_else(|| opened_count(line))
            .or_else(|| opened_value(line))
        {
            *self = block;
        }
    }
}

const fn is_armour(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Returns where the armour of a line ends, without quotes and escapes behind it.
fn armour_end(line: &str) -> usize {
    let mut end = line.trim_end().len();
    let bytes = line.as_bytes();
    while end > 0 {
        if matches!(
            before(bytes, end),
            b'"' | b'\'' | b',' | b'\\' | b'`' | b';' | b'+' | b' '
        ) && !is_plus_of_armour(bytes, end)
        {
            end -= 1;
        } else if part(bytes, end.saturating_sub(2), end) == b"\\n"
            || part(bytes, end.saturating_sub(2), end) == b"\\r"
        {
            end -= 2;
        } else {
            break;
        }
    }
    end
}

fn is_plus_of_armour(bytes: &[u8], end: usize) -> bool {
    before(bytes, end) == b'+' && end > 1 && is_armour(before(bytes, end - 1))
}

/// Says whether a short text looks like base64 rather than like a word.
fn has_random(rest: &str) -> bool {
    let upper_inside = rest.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
        && rest.bytes().any(|byte| byte.is_ascii_lowercase());
    rest.bytes()
        .any(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'/' | b'='))
        || upper_inside
}

fn is_armour_header(line: &str) -> bool {
    [
        "Proc-Type:",
        "DEK-Info:",
        "Version:",
        "Comment:",
        "Hash:",
        "Charset:",
        "MessageID:",
    ]
    .iter()
    .any(|header| line.contains(header))
}

/// Opens at `-----BEGIN … PRIVATE KEY-----` behind a short prefix and before nothing.
fn opened_key(line: &str) -> Option<Block> {
    let bytes = line.as_bytes();
    // A single byte tells most lines, without preparing a search.
    memchr(b'V', bytes)?;
    memmem::find(bytes, b"PRIVATE KEY")?;
    let begin = find_from(bytes, 0, b"-BEGIN ").or_else(|| find_from(bytes, 0, b"- BEGIN "))?;
    let begin = run_start(bytes, begin, |byte| byte == b'-');
    let label = find_from(bytes, begin, b"PRIVATE KEY")?;
    let after = run_end(bytes, label + 11, |byte| {
        byte.is_ascii_uppercase() || byte == b' '
    });
    let end = run_end(bytes, after, |byte| byte == b'-');
    let tail = text(line, end, bytes.len());
    let is_alone = end - after >= 4
        && tail.bytes().all(|byte| {
            matches!(
                byte,
                b' ' | b'"' | b'\'' | b'\\' | b'n' | b'r' | b'+' | b',' | b'\r'
            )
        })
        && label - begin < 40;
    let prefix = text(line, 0, begin);
    let last = before(bytes, begin);
    let is_short = begin <= PREFIX_MAX
        && matches!(
            last,
            0 | b' ' | b'\t' | b':' | b'=' | b'"' | b'\'' | b'`' | b'|' | b'+' | b'>' | b'('
        );
    // In a diff the dash of a removed line runs into those of the frame.
    let dashes = run_end(bytes, begin, |byte| byte == b'-') - begin;
    let prefix = prefix.len() + dashes.saturating_sub(5);
    (is_alone && is_short).then_some(Block::Key {
        prefix,
        lines: 0,
        width: 0,
        is_last: false,
    })
}

fn opened_count(line: &str) -> Option<Block> {
    let bytes = line.as_bytes();
    memchr(b'P', bytes)?;
    let found = memmem::find(bytes, b"Private-Lines:")?;
    let start = skip_blanks(bytes, found + 14);
    let end = run_end(bytes, start, |byte| byte.is_ascii_digit());
    let left = text(line, start, end).parse::<usize>().ok()?;
    (left > 0).then_some(Block::Counted {
        left: left.min(LINES_MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<Step> {
        let mut block = Block::default();
        text.lines()
            .map(|line| {
                let step = block.step(line);
                if step == Step::Ordinary {
                    block.open(line);
                }
                step
            })
            .collect()
    }

    fn key(prefix: &str, end: bool) -> String {
        let begin = ["-----BEGIN RSA PRIVATE", " KEY-----"].concat();
        let mut text = format!("{prefix}{begin}\n");
        for _ in 0..3 {
            text.push_str(&format!("{prefix}{}\n", "MIIEpAIB".repeat(8)));
        }
        text.push_str(&format!("{prefix}+lY=\n"));
        if end {
            text.push_str(&format!("{prefix}-----END RSA PRIVATE KEY-----\n"));
        }
        text.push_str("done in 3 s\nok\n");
        text
    }

    #[test]
    fn what_stands_before_begin_alone_hides_no_piece_of_the_body() {
        for before in [
            "TLS_KEY=",
            "SIGNING_KEY_PEM=",
            "loaded private key: ",
            "export K=\"",
        ] {
            let text = format!("{before}{}", key("", true));
            for line in text.lines().filter(|line| line.starts_with("MII")) {
                let mut block = Block::default();
                for earlier in text.lines().take_while(|earlier| *earlier != line) {
                    if block.is_open() {
                        block.step(earlier);
                    } else {
                        block.open(earlier);
                    }
                }
                let step = block.step(line);
                assert!(matches!(step, Step::Key(0, _)), "{before}");
            }
        }
    }

    #[test]
    fn the_body_goes_and_what_follows_stays() {
        for prefix in [
            "",
            "  ",
            "+",
            "-",
            " 12\t",
            "2026-01-01T00:00:00Z ",
            "> ",
            "    1 | ",
        ] {
            for end in [true, false] {
                let found = steps(&key(prefix, end));
                let body = found
                    .iter()
                    .filter(|step| matches!(step, Step::Key(_, _)))
                    .count();
                assert_eq!(body, 4, "{prefix:?} {end}");
                assert_eq!(found.last(), Some(&Step::Ordinary));
            }
        }
    }

    #[test]
    fn a_mention_and_a_certificate_open_nothing() {
        let certificate = format!("-----BEGIN CERTIFICATE-----\n{}\n", "MIIBszCC".repeat(8));
        for text in [
            "panic: missing -----BEGIN PRIVATE KEY----- line\ngoroutine 1 [running]:\n",
            &certificate,
        ] {
            assert!(
                steps(text).iter().all(|step| *step == Step::Ordinary),
                "{text}"
            );
        }
    }

    #[test]
    fn a_value_below_its_name_is_found() {
        let found =
            steps("- name: DB_PASSWORD\n  value: x7Kq2mPz9\n- name: PORT\n  value: \"8080\"\n");
        assert_eq!(
            found,
            [
                Step::Ordinary,
                Step::Value(9, 18),
                Step::Ordinary,
                Step::Ordinary
            ]
        );
    }
}
