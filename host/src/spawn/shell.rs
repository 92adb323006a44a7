//! Runs a script with bash so that the status of every stage of its pipeline comes back.
//!
//! It judges no status. Of a script with several pipelines it reports the one that ran last, and
//! what failed unseen in the others as far as bash tells: not of a pipeline after which its
//! subshell, command substitution, `eval` or background job runs nothing more.

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
    // A script that never reads its report must not wait for a reader either.
    let _ = rustix::io::ioctl_fionbio(report, true);
    let number = report.as_raw_fd();
    let text = argv.first().map_or_else(OsString::new, Clone::clone);
    let mut script = OsString::from(format!(
        "trap '{{ printf \"%s\\0\" {LAST} \"${{PIPESTATUS[@]}}\" >&{number}; }} 2>/dev/null' EXIT; "
    ));
    if may_hide(&text.to_string_lossy()) {
        script.push(watch(number));
    }
    script.push(text);
    let rest = argv.iter().skip(1).cloned();
    plain_argv(&std::iter::once(script).chain(rest).collect::<Vec<_>>())
}

/// What begins the report of the pipeline that ran last.
const LAST: &str = "=";
/// What begins the report of an earlier one in which a stage before the last failed.
const EARLIER: &str = "-";
/// How many different reports of earlier pipelines are kept.
const MOST_EARLIER: usize = 32;

/// Returns the order to look at the pipeline before each command and after each function.
///
/// The script cannot tell: a compound command leaves `$_` alone, the one simple command in it has
/// the old `$_` as its last argument, and bash itself keeps `$?` and `PIPESTATUS` over a trap.
fn watch(number: i32) -> String {
    format!(
        "set -T; trap '{{ case \"${{PIPESTATUS[@]}}\" in *[1-9]*\" \"*) \
         printf \"%s\\0\" {EARLIER} \"${{PIPESTATUS[@]}}\" \"\" \"$_\" >&{number} || [[ 1 ]];; \
         esac; }} 2>/dev/null' DEBUG RETURN; "
    )
}

/// Says whether a script can run a pipeline that is not its last, and would not notice the watch.
fn may_hide(script: &str) -> bool {
    const NOTICES: [&str; 5] = ["DEBUG", "RETURN", "functrace", "extdebug", "BASH_XTRACEFD"];
    let is_plain = |stages: Vec<String>| {
        let inner = ['|', '(', '{', '`'];
        stages.iter().all(|stage| !stage.contains(inner))
    };
    !split(script).is_some_and(is_plain) && !NOTICES.iter().any(|word| script.contains(word))
}

/// Words the refusal of a missing bash: the script's own programs are not the ones in question.
pub(super) fn without_bash(refusal: NotStarted) -> NotStarted {
    if refusal.cause != NotStartedCause::ProgramNotFound {
        return refusal;
    }
    let error = "program not found: `bash`, which a shell pipeline needs".to_owned();
    NotStarted { error, ..refusal }
}

/// Reads the stages out of what bash reported about `script`: those of the pipeline that ran last,
/// and before them what failed unseen in earlier ones. Nothing where it did not report the last.
pub(crate) fn stages(script: &str, report: &[u8]) -> (Vec<Stage>, Option<Vec<Stage>>) {
    let text = String::from_utf8_lossy(report);
    let mut tokens = text.split('\0');
    let (mut earlier, mut last) = (Vec::new(), None);
    while let Some(token) = tokens.next() {
        match token {
            EARLIER => {
                // Ends with an empty token, after which a text follows that is the script's own.
                let codes = numbers(tokens.by_ref().take_while(|token| !token.is_empty()));
                let _ = tokens.next();
                // The same one is told again before each of the next pipeline's stages.
                if earlier.last() != Some(&codes) && earlier.len() < MOST_EARLIER {
                    earlier.push(codes);
                }
            }
            LAST => last = Some(numbers(tokens.by_ref())),
            _ => {}
        }
    }
    // The order to report is a command as well, before which the last one is looked at.
    if earlier.last() == last.as_ref() {
        let _ = earlier.pop();
    }
    let hidden = earlier.iter().flat_map(|codes| hidden(codes)).collect();
    let last = last.filter(|codes| !codes.is_empty());
    (hidden, last.map(|codes| of_last(script, codes)))
}

