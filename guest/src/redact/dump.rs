//! Private keys in dumps of bytes, as `xxd` and `hexdump -C` print them.
//!
//! The line on which the frame begins must show `-----BEGIN ` whole, as it does where the key is
//! all of the file. From the line that ends the label on, the bytes of every line are the key's.
//! A dump in which the frame begins across two lines is not told, and neither is that of `od -c`,
//! where nothing rare enough to be searched for stands on any line.

use super::bytes::{at, run_end, skip_blanks, text};

/// Most lines of one dump: those of a key of 16,384 bits.
const LINES_MAX: usize = 1024;
const BEGIN: &str = "-----BEGIN ";
const CLOSING: &str = "-----";
/// Longest label, with its closing dashes.
const LABEL_MAX: usize = 48;

/// A dump in which a frame began.
#[derive(Debug)]
pub(super) struct Dump {
    /// The label, or the newest characters where it is known.
    read: String,
    is_key: bool,
    lines: usize,
}

/// What a line is to the dump.
#[derive(Debug)]
pub(super) enum LineOfDump {
    /// The frame goes on.
    Frame,
    /// Bytes of a private key.
    Bytes {
        start: usize,
        end: usize,
        is_last: bool,
    },
    /// It is no part of a private key.
    After,
}

impl Dump {
    /// Opens at a line that shows the beginning of a frame.
    pub(super) fn opened(line: &str) -> Option<Self> {
        let (_, shown) = shown(line)?;
        let (_, label) = shown.split_once(BEGIN)?;
        Some(Self {
            read: label.to_owned(),
            is_key: false,
            lines: 0,
        })
    }

    /// Judges the next line.
    pub(super) fn line(&mut self, line: &str) -> LineOfDump {
        self.lines += 1;
        let Some((start, shown)) = shown(line).filter(|_| self.lines <= LINES_MAX) else {
            return LineOfDump::After;
        };
        self.read.push_str(&shown);
        if !self.is_key {
            let Some((label, behind)) = self.read.split_once(CLOSING) else {
                return match self.read.len() <= LABEL_MAX {
                    true => LineOfDump::Frame,
                    false => LineOfDump::After,
                };
            };
            if !label.contains("PRIVATE KEY") {
                return LineOfDump::After;
            }
            self.is_key = true;
            self.read = behind.to_owned();
        }
        let is_last = self.read.contains("-----END");
        let newest = self
            .read
            .ceil_char_boundary(self.read.len().saturating_sub(CLOSING.len() + 3));
        self.read = text(&self.read, newest, self.read.len()).to_owned();
        LineOfDump::Bytes {
            start,
            end: line.trim_end().len(),
            is_last,
        }
    }
}

/// Returns where the bytes of a line of a dump begin, and what it shows them as.
fn shown(line: &str) -> Option<(usize, String)> {
    let bytes = line.as_bytes();
    let offset = skip_blanks(bytes, 0);
    let digits = run_end(bytes, offset, |byte| byte.is_ascii_hexdigit());
    let is_offset = (6..=16).contains(&(digits - offset));
    let behind = digits + usize::from(at(bytes, digits) == b':');
    let start = skip_blanks(bytes, behind);
    if !is_offset || start == behind || start >= bytes.len() {
        return None;
    }
    let rest = text(line, start, line.len()).trim_end();
    let shown = in_bars(rest).or_else(|| behind_digits(rest))?;
    Some((start, shown))
}

/// Reads `2d 2d …  |--…|`, as `hexdump -C` prints it.
fn in_bars(rest: &str) -> Option<String> {
    let (digits, shown) = rest.strip_suffix('|')?.split_once('|')?;
    is_hexadecimal(digits).then(|| shown.to_owned())
}

/// Reads `2d2d …  --…`, as `xxd` prints it.
fn behind_digits(rest: &str) -> Option<String> {
    let (digits, shown) = rest.split_once("  ")?;
    // The last line is filled up with blanks.
    is_hexadecimal(digits).then(|| shown.trim_start().to_owned())
}

fn is_hexadecimal(digits: &str) -> bool {
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b' ')
        && digits.bytes().any(|byte| byte != b' ')
}

#[cfg(test)]
mod tests {
    use super::super::tests::rules;
    use super::super::*;

    type Line = fn(usize, &[u8]) -> String;

    fn printable(bytes: &[u8]) -> String {
        let show = |byte: &u8| {
            if byte.is_ascii_graphic() || *byte == b' ' {
                char::from(*byte)
            } else {
                '.'
            }
        };
        bytes.iter().map(show).collect()
    }

    fn xxd(at: usize, bytes: &[u8]) -> String {
        let hex: String = bytes
            .chunks(2)
            .map(|pair| {
                pair.iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect::<String>()
                    + " "
            })
            .collect();
        format!("{at:08x}: {hex:<40} {}", printable(bytes))
    }

    fn hexdump(at: usize, bytes: &[u8]) -> String {
        let hex: String = (0..16)
            .map(|number| {
                let gap = if number == 7 { "  " } else { " " };
                bytes
                    .get(number)
                    .map_or("  ".to_owned(), |byte| format!("{byte:02x}"))
                    + gap
            })
            .collect();
        format!("{at:08x}  {hex} |{}|", printable(bytes))
    }

    fn dump(line: Line, pem: &str) -> String {
        let lines = pem.as_bytes().chunks(16).enumerate();
        lines
            .map(|(number, bytes)| line(number * 16, bytes) + "\n")
            .collect()
    }

    fn pem(label: &str) -> String {
        let body = "q7Xk2M9vR4tZ8b3WyH6pLd1Sq7Xk2M9vR4tZ8b3WyH6pLd1Sq7Xk2M9vR4tZ8b3W\n";
        format!(
            "-----BEGIN {label}-----\n{}x7Kq2mPz\n-----END {label}-----\n",
            body.repeat(9)
        )
    }

    #[test]
    fn the_bytes_of_a_private_key_go_and_what_stands_around_the_dump_stays() {
        for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
            let pem = pem(&[kind, "PRIVATE", " KEY"].concat());
            let dumps: [(&str, Line); 2] = [("xxd", xxd), ("hexdump", hexdump)];
            for (name, line) in dumps {
                let dumped = dump(line, &pem);
                let text = format!("before\n{dumped}0000200\nafter q7\n");
                let (redacted, findings) = redact(&rules(), &text);
                assert!(
                    redacted.starts_with("before\n") && redacted.ends_with("0000200\nafter q7\n")
                );
                assert!(
                    findings.per_rule.contains_key("private-key"),
                    "{name} {redacted}"
                );
                assert_eq!(redacted.lines().count(), text.lines().count());
                // Every line with a byte of the body has lost its bytes.
                let begin = pem.find('\n').unwrap() + 1;
                let end = pem.find("\n-----END").unwrap();
                let lines = redacted
                    .lines()
                    .skip(1 + begin / 16)
                    .take(end / 16 - begin / 16 + 1);
                for line in lines {
                    assert!(line.contains("REDACTED"), "{name} {line}\n{redacted}");
                }
            }
        }
    }

    #[test]
    fn dumps_of_anything_else_stay() {
        for text in [
            pem("CERTIFICATE"),
            pem("PUBLIC KEY"),
            "a mention of -----BEGIN in a text\n".repeat(9),
        ] {
            let dumps: [Line; 2] = [xxd, hexdump];
            for line in dumps {
                let text = dump(line, &text);
                assert_eq!(redact(&rules(), &text).0, text);
            }
        }
    }
}
