//! Reads the variables of a `.env` file.
//!
//! It is lenient, since a value that is read wrongly is only hidden wrongly: what is no assignment
//! is passed over, and nothing is expanded.

/// Returns the names and values of the assignments in `text`.
pub(super) fn variables(text: &str) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while !rest.is_empty() {
        let line = rest.lines().next().unwrap_or_default();
        let Some((name, start)) = assignment(line) else {
            rest = after_line(rest);
            continue;
        };
        let value = rest.get(start..).unwrap_or_default();
        let (value, after) = quoted(value).unwrap_or_else(|| (bare(value), after_line(value)));
        variables.push((name.to_owned(), value));
        rest = after;
    }
    variables
}

/// Returns the name, and where the value begins.
fn assignment(line: &str) -> Option<(&str, usize)> {
    let (before, value) = line.split_once('=')?;
    let name = before.trim();
    let name = name.strip_prefix("export ").map_or(name, str::trim);
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
    let blanks = value.len() - value.trim_start().len();
    is_name.then_some((name, before.len() + 1 + blanks))
}

/// Returns a quoted value, which may go over several lines, and what follows its line.
fn quoted(value: &str) -> Option<(String, &str)> {
    let quote = value
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inner = value.get(1..)?;
    let mut text = String::new();
    let mut characters = inner.char_indices();
    while let Some((at, character)) = characters.next() {
        if character == quote {
            return Some((text, after_line(inner.get(at..).unwrap_or_default())));
        }
        if character == '\\' && quote == '"' {
            match characters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 'r')) => text.push('\r'),
                Some((_, 't')) => text.push('\t'),
                Some((_, other)) => text.push(other),
                None => {}
            }
        } else {
            text.push(character);
        }
    }
    None
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
        let pairs: Vec<(&str, &str)> = variables
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
            variables("A='x\nB=2"),
            [
                ("A".to_owned(), "'x".to_owned()),
                ("B".to_owned(), "2".to_owned())
            ]
        );
    }
}