/// Reads numbers up to the first token that is none.
fn numbers<'a>(tokens: impl Iterator<Item = &'a str>) -> Vec<i32> {
    tokens.map_while(|token| token.parse().ok()).collect()
}

/// Returns the stages that failed and whose failure the shell hid: it shows the last one's alone.
fn hidden(codes: &[i32]) -> impl Iterator<Item = Stage> {
    let before_last = codes.split_last().map_or(&[][..], |(_, before)| before);
    before_last
        .iter()
        .filter(|code| **code != 0)
        .map(|code| stage(None, *code, true))
}

fn of_last(script: &str, codes: Vec<i32>) -> Vec<Stage> {
    let texts = split(script).filter(|texts| texts.len() == codes.len());
    let last = codes.len().saturating_sub(1);
    let texts = texts
        .into_iter()
        .flatten()
        .map(Some)
        .chain(std::iter::repeat(None));
    let numbered = codes.into_iter().enumerate().zip(texts);
    numbered
        .map(|((position, code), command)| stage(command, code, position < last))
        .collect()
}

fn stage(command: Option<String>, code: i32, is_before_last: bool) -> Stage {
    let broken_pipe = code == BROKEN_PIPE && is_before_last;
    Stage {
        command,
        exit_code: (!broken_pipe).then_some(code),
        signal: broken_pipe.then_some(libc::SIGPIPE),
    }
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
        let last = |script, report: &[u8]| stages(script, report).1.unwrap();
        let found = last("a | b | c", b"=\x00141\x001\x00141\x00");
        let numbers: Vec<_> = found
            .iter()
            .map(|stage| (stage.exit_code, stage.signal))
            .collect();
        assert_eq!(
            numbers,
            [(None, Some(13)), (Some(1), None), (Some(141), None)]
        );
        assert_eq!(found[1].command.as_deref(), Some("b"));
        assert_eq!(last("a | b", b"=\x000\x000\x000\x00")[0].command, None);
        assert_eq!(stages("a", b""), (vec![], None));
        assert_eq!(stages("a", b"x\n"), (vec![], None));
        assert_eq!(stages("a", b"=\x00x\x00"), (vec![], None));
    }

    #[test]
    fn earlier_pipelines_tell_only_what_the_shell_hid_and_once() {
        let report = b"-\x001\x000\x00\x00=\x00-\x001\x000\x00\x00x\x00-\x003\x00141\x001\x00\x00y\x00=\x000\x00";
        let (hidden, last) = stages("a; b", report);
        let codes: Vec<_> = hidden
            .iter()
            .map(|stage| (stage.exit_code, stage.signal))
            .collect();
        assert_eq!(codes, [(Some(1), None), (Some(3), None), (None, Some(13))]);
        assert_eq!(last.unwrap().len(), 1);
        let twice = stages("a | b", b"-\x001\x000\x00\x00\x00=\x001\x000\x00");
        assert_eq!((twice.0.len(), twice.1.unwrap().len()), (0, 2));
        let many = [b"-\x001\x000\x00\x00\x00-\x002\x000\x00\x00\x00".as_slice(); 99].concat();
        assert_eq!(stages("a; b", &many).0.len(), MOST_EARLIER);
    }

    #[test]
    fn only_a_script_that_can_hide_something_and_would_not_notice_is_watched() {
        for script in ["a | b", "a", "make 2>&1 | tail -5"] {
            assert!(!may_hide(script), "{script}");
        }
        for script in ["a | b; c", "(a | b; c) | d", ". ./x; y", "eval \"$x\"; y"] {
            assert!(may_hide(script), "{script}");
        }
        assert!(!may_hide("trap x DEBUG; a | b; c"));
    }
}
