//! What loggers, containers and CI put before a message.
//!
//! It does not change the line that is kept; only the grading looks past it.

/// Returns the line without its indentation and what loggers and CI put before the message.
pub(super) fn undecorated(line: &str) -> &str {
    let mut text = line.trim();
    for _ in 0..3 {
        let rest = without_prefix(text);
        if rest.len() == text.len() {
            break;
        }
        text = rest;
    }
    text
}

fn without_prefix(text: &str) -> &str {
    let stamp = text
        .bytes()
        .take_while(|byte| {
            byte.is_ascii_digit()
                || matches!(byte, b':' | b'.' | b'-' | b'T' | b'Z' | b'/' | b'+' | b',')
        })
        .count();
    let bracket = text.strip_prefix('[').unwrap_or(text);
    if stamp >= 8 && text.bytes().filter(|byte| *byte == b':').take(2).count() == 2 {
        return text.get(stamp..).unwrap_or(text).trim_start();
    }
    if bracket.len() < text.len()
        && let Some((inside, rest)) = bracket.split_once(']')
        && (matches!(
            inside,
            "INFO" | "info" | "exec" | "java" | "javac" | "junit"
        ) || inside.bytes().all(|byte| {
            byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-' | b'T' | b' ' | b'%' | b'/')
        }))
    {
        return rest.trim_start();
    }
    if let Some(rest) = text.strip_prefix('#')
        && rest.starts_with(|c: char| c.is_ascii_digit())
        && let Some((_, rest)) = rest.split_once(' ')
    {
        return rest
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
            .trim_start();
    }
    text.strip_prefix("| ")
        .or_else(|| text.strip_prefix("> "))
        .unwrap_or(text)
        .trim_start()
}
