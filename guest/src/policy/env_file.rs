//! Reads the variables of a `.env` file, and of what shells and compose files write instead.
//!
//! It is lenient, since a value that is read wrongly is only hidden wrongly, and nothing is expanded.
//! A line that it does not understand is told.

/// The commands of shells that set variables, and without a value only name them.
const SETTERS: [&str; 6] = ["export", "declare", "typeset", "readonly", "local", "set"];

/// What stands between the commands of a line.
const BETWEEN: [char; 4] = [' ', '\t', ';', '&'];

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// The names and values of the assignments.
    pub(super) pairs: Vec<(String, String)>,
    /// The numbers of the lines that may hold a value and were not understood, from 1.
    pub(super) unread: Vec<usize>,
}

/// Reads the assignments in `text`.
pub(super) fn variables(text: &str) -> Variables {
    let mut variables = Variables::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = text;
    while !rest.is_empty() {
        let line = rest.lines().next().unwrap_or_default();
        let Some((name, start)) = assignment(line) else {
            if !holds_nothing(line) {
                let before = text.get(..text.len() - rest.len()).unwrap_or_default();
                variables.unread.push(before.matches('\n').count() + 1);
            }
            rest = after_line(rest);
            continue;
        };
        let value = rest.get(start..).unwrap_or_default();
        let (value, after) = match quoted(value) {
            Some((inner, after)) => (inner, next_command(after)),
            None => {
                let whole = bare(value);
                let line = value.lines().next().unwrap_or_default();
                // What a shell takes for the value, beside what others do.
                let command = end_of_command(line).and_then(|end| line.split_at_checked(end));
                if let Some((first, _)) = command.filter(|(first, _)| first.len() < whole.len()) {
                    variables.pairs.push((name.to_owned(), bare(first)));
                }
                let end = command.map_or(line.len(), |(first, _)| first.len());
                (whole, next_command(value.get(end..).unwrap_or_default()))
            }
        };
        variables.pairs.push((name.to_owned(), value));
        rest = after;
    }
    variables
}

/// Returns what begins behind the value before `rest`: another command on its line, or the next line.
fn next_command(rest: &str) -> &str {
    let command = rest.trim_start_matches(BETWEEN);
    match command.lines().next() {
        Some(line) if command.len() < rest.len() && sets(line) => command,
        Some(_) | None => after_line(rest),
    }
}

/// Returns where a shell ends the value that `line` begins with, if another command or assignment
/// follows, or a separator alone.
fn end_of_command(line: &str) -> Option<usize> {
    let separators = line.match_indices(BETWEEN);
    separators.map(|(start, _)| start).find(|start| {
        let rest = line.get(*start..).unwrap_or_default();
        let command = rest.trim_start_matches(BETWEEN);
        let between = rest.strip_suffix(command).unwrap_or_default();
        match (between.contains(';') || between.contains("&&"), command) {
            (true, "") => true,
            (true, _) => {
                sets(command) || between.ends_with([' ', '\t']) && command.starts_with('#')
            }
            (false, _) => !between.contains('&') && is_assignment(command),
        }
    })
}

/// Says whether `line` begins with an assignment, or with a command that sets or exports variables.
fn sets(line: &str) -> bool {
    is_assignment(line) || behind_command(line).0.len() < line.len()
}

