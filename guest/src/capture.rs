//! Both streams of one run while they are read: decode, normalise, redact, cut, in this order.
//!
//! It gives out nothing that has not been redacted, and its memory depends on the policy, not on
//! how much is pushed.

use std::rc::Rc;

use serde::Serialize;

use crate::excerpt::{Cut, Picker, Shares, share};
use crate::expect::{self, Expectations, Judgement, Observed, Watch};
use crate::redact::{Findings, Redactor, Rules, Sink};
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
        let stream = match source {
            Source::Stdout => &mut self.stdout,
            Source::Stderr => &mut self.stderr,
        };
        let before = stream.picker.lines();
        stream.push(bytes);
        if stream.picker.lines() > before {
            self.newest = source;
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
        self.stdout.flush();
        self.stderr.flush();
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
            text: PlainText::default(),
            redactor: Redactor::new(rules),
            picker: Picker::new(policy),
            watch: None,
            lines: 0,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let Self {
            text,
            redactor,
            picker,
            watch,
            ..
        } = self;
        text.push(bytes, |piece| pass(piece, redactor, picker, watch.as_mut()));
    }

    fn flush(&mut self) {
        let Self {
            text,
            redactor,
            picker,
            watch,
            ..
        } = self;
        text.finish(|piece| pass(piece, redactor, picker, watch.as_mut()));
        match watch {
            Some(watch) => {
                watch.end();
                redactor.finish(&mut Seen { picker, watch });
            }
            None => redactor.finish(picker),
        }
        let lines = picker.lines();
        picker.end();
        self.lines = lines;
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

/// Hands text on, past what is expected of it: before redaction, and after.
fn pass(text: &str, redactor: &mut Redactor, picker: &mut Picker, watch: Option<&mut Watch>) {
    match watch {
        Some(watch) => {
            watch.push(text);
            redactor.push(text, &mut Seen { picker, watch });
        }
        None => redactor.push(text, picker),
    }
}

/// Redacted text on its way into the excerpt, where lines are awaited that may be shown.
struct Seen<'s> {
    picker: &'s mut Picker,
    watch: &'s mut Watch,
}

impl Sink for Seen<'_> {
    fn text(&mut self, text: &str) {
        self.watch.see(text, self.picker.lines());
        self.picker.text(text);
    }

    fn retract_line(&mut self) {
        self.watch.retract_line();
        self.picker.retract_line();
    }
}
