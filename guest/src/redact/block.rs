//! What one line says about the next: private keys in blocks, public ones, and names whose value
//! stands below.
//!
//! Every judgement is made on whole lines. How the body of a key is told is in `key`.

use memchr::{memchr, memmem};

use super::armour;
use super::below::{opened_value, value_step};
use super::bytes::{find_from, run_end, run_start, skip_blanks, text};
use super::dump::{Dump, LineOfDump};
use super::hit::{Family, RuleRef};
use super::key::{Key, LINES_MAX, LineOfKey, is_gutter};
use super::name::Meaning;
use super::scan::Mark;

/// The state between lines.
#[derive(Debug, Default)]
pub(super) enum Block {
    /// Nothing is open.
    #[default]
    Closed,
    /// The body of a private key.
    Key(Key),
    /// The beginning of a block whose label is cut by the end of the line.
    Label {
        /// What was read of it.
        read: String,
        /// On how many lines.
        lines: usize,
    },
    /// The body of a certificate or of a public key, or another large text of the same shape,
    /// which stays.
    Public {
        /// Lines so far that are not part of it, in a row.
        others: usize,
    },
    /// A dump of bytes in which a frame began.
    Dump(Dump),
    /// Lines of a key that were announced by number.
    Counted {
        /// How many are to come.
        left: usize,
        /// What was learnt of them.
        key: Key,
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
            Self::Counted { left, key } => self.counted(line, left, key),
            Self::Value {
                meaning,
                is_named,
                is_quoted,
            } => value_step(line, meaning, is_named, is_quoted),
            Self::Label { read, lines } => self.label_step(line, &read, lines),
            Self::Public { others } => self.public_step(line, others),
            Self::Dump(dump) => self.dump_step(line, dump),
            Self::Key(mut key) => match key.line(line) {
                LineOfKey::Body {
                    start,
                    end,
                    is_last,
                } => {
                    if !is_last {
                        *self = Self::Key(key);
                    }
                    Step::Key(start, end)
                }
                LineOfKey::Between => {
                    *self = Self::Key(key);
                    Step::Ordinary
                }
                LineOfKey::After => Step::Ordinary,
            },
        }
    }

    fn counted(&mut self, line: &str, left: usize, mut key: Key) -> Step {
        let widest = || armour::runs(line).max_by_key(|run| run.len());
        let piece = match key.line(line) {
            LineOfKey::Body { start, end, .. } => Some((start, end)),
            LineOfKey::Between | LineOfKey::After => widest()
                .filter(|run| run.len() >= 8)
                .map(|run| (run.start, run.end)),
        };
        if piece.is_none() && !is_gutter(line) {
            return Step::Ordinary;
        }
        let left = left - usize::from(piece.is_some());
        if left > 0 {
            *self = Self::Counted { left, key };
        }
        piece.map_or(Step::Ordinary, |(start, end)| Step::Key(start, end))
    }

    fn label_step(&mut self, line: &str, read: &str, lines: usize) -> Step {
        let joined = format!("{read}{}", line.trim_start());
        if let Some(block) = opened_armour(&joined) {
            *self = block;
        } else if lines < 4
            && let Some(read) = cut_label(&joined)
        {
            *self = Self::Label {
                read: read.to_owned(),
                lines: lines + 1,
            };
        }
        Step::Ordinary
    }

    fn dump_step(&mut self, line: &str, mut dump: Dump) -> Step {
        match dump.line(line) {
            LineOfDump::Frame => {
                *self = Self::Dump(dump);
                Step::Ordinary
            }
            LineOfDump::Bytes {
                start,
                end,
                is_last,
            } => {
                if !is_last {
                    *self = Self::Dump(dump);
                }
                Step::Key(start, end)
            }
            LineOfDump::After => Step::Ordinary,
        }
    }

    fn public_step(&mut self, line: &str, others: usize) -> Step {
        let is_part = armour::runs(line).any(|run| run.len() >= 16);
        let others = if is_part { 0 } else { others + 1 };
        if others <= 2 && !line.contains("-----END") && !line.contains("-----BEGIN") {
            *self = Self::Public { others };
        }
        Step::Ordinary
    }

    /// Opens at the first line of a key that has no frame: one that is told by how it begins, or
    /// by the shape of its lines.
    pub(super) fn open_body(&mut self, line: &str, marks: &[Mark]) {
        if self.is_open() || line.contains("-----END") {
            return;
        }
        let body = marks.iter().find(|mark| match mark.hit.rule {
            RuleRef::Family(Family::EncodedToken) => is_wrapped_armour(line, mark),
            RuleRef::Family(Family::PrivateKey) => {
                let secret = text(line, mark.hit.start, mark.hit.end);
                armour::first_key(secret).is_some() || armour::is_joined(secret)
            }
            RuleRef::Known(_) | RuleRef::User(_) | RuleRef::Token(_) | RuleRef::Family(_) => false,
        });
        let last = body.and_then(|mark| {
            armour::runs(line)
                .filter(|run| run.start >= mark.hit.start && run.end <= mark.hit.end)
                .last()
        });
        // What is wider than lines of armour is the whole key.
        if let Some(last) = last.filter(|last| (16..=80).contains(&last.len())) {
            *self = Self::Key(Key::after(line, last.start, last.end));
        }
    }

    /// Looks for what the line opens.
    pub(super) fn open(&mut self, line: &str) {
        if let Some(block) = Dump::opened(line)
            .map(Block::Dump)
            .or_else(|| opened_armour(line))
            .or_else(|| opened_count(line))
            .or_else(|| opened_label(line))
            .or_else(|| opened_value(line))
        {
            *self = block;
        }
    }
}

