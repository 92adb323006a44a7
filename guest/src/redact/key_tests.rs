//! Claims about private keys: however their lines are decorated, wrapped or cut, no piece is left,
//! and what is public and looks alike stays.
//!
//! The keys are made of bytes without a pattern behind the first bytes of the real encodings.

use super::tests::{in_pieces, rules};
use super::*;
use crate::record::base64;

/// Bytes without a pattern, other ones for each `seed`.
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u8::try_from(state >> 40 & 0xff).unwrap()
    })
    .take(count)
    .collect()
}

fn wrapped(body: &str, width: usize) -> Vec<String> {
    body.as_bytes()
        .chunks(width)
        .map(|line| String::from_utf8(line.to_vec()).unwrap())
        .collect()
}

/// A key: its frame, the lines of its body, and whether it is told by its first line.
struct Sample {
    name: &'static str,
    label: &'static str,
    headers: &'static [&'static str],
    body: Vec<String>,
    is_told: bool,
}

fn sample(name: &'static str, label: &'static str, head: &[u8], count: usize) -> Sample {
    let seed = u64::try_from(name.len() * 7 + count).unwrap();
    let der = [head, &bytes(seed, count - head.len())].concat();
    let width = if label == "OPENSSH " { 70 } else { 64 };
    Sample {
        name,
        label,
        headers: &[],
        body: wrapped(&base64::encode(&der), width),
        is_told: !head.is_empty(),
    }
}

fn samples() -> Vec<Sample> {
    let openssh = b"openssh-key-v1\0\0\0\0\x04none\0\0\0\x04none\0\0\0\0\0\0\0\x01\0\0\0\x33";
    let rsa = b"\x30\x82\x04\xa4\x02\x01\x00\x02\x82\x01\x01\x00";
    let pkcs8 =
        b"\x30\x82\x04\xbd\x02\x01\x00\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";
    let ec = b"\x30\x77\x02\x01\x01\x04\x20";
    let ec8 = b"\x30\x81\x87\x02\x01\x00\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08";
    let ed = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let sealed = b"\x30\x82\x05\x1c\x30\x4e\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d\x30";
    let mut old = sample("encrypted PKCS#1", "RSA ", b"", 1192);
    old.headers = &[
        "Proc-Type: 4,ENCRYPTED",
        "DEK-Info: AES-256-CBC,89C2F2CEAC53F0AF84FA59B2B3DC378E",
        "",
    ];
    let mut pgp = sample("PGP", "PGP ", b"", 900);
    pgp.label = "PGP ";
    pgp.headers = &[""];
    vec![
        sample("PKCS#1", "RSA ", rsa, 1192),
        sample("PKCS#8", "", pkcs8, 1217),
        sample("SEC1", "EC ", ec, 121),
        sample("PKCS#8 EC", "", ec8, 138),
        sample("ed25519", "", ed, 48),
        sample("encrypted PKCS#8", "ENCRYPTED ", sealed, 1310),
        sample("OpenSSH ed25519", "OPENSSH ", openssh, 290),
        sample("OpenSSH RSA", "OPENSSH ", openssh, 1800),
        old,
        pgp,
    ]
}

impl Sample {
    fn begin(&self) -> String {
        let block = if self.label == "PGP " { " BLOCK" } else { "" };
        ["-----BEGIN ", self.label, "PRIVATE", " KEY", block, "-----"].concat()
    }

    fn lines(&self) -> Vec<String> {
        let begin = self.begin();
        let end = begin.replace("BEGIN", "END");
        let headers = self.headers.iter().map(|header| (*header).to_owned());
        std::iter::once(begin)
            .chain(headers)
            .chain(self.body.iter().cloned())
            .chain(std::iter::once(end))
            .collect()
    }
}

type Decoration = fn(usize, &str) -> String;

