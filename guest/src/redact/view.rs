//! Other readings of a line: without escape sequences, and with its escapes resolved.
//!
//! Every reading keeps the way back to the positions of the original line.
//! It does not change the line itself.

use memchr::memchr3;

use super::bytes::{at, part, run_end, text};

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

/// Says whether the line holds an escape sequence, a backspace, or a character without width.
pub(super) fn is_dressed(line: &str) -> bool {
    // Most lines hold nothing but printable ASCII, which takes a loop without branches to see.
    let is_odd = |byte: u8| u8::from(byte < 0x20) | u8::from(byte >= 0x80);
    line.bytes().fold(0, |any, byte| any | is_odd(byte)) != 0
        && (line
            .bytes()
            .any(|byte| byte < 0x20 && byte != b'\t' && byte != b'\r')
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
            '\u{8}' => {
                view.pop();
                position = next;
            }
            _ if is_invisible(character) => position = next,
            _ if character < ' ' && character != '\t' && character != '\r' => position = next,
            _ => {
                view.push_plain(text(line, position, next), position);
                position = next;
            }
        }
    }
    view
}

const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}' | '\u{9b}'
    )
}

/// Returns where the escape sequence ends whose ESC ends at `from`.
fn sequence_end(bytes: &[u8], from: usize) -> usize {
    let mut position = from;
    match at(bytes, position) {
        b'[' => {
            position += 1;
            while matches!(at(bytes, position), 0x20..=0x3f) {
                position += 1;
            }
            if matches!(at(bytes, position), 0x40..=0x7e) {
                position += 1;
            }
            position
        }
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

/// Returns the line with its backslash, percent and XML escapes resolved, as often as they are
/// nested (up to four times), or nothing where it has none.
pub(super) fn unescaped(line: &str) -> Option<View> {
    let mut view: Option<View> = None;
    for _ in 0..4 {
        let current = view.as_ref().map_or(line, |view| view.text.as_str());
        if !may_hold_escapes(current) {
            break;
        }
        let Some(next) = unescape_once(current) else {
            break;
        };
        view = Some(match view {
            Some(inner) => next.through(&inner),
            None => next,
        });
    }
    view
}

/// Returns a text without the backslashes before punctuation and blanks, or nothing where it has
/// none.
pub(super) fn without_backslashes(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        let escapes = after.starts_with(is_escaped);
        plain.push_str(before);
        if !escapes {
            plain.push('\\');
        }
        let escaped = after.chars().next().filter(|_| escapes);
        plain.extend(escaped);
        rest = after
            .get(escaped.map_or(0, char::len_utf8)..)
            .unwrap_or_default();
    }
    plain.push_str(rest);
    (plain.len() < text.len()).then_some(plain)
}

/// What pattern languages and shells let a backslash stand before without a meaning of its own.
fn is_escaped(letter: char) -> bool {
    letter == ' ' || letter.is_ascii_punctuation()
}

fn may_hold_escapes(line: &str) -> bool {
    next_escape(line.as_bytes(), 0).is_some()
}

fn next_escape(bytes: &[u8], from: usize) -> Option<usize> {
    memchr3(b'\\', b'%', b'&', bytes.get(from..)?).map(|at| from + at)
}

fn unescape_once(line: &str) -> Option<View> {
    let bytes = line.as_bytes();
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

fn backslash(bytes: &[u8], position: usize) -> Option<(char, usize)> {
    let character = match at(bytes, position + 1) {
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let code = hex(part(bytes, position + 2, position + 6), 4)?;
            return Some((ascii(code)?, position + 6));
        }
        b'x' => {
            let code = hex(part(bytes, position + 2, position + 4), 2)?;
            return Some((ascii(code)?, position + 4));
        }
        // JSON escapes quotes and slashes, patterns and shells any punctuation.
        mark if is_escaped(char::from(mark)) => char::from(mark),
        _ => return None,
    };
    Some((character, position + 2))
}

fn percent(bytes: &[u8], position: usize) -> Option<(char, usize)> {
    let code = hex(part(bytes, position + 1, position + 3), 2)?;
    Some((ascii(code)?, position + 3))
}

fn entity(bytes: &[u8], position: usize) -> Option<(char, usize)> {
    const ENTITIES: [(&[u8], char); 10] = [
        (b"&quot;", '"'),
        (b"&#34;", '"'),
        (b"&#x22;", '"'),
        (b"&#39;", '\''),
        (b"&#x27;", '\''),
        (b"&apos;", '\''),
        (b"&amp;", '&'),
        (b"&lt;", '<'),
        (b"&gt;", '>'),
        (b"&#61;", '='),
    ];
    ENTITIES.iter().find_map(|(entity, character)| {
        super::bytes::has_at(bytes, position, entity)
            .then_some((*character, position + entity.len()))
    })
}

fn hex(digits: &[u8], length: usize) -> Option<u32> {
    if digits.len() != length || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn ascii(code: u32) -> Option<char> {
    char::from_u32(code).filter(|character| character.is_ascii() && *character != '\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_goes_only_from_before_punctuation() {
        let plain = |text| without_backslashes(text);
        assert_eq!(plain(r"a\.b\\c\d\"), Some(r"a.b\c\d\".to_owned()));
        assert_eq!(plain(r"a\\\_"), Some(r"a\_".to_owned()));
        assert_eq!(plain("a\\\nb"), None);
        assert_eq!(plain(r"\w+ \d\é"), None);
    }

    #[test]
    fn a_complete_sequence_goes_with_its_final_letter() {
        let view = undressed("\u{1b}[32mab\u{1b}[0mc");
        assert_eq!(view.text, "abc");
        assert_eq!(view.original(0, 3), (5, 12));
    }

    #[test]
    fn nested_escapes_are_resolved_with_their_way_back() {
        let line = r#"{\\\"a\\\":1}"#;
        let view = unescaped(line).unwrap();
        assert_eq!(view.text, r#"{"a":1}"#);
        assert_eq!(view.original(1, 2), (1, 5));
    }

    #[test]
    fn a_line_without_escapes_has_no_second_reading() {
        assert!(unescaped("100% sure & done").is_none());
        assert_eq!(unescaped(r"a\.b\_c\ d\w").unwrap().text, r"a.b_c d\w");
    }

    #[test]
    fn an_overstrike_is_one_character() {
        assert_eq!(undressed("p\u{8}pa\u{8}a").text, "pa");
    }
}
