//! Plain text from terminal output: escape sequences and control characters are taken out, and
//! carriage-return frames collapse to the last one that shows something.
//!
//! It does not emulate a terminal: moving the cursor up changes nothing that was printed.

use memchr::memrchr;

use super::escape::{Escape, Step};
use crate::lanes::{self, CHUNK, Lanes, Set};

/// The longest frame that a later frame can still overwrite, in bytes. A longer one has
/// already been given away and becomes a line of its own.
const FRAME_LIMIT: usize = 16 * 1024;
/// Normalised text is given away in pieces of about this many bytes.
const PIECE: usize = 32 * 1024;

/// Stands where something was taken out between two word characters: what it kept apart would be
/// glued together. Redaction reads it and gives it to nobody. The text itself holds none, since it
/// is a control character.
pub const SEAM: char = '\u{1a}';
/// The same as it stands in a text.
pub const SEAM_BYTE: u8 = 0x1a;

/// Normalises the text of one stream.
#[derive(Debug, Default)]
pub struct Normaliser {
    escape: Escape,
    /// Whole lines that were not given yet, then the open line.
    buffer: String,
    /// Where the open line starts in `buffer`.
    open: usize,
    /// Where the frame before this one ends, while this one has shown only blanks.
    shown: Option<usize>,
    /// Part of the open frame has been given away.
    given: bool,
    /// A carriage return whose meaning the next character decides.
    carriage: bool,
    /// Characters that the next one overwrites.
    backspaces: usize,
    /// How many characters stand between the newest separator, or the start of the line, and here:
    /// none, one, or more.
    since_separator: usize,
    /// Something was taken out since the newest character.
    has_gap: bool,
    /// The newest character of the open line is one of a word.
    is_in_word: bool,
    controls_removed: u64,
    frames_collapsed: u64,
}

