//! Whether a line starts by naming a place in a source file.
//!
//! It does not look at what the line says of that place.

use memchr::memchr2;

/// Returns whether the line starts with `file.ext:line:` or `file.ext(line,column)`.
pub(super) fn starts_with_location(line: &str) -> bool {
    if let Some((_, inside)) = line
        .strip_suffix("]:")
        .and_then(|line| line.rsplit_once(" ["))
    {
        return starts_with_location(inside);
    }
    let near = line.as_bytes().get(..200).unwrap_or(line.as_bytes());
    let Some(at) = memchr2(b':', b'(', near) else {
        return false;
    };
    let (path, rest) = line.split_at_checked(at).unwrap_or((line, ""));
    let rest = rest.get(1..).unwrap_or("");
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    after.len() < rest.len()
        && (after.is_empty() || after.starts_with([':', ',', ')', ' ']))
        && is_path(path)
}

/// Returns whether this may name a file: `src/io.c`, `Makefile`.
fn is_path(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    let has_extension = extension.is_some_and(|extension| {
        extension.len() <= 6
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    !path.contains(' ') && (has_extension || path.ends_with("file"))
}
