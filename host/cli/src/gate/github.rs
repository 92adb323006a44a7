//! The answer of the gate for GitHub Actions: annotations, and the summary of the step.
//!
//! Both are languages of their own; whatever stands in a record stays a text in them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use feedback_host::component::Decision;
use rustix::fs::OFlags;

use super::answer::{Against, Answer};
use crate::failure::warn;

/// The variable that names the file for the summary of a step.
const SUMMARY_VARIABLE: &str = "GITHUB_STEP_SUMMARY";

/// Returns the annotations, one on each line.
pub(super) fn annotations(answer: &Answer) -> String {
    let (level, decided) = match answer.decision() {
        Decision::Pass => ("notice", true),
        Decision::Refuse => ("error", true),
        Decision::Undecided => ("error", false),
    };
    let mut lines = Vec::new();
    for case in answer.cases() {
        let subject = if case.required { &*case.name } else { "" };
        lines.extend(
            case.against
                .iter()
                .map(|against| annotation(subject, against)),
        );
    }
    if lines.is_empty() || !decided {
        let headline = data(&answer.headline());
        lines.insert(0, format!("::{level} title=feedback gate::{headline}"));
    }
    let made_up_for = answer.made_up_for().iter();
    lines.extend(
        made_up_for.map(|line| format!("::notice title=feedback: made up for::{}", data(line))),
    );
    let set_aside = answer.set_aside().into_iter();
    lines.extend(
        set_aside.map(|line| format!("::warning title=feedback: set aside::{}", data(&line))),
    );
    lines.join("\n")
}

fn annotation(subject: &str, against: &Against) -> String {
    let Against {
        code,
        message,
        remedy,
    } = against;
    let title = if subject.is_empty() {
        format!("feedback: {code}")
    } else {
        format!("feedback: {subject}: {code}")
    };
    let text = if remedy.is_empty() {
        message.clone()
    } else {
        format!("{message}\n{remedy}")
    };
    format!("::error title={}::{}", property(&title), data(&text))
}

/// The text of an annotation. Lines end at `\r` and `\n`, and `%` begins an escape.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property ends at `,` and at `:` as well.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Adds the answer to the summary of the step, where there is one. That it cannot be written
/// changes nothing of the answer, and is told.
pub(super) fn summarise(answer: &Answer) {
    let Some(path) = std::env::var_os(SUMMARY_VARIABLE).filter(|path| !path.is_empty()) else {
        return;
    };
    let path = PathBuf::from(path);
    let written = open(&path).and_then(|mut file| file.write_all(summary(answer).as_bytes()));
    if let Err(error) = written {
        warn(format_args!("step summary `{}`: {error}", path.display()));
    }
}

/// Opens a file to write behind its end. Of a pipe nobody may ever read, and an answer does not
/// wait for that.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .custom_flags(i32::try_from(flags.bits()).map_err(io::Error::other)?)
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("is no regular file"))
    }
}

fn summary(answer: &Answer) -> String {
    let mark = match answer.decision() {
        Decision::Pass => "✅",
        Decision::Refuse => "❌",
        Decision::Undecided => "⚠️",
    };
    let headline = text(&answer.headline());
    let mut lines = vec![
        format!("### {mark} feedback gate: {headline}"),
        String::new(),
    ];
    lines.push("| | | what | what to do |".to_owned());
    lines.push("|---|---|---|---|".to_owned());
    for case in answer.cases() {
        let name = if case.required {
            text(&case.name)
        } else {
            String::new()
        };
        if case.against.is_empty() {
            lines.push(format!("| {name} | met | {} | |", text(&case.shown_by)));
        }
        let rows = case.against.iter().map(|against| {
            let (message, remedy) = (text(&against.message), text(&against.remedy));
            format!("| {name} | {} | {message} | {remedy} |", text(against.code))
        });
        lines.extend(rows);
    }
    let made_up_for = answer.made_up_for().iter();
    lines.extend(made_up_for.map(|line| format!("| | made up for | {} | |", text(line))));
    let set_aside = answer.set_aside().into_iter();
    lines.extend(set_aside.map(|line| format!("| | set aside | {} | |", text(&line))));
    lines.push("\n".to_owned());
    lines.join("\n")
}

/// A text in a cell: whatever Markdown or HTML could take for its own, and what could become a
/// link or a mention, is a character reference.
fn text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || c == ' ' {
            shown.push(c);
        } else if c.is_control() {
            shown.push(' ');
        } else {
            shown.push_str(&format!("&#{};", u32::from(c)));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_begin_another_annotation() {
        let against = Against {
            code: "non-zero-exit",
            message: "`x\n::error::y, 100%0A`".to_owned(),
            remedy: "fix\r\nit".to_owned(),
        };
        assert_eq!(
            annotation("a:b,c", &against),
            "::error title=feedback%3A a%3Ab%2Cc%3A non-zero-exit\
             ::`x%0A::error::y, 100%250A`%0Afix%0D%0Ait"
        );
    }

    #[test]
    fn a_text_cannot_be_markup_or_leave_its_cell() {
        let shown = text("<img src=x> | [a](http://b) `c` @d\n# e *f*");
        assert!(
            !shown.contains(['<', '|', '[', '`', '@', '\n', '*', ':']),
            "{shown}"
        );
        assert!(shown.starts_with("&#60;img src&#61;x&#62;"), "{shown}");
    }

    #[test]
    fn no_answer_is_an_error() {
        let said = annotations(&Answer::Failed("the store is gone".to_owned()));
        assert!(
            said.lines().all(|line| line.starts_with("::error ")),
            "{said}"
        );
        assert!(said.contains("the store is gone"), "{said}");
    }
}
