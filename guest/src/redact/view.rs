//! Other readings of a line: without escape sequences, and with its escapes resolved.
//!
//! Every reading keeps the way back to the positions of the original line.
//! It does not change the line itself.

use memchr::memchr3;

use super::bytes::{at, before, part, run_end, text};
use crate::text::is_word;

/// A reading of a line, with the original position of every byte.
#[derive(Debug)]
pub(super) struct View {
    /// The reading.
    pub(super) text: String,
    /// For each byte of `text` where it begins in the original, and one more for the end.
    starts: Vec<usize>,
    /// For each byte of `text` where the original ends that it stands for.
    ends: Vec<usize>,
}

impl View {
    fn with_capacity(capacity: usize) -> Self {
        Self {
            text: String::with_capacity(capacity),
            starts: Vec::with_capacity(capacity),
            ends: Vec::with_capacity(capacity),
        }
    }

    fn push(&mut self, piece: &str, start: usize, end: usize) {
        self.text.push_str(piece);
        for _ in 0..piece.len() {
            self.starts.push(start);
            self.ends.push(end);
        }
    }

    fn push_plain(&mut self, piece: &str, start: usize) {
        self.text.push_str(piece);
        let end = start + piece.len();
        self.starts.extend(start..end);
        self.ends.extend(start + 1..=end);
    }

    fn pop(&mut self) {
        if let Some(last) = self.text.pop() {
            let left = self.starts.len() - last.len_utf8().min(self.starts.len());
            self.starts.truncate(left);
            self.ends.truncate(left);
        }
    }

    /// Returns the span of the original that the span of this reading stands for.
    pub(super) fn original(&self, start: usize, end: usize) -> (usize, usize) {
        let first = self.starts.get(start).copied();
        let last = end.checked_sub(1).and_then(|at| self.ends.get(at).copied());
        match (first, last) {
            (Some(first), Some(last)) => (first, last.max(first)),
            _ => (0, 0),
        }
    }

    /// Returns this reading of `line` with a blank at every seam, where something was left out
    /// between two word characters, and the places of those; nothing where there is none. What is
    /// overstruck is no seam.
    pub(super) fn apart(&self, line: &str) -> Option<(Self, Vec<usize>)> {
        let bytes = self.text.as_bytes();
        let is_seam = |place: usize| {
            let end = place
                .checked_sub(1)
                .and_then(|at| self.ends.get(at).copied());
            let start = self.starts.get(place).copied();
            let (Some(end), Some(start)) = (end, start) else {
                return false;
            };
            end < start
                && is_word(before(bytes, place))
                && is_word(at(bytes, place))
                && !text(line, end, start).contains('\u{8}')
        };
        let places: Vec<usize> = (1..bytes.len()).filter(|place| is_seam(*place)).collect();
        let mut view = Self::with_capacity(bytes.len() + places.len());
        let mut seams = Vec::with_capacity(places.len());
        let mut from = 0;
        for place in places {
            view.push_part(self, from, place);
            seams.push(view.text.len());
            let end = view.ends.last().copied().unwrap_or(0);
            view.push(" ", end, end);
            from = place;
        }
        view.push_part(self, from, bytes.len());
        (!seams.is_empty()).then_some((view, seams))
    }

    fn push_part(&mut self, other: &Self, start: usize, end: usize) {
        self.text.push_str(text(&other.text, start, end));
        self.starts
            .extend(other.starts.get(start..end).unwrap_or_default());
        self.ends
            .extend(other.ends.get(start..end).unwrap_or_default());
    }

    /// Composes two readings: this one is a reading of `inner`.
    fn through(mut self, inner: &Self) -> Self {
        for position in &mut self.starts {
            *position = inner.starts.get(*position).copied().unwrap_or(0);
        }
        for position in &mut self.ends {
            let last = position.checked_sub(1);
            *position = last.and_then(|at| inner.ends.get(at).copied()).unwrap_or(0);
        }
        self
    }
}