/// What programs put around the lines of a file.
const DECORATIONS: [(&str, Decoration); 31] = [
    ("nothing", |_, line| line.to_owned()),
    ("cat -A", |_, line| format!("{line}$")),
    ("semicolon", |_, line| format!("{line};")),
    ("bar", |_, line| format!("{line} |")),
    ("table", |_, line| format!("| {line:<72} |")),
    ("backslash", |_, line| format!("{line}\\")),
    ("paragraph", |_, line| format!("<p>{line}</p>")),
    ("break", |_, line| format!("{line}<br />")),
    ("sed =", |at, line| format!("{}\n{line}", at + 1)),
    ("nl", |at, line| format!("{:6}\t{line}", at + 1)),
    ("grep -n", |at, line| format!("{}:{line}", at + 1)),
    ("grep -Hn", |at, line| {
        format!("conf/server.pem:{}:{line}", at + 1)
    }),
    ("added", |_, line| format!("+{line}")),
    ("removed", |_, line| format!("-{line}")),
    ("quoted", |_, line| format!("> > {line}")),
    ("word diff", |_, line| format!("[-{line}-]{{+{line}+}}")),
    ("syslog", |at, line| {
        format!(
            "Nov 30 15:00:{:02} build-7 deploy[8{}1]: {line}",
            at % 60,
            at % 10
        )
    }),
    ("time", |at, line| {
        format!(
            "2026-11-30T15:00:{:02}.{:03}Z INFO  {line}",
            at % 60,
            at * 79 % 1000
        )
    }),
    ("compose", |_, line| format!("web_1  | {line}")),
    ("JSON lines", |at, line| {
        format!(
            "{{\"log\":\"{line}\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T15:00:{:02}.{:03}Z\"}}",
            at % 60,
            at * 79 % 1000
        )
    }),
    ("JSON lines, text last", |at, line| {
        format!(
            "{{\"time\":\"15:00:{:02}\",\"level\":\"info\",\"msg\":\"{line}\"}}",
            at % 60
        )
    }),
    ("array", |_, line| format!("  \"{line}\",")),
    ("sum", |_, line| format!("    \"{line}\\n\" +")),
    ("bytes", |_, line| format!("    b'{line}\\n'")),
    ("CRLF", |_, line| format!("{line}\r")),
    ("YAML", |_, line| format!("    {line}")),
    ("colour", |_, line| format!("\u{1b}[32m{line}\u{1b}[0m")),
    ("pytest", |_, line| format!("E         {line}")),
    ("pytest diff", |_, line| {
        format!("E       +     '{line}\\n'")
    }),
    ("blank lines", |_, line| format!("{line}\n")),
    ("invisible", |_, line| format!("\u{200b}{line}")),
];

/// What is left of the lines of a file, and whether the first line of the body is.
type Part = fn(&[String]) -> Vec<String>;

fn body_of(lines: &[String]) -> Vec<String> {
    let is_frame = |line: &String| line.starts_with("-----");
    lines
        .iter()
        .filter(|line| !is_frame(line))
        .cloned()
        .collect()
}

const PARTS: [(&str, Part); 7] = [
    ("all", <[String]>::to_vec),
    ("grep -v BEGIN", |lines| {
        lines.get(1..).unwrap_or_default().to_vec()
    }),
    ("grep -v END", |lines| {
        lines.get(..lines.len() - 1).unwrap_or_default().to_vec()
    }),
    ("head -n 10", |lines| {
        lines.iter().take(10).cloned().collect()
    }),
    ("tail -n +5", |lines| {
        lines.iter().skip(4).cloned().collect()
    }),
    ("neither", body_of),
    ("the middle", |lines| {
        lines.iter().skip(3).take(6).cloned().collect()
    }),
];

/// Says which piece of 8 characters of the body is left.
fn left<'a>(body: &'a [String], redacted: &str) -> Option<&'a str> {
    body.iter()
        .flat_map(|line| (0..line.len().saturating_sub(7)).filter_map(|at| line.get(at..at + 8)))
        .find(|piece| redacted.contains(piece))
}

/// Lines of the body that stand in what is left of the file, where those are enough to tell a key.
fn told<'a>(sample: &'a Sample, lines: &[String]) -> Option<&'a [String]> {
    let full = sample.body.first().map_or(0, String::len);
    let kept: Vec<&String> = lines
        .iter()
        .filter(|line| sample.body.contains(line))
        .collect();
    let is_framed = lines
        .first()
        .is_some_and(|line| line.starts_with("-----BEGIN"));
    let is_first = sample.is_told && lines.iter().any(|line| Some(line) == sample.body.first());
    let are_many = kept.iter().filter(|line| line.len() == full).count() >= 2;
    (is_framed || is_first || are_many).then_some(sample.body.as_slice())
}

