//! Runs a script with bash so that the status of every stage of its pipeline comes back.
//!
//! It judges no status; and of a script with several pipelines it reports the one that ran last.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::ending::{NotStarted, NotStartedCause, Stage};

/// What bash shows for a stage that SIGPIPE ended.
const BROKEN_PIPE: i32 = 128 + libc::SIGPIPE;

/// Returns the descriptor under a number that no script uses by itself, such as the 3 of
/// `exec 3> file`; where there may be none so high, under its own.
pub(super) fn out_of_reach(report: OwnedFd) -> OwnedFd {
    const LOWEST: i32 = 200;
    rustix::io::fcntl_dupfd_cloexec(&report, LOWEST).unwrap_or(report)
}

/// Returns the argv that executes `argv[0]` as a script with the rest as its parameters.
pub(super) fn plain_argv(argv: &[OsString]) -> Vec<OsString> {
    let script = argv.first().map_or_else(OsString::new, Clone::clone);
    let bash = ["bash".into(), "-c".into(), script, "bash".into()];
    bash.into_iter()
        .chain(argv.iter().skip(1).cloned())
        .collect()
}

/// Returns the same with an order to report. The statuses go to `report` when the shell exits,
/// so they are there for `exit` and `set -e` too, and a script that ends within a comment or a
/// quotation cannot swallow them. Standard error is put aside for `set -x`, which would show a
/// command there that is not the script's.
pub(super) fn argv(argv: &[OsString], report: &OwnedFd) -> Vec<OsString> {
    let number = report.as_raw_fd();
    let mut script = OsString::from(format!(
        "trap '{{ printf \"%s\\n\" \"${{PIPESTATUS[@]}}\" >&{number}; }} 2>/dev/null' EXIT; "
    ));
    script.push(argv.first().map_or_else(OsString::new, Clone::clone));
    let rest = argv.iter().skip(1).cloned();
    plain_argv(&std::iter::once(script).chain(rest).collect::<Vec<_>>())
}

/// Words the refusal of a missing bash: the script's own programs are not the ones in question.
pub(super) fn without_bash(refusal: NotStarted) -> NotStarted {
    if refusal.cause != NotStartedCause::ProgramNotFound {
        return refusal;
    }
    let error = "program not found: `bash`, which a shell pipeline needs".to_owned();
    NotStarted { error, ..refusal }
}

/// Reads the stages out of what bash reported about `script`. Empty where it reported nothing.
pub(crate) fn stages(script: &str, report: &[u8]) -> Vec<Stage> {
    let report = String::from_utf8_lossy(report);
    let Ok(codes) = report
        .lines()
        .map(str::parse)
        .collect::<Result<Vec<i32>, _>>()
    else {
        return Vec::new();
    };
    let texts = split(script).filter(|texts| texts.len() == codes.len());
    let last = codes.len().saturating_sub(1);
    let texts = texts
        .into_iter()
        .flatten()
        .map(Some)
        .chain(std::iter::repeat(None));
    let numbered = codes.into_iter().enumerate().zip(texts);
    numbered
        .map(|((position, code), command)| {
            let broken_pipe = code == BROKEN_PIPE && position < last;
            Stage {
                command,
                exit_code: (!broken_pipe).then_some(code),
                signal: broken_pipe.then_some(libc::SIGPIPE),
            }
        })
        .collect()
}

/// Splits a script that is one pipeline into the texts of its stages; nothing for other scripts.
fn split(script: &str) -> Option<Vec<String>> {
    let mut stages = vec![String::new()];
    let mut depth = 0_usize;
    let mut characters = script.trim().chars().peekable();
    while let Some(character) = characters.next() {
        let mut whole = String::from(character);
        match character {
            '\\' => whole.extend(characters.next()),
            '\'' | '"' | '`' => whole.push_str(&quoted(character, &mut characters)?),
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.checked_sub(1)?,
            '|' if depth == 0 => {
                if characters.next_if_eq(&'|').is_some() {
                    return None;
                }
                let _ = characters.next_if_eq(&'&');
                stages.push(String::new());
                continue;
            }
            // A list, a background command or a comment; but not a redirection such as `2>&1`.
            ';' | '\n' | '#' if depth == 0 => return None,
            '&' if depth == 0
                && !stages.last()?.ends_with(['>', '<'])
                && characters.peek() != Some(&'>') =>
            {
                return None;
            }
            _ => {}
        }
        stages.last_mut()?.push_str(&whole);
    }
    let stages = stages.iter().map(|stage| stage.trim().to_owned()).collect();
    (depth == 0).then_some(stages)
}

/// Returns the rest of a quotation, with its closing mark.
fn quoted(mark: char, characters: &mut impl Iterator<Item = char>) -> Option<String> {
    let mut text = String::new();
    loop {
        let character = characters.next()?;
        text.push(character);
        if character == mark {
            return Some(text);
        }
        if character == '\\' && mark != '\'' {
            text.push(characters.next()?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str) -> Option<Vec<String>> {
        split(script)
    }

    #[test]
    fn a_pipeline_is_split_only_where_a_pipe_stands_outside_quotes_and_brackets() {
        assert_eq!(texts("a | b|c").unwrap(), ["a", "b", "c"]);
        assert_eq!(
            texts("echo 'a|b' \"c|d\" | (x | y) 2>&1 |& z").unwrap(),
            ["echo 'a|b' \"c|d\"", "(x | y) 2>&1", "z"]
        );
        assert_eq!(texts("echo \\| | cat").unwrap(), ["echo \\|", "cat"]);
        assert_eq!(
            texts("a \"$(b | c)\" | d &>x").unwrap(),
            ["a \"$(b | c)\"", "d &>x"]
        );
    }

    #[test]
    fn a_script_of_several_commands_has_no_stage_texts() {
        for script in ["a || b", "a; b", "a && b", "a &", "a\nb", "a 'b", "a )"] {
            assert_eq!(texts(script), None, "{script}");
        }
    }

    #[test]
    fn only_a_broken_pipe_before_the_last_stage_is_told_as_a_signal() {
        let found = stages("a | b | c", b"141\n1\n141\n");
        let numbers: Vec<_> = found
            .iter()
            .map(|stage| (stage.exit_code, stage.signal))
            .collect();
        assert_eq!(
            numbers,
            [(None, Some(13)), (Some(1), None), (Some(141), None)]
        );
        assert_eq!(found[1].command.as_deref(), Some("b"));
        assert_eq!(stages("a | b", b"0\n0\n0\n")[0].command, None);
        assert_eq!(stages("a", b""), []);
        assert_eq!(stages("a", b"x\n"), []);
    }
}
