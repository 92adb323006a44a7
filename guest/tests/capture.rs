//! What holds for the excerpts of any output: every line is accounted for, and how the output was
//! cut into reads does not matter.

#![expect(
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

use std::rc::Rc;

use feedback_guest::capture::{Capture, Captured, Excerpt, ExcerptPolicy, Source};
use feedback_guest::redact::{RedactionPolicy, Rules};

/// A generator of numbers that are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

fn start(policy: ExcerptPolicy) -> Capture {
    policy.check().unwrap();
    let rules = Rules::compile(&RedactionPolicy::default(), &[]).unwrap();
    Capture::new(Rc::new(rules), policy)
}

fn capture(policy: &ExcerptPolicy, stdout: &[u8], stderr: &[u8]) -> Captured {
    let mut capture = start(policy.clone());
    capture.push(Source::Stdout, stdout);
    capture.push(Source::Stderr, stderr);
    capture.end(Source::Stdout);
    capture.end(Source::Stderr);
    capture.finish()
}

fn stdout_of(bytes: &[u8]) -> Excerpt {
    capture(&ExcerptPolicy::default(), bytes, b"").stdout
}

const PIECES: &[&[u8]] = &[
    b"ok",
    b"error: ",
    b"FAILED ",
    b"io.c:3:5: ",
    b"  at read",
    b" 42",
    b" ",
    b"\t",
    b"\n",
    b"\n",
    b"\n",
    b"\r\n",
    b"\r",
    b"\r\r",
    b"\r   \r",
    b"\x1b[31m",
    b"\x1b[0K",
    b"\x1b[2K\x1b[1G",
    b"\x1b]0;title\x07",
    b"\x1b]8;;x\x1b\\",
    b"\x1b(B",
    b"\x1b7",
    b"\x1b[",
    b"\x1b",
    b"\x1b]",
    b"\x08",
    b"_\x08x",
    b"\0",
    b"\x07",
    b"\x7f",
    b"\xc2\x9b1m",
    b"\xc2\x85",
    "é".as_bytes(),
    "→".as_bytes(),
    "😀".as_bytes(),
    b"\xff",
    b"\xe2\x82",
    b"\xf0\x9f\x98",
    b"\xed\xa0\x80",
    b"\xc2",
];

fn output(numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = Vec::new();
    let plain = numbers.below(3) == 0;
    for _ in 0..numbers.below(600) {
        let piece = PIECES[numbers.below(if plain { 12 } else { PIECES.len() })];
        let times = if numbers.below(60) == 0 {
            numbers.below(400)
        } else {
            1
        };
        bytes.extend(piece.repeat(times));
    }
    bytes
}

fn policy(numbers: &mut Numbers) -> ExcerptPolicy {
    ExcerptPolicy {
        max_bytes: numbers.one_of(&[512, 700, 1024, 4096, 65_536]),
        head_lines: numbers.one_of(&[None, None, Some(0), Some(4)]),
        tail_lines: numbers.one_of(&[None, None, None, Some(0), Some(30)]),
        line_bytes: numbers.one_of(&[80, 400]),
    }
}

/// Plain text as the widest policy shows it: every line, unclamped.
fn lines(bytes: &[u8]) -> Vec<String> {
    let widest = ExcerptPolicy {
        max_bytes: 65_536,
        ..ExcerptPolicy::default()
    };
    let whole = capture(&widest, bytes, b"").stdout;
    assert_eq!(
        whole.numbers.lines_omitted, 0,
        "the output is too large for this test"
    );
    assert!(whole.text.is_empty() || whole.numbers.lines > 0);
    if whole.numbers.lines == 0 {
        return Vec::new();
    }
    whole.text.split('\n').map(str::to_owned).collect()
}

fn number_in(marker: &str, unit: &str) -> Option<usize> {
    marker
        .strip_prefix("...truncated ")?
        .strip_suffix(&format!(" {unit}..."))?
        .parse()
        .ok()
}