/// Says whether `line` begins with `NAME=`, as a shell writes it.
fn is_assignment(line: &str) -> bool {
    let name = line.split_once('=').map_or("", |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the name, and where the value begins: `K=v`, `K: v`, `"K": "v"`, behind a command that
/// sets variables, as an item of a list, and `set -x K v`.
fn assignment(line: &str) -> Option<(&str, usize)> {
    let rest = line.trim_start();
    let rest = rest.strip_prefix("- ").unwrap_or(rest).trim_start();
    let (rest, is_command) = behind_command(rest);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let rest = quote.map_or(rest, |quote| rest.strip_prefix(quote).unwrap_or(rest));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let (name, rest) = rest.split_at_checked(rest.find(|c| !is_name(c))?)?;
    let rest = quote.map_or(rest, |quote| rest.strip_prefix(quote).unwrap_or(rest));
    let sign = rest.trim_start();
    let value = if let Some(value) = sign.strip_prefix('=') {
        // A whole item of a list stands in quotes.
        value
    } else if let Some(value) = sign.strip_prefix(':') {
        Some(value).filter(|value| value.is_empty() || value.starts_with([' ', '\t']))?
    } else {
        Some(sign).filter(|_| is_command && sign.len() < rest.len())?
    };
    let start = line.len() - value.trim_start().len();
    (!name.is_empty()).then_some((name, start))
}

/// Returns what stands behind a command that sets variables and its options, and whether a blank
/// may stand between its name and its value.
fn behind_command(line: &str) -> (&str, bool) {
    if let Some(rest) = line.strip_prefix("$env:") {
        return (rest, false);
    }
    let command = SETTERS.iter().chain(&["setenv"]).find_map(|command| {
        let rest = line.strip_prefix(command)?;
        rest.starts_with([' ', '\t'])
            .then_some((*command, rest.trim_start()))
    });
    let Some((command, mut rest)) = command else {
        return (line, false);
    };
    let mut has_options = false;
    while rest.starts_with('-') {
        has_options = true;
        let end = rest.find([' ', '\t']).unwrap_or(rest.len());
        rest = rest.get(end..).unwrap_or_default().trim_start();
    }
    let takes_words = command == "setenv" || command == "set" && has_options;
    (rest, takes_words)
}

/// Says whether no value can stand on a line that is no assignment: a remark, a heading, a bracket,
/// a name alone, or a command that sets none.
fn holds_nothing(line: &str) -> bool {
    let line = line.trim();
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let options = |word: &&str| word.starts_with(['-', '+']);
    let is_name = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+'))
    };
    let sets_none = SETTERS.contains(&first) || first == "unset";
    line.starts_with(['#', ';'])
        || line.starts_with("//")
        || line.starts_with('[') && line.ends_with(']')
        || line.bytes().all(|byte| byte.is_ascii_punctuation())
        || matches!(first, "source" | ".")
        || sets_none
            && words.clone().all(|word| is_name(word) && word.len() < 40)
            && words.filter(|word| !options(word)).count() < 2
}

/// Returns a quoted value, which may go over several lines, and what follows its closing quote.
fn quoted(value: &str) -> Option<(String, &str)> {
    // `$'...'` resolves escapes as a text in double quotes does.
    let dollar = value
        .strip_prefix('$')
        .filter(|rest| rest.starts_with(['\'', '"']));
    let value = dollar.unwrap_or(value);
    let quote = value
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let is_escaping = quote == '"' || dollar.is_some();
    let inner = value.get(1..)?;
    let mut text = String::new();
    let mut at = 0;
    loop {
        let rest = inner.get(at..)?;
        let character = rest.chars().next()?;
        if character == quote {
            return Some((text, rest.get(1..)?));
        }
        let (meant, length) = match rest.strip_prefix('\\').filter(|_| is_escaping) {
            Some(rest) => {
                let (meant, length) = escaped(rest, dollar.is_some())?;
                (meant, length + 1)
            }
            None => (character, character.len_utf8()),
        };
        text.push(meant);
        at += length;
    }
}

/// Returns what a backslash and the beginning of `rest` mean, and the length of that in bytes.
fn escaped(rest: &str, is_ansi: bool) -> Option<(char, usize)> {
    let letter = rest.chars().next()?;
    let code = |most: usize| {
        let digits = rest.get(1..).unwrap_or_default();
        let end = digits
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(digits.len());
        let digits = digits.get(..end.min(most))?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        Some((char::from_u32(code)?, 1 + digits.len()))
    };
    let meant = match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'x' if is_ansi => return Some(code(2).unwrap_or((letter, 1))),
        'u' if is_ansi => return Some(code(4).unwrap_or((letter, 1))),
        'U' if is_ansi => return Some(code(8).unwrap_or((letter, 1))),
        other => other,
    };
    Some((meant, letter.len_utf8()))
}

