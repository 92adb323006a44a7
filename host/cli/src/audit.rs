//! `feedback audit`: what the rules find in logs and records, and what looks like a secret that
//! no rule covers.
//!
//! It changes nothing and shows no character of what was found.

mod found;
mod kept;
mod sarif;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use feedback_host::component::{Session, Sighting};
use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::{Failure, PASS, REFUSE, UNDECIDED};
use crate::place::Place;
use crate::texts::{self, Input, Onward, unreadable};

use found::{Audited, Found, Kind, Report};

/// The shortest and the longest key, in bytes.
const KEY: std::ops::RangeInclusive<usize> = 16..=4096;
/// From how many bytes on progress is shown.
const LONG: u64 = 16 << 20;
/// Most sightings that are listed; all are counted.
const LISTED: usize = 100_000;

/// List what redaction finds in logs and records, without showing it
///
/// Findings are told by rule, place and a keyed fingerprint: equal secrets have equal
/// fingerprints under one key, and without the key a fingerprint tells nothing. Suspects are
/// covered by no rule: they look like a secret by their characters alone, or are words or a
/// number behind the name of a password. gzip is unpacked. Of a record file, the output that its
/// runs kept beside it is audited too. Exits 1 where a record file or kept output holds something
/// unredacted, 2 where a file cannot be read, else 0.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// A file with 16 to 4096 secret bytes that make the fingerprints, to compare audits
    /// [default: random bytes, other ones each time]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// Print SARIF 2.1.0
    #[arg(long)]
    sarif: bool,
    #[command(flatten)]
    place: Place,
    /// Logs or record files [default: the record file and its rotated files]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Prints what was found in all files.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let key = match &arguments.key {
        Some(path) => given_key(path)?,
        None => random_key()?,
    };
    let (_, project) = arguments.place.open(Failure::undecided)?;
    let mut session = texts::session(None)?;
    let own = store_files(&project.record_file);
    let files = if arguments.files.is_empty() {
        own.clone()
    } else {
        arguments.files.clone()
    };

    let progress = progress(&files);
    let mut report = Report::default();
    let mut is_complete = true;
    let mut folders = kept::Folders::default();
    let mut fail = |failure: Failure| {
        is_complete = false;
        progress.suspend(|| failure.report());
    };
    for path in &files {
        let kind = match own.iter().any(|own| is_same(own, path)) {
            true => Kind::Records,
            false => Kind::Log,
        };
        let audited = audit(&mut session, path, &key, &progress, kind, &mut report);
        if audited.unwrap_or_else(|failure| {
            fail(failure);
            kind
        }) != Kind::Records
        {
            continue;
        }
        let kept = folders.list(path).unwrap_or_else(|(folder, error)| {
            fail(unreadable(&folder, &error));
            Vec::new()
        });
        for path in &kept {
            let kind = Kind::KeptOutput;
            match audit(&mut session, path, &key, &progress, kind, &mut report) {
                Ok(_) => {}
                Err(failure) => fail(failure),
            }
        }
    }
    progress.finish_and_clear();

    let shown = if arguments.sarif {
        sarif::of(&report, &session.rules().map_err(Failure::undecided)?)
    } else if arguments.json {
        report.as_json(is_complete).to_string()
    } else {
        report.as_text()
    };
    texts::print(&format!("{shown}\n"))?;
    Ok(ExitCode::from(
        match (is_complete, report.is_unredacted()) {
            (false, _) => UNDECIDED,
            (true, true) => REFUSE,
            (true, false) => PASS,
        },
    ))
}

/// Audits one file and says what it is: a log that holds records is a record file.
fn audit(
    session: &mut Session,
    path: &Path,
    key: &[u8],
    progress: &ProgressBar,
    kind: Kind,
    report: &mut Report,
) -> Result<Kind, Failure> {
    let name = session
        .redact(&path.to_string_lossy())
        .map_err(Failure::undecided)?;
    let watch = |reader: Box<dyn Read>| -> Box<dyn Read> { Box::new(progress.wrap_read(reader)) };
    let mut input = Input::unpacked(Some(path), watch)?;
    let running = session.start_audit(key).map_err(Failure::undecided)?;
    let mut audited = Audited {
        name,
        kind,
        ..Audited::default()
    };
    let file = report.files.len();
    let read = input.each(|bytes| {
        let seen = session.audit(&running, bytes).map_err(Failure::undecided)?;
        take(report, &mut audited, file, seen);
        Ok(Onward::Yes)
    });
    // What was seen before a read failed is told all the same.
    let end = session.finish_audit(running);
    if let Ok(end) = end {
        take(report, &mut audited, file, end.sightings);
        audited.lines = end.lines;
        audited.records = end.records;
        if kind == Kind::Log && end.records > 0 {
            audited.kind = Kind::Records;
        }
        let kind = audited.kind;
        report.files.push(audited);
        read.map(|_| kind)
    } else {
        report.files.push(audited);
        read.and(end.map(|_| kind).map_err(Failure::undecided))
    }
}

fn take(report: &mut Report, audited: &mut Audited, file: usize, seen: Vec<Sighting>) {
    for sighting in seen {
        match &sighting.rule {
            Some(rule) => {
                audited.findings = audited.findings.saturating_add(1);
                let count = report.per_rule.entry(rule.clone()).or_default();
                *count = count.saturating_add(1);
            }
            None => report.suspects = report.suspects.saturating_add(1),
        }
        if report.listed.len() < LISTED {
            report.listed.push(Found { file, sighting });
        } else {
            report.omitted = report.omitted.saturating_add(1);
        }
    }
}

/// Returns the record file and those that rotation kept, newest first.
fn store_files(record_file: &Path) -> Vec<PathBuf> {
    let rotated = (1..)
        .map(|number: u32| {
            let mut name = record_file.as_os_str().to_owned();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        })
        .take_while(|path| path.exists());
    let mut files = vec![record_file.to_path_buf()];
    files.extend(rotated);
    files
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn given_key(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut key = Vec::new();
    let longest = u64::try_from(*KEY.end()).unwrap_or(u64::MAX);
    File::open(path)
        .and_then(|file| file.take(longest + 1).read_to_end(&mut key))
        .map_err(|error| unreadable(path, &error))?;
    if KEY.contains(&key.len()) {
        return Ok(key);
    }
    Err(Failure::undecided(format!(
        "key `{}`: {} to {} bytes are needed",
        path.display(),
        KEY.start(),
        KEY.end()
    )))
}

fn random_key() -> Result<Vec<u8>, Failure> {
    let path = Path::new("/dev/urandom");
    let mut key = vec![0; 32];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut key))
        .map_err(|error| unreadable(path, &error))?;
    Ok(key)
}

/// Returns a bar for long input. It hides itself where standard error is no terminal.
fn progress(files: &[PathBuf]) -> ProgressBar {
    let bytes = files
        .iter()
        .filter_map(|path| fs::metadata(path).ok())
        .map(|about| about.len())
        .fold(0, u64::saturating_add);
    if bytes < LONG {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("auditing [{bar:30}] {bytes} of {total_bytes}, {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(bytes).with_style(style)
}

/// Findings per rule.
type PerRule = BTreeMap<String, u64>;
