//! The body of a private key, line by line, whatever stands around it on every line.
//!
//! A body is told by runs of base64 that look random. What stands before and behind them may
//! change from line to line: numbers, times, quotes, tags, marks of a diff. A key ends at its
//! end mark, at the third line without a piece of it, and after 400 lines, numbering included.

use super::armour::{Run, is_random, runs};
use super::bytes::{at, before, find_from, part, run_end, text};

/// Most lines of one block.
pub(super) const LINES_MAX: usize = 400;
/// Most lines in a row that are no part of a key and still within it.
const OTHERS_MAX: usize = 2;
/// The same before the first piece, where headers may stand that were wrapped.
const OTHERS_FIRST: usize = 4;
/// Shortest piece of a key that is told by itself among other text.
const PIECE: usize = 40;
/// Shortest piece that is told where it stands alone on its line.
const ALONE: usize = 16;
/// Longest beginning of a line before a frame: indentation, a number, a time.
const PREFIX_MAX: usize = 64;

/// What was learnt of a key so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    lines: usize,
    /// Lines without a piece since the last one with one.
    others: usize,
    /// The widest line so far.
    width: usize,
    /// What stands before the first and the last piece of a line.
    edges: Option<[Edge; 2]>,
    /// Nothing but the frame stood on the line of the beginning.
    is_alone: bool,
    /// Where the frame began, and whether it looked like one rather than like a mention.
    frame: Option<(usize, bool)>,
    /// A line shorter than the widest ended the body, if nothing goes on.
    was_short: bool,
    /// What ends its lines is spelt out, so that its text goes on wherever a line ends.
    is_escaped: bool,
}

/// What a line is to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineOfKey {
    /// It holds a piece.
    Body {
        start: usize,
        end: usize,
        /// The end mark stands behind the piece.
        is_last: bool,
    },
    /// It stands among the pieces.
    Between,
    /// It does not belong to the key any more.
    After,
}

/// What stands right before a piece, and what behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) before: [u8; 2],
    behind: u8,
}

impl Edge {
    pub(super) fn of(line: &str, start: usize, end: usize) -> Self {
        let bytes = line.as_bytes();
        let alike = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte };
        let second = start.checked_sub(1).map_or(0, |at| before(bytes, at));
        Self {
            before: [alike(second), alike(before(bytes, start))],
            behind: alike(at(bytes, end)),
        }
    }
}

impl Key {
    /// Starts below the line on which a frame stands from `start` to `end`.
    pub(super) fn below(line: &str, start: usize, end: usize) -> Self {
        let last = before(line.as_bytes(), start);
        let is_border = start == 0 || last.is_ascii_whitespace() || last.is_ascii_punctuation();
        let is_closed = is_trimming(text(line, end, line.len()));
        // In a diff the dash of a removed line runs into those of the frame.
        let is_removed = text(line, start, end).starts_with("------");
        let mut key = Self {
            is_alone: is_trimming(text(line, 0, start)) && is_closed,
            frame: Some((
                start + usize::from(is_removed),
                is_border && is_closed && start <= PREFIX_MAX,
            )),
            is_escaped: goes_on_escaped(part(line.as_bytes(), end, line.len())),
            ..Self::default()
        };
        if let Some(run) =
            runs(line).find(|run| run.start >= end && key.is_piece(line, *run, false))
        {
            key.learn(line, run, run);
        }
        key
    }

    /// Starts behind a line whose piece is known.
    pub(super) fn after(line: &str, start: usize, end: usize) -> Self {
        let mut key = Self {
            is_alone: true,
            ..Self::default()
        };
        let run = Run { start, end };
        key.learn(line, run, run);
        key
    }

    /// Starts before lines that are known to be those of a key.
    pub(super) fn before_body(width: usize) -> Self {
        Self {
            width,
            is_alone: true,
            ..Self::default()
        }
    }

    /// Starts below a header that announces the body.
    pub(super) fn after_header() -> Self {
        Self::before_body(0)
    }

    fn learn(&mut self, line: &str, first: Run, last: Run) {
        self.was_short = last.len() < self.width;
        self.width = self.width.max(last.len());
        self.edges = Some([first, last].map(|run| Edge::of(line, run.start, run.end)));
        self.others = 0;
    }

