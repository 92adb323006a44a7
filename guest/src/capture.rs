//! Both streams of one run while they are read: decode, normalise, redact, cut, in this order.
//!
//! It gives out nothing that has not been redacted, and its memory depends on the policy, not on
//! how much is pushed.

use std::rc::Rc;

use serde::Serialize;

use crate::excerpt::{Cut, Picker, Shares, share};
use crate::expect::{self, Expectations, Judgement, Observed, Watch};
use crate::passage::{Outlet, Passage};
use crate::redact::{Findings, Redactor, Rules};
use crate::text::PlainText;

pub use crate::excerpt::{CaptureOptions, ExcerptPolicy};

/// Which of the two output streams of a command some bytes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// File descriptor 1 of the command.
    Stdout,
    /// File descriptor 2 of the command.
    Stderr,
}

/// Both streams of one run.
#[derive(Debug)]
pub struct Capture {
    stdout: Stream,
    stderr: Stream,
    max_bytes: usize,
    newest: Source,
    expectations: Expectations,
}

impl Capture {
    /// Starts an empty capture. The policy must have been checked.
    #[must_use]
    pub fn new(rules: Rc<Rules>, policy: ExcerptPolicy) -> Self {
        Self {
            max_bytes: policy.max_bytes,
            stdout: Stream::new(Rc::clone(&rules), policy.clone()),
            stderr: Stream::new(rules, policy),
            newest: Source::Stdout,
            expectations: Expectations::default(),
        }
    }

    /// Returns the capture with what is expected of the streams, before anything was pushed.
    #[must_use]
    pub fn expecting(mut self, expectations: Expectations) -> Self {
        if !expectations.is_empty() {
            self.stdout.watch = Some(Watch::new(expectations.clone()));
            self.stderr.watch = Some(Watch::new(expectations.clone()));
        }
        self.expectations = expectations;
        self
    }

    /// Takes the next bytes of a stream. How a stream is cut into pushes does not matter.
    pub fn push(&mut self, source: Source, bytes: &[u8]) {
        self.take(source, bytes, None);
    }

    /// Takes the next bytes of a stream as [`Capture::push`] does, and returns the redacted text
    /// that became certain by them.
    pub fn push_through(&mut self, source: Source, bytes: &[u8]) -> Passage {
        let mut passage = self.stream(source).passage();
        self.take(source, bytes, Some(&mut passage));
        self.stream(source).passed(&passage);
        passage
    }

    /// Ends the text of a stream and returns what was held back of it. What is pushed to this
    /// stream afterwards is not looked at.
    pub fn flush(&mut self, source: Source) -> Passage {
        let stream = self.stream(source);
        let mut passage = stream.passage();
        stream.flush(Some(&mut passage));
        stream.passed(&passage);
        passage
    }

    fn take(&mut self, source: Source, bytes: &[u8], passage: Option<&mut Passage>) {
        let stream = self.stream(source);
        let before = stream.picker.lines();
        stream.push(bytes, passage);
        if stream.picker.lines() > before {
            self.newest = source;
        }
    }

    fn stream(&mut self, source: Source) -> &mut Stream {
        match source {
            Source::Stdout => &mut self.stdout,
            Source::Stderr => &mut self.stderr,
        }
    }

    /// Notes that the end of a stream was seen.
    pub fn end(&mut self, source: Source) {
        match source {
            Source::Stdout => self.stdout.end_seen = true,
            Source::Stderr => self.stderr.end_seen = true,
        }
    }

    /// Returns the newest complete line of either stream, redacted and clamped; the empty text
    /// while there is none.
    #[must_use]
    pub fn newest_line(&self) -> String {
        match self.newest {
            Source::Stdout => self.stdout.picker.newest_line(),
            Source::Stderr => self.stderr.picker.newest_line(),
        }
    }