/// Walks through an excerpt beside the whole text and checks every line and every marker.
fn account(excerpt: &Excerpt, whole: &[String]) {
    let numbers = excerpt.numbers;
    assert_eq!(numbers.lines as usize, whole.len());
    assert_eq!(numbers.lines_kept + numbers.lines_omitted, numbers.lines);
    let (mut at, mut kept, mut clamped, mut shown) = (0, 0, 0, 0);
    let rows = excerpt
        .text
        .split('\n')
        .filter(|_| !whole.is_empty() && numbers.lines > 0);
    for row in rows {
        if let Some(missing) = number_in(row, "lines") {
            assert!(missing > 0);
            at += missing;
            continue;
        }
        let line = &whole[at];
        at += 1;
        kept += 1;
        shown += line.len();
        if row != line {
            let cut = row.rfind("...truncated ").unwrap();
            assert!(line.starts_with(&row[..cut]));
            assert_eq!(number_in(&row[cut..], "bytes"), Some(line.len() - cut));
            clamped += 1;
            shown -= line.len() - cut;
        }
    }
    assert_eq!(at, whole.len());
    assert_eq!((kept, clamped), (numbers.lines_kept, numbers.lines_clamped));
    let total: usize = whole.iter().map(String::len).sum();
    let newlines = numbers.lines_omitted as usize;
    let omitted = numbers.bytes_omitted as usize;
    // Where the last line has no newline and is left out, there is one newline less.
    assert!(omitted == total - shown + newlines || omitted + 1 == total - shown + newlines);
}