/// Says whether the line holds an escape sequence, a backspace, another control character, or a
/// character without width.
pub(super) fn is_dressed(line: &str) -> bool {
    // Most lines hold nothing but printable ASCII, which takes a loop without branches to see.
    let is_odd = |byte: u8| u8::from(byte < 0x20) | u8::from(byte >= 0x7f);
    line.bytes().fold(0, |any, byte| any | is_odd(byte)) != 0
        && (line
            .bytes()
            .any(|byte| byte < 0x20 && !matches!(byte, b'\t' | b'\r' | b'\n') || byte == 0x7f)
            || line.contains(is_invisible))
}

/// Returns the line without complete escape sequences, overstrikes and invisible characters.
pub(super) fn undressed(line: &str) -> View {
    let bytes = line.as_bytes();
    let mut view = View::with_capacity(line.len());
    let mut position = 0;
    loop {
        // Stretches of printable ASCII are taken whole.
        let end = run_end(bytes, position, |byte| {
            matches!(byte, b' '..=b'~' | b'\t' | b'\r')
        });
        view.push_plain(text(line, position, end), position);
        position = end;
        let Some(character) = line.get(position..).and_then(|rest| rest.chars().next()) else {
            break;
        };
        let next = position + character.len_utf8();
        match character {
            '\u{1b}' => position = sequence_end(bytes, next),
            '\u{9b}' => position = control_end(bytes, next),
            '\u{8}' => {
                view.pop();
                position = next;
            }
            _ if is_invisible(character) => position = next,
            _ if character < ' ' && character != '\n' || character == '\u{7f}' => position = next,
            _ => {
                view.push_plain(text(line, position, next), position);
                position = next;
            }
        }
    }
    view
}

/// Returns the line as `undressed` does, but with what is overstruck, where it has backspaces:
/// not every reader acts on them.
pub(super) fn without_backspaces(line: &str) -> Option<View> {
    // Another control character, which is as long, only goes.
    line.contains('\u{8}')
        .then(|| undressed(&line.replace('\u{8}', "\u{1}")))
}

const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
    )
}

/// Returns where the escape sequence ends whose ESC ends at `from`.
fn sequence_end(bytes: &[u8], from: usize) -> usize {
    let mut position = from;
    match at(bytes, position) {
        b'[' => control_end(bytes, position + 1),
        b']' | b'P' | b'_' | b'^' => {
            position += 1;
            while let Some(byte) = bytes.get(position) {
                if *byte == 7 {
                    return position + 1;
                }
                if *byte == 0x1b {
                    return if at(bytes, position + 1) == b'\\' {
                        position + 2
                    } else {
                        position
                    };
                }
                position += 1;
            }
            position
        }
        b'(' | b')' => (position + 2).min(bytes.len()),
        0x40..=0x7e => position + 1,
        _ => position,
    }
}

/// Returns where the control sequence ends whose parameters begin at `from`.
fn control_end(bytes: &[u8], from: usize) -> usize {
    let end = run_end(bytes, from, |byte| matches!(byte, 0x20..=0x3f));
    end + usize::from(matches!(at(bytes, end), 0x40..=0x7e))
}

/// How often escapes are resolved that are nested.
const NESTED: usize = 8;

/// Calls `each` with every further reading of a text: with its backslash, percent and XML escapes
/// resolved once, twice and so on, and then without what this made of escape sequences.
pub(super) fn each_unescaped(text: &str, mut each: impl FnMut(&View)) {
    let mut view: Option<View> = None;
    for _ in 0..NESTED {
        let current = view.as_ref().map_or(text, |view| view.text.as_str());
        if let Some(printable) = unquoted(current) {
            each(&match &view {
                Some(inner) => printable.through(inner),
                None => printable,
            });
        }
        let Some(next) = unescape_once(current) else {
            return;
        };
        let next = match &view {
            Some(inner) => next.through(inner),
            None => next,
        };
        each(&next);
        let next = if is_dressed(&next.text) {
            if let Some(plain) = without_backspaces(&next.text) {
                each(&plain.through(&next));
            }
            let plain = undressed(&next.text).through(&next);
            each(&plain);
            plain
        } else {
            next
        };
        view = Some(next);
    }
}

/// Says whether a text may read otherwise without its escapes.
pub(super) fn may_hold_escapes(text: &str) -> bool {
    next_escape(text.as_bytes(), 0).is_some()
}

/// What pattern languages and shells let a backslash stand before without a meaning of its own.
fn is_escaped(letter: char) -> bool {
    letter == ' ' || letter.is_ascii_punctuation()
}