    /// Judges the next line.
    pub(super) fn line(&mut self, line: &str) -> LineOfKey {
        self.lines += 1;
        if self.lines > LINES_MAX {
            return LineOfKey::After;
        }
        let bytes = line.as_bytes();
        let mark = find_from(bytes, 0, b"-----END").or_else(|| find_from(bytes, 0, b"-----BEGIN"));
        let until = mark.unwrap_or(bytes.len());
        if self.is_escaped
            && let Some(body) = escaped_body(line, until, mark.is_some())
        {
            self.others = 0;
            return body;
        }
        let mut first: Option<Run> = None;
        let mut last = None;
        for run in runs(line).filter(|run| run.end <= until) {
            let joined = last.filter(|last: &Run| {
                let between = text(line, last.end, run.start);
                between.len() <= 8 && is_trimming(between) && is_mixed(bytes, run)
            });
            let piece = self.piece(line, run, mark);
            let Some(run) = piece.or(joined.map(|_| run)) else {
                continue;
            };
            first = first.or(Some(run));
            last = Some(run);
        }
        let (Some(first), Some(last)) = (first, last) else {
            return self.without_piece(line, mark.is_some());
        };
        self.learn(line, first, last);
        LineOfKey::Body {
            start: first.start,
            end: last.end,
            is_last: mark.is_some(),
        }
    }

    fn without_piece(&mut self, line: &str, is_marked: bool) -> LineOfKey {
        if is_marked {
            return LineOfKey::After;
        }
        if !is_gutter(line) && !is_header(line) {
            self.others += 1;
            let most = if self.edges.is_some() {
                OTHERS_MAX
            } else {
                OTHERS_FIRST
            };
            // Behind its last, shorter line a key is over.
            if self.was_short || self.others > most {
                return LineOfKey::After;
            }
        }
        LineOfKey::Between
    }

    /// Returns the part of a run that is a piece of this key; the frame's end may stand at `mark`.
    fn piece(&self, line: &str, run: Run, mark: Option<usize>) -> Option<Run> {
        let run = self.unmarked(line, run);
        let is_framed = mark.is_some_and(|mark| mark - run.end.min(mark) <= 16);
        (run.len() >= 4 && self.is_piece(line, run, is_framed)).then_some(run)
    }

    /// Returns a run without the marks of a diff, which are characters of base64 as well.
    fn unmarked(&self, line: &str, run: Run) -> Run {
        let bytes = line.as_bytes();
        let inner = Run {
            start: run.start + usize::from(at(bytes, run.start) == b'+'),
            ..run
        };
        let both = Run {
            end: run.end - usize::from(inner.len() > 1 && before(bytes, run.end) == b'+'),
            ..inner
        };
        let is_usual = |run: &Run| run.len() == self.width || matches!(run.len(), 64 | 70 | 76);
        let any_edge = |is: fn(&Edge) -> bool| self.edges.is_some_and(|edges| edges.iter().any(is));
        if inner.start == run.start || is_usual(&run) {
            run
        } else if is_usual(&both) || any_edge(|edge| edge.behind == b'+') {
            both
        } else if is_usual(&inner) || any_edge(|edge| edge.before.last() == Some(&b'+')) {
            inner
        } else {
            run
        }
    }

    fn is_piece(&self, line: &str, run: Run, is_framed: bool) -> bool {
        let bytes = part(line.as_bytes(), run.start, run.end);
        let is_bare =
            is_trimming(text(line, 0, run.start)) && is_trimming(text(line, run.end, line.len()));
        let is_wide = run.len() >= ALONE && run.len() == self.width;
        let here = Edge::of(line, run.start, run.end);
        let has_edge = |is: &dyn Fn(&Edge) -> bool| {
            self.edges.is_some_and(|edges| {
                edges
                    .iter()
                    .any(|edge| here.before == edge.before && is(edge))
            })
        };
        let goes_on = self.others == 0 || has_mixture(bytes) && has_edge(&|_| true);
        if is_random(bytes) && run.len() >= PIECE || is_wide && goes_on {
            return true;
        }
        let is_first = self.edges.is_none()
            && run.len() >= PIECE
            && self.frame.is_some_and(|(start, is_framed)| {
                run.start == start || is_framed && run.start <= start + 4
            });
        if is_first {
            return true;
        }
        let is_short_body = is_bare && self.is_alone && run.len() >= 8 && has_mixture(bytes);
        let is_same_place = run.len() <= self.width
            && has_mixture(bytes)
            && has_edge(&|edge| here.behind == edge.behind || is_bare || is_framed);
        self.others == 0 && (is_short_body || is_same_place)
            || is_random(bytes) && run.len() >= ALONE && is_bare
    }
}