    /// Ends the capture, whether or not the ends of the streams were seen.
    #[must_use]
    pub fn finish(mut self) -> Captured {
        self.stdout.flush(None);
        self.stderr.flush(None);
        let watched = Watched {
            expectations: self.expectations,
            stdout: self.stdout.observed(),
            stderr: self.stderr.observed(),
        };
        let Shares { stdout, stderr } = share(
            self.max_bytes,
            self.stdout.picker.needs(),
            self.stderr.picker.needs(),
        );
        Captured {
            stdout: self.stdout.cut(stdout),
            stderr: self.stderr.cut(stderr),
            watched,
        }
    }
}

/// What is kept of both streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Of standard output.
    pub stdout: Excerpt,
    /// Of standard error.
    pub stderr: Excerpt,
    /// What was found of what is expected.
    pub watched: Watched,
}

/// What was found of what is expected, in both streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    expectations: Expectations,
    stdout: Vec<expect::InStream>,
    stderr: Vec<expect::InStream>,
}

impl Captured {
    /// Judges what is expected, with the exit code and the duration of the command.
    #[must_use]
    pub fn judge(&self, exit_code: Option<i32>, duration_ms: Option<u64>) -> Vec<Judgement> {
        let observed = Observed {
            stdout: self.watched.stdout.clone(),
            stderr: self.watched.stderr.clone(),
            ends_seen: self.stdout.numbers.end_seen && self.stderr.numbers.end_seen,
            exit_code,
            duration_ms,
        };
        expect::judge(&self.watched.expectations, &observed)
    }
}

/// What is kept of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The kept lines and the markers for what is left out, joined by newlines.
    pub text: String,
    /// The numbers of the stream.
    pub numbers: StreamNumbers,
    /// What was redacted, in all of the stream.
    pub findings: Findings,
}

/// The numbers of a stream, as they stand in a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StreamNumbers {
    /// Bytes read.
    pub bytes: u64,
    /// Lines read; an unterminated last line counts.
    pub lines: u64,
    /// Lines in the excerpt.
    #[serde(skip_serializing_if = "is_zero")]
    pub lines_kept: u64,
    /// Lines that the markers stand for.
    #[serde(skip_serializing_if = "is_zero")]
    pub lines_omitted: u64,
    /// Bytes of the redacted text that are in no kept line, and those that clamps left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes_omitted: u64,
    /// Carriage-return frames that a later frame overwrote.
    #[serde(skip_serializing_if = "is_zero")]
    pub frames_collapsed: u64,
    /// Kept lines that were shortened.
    #[serde(skip_serializing_if = "is_zero")]
    pub lines_clamped: u64,
    /// Bytes that were not UTF-8 and are shown as U+FFFD.
    #[serde(skip_serializing_if = "is_zero")]
    pub invalid_bytes: u64,
    /// Escape sequences and control characters taken out.
    #[serde(skip_serializing_if = "is_zero")]
    pub controls_removed: u64,
    /// Whether the end of the stream was seen.
    pub end_seen: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One stream on its way from bytes to an excerpt.
#[derive(Debug)]
struct Stream {
    bytes: u64,
    end_seen: bool,
    /// Nothing more is taken.
    flushed: bool,
    /// How much of the line that is still open was given out.
    given: u64,
    text: PlainText,
    redactor: Redactor,
    picker: Picker,
    watch: Option<Watch>,
    /// Lines that ended with a newline; known once the stream was flushed.
    lines: u64,
}

impl Stream {
    fn new(rules: Rc<Rules>, policy: ExcerptPolicy) -> Self {
        Self {
            bytes: 0,
            end_seen: false,
            flushed: false,
            given: 0,
            text: PlainText::default(),
            redactor: Redactor::with_seams(rules),
            picker: Picker::new(policy),
            watch: None,
            lines: 0,
        }
    }

