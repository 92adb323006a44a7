//! What an audit found, as a person or a program reads it.
//!
//! It judges nothing but what makes an audit fail.

use feedback_host::component::Sighting;
use serde_json::{Value, json};

use super::PerRule;
use crate::summary::printable;

/// What a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything: what it holds was never redacted.
    #[default]
    Log,
    /// It holds records, or is a store's own file.
    Records,
    /// A run kept its output there.
    KeptOutput,
}

impl Kind {
    /// Says whether what is in the file was redacted when it was written.
    pub(super) const fn is_redacted(self) -> bool {
        match self {
            Self::Log => false,
            Self::Records | Self::KeptOutput => true,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Log => "a log",
            Self::Records => "a record file",
            Self::KeptOutput => "kept output",
        }
    }
}

/// One file.
#[derive(Debug, Default)]
pub(super) struct Audited {
    /// Its path, redacted.
    pub(super) name: String,
    pub(super) lines: u64,
    pub(super) records: u64,
    pub(super) kind: Kind,
    pub(super) findings: u64,
}

/// One sighting and the position of its file.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) file: usize,
    pub(super) sighting: Sighting,
}

/// What was found in all files.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) files: Vec<Audited>,
    /// In order of file and place.
    pub(super) listed: Vec<Found>,
    /// How many more there were.
    pub(super) omitted: u64,
    pub(super) per_rule: PerRule,
    pub(super) suspects: u64,
}

impl Report {
    /// Says whether a record file or kept output holds something unredacted.
    pub(super) fn is_unredacted(&self) -> bool {
        self.files
            .iter()
            .any(|file| file.kind.is_redacted() && file.findings > 0)
    }

    /// Returns the file that something was found in.
    pub(super) fn file(&self, found: &Found) -> (&str, bool) {
        self.files
            .get(found.file)
            .map_or(("", false), |file| (&file.name, file.kind.is_redacted()))
    }

    fn findings(&self) -> u64 {
        self.per_rule.values().copied().fold(0, u64::saturating_add)
    }

    pub(super) fn as_text(&self) -> String {
        let mut lines: Vec<String> = self.listed.iter().map(|found| self.line(found)).collect();
        if self.omitted > 0 {
            lines.push(format!("...and {} more", self.omitted));
        }
        let sum = |number: fn(&Audited) -> u64| {
            self.files.iter().map(number).fold(0, u64::saturating_add)
        };
        lines.push(format!(
            "{}, {} in {}, {}, {} of them records",
            count(self.findings(), "finding"),
            count(self.suspects, "suspect"),
            count(u64::try_from(self.files.len()).unwrap_or(u64::MAX), "file"),
            count(sum(|file| file.lines), "line"),
            sum(|file| file.records),
        ));
        let per_rule = self.per_rule.iter();
        lines.extend(per_rule.map(|(rule, count)| format!("  {rule} {count}")));
        for file in self.files.iter().filter(|file| file.kind.is_redacted()) {
            if file.findings > 0 {
                lines.push(format!(
                    "`{}` is {} and holds something unredacted",
                    printable(&file.name),
                    file.kind.name()
                ));
            }
        }
        lines.join("\n")
    }

    fn line(&self, found: &Found) -> String {
        let Found { sighting, .. } = found;
        let (name, _) = self.file(found);
        let place = if sighting.field.is_empty() {
            sighting.column.to_string()
        } else {
            format!(
                "{}:{}:{}",
                sighting.field, sighting.field_line, sighting.column
            )
        };
        format!(
            "{}:{}:{place}: {} ({}, fingerprint {})",
            printable(name),
            sighting.line,
            sighting.rule.as_deref().unwrap_or("suspect"),
            count(sighting.length, "character"),
            sighting.tag
        )
    }

    pub(super) fn as_json(&self, is_complete: bool) -> Value {
        let files: Vec<Value> = self
            .files
            .iter()
            .map(|file| {
                json!({
                    "file": file.name,
                    "lines": file.lines,
                    "records": file.records,
                    "record_file": file.kind == Kind::Records,
                    "kept_output": file.kind == Kind::KeptOutput,
                    "findings": file.findings,
                })
            })
            .collect();
        let of = |is_finding: bool| -> Vec<Value> {
            self.listed
                .iter()
                .filter(|found| found.sighting.rule.is_some() == is_finding)
                .map(|found| self.entry(found))
                .collect()
        };
        json!({
            "complete": is_complete,
            "unredacted_records": self.is_unredacted(),
            "files": files,
            "rules": self.per_rule,
            "findings": of(true),
            "suspects": of(false),
            "omitted": self.omitted,
        })
    }

    fn entry(&self, found: &Found) -> Value {
        let Found { sighting, .. } = found;
        let (name, _) = self.file(found);
        let mut entry = json!({
            "file": name,
            "line": sighting.line,
            "column": sighting.column,
            "length": sighting.length,
            "fingerprint": sighting.tag,
        });
        if let Some(entry) = entry.as_object_mut() {
            if let Some(rule) = &sighting.rule {
                entry.insert("rule".to_owned(), json!(rule));
                entry.insert("takes_line".to_owned(), json!(sighting.takes_line));
            }
            if !sighting.field.is_empty() {
                entry.insert("field".to_owned(), json!(sighting.field));
                entry.insert("field_line".to_owned(), json!(sighting.field_line));
            }
        }
        entry
    }
}

fn count(number: u64, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}
