//! How a run is named in the texts of the gate: its command, shortly, and its id.
//!
//! It hides nothing; a record is redacted when it is built.

use super::entry::Run;
use super::judge::Finding;
use super::verdict::Reason;

/// The most characters of a command, an id and another text that are shown.
const COMMAND_CHARS: usize = 80;
const ID_CHARS: usize = 64;
const TEXT_CHARS: usize = 300;

/// Says what was found, with the command and the id.
pub(super) fn reason(run: &Run, finding: &Finding) -> Reason {
    let message = format!("{} {}", named_run(run), finding.what);
    Reason::new(finding.code, &id(&run.command_id), message)
}

/// The command and the id: `` `cargo test` (0190…) ``.
pub(super) fn named_run(run: &Run) -> String {
    let command = run.command.as_deref().unwrap_or_default();
    format!("`{}` ({})", self::command(command), id(&run.command_id))
}

/// The id in parentheses, where there is one.
pub(super) fn named(id: &str) -> String {
    if id.is_empty() {
        "without an id".to_owned()
    } else {
        format!("({})", self::id(id))
    }
}

/// The start of a command, quoted so that its arguments can be told apart.
pub(super) fn command(arguments: &[String]) -> String {
    let mut text = String::new();
    for argument in arguments {
        if !text.is_empty() {
            text.push(' ');
        }
        // One more than is shown, so that the cut is noticed.
        let start: String = argument.chars().take(COMMAND_CHARS + 1).collect();
        text.push_str(&quoted(&start));
        if text.chars().count() > COMMAND_CHARS {
            break;
        }
    }
    brief(&text, COMMAND_CHARS)
}

/// An id as it may be shown: a damaged record may hold anything there.
pub(super) fn id(id: &str) -> String {
    brief(id, ID_CHARS)
}

/// A text of a record or of a host on one line.
pub(super) fn text(text: &str) -> String {
    brief(text, TEXT_CHARS)
}

/// The first characters of a text, with the invisible ones spelled out.
fn brief(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    for (place, c) in text.chars().enumerate() {
        if place == limit {
            shown.push('…');
            break;
        }
        if c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

fn quoted(argument: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=:,@%+[]#".contains(&byte);
    if !argument.is_empty() && argument.bytes().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(arguments: &[&str]) -> String {
        let owned: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        command(&owned)
    }

    #[test]
    fn arguments_can_be_told_apart() {
        assert_eq!(shown(&["cargo", "test", "-q"]), "cargo test -q");
        assert_eq!(
            shown(&["sh", "-c", "a b", "", "it's"]),
            r"sh -c 'a b' '' 'it'\''s'"
        );
    }

    #[test]
    fn a_long_command_is_cut_once_and_stays_on_one_line() {
        let long = shown(&["echo", &"x".repeat(100_000), "y"]);
        assert_eq!(long.chars().count(), 81);
        assert!(long.ends_with("x…"));
        assert_eq!(shown(&["a\nb\u{1b}"]), "'a\\nb\\u{1b}'");
    }
}
