//! What a word means where it stands: in a name, beside a count, as a label.
//!
//! It looks at the text right around the word, not at the rest of the line.

use super::words::Kind;

/// The endings of `errors`, `failed`, `failures`, `warnings`.
const ENDINGS: &[&str] = &["s", "ed", "ure", "ures", "ing", "ings"];

/// A word and what stands around it.
pub(super) struct Place<'a> {
    before: &'a str,
    word: &'a str,
    after: &'a str,
}

impl<'a> Place<'a> {
    /// Returns the word between `start` and `end`, together with its ending.
    pub(super) fn new(text: &'a str, start: usize, end: usize) -> Self {
        let (before, rest) = text.split_at_checked(start).unwrap_or((text, ""));
        let (word, after) = rest.split_at_checked(end - start).unwrap_or((rest, ""));
        let ending = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let after = match after.split_at_checked(ending) {
            Some((ending, rest))
                if ENDINGS
                    .iter()
                    .any(|known| ending.eq_ignore_ascii_case(known)) =>
            {
                rest
            }
            _ => after,
        };
        Self {
            before,
            word,
            after,
        }
    }

    /// Returns whether the word is part of an identifier or a path.
    pub(super) fn in_name(&self) -> bool {
        self.joins_before() || self.joins_after()
    }

    fn joins_before(&self) -> bool {
        let before = self.before.bytes().next_back().unwrap_or(b' ');
        let next = self.after.bytes().next().unwrap_or(b' ');
        self.word.starts_with(|c: char| c.is_ascii_alphanumeric())
            && (before.is_ascii_alphanumeric()
                || matches!(before, b'_' | b'/' | b'\\' | b'$')
                || (before == b'-' && !self.before.ends_with(" -") && !self.before.ends_with("--"))
                || (before == b'.' && next != b':'))
    }

    fn joins_after(&self) -> bool {
        let mut after = self.after.bytes();
        let next = after.next().unwrap_or(b' ');
        let then = after.next().unwrap_or(b' ');
        self.word.ends_with(|c: char| c.is_ascii_alphanumeric())
            && (next.is_ascii_alphanumeric()
                || matches!(next, b'_' | b'/')
                || (matches!(next, b'.' | b'-') && then.is_ascii_alphanumeric()))
    }

    /// Returns whether the count beside the word is above zero, where there is one.
    pub(super) fn count(&self) -> Option<bool> {
        let before = self.before.trim_end_matches([' ', '(', '*']);
        let before = [
            "test",
            "tests",
            "examples",
            "test(s)",
            "assertion",
            "fatal",
            "compile",
            "specs",
        ]
        .iter()
        .find_map(|noun| before.strip_suffix(noun))
        .unwrap_or(before)
        .trim_end();
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            let (rest, number) = before.split_at_checked(before.len() - digits)?;
            if !rest.ends_with([':', '.', '[', '#', '-', '/'])
                && !rest.ends_with(char::is_alphanumeric)
            {
                return Some(number.bytes().any(|byte| byte != b'0'));
            }
        }
        let after = self.after.strip_prefix("(s)").unwrap_or(self.after);
        // `# fail 1`, the summary of TAP producers.
        let after = match after.strip_prefix(' ') {
            Some(number) if self.before == "# " => number,
            _ => after,
        };
        let after = if self.before == "# " {
            after
        } else {
            after.strip_prefix([':', '='])?
        };
        let after = after.trim_start_matches([':', ' ']);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = after.split_at_checked(digits)?;
        let ends = rest.is_empty() || rest.starts_with([',', ' ', ')', ';', '.', ']']);
        (digits > 0 && digits < 7 && ends).then(|| number.bytes().any(|byte| byte != b'0'))
    }

    /// Returns whether what follows `exit code` or `exited with` is a zero.
    pub(super) fn is_exit_zero(&self) -> bool {
        let code = self.after.trim_start_matches([':', '=', ' ']);
        let code = code.strip_prefix("code").unwrap_or(code);
        let code = code.strip_prefix("status").unwrap_or(code);
        let mut code = code.trim_start_matches([':', '=', ' ']).bytes();
        code.next() == Some(b'0') && !code.next().is_some_and(|byte| byte.is_ascii_alphanumeric())
    }

    /// Returns what `error`, `fail` or `exception` weighs where it stands.
    pub(super) fn weight(&self, kind: Kind) -> u8 {
        let capital = self.word.starts_with(|c: char| c.is_ascii_uppercase());
        let inside = self.before.ends_with(|c: char| c.is_ascii_alphanumeric());
        let next = self.after.bytes().next().unwrap_or(b' ');
        if capital && inside && kind != Kind::Fail {
            return if self.follows_snake() {
                0
            } else {
                self.name_weight(next)
            };
        }
        if self.in_name() {
            return 0;
        }
        let upper = self.word.bytes().all(|byte| byte.is_ascii_uppercase());
        let opened =
            self.before.is_empty() || self.before.ends_with([' ', '[', '(', '\t', '*', ':']);
        let labelled = matches!(next, b':' | b'[' | b']' | b'!')
            || [" TS", " CS", " MSB", " NU", " FS", " E", " C", " LNK", "  "]
                .iter()
                .any(|code| self.after.starts_with(code) && kind == Kind::Error);
        match (opened && labelled, upper) {
            (true, _) if kind == Kind::Error => 5,
            (true, _) => 4,
            (false, true) => 4,
            (false, false) if kind == Kind::Error && self.before.ends_with(": ") => 4,
            (false, false) => 2,
        }
    }

    /// Returns whether the word ends a name with underscores in it, such as `test_raises_TypeError`.
    fn follows_snake(&self) -> bool {
        self.before
            .bytes()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .any(|byte| byte == b'_')
    }

    /// `TypeError: …`, but neither `TypeError.java` nor `raises_TypeError()`.
    fn name_weight(&self, next: u8) -> u8 {
        let then = self.after.as_bytes().get(1).copied().unwrap_or(b' ');
        match next {
            b':' => 5,
            b'.' if then.is_ascii_alphanumeric() => 0,
            b'(' if then == b')' => 0,
            b'_' | b'/' | b'-' => 0,
            _ if next.is_ascii_alphanumeric() => 0,
            _ => 4,
        }
    }
}