#[test]
fn no_piece_of_a_key_is_left_whatever_stands_around_its_lines() {
    let rules = rules();
    let mut leaks = Vec::new();
    let mut texts = 0;
    for sample in samples() {
        for (part, keep) in PARTS {
            let lines = keep(&sample.lines());
            let Some(body) = told(&sample, &lines) else {
                continue;
            };
            // Every third of the rest, other ones each time: enough to find what is not told.
            let is_main = matches!(part, "all" | "tail -n +5");
            for (number, (name, decorate)) in DECORATIONS.into_iter().enumerate() {
                if !is_main && (number + sample.body.len()) % 3 != 0 {
                    continue;
                }
                let key: Vec<String> = lines
                    .iter()
                    .enumerate()
                    .map(|(at, line)| decorate(at, line))
                    .collect();
                let text = format!(
                    "one line before\n{}\ndone in 3 s\nok Test2 passed\n",
                    key.join("\n")
                );
                let (redacted, findings) = redact(&rules, &text);
                texts += 1;
                if let Some(piece) = left(body, &redacted) {
                    leaks.push(format!("{}, {part}, {name}: {piece}", sample.name));
                }
                assert!(findings.per_rule.contains_key("private-key"), "{redacted}");
                assert!(redacted.starts_with("one line before\n"), "{redacted}");
                assert!(
                    redacted.ends_with("\ndone in 3 s\nok Test2 passed\n"),
                    "{redacted}"
                );
                assert_eq!(redacted.lines().count(), text.lines().count());
            }
        }
    }
    assert!(
        leaks.is_empty(),
        "{} of {texts}\n{}",
        leaks.len(),
        leaks.join("\n")
    );
    assert!(texts > 800, "{texts}");
}

#[test]
fn a_key_that_was_wrapped_anew_leaves_no_piece() {
    let rules = rules();
    for sample in samples() {
        for width in [20, 30, 40, 50, 63, 100] {
            let lines: Vec<String> = sample
                .lines()
                .iter()
                .flat_map(|line| wrapped(line, width))
                .collect();
            let text = format!("before\n{}\nafter it\n", lines.join("\n"));
            let (redacted, _) = redact(&rules, &text);
            assert_eq!(
                left(&lines_of(&sample, width), &redacted),
                None,
                "{} {width}\n{redacted}",
                sample.name
            );
            assert!(redacted.ends_with("\nafter it\n"), "{redacted}");
        }
        // Words that fit are joined on one line.
        let filled = sample.lines().join(" ");
        for text in [
            filled.clone(),
            format!("K=\"{}\"", sample.lines().join("\\n")),
            format!("K=\"{}\"", sample.lines().join("\\r\\n")),
            format!("{{\"k\":\"{}\"}}", sample.lines().join("\\\\n")),
            sample.lines().concat(),
        ] {
            let (redacted, _) = redact(&rules, &text);
            assert_eq!(
                left(&sample.body, &redacted),
                None,
                "{}\n{redacted}",
                sample.name
            );
        }
    }
}

fn lines_of(sample: &Sample, width: usize) -> Vec<String> {
    sample
        .body
        .iter()
        .flat_map(|line| wrapped(line, width))
        .collect()
}

#[test]
fn a_body_on_one_line_without_a_frame_goes_where_it_begins_as_a_key() {
    let rules = rules();
    for sample in samples().into_iter().filter(|sample| sample.is_told) {
        let body = sample.body.concat();
        for text in [
            body.clone(),
            format!("key: {body} end"),
            format!("{{\"private\": \"{body}\"}}"),
            format!("a\\n{body}"),
        ] {
            let (redacted, _) = redact(&rules, &text);
            assert_eq!(
                left(std::slice::from_ref(&body), &redacted),
                None,
                "{}: {redacted}",
                sample.name
            );
        }
    }
}

#[test]
fn lines_that_are_held_back_are_the_same_in_any_pieces() {
    let rules = rules();
    let samples = samples();
    let sample = samples.first().unwrap();
    let body = sample.body.get(1..5).unwrap().join("\n");
    for text in [
        format!("a\n{body}\nb\n"),
        format!("a\n{body}"),
        format!("a\n{body}\n"),
        format!("{}\nx", sample.body.get(3).unwrap()),
        sample.body.get(3).unwrap().clone(),
        format!(
            "{}\n{}\n{body}\n",
            sample.body.get(3).unwrap(),
            "y".repeat(70_000)
        ),
    ] {
        let whole = redact(&rules, &text);
        assert_eq!(whole.0.matches('\n').count(), text.matches('\n').count());
        for size in (1..70).chain([200, 1000, 65_536]) {
            assert_eq!(in_pieces(&rules, &text, size), whole, "{size}");
        }
    }
}

/// Base64 that is no key, by lines of `width`.
fn blob(head: &[u8], count: usize, width: usize) -> String {
    let body = [head, &bytes(77, count)].concat();
    wrapped(&base64::encode(&body), width).join("\n")
}