#[test]
fn text_and_numbers_account_for_every_line() {
    let mut numbers = Numbers(0x5eed_0002);
    for _ in 0..250 {
        let (out, err) = (output(&mut numbers), output(&mut numbers));
        let policy = policy(&mut numbers);
        let captured = capture(&policy, &out, &err);
        account(&captured.stdout, &lines(&out));
        account(&captured.stderr, &lines(&err));
        let used = captured.stdout.text.len() + captured.stderr.text.len();
        // Below about a kilobyte the first three and last five lines of each stream take more.
        assert!(
            used <= policy.max_bytes.max(1024),
            "{used} of {}",
            policy.max_bytes
        );
        let all = captured.stdout.text + &captured.stderr.text;
        assert!(!all.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
    }
}

#[test]
fn the_cut_into_reads_changes_nothing() {
    let mut numbers = Numbers(0x5eed_0003);
    for _ in 0..200 {
        let (out, err) = (output(&mut numbers), output(&mut numbers));
        let policy = policy(&mut numbers);
        let whole = capture(&policy, &out, &err);
        let mut pieces = start(policy);
        let size = 1 + numbers.below(90);
        let (mut rest_out, mut rest_err) = (&out[..], &err[..]);
        while !rest_out.is_empty() || !rest_err.is_empty() {
            let (now, later) = rest_out.split_at(numbers.below(size + 1).min(rest_out.len()));
            pieces.push(Source::Stdout, now);
            rest_out = later;
            let (now, later) = rest_err.split_at(numbers.below(size + 1).min(rest_err.len()));
            pieces.push(Source::Stderr, now);
            rest_err = later;
        }
        pieces.end(Source::Stdout);
        pieces.end(Source::Stderr);
        assert_eq!(pieces.finish(), whole);
    }
}

#[test]
fn a_stream_that_fits_goes_through_whole() {
    let text = format!("first\n{}\n\nlast", "x".repeat(3000));
    let excerpt = stdout_of(text.as_bytes());
    assert_eq!(excerpt.text, text);
    let ended = stdout_of(format!("{text}\n").as_bytes());
    assert_eq!(ended.text, text);
    assert_eq!(ended.numbers.lines, 4);
    assert_eq!(ended.numbers.lines_clamped, 0);
}

#[test]
fn one_byte_over_the_budget_is_cut() {
    let line = "0123456789abcde\n";
    let fits = line.repeat(256);
    assert_eq!(stdout_of(fits.as_bytes()).numbers.lines_omitted, 0);
    let over = format!("{fits}x");
    let excerpt = stdout_of(over.as_bytes());
    assert!(excerpt.numbers.lines_omitted > 0);
    assert!(excerpt.text.len() <= 4096);
    assert!(excerpt.text.ends_with("\nx"));
}

#[test]
fn a_line_of_ten_megabytes_costs_a_clamp() {
    let mut capture = start(ExcerptPolicy::default());
    let block = "é".repeat(50_000);
    for _ in 0..100 {
        capture.push(Source::Stdout, block.as_bytes());
    }
    let excerpt = capture.finish().stdout;
    assert_eq!(excerpt.numbers.lines, 1);
    assert_eq!(excerpt.numbers.lines_clamped, 1);
    assert!(excerpt.text.len() <= 400);
    let (kept, marker) = excerpt.text.split_once("...").unwrap();
    let left_out = 10_000_000 - kept.len();
    assert_eq!(marker, format!("truncated {left_out} bytes..."));
    assert_eq!(excerpt.numbers.bytes_omitted as usize, left_out);
    assert!(!excerpt.numbers.end_seen);
}

#[test]
fn neither_stream_starves_the_other() {
    let flood = "some line of output\n".repeat(100_000);
    let captured = capture(
        &ExcerptPolicy::default(),
        flood.as_bytes(),
        b"error: short\n",
    );
    assert_eq!(captured.stderr.text, "error: short");
    assert!(captured.stdout.text.len() > 4000);
    let captured = capture(
        &ExcerptPolicy::default(),
        flood.as_bytes(),
        flood.as_bytes(),
    );
    assert!(captured.stdout.text.len() <= 2048 && captured.stderr.text.len() <= 2048);
}

#[test]
fn plain_head_and_tail_keep_just_these() {
    let text: String = (1..=100).map(|line| format!("error {line}\n")).collect();
    let policy = ExcerptPolicy {
        head_lines: Some(2),
        tail_lines: Some(1),
        ..ExcerptPolicy::default()
    };
    let policy = ExcerptPolicy {
        max_bytes: 512,
        ..policy
    };
    let excerpt = capture(&policy, text.as_bytes(), b"").stdout;
    assert_eq!(
        excerpt.text,
        "error 1\nerror 2\n...truncated 97 lines...\nerror 100"
    );
}

#[test]
fn the_first_cause_survives_in_the_middle_of_a_long_output() {
    let mut text = "compiling a module\n".repeat(5000);
    text += "io.c: In function 'read':\nio.c:12:5: error: 'x' undeclared\n   12 |   x = 3;\n      |   ^\n";
    text += &"compiling another module\n".repeat(5000);
    let excerpt = stdout_of(text.as_bytes());
    let place = "io.c: In function 'read':\nio.c:12:5: error: 'x' undeclared\n   12 |   x = 3;\n      |   ^\n";
    assert!(excerpt.text.contains(place));
}

#[test]
fn the_newest_line_is_complete_and_of_either_stream() {
    let mut capture = start(ExcerptPolicy::default());
    assert_eq!(capture.newest_line(), "");
    capture.push(Source::Stdout, b"one\ntw");
    assert_eq!(capture.newest_line(), "one");
    capture.push(Source::Stderr, b"problem\n");
    assert_eq!(capture.newest_line(), "problem");
    capture.push(Source::Stdout, b"o\n");
    assert_eq!(capture.newest_line(), "two");
    let mut without_tail = start(ExcerptPolicy {
        tail_lines: Some(0),
        ..ExcerptPolicy::default()
    });
    without_tail.push(Source::Stdout, b"one\ntwo\n");
    assert_eq!(without_tail.newest_line(), "two");
}

#[test]
fn numbers_that_are_zero_are_left_out_of_the_record() {
    let empty = stdout_of(b"").numbers;
    assert_eq!(
        serde_json::to_string(&empty).unwrap(),
        r#"{"bytes":0,"lines":0,"end_seen":true}"#
    );
    let damaged = stdout_of(b"10%\r20%\r\n\x1b[1m\xff\n").numbers;
    assert_eq!(
        serde_json::to_string(&damaged).unwrap(),
        r#"{"bytes":15,"lines":2,"lines_kept":2,"frames_collapsed":1,"invalid_bytes":1,"controls_removed":1,"end_seen":true}"#
    );
}