/// Says whether bytes begin with what ends a line, spelt out or as Unicode has it.
pub(super) fn is_escape(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\\")
        || bytes.starts_with(b"\xe2\x80\xa8")
        || bytes.starts_with(b"\xe2\x80\xa9")
}

/// Says whether the body goes on below with its line ends spelt out: code that names a frame has a
/// quote behind it.
fn goes_on_escaped(behind: &[u8]) -> bool {
    let is_part = |byte: &u8| is_escaped_body(*byte) || matches!(byte, b' ' | b'\t' | b'\r');
    is_escape(behind) && behind.iter().all(is_part)
}

/// Says whether a byte may stand in the body of a key whose line ends are spelt out.
pub(super) const fn is_escaped_body(byte: u8) -> bool {
    super::bytes::is_base64(byte) || matches!(byte, b'\\' | 0xe2 | 0x80 | 0xa8 | 0xa9)
}

/// Returns the part of a line that belongs to a body whose line ends are spelt out: from the first
/// long or last piece to the last one.
fn escaped_body(line: &str, until: usize, is_last: bool) -> Option<LineOfKey> {
    let bytes = part(line.as_bytes(), 0, until);
    let mut span: Option<(usize, usize)> = None;
    let mut position = 0;
    while position < until {
        let start = run_end(bytes, position, |byte| !is_escaped_body(byte));
        let end = run_end(bytes, start, is_escaped_body);
        let piece = part(bytes, start, end);
        let is_rest = is_last && end == until;
        let is_whole = !is_last && piece.len() >= 4 && piece.len() == line.trim().len();
        let is_long = piece.len() >= ALONE && has_mixture(piece);
        if is_long || is_whole || is_rest && !piece.is_empty() {
            span = Some((span.map_or(start, |(first, _)| first), end));
        }
        position = end.max(start + 1);
    }
    let (start, end) = span?;
    Some(LineOfKey::Body {
        start: line.floor_char_boundary(start),
        end: line.ceil_char_boundary(end),
        is_last,
    })
}

/// Says whether a text looks like a piece of base64 rather than like a word.
pub(super) fn has_mixture(run: &[u8]) -> bool {
    let inner = run.get(1..).unwrap_or_default();
    run.iter()
        .any(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'/' | b'='))
        || inner.iter().any(u8::is_ascii_uppercase) && run.iter().any(u8::is_ascii_lowercase)
}

fn is_mixed(bytes: &[u8], run: Run) -> bool {
    run.len() >= 4 && has_mixture(part(bytes, run.start, run.end))
}

/// Says whether what stands around a piece is nothing but marks: no letters, but for escapes
/// and tags.
fn is_trimming(around: &str) -> bool {
    let mut is_tag = false;
    let mut was = b' ';
    around.len() <= 64
        && around.bytes().all(|byte| {
            let is_escape = was == b'\\' && matches!(byte, b'n' | b'r' | b't');
            was = byte;
            match byte {
                b'<' => is_tag = true,
                b'>' => is_tag = false,
                _ => {}
            }
            is_tag || is_escape || !byte.is_ascii_alphabetic()
        })
}

/// Says whether a line is one of those that numbering and wrapping leave between the pieces:
/// blank, a number, marks.
pub(super) fn is_gutter(line: &str) -> bool {
    line.len() <= 64 && !line.bytes().any(|byte| byte.is_ascii_alphabetic())
        || line.bytes().filter(u8::is_ascii_alphabetic).count() <= 2 && line.len() <= 8
}

/// Says whether the line is a header of armour, or the rest of one that was wrapped.
fn is_header(line: &str) -> bool {
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