    fn push(&mut self, bytes: &[u8], passage: Option<&mut Passage>) {
        if self.flushed {
            return;
        }
        self.bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let Self {
            text,
            redactor,
            picker,
            watch,
            ..
        } = self;
        let mut outlet = Outlet {
            picker,
            passage,
            watch: watch.as_mut(),
        };
        text.push(bytes, |piece| outlet.pass(piece, redactor));
    }

    fn flush(&mut self, passage: Option<&mut Passage>) {
        if std::mem::replace(&mut self.flushed, true) {
            return;
        }
        let Self {
            text,
            redactor,
            picker,
            watch,
            ..
        } = self;
        let mut outlet = Outlet {
            picker,
            passage,
            watch: watch.as_mut(),
        };
        text.finish(|piece| outlet.pass(piece, redactor));
        if let Some(watch) = &mut outlet.watch {
            watch.end();
        }
        redactor.finish(&mut outlet);
        self.lines = picker.lines();
        self.picker.end();
    }

    fn passage(&self) -> Passage {
        Passage::after(self.given)
    }

    fn passed(&mut self, passage: &Passage) {
        self.given = passage.open_bytes();
    }

    fn observed(&mut self) -> Vec<expect::InStream> {
        let watch = self.watch.take();
        watch.map_or_else(Vec::new, |watch| watch.finish(self.lines))
    }