fn next_escape(bytes: &[u8], from: usize) -> Option<usize> {
    memchr3(b'\\', b'%', b'&', bytes.get(from..)?).map(|at| from + at)
}

fn unescape_once(line: &str) -> Option<View> {
    let bytes = line.as_bytes();
    // Most lines hold none, and need no room.
    next_escape(bytes, 0)?;
    let mut view = View::with_capacity(line.len());
    let mut changed = false;
    let mut position = 0;
    let mut plain = 0;
    while let Some(next) = next_escape(bytes, position) {
        position = next;
        let found = match at(bytes, position) {
            b'\\' => backslash(bytes, position),
            b'%' => percent(bytes, position),
            b'&' => entity(bytes, position),
            _ => None,
        };
        let Some((character, end)) = found else {
            position += 1;
            continue;
        };
        changed = true;
        view.push_plain(text(line, plain, position), plain);
        let mut buffer = [0; 4];
        view.push(character.encode_utf8(&mut buffer), position, end);
        position = end;
        plain = end;
    }
    view.push_plain(text(line, plain, bytes.len()), plain);
    changed.then_some(view)
}

/// Returns the text with the marks of tokens and of assignments that quoted-printable spells out:
/// `=5F`. It is a reading of its own, since an equals sign mostly is one.
fn unquoted(line: &str) -> Option<View> {
    const MARKS: [(&[u8], &str); 7] = [
        (b"=5F", "_"),
        (b"=2D", "-"),
        (b"=2E", "."),
        (b"=2F", "/"),
        (b"=2B", "+"),
        (b"=3A", ":"),
        (b"=3D", "="),
    ];
    let bytes = line.as_bytes();
    let spelt = memchr::memchr_iter(b'=', bytes).filter_map(|place| {
        let written = part(bytes, place, place + 3);
        let (_, mark) = MARKS.iter().find(|(spelling, _)| *spelling == written)?;
        Some((place, *mark))
    });
    let mut view: Option<View> = None;
    let mut plain = 0;
    for (place, mark) in spelt {
        let view = view.get_or_insert_with(|| View::with_capacity(line.len()));
        view.push_plain(text(line, plain, place), plain);
        plain = place + 3;
        view.push(mark, place, plain);
    }
    let mut view = view?;
    view.push_plain(text(line, plain, line.len()), plain);
    Some(view)
}

fn backslash(bytes: &[u8], position: usize) -> Option<(char, usize)> {
    let character = match at(bytes, position + 1) {
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'e' if at(bytes, position + 2) == b'[' => '\u{1b}',
        b'0' | b'1' => {
            let digits = part(bytes, position + 1, position + 4);
            return Some((character(number(digits, 3, 8)?)?, position + 4));
        }
        b'u' if at(bytes, position + 2) == b'{' => {
            let end = run_end(bytes, position + 3, |byte| byte.is_ascii_hexdigit());
            let digits = part(bytes, position + 3, end);
            let code = number(digits, digits.len(), 16).filter(|_| at(bytes, end) == b'}')?;
            return Some((character(code)?, end + 1));
        }
        b'u' => {
            let code = number(part(bytes, position + 2, position + 6), 4, 16)?;
            return Some((character(code)?, position + 6));
        }
        b'U' => {
            let code = number(part(bytes, position + 2, position + 10), 8, 16)?;
            return Some((character(code)?, position + 10));
        }
        b'x' => {
            let code = number(part(bytes, position + 2, position + 4), 2, 16)?;
            return Some((character(code)?, position + 4));
        }
        // JSON escapes quotes and slashes, patterns and shells any punctuation.
        mark if is_escaped(char::from(mark)) => char::from(mark),
        _ => return None,
    };
    Some((character, position + 2))
}

fn percent(bytes: &[u8], position: usize) -> Option<(char, usize)> {
    let code = number(part(bytes, position + 1, position + 3), 2, 16)?;
    Some((character(code)?, position + 3))
}