impl Normaliser {
    /// Takes the next text and gives what no later character can change.
    pub fn push(&mut self, text: &str, give: &mut impl FnMut(&str)) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.escape != Escape::Outside {
                rest = self.escaped(rest);
                continue;
            }
            let (plain, special) = rest.split_at(plain_prefix(rest));
            self.plain(plain, give);
            let mut characters = special.chars();
            if let Some(character) = characters.next() {
                self.special(character);
            }
            rest = characters.as_str();
        }
        self.give_lines(give);
    }

    /// Gives what was held back.
    pub fn finish(&mut self, give: &mut impl FnMut(&str)) {
        if let Some(end) = self.shown.take() {
            self.buffer.truncate(end);
        }
        if !self.buffer.is_empty() {
            give(&self.buffer);
        }
        self.buffer.clear();
        self.open = 0;
    }

    /// Returns how many escape sequences and control characters were taken out.
    #[must_use]
    pub fn controls_removed(&self) -> u64 {
        self.controls_removed
    }

    /// Returns how many frames a later frame overwrote.
    #[must_use]
    pub fn frames_collapsed(&self) -> u64 {
        self.frames_collapsed
    }

    /// Takes text that stands in an escape sequence and returns what comes after it.
    fn escaped<'a>(&mut self, text: &'a str) -> &'a str {
        let mut characters = text.chars();
        loop {
            let rest = characters.as_str();
            let Some(character) = characters.next() else {
                return rest;
            };
            match self.escape.step(character) {
                Step::Inside => {}
                Step::Column => self.carriage = true,
                Step::Before => return rest,
            }
            if self.escape == Escape::Outside {
                return characters.as_str();
            }
        }
    }

    fn special(&mut self, character: char) {
        if character == '\r' {
            self.carriage = true;
            return;
        }
        if is_separator(character) {
            self.separate();
        }
        // Those of UTF-16 belong together.
        self.has_gap |= !is_separator(character) && character != '\u{8}';
        if let Some(escape) = Escape::start(character) {
            self.escape = escape;
        }
        if character == '\u{8}' && !self.carriage {
            self.backspaces += 1;
        }
        self.controls_removed += 1;
    }

    /// Keeps apart what a control character separates, such as the arguments in a command line of
    /// `/proc` or the fields of an archive: what is glued to a secret would hide where it begins.
    /// Single characters are those of UTF-16, which belong together.
    fn separate(&mut self) {
        if self.since_separator > 1 && !self.carriage && self.backspaces == 0 {
            self.extend(" ");
        }
        self.since_separator = 0;
    }

    /// Takes text in which nothing but newlines needs care.
    fn plain(&mut self, text: &str, give: &mut impl FnMut(&str)) {
        let Some(last) = memrchr(b'\n', text.as_bytes()) else {
            self.extend(text);
            return;
        };
        let (lines, open) = text.split_at(last + 1);
        let (first, others) =
            lines.split_at(memchr::memchr(b'\n', lines.as_bytes()).unwrap_or(last));
        self.extend(first);
        self.end_line();
        let others = others.strip_prefix('\n').unwrap_or(others);
        if others.len() < PIECE / 16 {
            self.buffer.push_str(others);
        } else {
            // Large runs go on as they are, without a copy.
            self.give_lines(give);
            give(others);
        }
        self.open = self.buffer.len();
        self.extend(open);
        if self.open >= PIECE {
            self.give_lines(give);
        }
    }

    /// Adds to the open line text that has no newline in it.
    fn extend(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.carriage {
            self.start_frame();
        }
        if self.backspaces > 0 {
            self.step_back();
        }
        if let Some(end) = self.shown
            && (!is_blank(text) || self.buffer.len() + text.len() - end > FRAME_LIMIT)
        {
            self.buffer.drain(self.open..end);
            self.frames_collapsed += 1;
            self.shown = None;
        }
        if std::mem::take(&mut self.has_gap)
            && self.is_in_word
            && text.bytes().next().is_some_and(is_word)
        {
            self.buffer.push(SEAM);
        }
        self.buffer.push_str(text);
        self.is_in_word = text.bytes().next_back().is_some_and(is_word);
        self.since_separator += text.chars().take(2).count();
        self.since_separator = self.since_separator.min(2);
    }

    fn end_line(&mut self) {
        if let Some(end) = self.shown.take() {
            self.buffer.truncate(end);
        }
        self.buffer.push('\n');
        self.open = self.buffer.len();
        self.given = false;
        self.carriage = false;
        self.backspaces = 0;
        self.since_separator = 0;
        self.has_gap = false;
        self.is_in_word = false;
    }

    /// Makes what comes next a new frame of the open line.
    fn start_frame(&mut self) {
        self.carriage = false;
        self.backspaces = 0;
        self.has_gap = false;
        self.is_in_word = false;
        if self.is_given() {
            self.end_line();
            return;
        }
        let end = self.shown.unwrap_or(self.buffer.len());
        self.buffer.truncate(end);
        let blank = self.buffer.get(self.open..).is_none_or(is_blank);
        if blank {
            self.buffer.truncate(self.open);
        }
        self.shown = (!blank).then_some(end);
    }

    /// Takes back the characters that the next one overwrites.
    fn step_back(&mut self) {
        let floor = self.shown.unwrap_or(self.open);
        let count = std::mem::take(&mut self.backspaces);
        self.has_gap = false;
        self.is_in_word = false;
        if self.is_given() {
            return;
        }
        for _ in 0..count {
            if self.buffer.len() <= floor {
                break;
            }
            if self.buffer.pop() == Some(SEAM) {
                self.buffer.pop();
            }
        }
    }

    /// Returns whether the open frame is too long to be changed any more. It is a question of
    /// its length alone, so that the cut into reads cannot change the answer.
    fn is_given(&self) -> bool {
        self.given || (self.shown.is_none() && self.buffer.len() - self.open > FRAME_LIMIT)
    }

    fn give_lines(&mut self, give: &mut impl FnMut(&str)) {
        if self.is_given() {
            if !self.buffer.is_empty() {
                give(&self.buffer);
            }
            self.buffer.clear();
            self.given = true;
        } else if self.open > 0 {
            if let Some(lines) = self.buffer.get(..self.open) {
                give(lines);
            }
            self.buffer.drain(..self.open);
            self.shown = self.shown.map(|end| end - self.open);
        }
        self.open = 0;
    }
}

