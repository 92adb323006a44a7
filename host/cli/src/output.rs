//! What a run has kept of its output, printed: all of it, some lines, or those that match.
//!
//! It was redacted when it was written; nothing is taken out here.

use std::io::{self, BufRead, BufReader, IsTerminal, StdoutLock, Write};
use std::path::Path;

use clap::{Args, ValueEnum};
use feedback_host::ending::Source;
use feedback_host::output::{Kept, OutputError, Outputs, Whole, kept};
use regex_lite::Regex;
use serde_json::Value;

use crate::failure::{Failure, of_store, warn};
use crate::summary::printable;

/// Which part of the kept output is wanted.
#[derive(Args, Debug)]
#[group(id = "output", multiple = true)]
pub(crate) struct Wanted {
    /// Print the whole output, where the run kept it (`feedback run --keep-output`)
    #[arg(long, conflicts_with_all = ["lines", "grep"])]
    full: bool,
    /// Print these lines of the kept output: 100-200, 100- (to the end), -20 (the last 20), or 100
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, value_parser = range)]
    lines: Option<Range>,
    /// Print the lines of the kept output that this regular expression matches, with their numbers
    #[arg(long, value_name = "REGEX", value_parser = regex)]
    grep: Option<Regex>,
}

/// Which stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// Lines of a text, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    /// From the first number to the second, or to the end.
    From(u64, Option<u64>),
    /// So many at the end.
    Last(u64),
}

impl Wanted {
    /// Says whether any of the output is asked for.
    pub(crate) fn is_any(&self) -> bool {
        self.full || self.lines.is_some() || self.grep.is_some()
    }
}

/// Prints what is wanted of the output of a record.
pub(crate) fn print(
    record_file: &Path,
    record: &str,
    wanted: &Wanted,
    stream: Option<Stream>,
) -> Result<(), Failure> {
    let outputs =
        Outputs::open(record_file).map_err(|error| Failure::undecided(of_store(&error)))?;
    let told = kept(record);
    if told.is_empty() {
        return Err(not_kept(record));
    }
    let mut open = Vec::new();
    for kept in told.into_iter().filter(|kept| is_chosen(stream, kept)) {
        match outputs.open_whole(&kept) {
            Ok(whole) => open.push((kept, Some(whole))),
            Err(OutputError::Missing(_)) if kept.of_dead_runner => {}
            // The record itself says why there is no file.
            Err(OutputError::Missing(_)) if kept.sha256.is_none() => open.push((kept, None)),
            Err(error) => return Err(unusable(&error)),
        }
    }
    if open.is_empty() {
        return Err(not_kept(record));
    }
    let with_text =
        |(_, whole): &&(Kept, Option<Whole>)| whole.as_ref().is_some_and(|whole| whole.bytes > 0);
    let mut page = Page {
        out: io::stdout().lock(),
        is_terminal: io::stdout().is_terminal(),
        headings: open.iter().filter(with_text).count() > 1,
        lines: 0,
    };
    for (kept, whole) in &mut open {
        let Some(whole) = whole else { continue };
        match page.stream(kept.source, whole, wanted) {
            Ok(()) => {}
            // A reader that went away has seen what it wanted.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => {
                return Err(Failure::undecided(format!(
                    "the output cannot be printed: {error}"
                )));
            }
        }
    }
    if page.lines == 0 && !wanted.full {
        warn(nothing(&open, wanted));
    }
    open.iter()
        .filter_map(|(kept, _)| left_out(kept))
        .for_each(warn);
    Ok(())
}

/// What is being printed.
struct Page {
    out: StdoutLock<'static>,
    is_terminal: bool,
    /// Each stream has its name above it.
    headings: bool,
    lines: u64,
}

impl Page {
    fn stream(&mut self, source: Source, whole: &mut Whole, wanted: &Wanted) -> io::Result<()> {
        let (first, last) = match wanted.lines {
            None => (1, u64::MAX),
            Some(Range::From(first, last)) => (first, last.unwrap_or(u64::MAX)),
            Some(Range::Last(count)) => (
                whole.lines.saturating_sub(count).saturating_add(1),
                u64::MAX,
            ),
        };
        let mut reader = BufReader::new(&whole.file);
        let mut line = Vec::new();
        let mut number = 0_u64;
        let mut is_first = true;
        while number < last {
            line.clear();
            if reader.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            number = number.saturating_add(1);
            let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(&line));
            if number < first
                || wanted
                    .grep
                    .as_ref()
                    .is_some_and(|grep| !grep.is_match(&text))
            {
                continue;
            }
            if std::mem::take(&mut is_first) && self.headings {
                writeln!(self.out, "== {} ==", word(source))?;
            }
            if wanted.grep.is_some() {
                write!(self.out, "{number}:")?;
            }
            if self.is_terminal {
                writeln!(self.out, "{}", printable(&text))?;
            } else {
                writeln!(self.out, "{text}")?;
            }
            self.lines = self.lines.saturating_add(1);
        }
        self.out.flush()
    }
}

