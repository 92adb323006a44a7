//! A record as a person reads it.
//!
//! It shows what the record says and judges nothing; the gate does that.

use std::fmt::Write;

use serde_json::Value;

/// Returns the readable form of a record's line; the line itself where it is no JSON object.
pub(crate) fn of(line: &str) -> String {
    let Ok(Value::Object(record)) = serde_json::from_str::<Value>(line) else {
        return printable(line);
    };
    let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or_default();
    let number = |key: &str| record.get(key).and_then(Value::as_u64);

    let mut out = headline(&record);
    field(&mut out, "command", &command(record.get("command")));
    field(&mut out, "in", text("cwd"));
    field(&mut out, "expected", text("agent_note"));
    expectations(&mut out, record.get("expectations"));
    field(&mut out, "MOVED", &moved(record.get("inputs")));
    if record.get("exploration") == Some(&Value::Bool(true)) {
        field(&mut out, "explores", "no evidence, and refuses nothing");
    }
    field(&mut out, "error", text("error"));
    field(&mut out, "failure", text("failure_signature"));
    let attempt = number("attempt").unwrap_or(1);
    if attempt > 1 {
        field(
            &mut out,
            "attempt",
            &format!("{attempt}, after {}", text("parent_command_id")),
        );
    }
    field(&mut out, "started", text("started_at"));
    field(&mut out, "redacted", &redactions(record.get("redactions")));
    let (values, lines) = not_hidden(record.get("redactions"));
    field(&mut out, "UNHIDDEN", &values);
    field(&mut out, "UNREAD", &lines);
    field(&mut out, "stages", &stages(record.get("stages")));
    field(&mut out, "leftovers", &leftovers(record.get("leftovers")));
    field(&mut out, "id", text("command_id"));
    stream(
        &mut out,
        "stdout",
        record.get("stdout"),
        text("stdout_tail"),
    );
    stream(
        &mut out,
        "stderr",
        record.get("stderr"),
        text("stderr_tail"),
    );
    out.truncate(out.trim_end().len());
    out
}

fn headline(record: &serde_json::Map<String, Value>) -> String {
    let outcome = record
        .get("outcome")
        .and_then(Value::as_str)
        .unwrap_or("unknown");
    let mut headline = match record.get("exit_code").and_then(Value::as_i64) {
        Some(code) => format!("exited {code}"),
        None => format!("{outcome}, no exit code"),
    };
    if let Some(ms) = record.get("duration_ms").and_then(Value::as_u64) {
        let _ = write!(
            headline,
            " · {}",
            humantime::format_duration(std::time::Duration::from_millis(ms))
        );
    }
    if record.get("kind").and_then(Value::as_str) == Some("fallback") {
        headline.push_str(" · the record could not be built");
    }
    headline.push('\n');
    headline
}

fn field(out: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        let _ = writeln!(out, "  {name:<9} {}", printable(value));
    }
}