    fn cut(self, share: usize) -> Excerpt {
        let Cut {
            text,
            lines,
            lines_kept,
            lines_omitted,
            bytes_omitted,
            lines_clamped,
        } = self.picker.cut(share);
        let numbers = StreamNumbers {
            bytes: self.bytes,
            lines,
            lines_kept,
            lines_omitted,
            bytes_omitted,
            frames_collapsed: self.text.frames_collapsed(),
            lines_clamped,
            invalid_bytes: self.text.invalid_bytes(),
            controls_removed: self.text.controls_removed(),
            end_seen: self.end_seen,
        };
        Excerpt {
            text,
            numbers,
            findings: self.redactor.findings().clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::RedactionPolicy;

    fn capture() -> Capture {
        let rules = Rules::compile(&RedactionPolicy::default(), &[]).unwrap();
        Capture::new(Rc::new(rules), ExcerptPolicy::default())
    }

    /// Passes a text through in pieces of `size` bytes, and follows what is given and taken back.
    fn through(bytes: &[u8], size: usize) -> (String, Captured) {
        let mut capture = capture();
        let mut kept = String::new();
        let mut add = |passage: Passage| {
            let stays = kept.len() - usize::try_from(passage.taken_back()).unwrap();
            kept.truncate(stays);
            kept.push_str(passage.text());
        };
        for piece in bytes.chunks(size) {
            add(capture.push_through(Source::Stdout, piece));
        }
        add(capture.flush(Source::Stdout));
        (kept, capture.finish())
    }

    fn sample() -> Vec<u8> {
        let secret = ["ghp_", "R7xK2mVq9TzLw4Ns", "8YbHc3JdPf6GaQe1UoWi"].concat();
        let mut text = String::from("plain\n\u{1b}[31mred\u{1b}[0m\r\n10%\r20%\n");
        text.push_str(&format!("token {secret} here\n"));
        // A line so long that parts of it are given before its rule is met.
        let long = "x y ".repeat(40_000);
        text.push_str(&format!(
            "{long} Authorization: Bearer {}\n",
            "q8Zr2".repeat(5)
        ));
        text.push_str("after\nunended é");
        let mut bytes = text.into_bytes();
        bytes.extend([0xff, 0xc3]);
        bytes
    }

    #[test]
    fn what_passes_through_is_the_text_whose_lines_are_counted_for_every_chunking() {
        let bytes = sample();
        let (whole, captured) = through(&bytes, bytes.len());
        assert!(whole.starts_with("plain\nred\n20%\ntoken "), "{whole:.80}");
        assert!(whole.ends_with("\nafter\nunended é\u{fffd}\u{fffd}"));
        assert!(!whole.contains("q8Zr2"));
        assert!(!whole.contains("R7xK2mVq9"));
        assert!(whole.contains("\n[REDACTED]\nafter"));
        let lines = u64::try_from(whole.lines().count()).unwrap();
        assert_eq!(captured.stdout.numbers.lines, lines);
        for size in [1, 7, 4096, 65_536, 100_000] {
            let (kept, cut) = through(&bytes, size);
            assert!(kept == whole, "in pieces of {size}");
            let told = |captured: &Captured| {
                let stdout = captured.stdout.clone();
                (stdout.text, stdout.numbers, stdout.findings.lines)
            };
            assert_eq!(told(&cut), told(&captured), "in pieces of {size}");
        }
    }

    #[test]
    fn a_capture_that_passes_its_text_through_keeps_what_another_keeps() {
        let bytes = sample();
        let mut plain = capture();
        plain.push(Source::Stdout, &bytes);
        let (plain, passed) = (plain.finish(), through(&bytes, 1000).1);
        assert_eq!(plain.stdout, passed.stdout);
        assert_eq!(plain.stderr, passed.stderr);
    }

    #[test]
    fn no_control_character_glues_a_token_to_what_stands_before_it() {
        let token = ["hf_", "QDMe", "xRtKvLpWzNqYbHsGjCfUaTeXoVmZkPr"].concat();
        for between in ["\0", "\u{1}", "\u{1f}", "\0\0\0"] {
            let line = format!("login{between}{token}{between}next\n");
            let (kept, captured) = through(line.as_bytes(), 3);
            assert!(!kept.contains(&token), "{kept}");
            assert!(!captured.stdout.text.contains(&token));
        }
    }

    #[test]
    fn what_comes_after_the_flush_is_not_looked_at() {
        let mut capture = capture();
        capture.push(Source::Stdout, b"one\ntwo");
        assert_eq!(
            capture.flush(Source::Stdout).text(),
            "one\ntwo".get(4..).unwrap()
        );
        assert_eq!(capture.push_through(Source::Stdout, b"three\n").text(), "");
        assert_eq!(capture.flush(Source::Stdout).text(), "");
        assert_eq!(capture.finish().stdout.text, "one\ntwo");
    }

    #[test]
    fn what_redaction_finds_for_the_excerpt_is_what_it_would_find_alone() {
        let secret = ["ghp_", "R7xK2mVq9TzLw4Ns", "8YbHc3JdPf6GaQe1UoWi"].concat();
        let cases = include_str!("../tests/cases/grades.txt").lines();
        let cases: Vec<&str> = cases
            .filter_map(|case| Some(case.split_once('\t')?.1))
            .collect();
        for step in 0..8 {
            let mut text = String::new();
            for (number, line) in (0..).zip(&cases) {
                text.push_str(&"an ordinary line\n".repeat((number * step) % 5));
                if (number + step) % 11 == 0 {
                    text.push_str(&format!("failed with {secret}\n"));
                }
                text.push_str(&format!("{}{line}\n", " ".repeat(number % 7)));
            }
            let mut capture = capture();
            for piece in text.as_bytes().chunks(1000 * (step + 1)) {
                capture.push(Source::Stdout, piece);
            }
            let captured = capture.finish().stdout;
            let rules = Rules::compile(&RedactionPolicy::default(), &[]).unwrap();
            let (redacted, _) = crate::redact::redact(&Rc::new(rules), &text);
            let mut alone = Picker::new(ExcerptPolicy::default());
            crate::redact::Sink::text(&mut alone, &redacted);
            alone.end();
            let cut = alone.cut(ExcerptPolicy::default().max_bytes);
            assert!(captured.text.contains("...truncated "));
            assert_eq!(captured.text, cut.text);
            assert_eq!(captured.numbers.lines, cut.lines);
            assert_eq!(captured.numbers.bytes_omitted, cut.bytes_omitted);
        }
    }
}