fn is_wrapped_armour(line: &str, mark: &Mark) -> bool {
    let length = line.trim_end().len();
    mark.hit.end == length
        && (60..=80).contains(&(mark.hit.end - mark.hit.start))
        && !line.trim_end().ends_with('=')
}

/// Opens at `-----BEGIN …-----`: at a private key's, or at what is public.
fn opened_armour(line: &str) -> Option<Block> {
    let bytes = line.as_bytes();
    // A single byte tells most lines, without preparing a search.
    memchr(b'B', bytes)?;
    memmem::find(bytes, b"BEGIN ")?;
    let begin = find_from(bytes, 0, b"-BEGIN ").or_else(|| find_from(bytes, 0, b"- BEGIN "))?;
    let start = run_start(bytes, begin, |byte| byte == b'-');
    let label = begin + b"-BEGIN ".len();
    let after = run_end(bytes, label, |byte| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
    });
    let end = run_end(bytes, after, |byte| byte == b'-');
    if end - after < 4 || after - label > 40 {
        return None;
    }
    // What ends on its own line needs no state.
    if find_from(bytes, end, b"-----END").is_some() {
        return None;
    }
    if text(line, label, after).contains("PRIVATE KEY") {
        return Some(Block::Key(Key::below(line, start, end)));
    }
    Some(Block::Public { others: 0 })
}

/// Opens at a beginning whose label goes on below: output that was wrapped.
fn opened_label(line: &str) -> Option<Block> {
    memchr(b'B', line.as_bytes())?;
    let read = cut_label(line)?.to_owned();
    Some(Block::Label { read, lines: 1 })
}

/// Returns the beginning of a block that is cut within its label.
fn cut_label(line: &str) -> Option<&str> {
    let bytes = line.trim_end_matches('\r').as_bytes();
    let begin = find_from(bytes, 0, b"-----BEGIN")?;
    let label = begin + b"-----BEGIN".len();
    let end = run_end(bytes, label, |byte| {
        byte.is_ascii_uppercase() || byte == b' '
    });
    let end = run_end(bytes, end, |byte| byte == b'-');
    (end == bytes.len() && end - label <= 40).then(|| text(line, begin, end))
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
        key: Key::after_header(),
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