/// Writes each expectation with whether it held and what was seen.
fn expectations(out: &mut String, expectations: Option<&Value>) {
    let all = expectations.and_then(Value::as_array);
    for expectation in all.into_iter().flatten() {
        let held = expectation.get("held") == Some(&Value::Bool(true));
        let kind = expectation.get("kind").and_then(Value::as_str);
        let expected = match expectation.get("expected") {
            Some(Value::String(text)) => format!("`{text}`"),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let seen = seen(expectation.get("seen").unwrap_or(&Value::Null));
        let name = if held { "held" } else { "UNMET" };
        let line = format!("{} {expected}: {seen}", kind.unwrap_or_default());
        field(out, name, &line);
    }
}

/// Returns what became of the inputs while the command ran, where they are not what they were.
fn moved(inputs: Option<&Value>) -> String {
    let Some(inputs) = inputs else {
        return String::new();
    };
    let part = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(why) = part(inputs, "error") {
        return format!("the inputs could not be read after the run: {why}");
    }
    let (before, after) = (part(inputs, "before"), part(inputs, "after"));
    if after.is_none() || after == before {
        return String::new();
    }
    let changed = inputs.get("changed").and_then(Value::as_array);
    let named = changed.into_iter().flatten().filter_map(|change| {
        let (path, how) = (part(change, "path")?, part(change, "how")?);
        Some(format!("`{path}` {how}"))
    });
    let mut named: Vec<String> = named.collect();
    let omitted = inputs.get("changed_omitted").and_then(Value::as_u64);
    named.extend(omitted.map(|count| format!("{count} more")));
    format!("inputs, while it ran: {}", named.join(", "))
}

fn seen(seen: &Value) -> String {
    let part = |key: &str| seen.get(key).and_then(Value::as_str).unwrap_or_default();
    match seen {
        Value::Null => "nothing seen".to_owned(),
        Value::Object(keys) if keys.contains_key("undecided") => part("undecided").to_owned(),
        Value::Object(_) => {
            let line = seen.get("line").and_then(Value::as_u64).unwrap_or(0);
            format!("saw {} line {line}: {}", part("in"), part("text"))
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            format!("saw {seen}")
        }
    }
}

/// Returns argv with quotes where a shell would need them, so that it can be read unambiguously.
pub(crate) fn command(argv: Option<&Value>) -> String {
    let quoted = |argument: &Value| {
        let argument = argument.as_str().unwrap_or_default();
        let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+[]".contains(c);
        if !argument.is_empty() && argument.chars().all(is_plain) {
            argument.to_owned()
        } else {
            format!("'{}'", argument.replace('\'', "'\\''"))
        }
    };
    let argv = argv
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    argv.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn redactions(redactions: Option<&Value>) -> String {
    let rules = redactions
        .and_then(|value| value.get("rules"))
        .and_then(Value::as_object);
    rules
        .into_iter()
        .flatten()
        .map(|(rule, count)| format!("{rule} {count}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Names the variables whose values are not hidden, and the lines of files of variables that were
/// not understood: whoever set them would take them for hidden.
fn not_hidden(redactions: Option<&Value>) -> (String, String) {
    let names = redactions.and_then(|value| value.get("not_covered"));
    let names = names.and_then(Value::as_array).into_iter().flatten();
    let names = names.filter_map(Value::as_str);
    let (lines, mut values): (Vec<&str>, Vec<&str>) =
        names.partition(|name| name.starts_with("env_files: "));
    let omitted = redactions.and_then(|value| value.get("not_covered_omitted"));
    let more = omitted.map(|omitted| format!("{omitted} more"));
    values.extend(more.as_deref());
    let told = |names: Vec<&str>, why: &str| match names.is_empty() {
        true => String::new(),
        false => format!("{} ({why})", names.join(", ")),
    };
    (
        told(values, "values too short or too plain to be found"),
        told(lines, "not understood, so what it holds is not hidden"),
    )
}

/// Returns every stage of a pipeline with how it ended, in order.
fn stages(stages: Option<&Value>) -> String {
    let ended = |stage: &Value| match (stage.get("exit_code"), stage.get("signal")) {
        (Some(Value::Number(code)), _) => format!("exited {code}"),
        (_, Some(Value::Number(signal))) => format!("ended by signal {signal}"),
        _ => "ended in an unknown way".to_owned(),
    };
    let all = stages
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    all.iter()
        .map(|stage| match stage.get("command").and_then(Value::as_str) {
            Some(command) => format!("`{command}` {}", ended(stage)),
            None => ended(stage),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

fn leftovers(leftovers: Option<&Value>) -> String {
    let text = |process: &Value, key: &str| match process.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let all = leftovers
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    all.iter()
        .map(|process| {
            format!(
                "{} ({}) {}",
                text(process, "name"),
                text(process, "pid"),
                text(process, "fate")
            )
        })
        .collect::<Vec<_>>()
        .join(", ")
}

fn stream(out: &mut String, name: &str, numbers: Option<&Value>, excerpt: &str) {
    let number = |key: &str| {
        numbers
            .and_then(|value| value.get(key))
            .and_then(Value::as_u64)
            .unwrap_or(0)
    };
    if number("bytes") == 0 && excerpt.is_empty() {
        return;
    }
    let still_open = numbers.and_then(|value| value.get("end_seen")) == Some(&Value::Bool(false));
    let _ = write!(
        out,
        "  {name}: {}, {}",
        counted(number("lines"), "line"),
        counted(number("bytes"), "byte")
    );
    if let Some(kept) = numbers.and_then(|value| value.get("kept")) {
        out.push_str(match (kept.get("file"), kept.get("bytes_omitted")) {
            (Some(_), None) if kept.get("error").is_none() => ", kept whole",
            (Some(_), _) => ", kept in part",
            (None, _) => ", not kept",
        });
    }
    if number("lines_omitted") > 0 {
        let left_out = counted(number("lines_omitted"), "line");
        let _ = write!(out, ", {left_out} left out");
    }
    out.push_str(if still_open {
        ", still open when reading stopped\n"
    } else {
        "\n"
    });
    for line in excerpt.lines() {
        let _ = writeln!(out, "    {}", printable(line));
    }
}

fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Replaces what could move the cursor or change colours: a record is data, not commands.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_missing_exit_code_is_never_shown_as_a_number() {
        let shown = of(r#"{"outcome":"timed-out","exit_code":null,"command":["sleep","9"]}"#);
        assert!(shown.starts_with("timed-out, no exit code\n"), "{shown}");
    }

    #[test]
    fn one_line_is_not_called_lines() {
        let shown = of(
            r#"{"outcome":"exited","exit_code":0,"stdout":{"bytes":1,"lines":1,"lines_omitted":1},"stderr":{"bytes":2,"lines":0}}"#,
        );
        assert!(
            shown.contains("stdout: 1 line, 1 byte, 1 line left out\n"),
            "{shown}"
        );
        assert!(shown.contains("stderr: 0 lines, 2 bytes"), "{shown}");
    }

    #[test]
    fn control_characters_of_a_record_do_not_reach_the_terminal() {
        let shown = of(r#"{"outcome":"exited","exit_code":0,"command":["a\u001b[2J","b c"]}"#);
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        assert!(shown.contains("'b c'"), "{shown}");
    }
}