/// Returns a value without quotes: up to a remark or the end of the line.
fn bare(value: &str) -> String {
    let line = value.lines().next().unwrap_or_default();
    let end = line.find(" #").unwrap_or(line.len());
    line.get(..end).unwrap_or(line).trim().to_owned()
}

fn after_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_forms_are_read() {
        let text = "# a remark\nA=one two # rest\nexport B='x # y'\n C = \"l1\\nl2\" # z\nD=\"m1\nm2\"\nE=\r\nno assignment\n=x\nF=last";
        let variables = variables(text);
        assert_eq!(variables.unread, [8, 9]);
        let pairs: Vec<(&str, &str)> = variables
            .pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("A", "one two"),
                ("B", "x # y"),
                ("C", "l1\nl2"),
                ("D", "m1\nm2"),
                ("E", ""),
                ("F", "last")
            ]
        );
    }

    #[test]
    fn an_open_quote_is_part_of_the_value() {
        assert_eq!(
            variables("A='x\nB=2").pairs,
            [
                ("A".to_owned(), "'x".to_owned()),
                ("B".to_owned(), "2".to_owned())
            ]
        );
    }

    #[test]
    fn what_shells_and_compose_files_write_is_read() {
        for (line, value) in [
            ("export K=v w", "v w"),
            ("declare -x K=\"a \\\"b\\\"\"", "a \"b\""),
            ("typeset -gx K=v", "v"),
            ("readonly K='v'", "v"),
            (r"K=$'a\'b\x2d\u005f\n'", "a'b-_\n"),
            ("set -gx K v", "v"),
            ("set -x K 'v w'", "v w"),
            ("setenv K v", "v"),
            ("set K=v", "v"),
            ("$env:K = \"v\"", "v"),
            ("  K: v", "v"),
            ("K: \"v w\"", "v w"),
            ("  - K=v", "v"),
            ("\"K\": \"v\",", "v"),
        ] {
            let read = variables(line);
            assert_eq!(read.pairs, [("K".to_owned(), value.to_owned())], "{line}");
        }
    }

    #[test]
    fn each_command_of_a_line_is_read_as_a_shell_does() {
        for (line, pairs) in [
            ("A=v; export A", "A=v A=v; export A"),
            ("A=v;export A", "A=v A=v;export A"),
            ("A=v && export A", "A=v A=v && export A"),
            ("A=v;", "A=v A=v;"),
            ("A='v w'; export A", "A=v w"),
            ("A=v B=w", "A=v A=v B=w B=w"),
            ("export A=\"v\" B='w' C=x # y", "A=v B=w C=x"),
            ("export A=v B", "A=v B"),
            (
                "A=v; export B=w; C=x",
                "A=v A=v; export B=w; C=x B=w B=w; C=x C=x",
            ),
            ("A='v';B=\"w\nx\"\nC=y", "A=v B=w\nx C=y"),
            // These are one value.
            ("A=v; w", "A=v; w"),
            ("A=v;w&x&&y", "A=v;w&x&&y"),
            ("A=https://h/?a=b&c=d", "A=https://h/?a=b&c=d"),
            ("A=dGVzdA== # x", "A=dGVzdA=="),
            ("\"A\": \"v\", \"B\": 1", "A=v"),
        ] {
            let read = variables(line);
            let all = read
                .pairs
                .iter()
                .map(|(name, value)| format!("{name}={value}"));
            assert_eq!(all.collect::<Vec<_>>().join(" "), pairs, "{line}");
            assert!(read.unread.is_empty(), "{line}");
        }
    }

    #[test]
    fn a_line_that_is_not_understood_is_told_and_what_holds_no_value_is_not() {
        let text = "A=1\nK -> v\n# x\n\n[section]\nset -a\nexport K\nunset K\nenvironment:\n{\n}\nsource x\nK v w\nset -o allexport\n";
        assert_eq!(variables(text).unread, [2, 13]);
    }
}