/// Says whether programs put this control character between texts: NUL, the first ones, and the
/// four that are named separators.
const fn is_separator(character: char) -> bool {
    matches!(character, '\0'..='\u{6}' | '\u{1c}'..='\u{1f}')
}

/// Says whether a byte is of a word: where two of these meet, what was taken out kept them apart.
pub const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// Returns the length of the longest prefix without a control character but tabs and newlines.
fn plain_prefix(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (chunks, rest) = bytes.as_chunks::<CHUNK>();
    let mut at = 0;
    for chunk in chunks {
        if let Some(found) = control_in(bytes, at, chunk) {
            return found;
        }
        at += CHUNK;
    }
    // A filling of zeros would be controls.
    let last = lanes::padded(rest, b' ');
    control_in(bytes, at, &last).unwrap_or(bytes.len())
}

/// Returns where the first control character begins in the chunk at `at`.
#[inline(always)]
fn control_in(bytes: &[u8], at: usize, chunk: &[u8; CHUNK]) -> Option<usize> {
    let mut left = lanes::bits(chunk, suspects);
    while left != 0 {
        let found = at + usize::try_from(left.trailing_zeros()).unwrap_or(0);
        // U+0080 to U+009F are C2 80 to C2 9F.
        if bytes.get(found) != Some(&0xc2) || bytes.get(found + 1).is_some_and(|next| *next < 0xa0)
        {
            return Some(found);
        }
        left &= left - 1;
    }
    None
}