fn entity(bytes: &[u8], position: usize) -> Option<(char, usize)> {
    const ENTITIES: [(&[u8], char); 14] = [
        (b"&quot;", '"'),
        (b"&apos;", '\''),
        (b"&amp;", '&'),
        (b"&lt;", '<'),
        (b"&gt;", '>'),
        (b"&lowbar;", '_'),
        (b"&UnderBar;", '_'),
        // Both are a hyphen of their own, which stands for the dash of a token.
        (b"&hyphen;", '-'),
        (b"&dash;", '-'),
        (b"&period;", '.'),
        (b"&sol;", '/'),
        (b"&plus;", '+'),
        (b"&equals;", '='),
        (b"&colon;", ':'),
    ];
    if at(bytes, position + 1) == b'#' {
        let is_hex = matches!(at(bytes, position + 2), b'x' | b'X');
        let start = position + 2 + usize::from(is_hex);
        let end = run_end(bytes, start, |byte| byte.is_ascii_hexdigit());
        let digits = part(bytes, start, end);
        let code = number(digits, digits.len(), if is_hex { 16 } else { 10 })?;
        return (at(bytes, end) == b';').then_some((character(code)?, end + 1));
    }
    ENTITIES.iter().find_map(|(entity, character)| {
        super::bytes::has_at(bytes, position, entity)
            .then_some((*character, position + entity.len()))
    })
}

/// Reads so many digits of this base as a number.
fn number(digits: &[u8], length: usize, base: u32) -> Option<u32> {
    let are_digits = digits.iter().all(|byte| char::from(*byte).is_digit(base));
    if digits.len() != length || !are_digits {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, base).ok()
}

/// Returns the character of this code where it matters to a reading: an ASCII one, or one that
/// is not seen.
fn character(code: u32) -> Option<char> {
    char::from_u32(code)
        .filter(|character| character.is_ascii() || is_invisible(*character))
        .filter(|character| *character != '\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complete_sequence_goes_with_its_final_letter() {
        let view = undressed("\u{1b}[32mab\u{1b}[0mc");
        assert_eq!(view.text, "abc");
        assert_eq!(view.original(0, 3), (5, 12));
    }

    fn readings(line: &str) -> Vec<String> {
        let mut readings = Vec::new();
        each_unescaped(line, |view| readings.push(view.text.clone()));
        readings
    }

    #[test]
    fn nested_escapes_are_resolved_one_by_one_with_their_way_back() {
        let line = r#"{\\\"a\\\":1}"#;
        let mut spans = Vec::new();
        each_unescaped(line, |view| {
            spans.push((view.text.clone(), view.original(1, 2)));
        });
        let first = (r#"{\"a\":1}"#.to_owned(), (1, 3));
        assert_eq!(spans, [first, (r#"{"a":1}"#.to_owned(), (1, 5))]);
    }

    #[test]
    fn a_line_without_escapes_has_no_second_reading() {
        assert!(readings("100% sure & done").is_empty());
        assert_eq!(readings(r"a\.b\_c\ d\w"), [r"a.b_c d\w"]);
    }

    #[test]
    fn a_character_is_read_in_every_spelling() {
        for spelling in [
            r"\_",
            "%5F",
            "&#95;",
            "&#x5f;",
            "&lowbar;",
            r"\u005f",
            r"\x5F",
            r"\u{5f}",
            r"\137",
            "&#0095;",
            "&#x005F;",
            "&UnderBar;",
            r"\U0000005f",
            "=5F",
        ] {
            assert_eq!(readings(&format!("a{spelling}b")), ["a_b"], "{spelling}");
        }
        for none in [
            r"\q", "%5", "%zz", "&#;", "&#95", "&#xzz;", r"\u{}", r"\u{5f", r"\x5", r"\19",
        ] {
            assert!(readings(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn escape_sequences_that_were_escaped_themselves_go_last() {
        for sequence in [
            r"\u001b[31m",
            r"\x1b[31m",
            r"\e[31m",
            r"\033[31m",
            r"\u{1b}[31m",
        ] {
            let readings = readings(&format!("a{sequence}b"));
            assert_eq!(readings, ["a\u{1b}[31mb", "ab"], "{sequence}");
        }
        assert_eq!(readings(r"a\u{1}b\nc"), ["a\u{1}b\nc", "ab\nc"]);
    }

    #[test]
    fn an_overstrike_is_one_character() {
        assert_eq!(undressed("p\u{8}pa\u{8}a").text, "pa");
    }
}