#[test]
fn what_is_public_and_looks_alike_stays() {
    let rules = rules();
    let certificate = b"\x30\x82\x02\xf9\x30\x82\x01\xe1\xa0\x03\x02\x01\x02\x02\x14";
    let public = b"\x30\x82\x01\x22\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x03\x82\x01\x0f\x00";
    let mut texts = Vec::new();
    for (label, head, count) in [
        ("CERTIFICATE", certificate.as_slice(), 700),
        ("PUBLIC KEY", public, 270),
        (
            "RSA PUBLIC KEY",
            b"\x30\x82\x01\x0a\x02\x82\x01\x01\x00",
            260,
        ),
        ("PGP SIGNATURE", b"", 300),
    ] {
        let body = blob(head, count, 64);
        let framed = format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----");
        for (_, decorate) in DECORATIONS {
            let lines: Vec<String> = framed
                .lines()
                .enumerate()
                .map(|(at, line)| decorate(at, line))
                .collect();
            texts.push(lines.join("\n"));
        }
        texts.push(framed.replace('\n', "\\n"));
        texts.push(framed.replace('\n', " "));
        // Without its beginning, but with its end.
        texts.push(format!("{body}\n-----END {label}-----"));
        if !head.is_empty() {
            texts.push(body);
        }
    }
    let line = |count| base64::encode(&bytes(5, count));
    texts.extend([
        blob(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 6000, 64),
        blob(b"\x1f\x8b\x08\0", 3000, 64),
        blob(b"", 3000, 76),
        blob(b"", 30_000, 64),
        line(48),
        line(1500),
        format!("url(data:image/png;base64,{})", line(3000)),
        format!("integrity sha512-{}\n", line(64)).repeat(20),
        format!("integrity sha384-{}\n", line(48)).repeat(20),
        format!("sha384: {}\n", line(48)).repeat(20),
        format!("golang.org/x/net v0.1.0 h1:{}\n", line(32)).repeat(20),
    ]);
    for text in texts {
        let text = format!("before\n{text}\nafter\n");
        let (redacted, _) = redact(&rules, &text);
        assert_eq!(redacted, text);
    }
}

#[test]
fn a_key_goes_whatever_its_lines_are_joined_with_and_wherever_they_are_wrapped() {
    let kind = ["RSA PRIVATE", " KEY"].concat();
    let separators = [
        "\\n", "\\r\\n", "\\\\n", "\u{2028}", "\u{2029}", "\\u2028", "\\u000a", "%0A", "&#10;", " ",
    ];
    for size in [118, 400, 1190] {
        let body = base64::encode(&bytes(3, size));
        let lines: Vec<&str> = (0..body.len().div_ceil(64))
            .filter_map(|line| body.get(line * 64..body.len().min(line * 64 + 64)))
            .collect();
        for (number, separator) in separators.iter().enumerate() {
            // What is spelt out at length is read on one line only.
            let widths: &[usize] = if number < 5 {
                &[60, 64, 72, 80, 100, 120, 500, 5000]
            } else {
                &[5000]
            };
            let key = format!(
                "-----BEGIN {kind}-----{separator}{}{separator}-----END {kind}-----",
                lines.join(separator)
            );
            for width in widths {
                for (before, after) in [("", ""), ("key \"", "\""), ("unexpected '", "' found")] {
                    let all: Vec<char> = format!("{before}{key}{after}").chars().collect();
                    let wrapped = all.chunks(*width).map(|line| line.iter().collect());
                    let text = wrapped.collect::<Vec<String>>().join("\n") + "\nnext line";
                    let (clean, _) = redact(&rules(), &text);
                    let mut pieces = body.as_bytes().windows(12);
                    let is_left =
                        pieces.any(|piece| clean.contains(std::str::from_utf8(piece).unwrap()));
                    assert!(!is_left, "{separator:?} {width} {text:?}\n{clean:?}");
                    assert!(clean.ends_with("\nnext line"), "{clean:?}");
                }
            }
        }
    }
}

#[test]
fn code_that_names_a_frame_opens_no_key() {
    let kind = ["RSA PRIVATE", " KEY"].concat();
    let code = format!(
        "pem = \"-----BEGIN {kind}-----\\n\" +\n  Base64Encoder2.encodeToStringOf(keyBytes2) +\n  tail"
    );
    assert_eq!(redact(&rules(), &code).0, code);
}