fn is_chosen(stream: Option<Stream>, kept: &Kept) -> bool {
    match stream {
        None => true,
        Some(Stream::Stdout) => kept.source == Source::Stdout,
        Some(Stream::Stderr) => kept.source == Source::Stderr,
    }
}

fn word(source: Source) -> &'static str {
    match source {
        Source::Stdout => "stdout",
        Source::Stderr => "stderr",
    }
}

/// Says that there is no output, and how there will be one.
fn not_kept(record: &str) -> Failure {
    let record: Value = serde_json::from_str(record).unwrap_or_default();
    let id = record.get("command_id").and_then(Value::as_str);
    Failure::undecided(format!(
        "the run `{}` kept no output beside the excerpt in its record; `feedback run --keep-output` keeps it, or `\"run\": {{\"keep_output\": true}}` in feedback.json",
        id.unwrap_or("unknown")
    ))
}

/// Says why a kept output is not read, and what tells more.
pub(crate) fn unusable(error: &OutputError) -> Failure {
    Failure::undecided(match error {
        OutputError::Store(error) => of_store(error),
        OutputError::Missing(_) | OutputError::Changed(_) => {
            format!("{error}; `feedback verify` says what else is wrong")
        }
    })
}

/// Says why no line was printed.
fn nothing(open: &[(Kept, Option<Whole>)], wanted: &Wanted) -> String {
    let lines = |whole: &Option<Whole>| whole.as_ref().map_or(0, |whole| whole.lines);
    let counts: Vec<String> = open
        .iter()
        .map(|(kept, whole)| match lines(whole) {
            1 => format!("{} has 1 line", word(kept.source)),
            lines => format!("{} has {lines} lines", word(kept.source)),
        })
        .collect();
    let none = if wanted.grep.is_some() {
        "no line matches"
    } else {
        "no such line"
    };
    format!("{none}: {}", counts.join(", "))
}

/// Says what of a stream is not in its file, and why.
fn left_out(kept: &Kept) -> Option<String> {
    let stream = word(kept.source);
    if kept.of_dead_runner {
        return Some(format!(
            "the runner died; this is what it had kept of {stream} by then"
        ));
    }
    let why = match &kept.error {
        Some(error) => error.as_str(),
        None if kept.bytes_omitted > 0 => "`run.keep_output_max_bytes` allows no more",
        None => return None,
    };
    Some(format!(
        "{} bytes and {} lines at the end of {stream} were not kept: {why}",
        kept.bytes_omitted, kept.lines_omitted
    ))
}

fn range(text: &str) -> Result<Range, String> {
    let number = |digits: &str| {
        // A sign would be read as well.
        let plain = digits.bytes().all(|digit| digit.is_ascii_digit());
        let number = digits.parse::<u64>().ok().filter(|number| *number > 0);
        number.filter(|_| plain)
    };
    let range = match text.split_once('-') {
        None => number(text).map(|line| Range::From(line, Some(line))),
        Some(("", last)) => number(last).map(Range::Last),
        Some((first, "")) => number(first).map(|first| Range::From(first, None)),
        Some((first, last)) => match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Some(Range::From(first, Some(last))),
            _ => None,
        },
    };
    range.ok_or_else(|| {
        "write it as 100-200, 100- (to the end), -20 (the last 20) or 100; lines count from 1"
            .to_owned()
    })
}

fn regex(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{Range, range};

    #[test]
    fn a_range_is_read_as_it_is_documented() {
        assert_eq!(range("100-200"), Ok(Range::From(100, Some(200))));
        assert_eq!(range("100-"), Ok(Range::From(100, None)));
        assert_eq!(range("-20"), Ok(Range::Last(20)));
        assert_eq!(range("7"), Ok(Range::From(7, Some(7))));
        for wrong in [
            "", "-", "0", "0-3", "5-4", "-0", "1-2-3", "a", "1,2", "--1", "+1",
        ] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }
}