/// What is, or may start, a control character that is neither a tab nor a newline.
#[inline(always)]
fn suspects(part: Lanes) -> Set {
    let below = part.within(0, 8).or(part.within(0xb, 0x1f - 0xb));
    below.or(part.is(0x7f)).or(part.is(0xc2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalise(text: &str) -> (String, u64, u64) {
        let mut whole = String::new();
        let mut normaliser = Normaliser::default();
        normaliser.push(text, &mut |piece| whole.push_str(piece));
        normaliser.finish(&mut |piece| whole.push_str(piece));
        let mut pieces = String::new();
        let mut by_character = Normaliser::default();
        for character in text.chars() {
            by_character.push(character.encode_utf8(&mut [0; 4]), &mut |piece| {
                pieces.push_str(piece);
            });
        }
        by_character.finish(&mut |piece| pieces.push_str(piece));
        assert_eq!(pieces, whole);
        assert_eq!(by_character.controls_removed, normaliser.controls_removed);
        assert_eq!(by_character.frames_collapsed, normaliser.frames_collapsed);
        (
            whole,
            normaliser.controls_removed,
            normaliser.frames_collapsed,
        )
    }

    #[track_caller]
    fn becomes(text: &str, expected: &str) {
        assert_eq!(normalise(text).0.replace(SEAM, ""), expected);
    }

    #[test]
    fn escape_sequences_are_taken_out_whole() {
        becomes("\u{1b}[1;31mred\u{1b}[0m", "red");
        becomes("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\b", "ab");
        becomes("\u{1b}Pq#0\u{1b}\\a\u{1b}_x\u{1b}\\b\u{1b}^x\u{9c}c", "abc");
        becomes("\u{1b}(Ba\u{1b}7b\u{1b}#8c\u{1b}=d", "abcd");
        becomes("\u{9b}31ma\u{9d}0;title\u{9c}b\u{85}c", "abc");
        assert_eq!(normalise("\u{1b}[1m\u{1b}]0;x\u{7}\0\u{7}a").1, 4);
    }

    #[test]
    fn a_sequence_that_never_ends_takes_no_other_line_along() {
        becomes("a\u{1b}]0;title\nb\n", "a\nb\n");
        becomes("a\u{1b}[12\nb\n", "a\nb\n");
        becomes("a\u{1b}\nb\n", "a\nb\n");
        becomes("\u{1b}]x\u{1b}[31mred", "red");
        becomes("a\u{1b}[3é", "aé");
        let long = format!("\u{1b}]{}", "x".repeat(5000));
        assert_eq!(normalise(&long).0.len(), 5000 - 4096);
    }

    #[test]
    fn frames_collapse_to_the_last_one_that_shows_something() {
        assert_eq!(normalise("10%\r20%\r30%\n"), ("30%\n".to_owned(), 0, 2));
        becomes("a\r\nb\r\r\nc", "a\nb\nc");
        becomes("done\r\n\r\nx", "done\n\nx");
        becomes("error\r      \r\n", "error\n");
        becomes("error\r\u{1b}[K\n", "error\n");
        becomes("error\r   ", "error");
        becomes("old\r  new\n", "  new\n");
        becomes("first\nold\u{1b}[2K\u{1b}[1Gnew\n", "first\nnew\n");
        becomes("old\u{1b}[Gnew", "new");
        becomes("kept\u{1b}[12Gon", "kepton");
        becomes("\rstart", "start");
    }

    #[test]
    fn a_frame_too_long_to_hold_becomes_a_line() {
        let long = "x".repeat(FRAME_LIMIT + 1);
        becomes(&format!("{long}\rnew\n"), &format!("{long}\nnew\n"));
        becomes(&format!("{long}\r\nnew\n"), &format!("{long}\nnew\n"));
        let short = "x".repeat(FRAME_LIMIT);
        becomes(&format!("{short}\rnew\n"), "new\n");
        becomes(&format!("{long}\u{8}\u{8}y"), &format!("{long}y"));
        let blank = " ".repeat(FRAME_LIMIT + 1);
        becomes(&format!("old\r{blank}\n"), &format!("{blank}\n"));
    }

    #[test]
    fn backspaces_take_the_character_that_is_written_over() {
        becomes("_\u{8}b_\u{8}o_\u{8}l_\u{8}d", "bold");
        becomes("é\u{8}é", "é");
        becomes("-\u{8}\\\u{8}|\u{8}done", "done");
        becomes("kept\u{8}\n", "kept\n");
        becomes("a\n\u{8}\u{8}b", "a\nb");
    }

    #[test]
    fn what_a_control_character_separates_stays_apart_and_utf_16_together() {
        becomes(
            "login\0--token\0value\0\0\0next\0",
            "login --token value next ",
        );
        becomes("a1\u{1f}b2\u{1}c3", "a1 b2 c3");
        becomes("h\0e\0y\0\n\0y\0o\0u\0", "hey\nyou");
        becomes("\0h\0e\0y\0\n\0y\0o\0u", "hey\nyou");
        becomes("10%\r\0done\n\0x", "done\nx");
    }

    #[test]
    fn a_seam_is_told_where_two_words_are_glued_together_and_only_there() {
        for (text, expected) in [
            ("KEY\u{1b}[0m\u{1b}[36mhf_x", "KEY~hf_x"),
            ("a\u{7f}b\u{9b}31mc", "a~b~c"),
            (
                "\u{1b}[1mred\u{1b}[0m \u{1b}[2mdim\u{1b}[0m: x",
                "red dim: x",
            ),
            ("a\u{1b}[0m\nb", "a\nb"),
            ("a\u{1b}[0m\rb", "b"),
            ("ab\u{1b}[0mc\u{8}\u{8}d", "ad"),
            ("_\u{8}b_\u{8}o", "bo"),
            ("h\0e\0y", "hey"),
        ] {
            assert_eq!(
                normalise(text).0,
                expected.replace('~', "\u{1a}"),
                "{text:?}"
            );
        }
    }

    #[test]
    fn tabs_stay_and_other_controls_go() {
        becomes("a\tb\u{b}\u{c}\u{e}\u{f}\u{7f}c", "a\tbc");
        becomes("© §é", "© §é");
    }
}
