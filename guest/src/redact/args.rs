//! Redacts the arguments of a command, where a flag and its value may be two of them.
//!
//! It does not know what a command does with its arguments.

use std::rc::Rc;

use super::findings::Findings;
use super::hit::{Family, Hit};
use super::keyed::name_at;
use super::lines::{LINE, Lines};
use super::name::Meaning;
use super::placeholder::is_placeholder;
use super::scan::{self, Mark, fingerprint, scan};
use super::value::is_secret;
use super::{Rules, redact_on};

/// Redacts a list of arguments. A rule that takes the line takes the whole argument. In the
/// findings, a line is an argument, from 1.
#[must_use]
pub fn redact_args(rules: &Rc<Rules>, args: &[String]) -> (Vec<String>, Findings) {
    let joined = Joined::new(args);
    let together = scan(rules, &joined.text);
    let mut lines = Lines::default();
    let redacted = args
        .iter()
        .enumerate()
        .map(|(index, arg)| {
            lines.number = u64::try_from(index).unwrap_or(u64::MAX);
            if arg.contains('\n') {
                return multi_line(rules, &mut lines, arg);
            }
            let mut marks = joined.within(index, &together.marks);
            marks.extend(flag_value(args, index));
            let alone = scan(rules, arg);
            marks.extend(alone.marks);
            let whole = alone.whole.or_else(|| {
                marks
                    .iter()
                    .map(|mark| mark.hit.rule)
                    .find(|rule| rules.takes_line(*rule))
            });
            if let Some(rule) = whole {
                let number = lines.number + 1;
                return lines.take(rules, number, rule, arg.len());
            }
            let marks = scan::joined(marks);
            lines.replaced(rules, arg, 0, arg.len(), &marks)
        })
        .collect();
    (redacted, lines.findings)
}

/// Redacts an argument that is a text: a script, a message.
fn multi_line(rules: &Rc<Rules>, lines: &mut Lines, arg: &str) -> String {
    let (redacted, findings) = redact_on(rules, arg, &mut lines.ordinals);
    let number = lines.number + 1;
    let is_taken = redacted
        .lines()
        .any(|line| line.trim_end_matches('\r') == LINE);
    for (rule, count) in &findings.per_rule {
        for _ in 0..*count {
            lines.findings.add(number, rule, 0);
        }
    }
    lines.findings.bytes_removed += findings.bytes_removed;
    if is_taken { LINE.to_owned() } else { redacted }
}

/// Returns the whole argument where the one before it is a flag that announces a secret.
fn flag_value(args: &[String], index: usize) -> Option<Mark> {
    let flag = args.get(index.checked_sub(1)?)?;
    let value = args.get(index)?;
    if !flag.starts_with('-')
        || flag.contains(['=', ' '])
        || value.starts_with('-') && value.len() < 20
    {
        return None;
    }
    let name = name_at(flag, flag.len().saturating_sub(1))?;
    let is_value = match name.meaning {
        Meaning::Password => value.len() >= 2 && !is_placeholder(value) && !value.starts_with('/'),
        Meaning::Secret | Meaning::SomeKey => is_secret(value, name.meaning, true),
    };
    let mark = Mark {
        hit: Hit::of(Family::Argument, 0, 0, value.len()),
        digest: fingerprint(value),
    };
    is_value.then_some(mark)
}

/// All arguments as one line.
struct Joined {
    text: String,
    /// Where each argument begins and ends.
    spans: Vec<(usize, usize)>,
}

impl Joined {
    fn new(args: &[String]) -> Self {
        let mut text = String::new();
        let mut spans = Vec::with_capacity(args.len());
        for arg in args {
            let start = text.len();
            text.push_str(&arg.replace('\n', " "));
            spans.push((start, text.len()));
            text.push(' ');
        }
        Self { text, spans }
    }

    /// Returns the marks inside the argument at `index`, in its own positions.
    fn within(&self, index: usize, marks: &[Mark]) -> Vec<Mark> {
        let Some((start, end)) = self.spans.get(index).copied() else {
            return Vec::new();
        };
        marks
            .iter()
            .filter(|mark| mark.hit.start < end && mark.hit.end > start)
            .map(|mark| Mark {
                hit: Hit {
                    from: mark.hit.from.saturating_sub(start),
                    start: mark.hit.start.saturating_sub(start),
                    end: mark.hit.end.min(end) - start,
                    ..mark.hit
                },
                ..*mark
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::{RedactionPolicy, redact};

    fn redacted(args: &[&str]) -> Vec<String> {
        let rules = Rc::new(Rules::compile(&RedactionPolicy::default(), &[]).unwrap());
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        redact_args(&rules, &args).0
    }

    #[test]
    fn the_value_of_a_secret_flag_goes() {
        let value = ["xK9", "mQ2", "vB7tR4"].concat();
        assert_eq!(
            redacted(&["login", "--password", "hunter", "--token", &value, "-v"]),
            [
                "login",
                "--password",
                "[REDACTED:command-argument#1]",
                "--token",
                "[REDACTED:command-argument#2]",
                "-v"
            ]
        );
        assert_eq!(
            redacted(&["curl", "-u", &format!("me:{value}"), "https://h/"]),
            [
                "curl",
                "-u",
                "me:[REDACTED:command-argument#1]",
                "https://h/"
            ]
        );
        assert_eq!(
            redacted(&["curl", "-H", &format!("X-Api-Key: {value}")]),
            ["curl", "-H", "X-Api-Key: [REDACTED:credential-header#1]"]
        );
    }

    #[test]
    fn a_backslash_before_punctuation_hides_no_secret() {
        let token = ["ghp", "_", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"].concat();
        let escaped = token.replace('_', "\\_");
        assert_eq!(
            redacted(&["grep", &format!("x{} {escaped}$", "\\.")]),
            ["grep", "x\\. [REDACTED:github-token#1]$"]
        );
        let rules = Rules::compile(
            &RedactionPolicy::default(),
            &[("DB_PASSWORD".to_owned(), "p!q7=zz-4".to_owned())],
        );
        let rules = Rc::new(rules.unwrap());
        let pattern = ["^p", "\\!", "q7=zz", "\\-", "4$"].concat();
        let (args, _) = redact_args(&rules, &["grep".to_owned(), pattern.clone()]);
        assert!(args.join(" ").contains("[REDACTED"), "{args:?}");
        let (text, findings) = redact(&rules, &pattern);
        assert_eq!(findings.count(), 1, "{text}");
    }

    #[test]
    fn secrets_are_numbered_together_also_in_a_script() {
        let token = |end: &str| ["ghp", "_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF", end].concat();
        let script = format!("echo {}\necho {}", token("B"), token("A"));
        let number = |number: u32| format!("[REDACTED:github-token#{number}]");
        assert_eq!(
            redacted(&["sh", &token("A"), &script, &token("B")]),
            [
                "sh".to_owned(),
                number(1),
                format!("echo {}\necho {}", number(2), number(1)),
                number(2)
            ]
        );
    }

    #[test]
    fn a_base_rule_takes_the_whole_argument() {
        let header = format!("Authorization: Bearer {}", "a1b2".repeat(5));
        assert_eq!(
            redacted(&["curl", "-H", &header]),
            ["curl", "-H", "[REDACTED]"]
        );
    }

    #[test]
    fn ordinary_arguments_stay() {
        let args = [
            "cargo",
            "test",
            "--",
            "token",
            "--password",
            "$PASSWORD",
            "-p",
            "secret-service",
        ];
        assert_eq!(redacted(&args), args);
    }
}
