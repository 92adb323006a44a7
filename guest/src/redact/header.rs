//! Credential headers, cookies, and arguments of command lines.
//!
//! `Bearer ` itself is a base rule and takes the line.

use super::bytes::{at, before, find_from, is_blank, part, run_end, skip_blanks, text};
use super::hit::{Family, Hit};
use super::placeholder::{is_lookup, is_placeholder};
use super::value::is_opaque;

/// Reads the value of `Authorization:`; `position` is where the name ends.
pub(super) fn authorization(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let start = value_start(bytes, position)?;
    let end = value_end(bytes, start, before(bytes, start));
    let scheme_end = run_end(bytes, start, |byte| {
        byte.is_ascii_alphanumeric() || byte == b'-'
    });
    let has_scheme = is_blank(at(bytes, scheme_end)) && scheme_end - start <= 20;
    let from = if has_scheme {
        skip_blanks(bytes, scheme_end)
    } else {
        start
    };
    let scheme = text(line, start, scheme_end);
    let from = find_from(part(bytes, 0, end), from, b"Signature=")
        .filter(|_| scheme.starts_with("AWS4"))
        .map_or(from, |found| found + "Signature=".len());
    let is_known = has_scheme
        && [
            "basic",
            "token",
            "apikey",
            "api-key",
            "digest",
            "negotiate",
            "ntlm",
            "aws4-hmac-sha256",
            "hawk",
            "key",
            "signature",
            "bot",
            "splunk",
            "sso-key",
            "genie-key",
            "aws",
            "bearer",
            "dpop",
            "klaviyo-api-key",
            "sharedkey",
            "sharedaccesssignature",
            "discogs",
            "oauth",
            "pat",
            "zoho-oauthtoken",
            "private-token",
        ]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    let value = text(line, from, end).trim_end_matches([',', ';', ')', ']', '}', '\\', '.']);
    let first = value.split([' ', ',']).next().unwrap_or_default();
    let shortest = if scheme.eq_ignore_ascii_case("basic") {
        4
    } else {
        8
    };
    if is_placeholder(value)
        || is_placeholder(first)
        || is_lookup(first)
        || first.starts_with(['$', '{', '<', '%'])
    {
        return None;
    }
    if has_scheme && !is_known {
        return None;
    }
    let is_value = if is_known {
        value.len() >= shortest
            && (first.len() == value.len() || value.contains('='))
            && (is_opaque(first, shortest)
                || first.contains('=')
                || (scheme.eq_ignore_ascii_case("basic")
                    && first.len() >= 8
                    && !is_plain_word(first)))
    } else {
        first.len() == value.len() && is_opaque(value, 10)
    };
    is_value.then(|| Hit::of(Family::Header, position, from, from + value.len()))
}

fn is_plain_word(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns where the value of a header begins whose name ends at `position`.
fn value_start(bytes: &[u8], position: usize) -> Option<usize> {
    let closed = run_end(bytes, position, |byte| {
        matches!(byte, b'"' | b'\'' | b']' | b')')
    });
    let colon = skip_blanks(bytes, closed);
    let after = match (at(bytes, colon), at(bytes, colon + 1)) {
        (b'=', b'>') => colon + 2,
        (b':' | b'=' | b',', _) => colon + 1,
        _ => return None,
    };
    let start = run_end(bytes, after, |byte| {
        is_blank(byte) || matches!(byte, b'"' | b'\'' | b'[' | b'(')
    });
    (start < bytes.len()).then_some(start)
}

/// Returns where the value ends: at its quote, at its bracket, or with the line.
fn value_end(bytes: &[u8], start: usize, open: u8) -> usize {
    run_end(bytes, start, |byte| match open {
        b'"' | b'\'' => byte != open && byte != b'\n',
        b'[' => byte != b']' && byte != b'\n',
        _ => !matches!(byte, b'"' | b'\'' | b'\n' | b'\r' | b']' | b'`' | b'}'),
    })
}

/// Reads a header whose value is the secret: `X-Api-Key: value`; `position` is where the name ends.
pub(super) fn opaque(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let start = value_start(bytes, position)?;
    let end = run_end(bytes, start, |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b']' | b',' | b'}' | b'`')
    });
    let value = text(line, start, end);
    (is_opaque(value, 8) && !is_lookup(value) && !value.starts_with(['$', '{', '<', '%']))
        .then(|| Hit::of(Family::Header, position, start, end))
}

/// Reads the values of `Cookie:` and `Set-Cookie:`; `position` is where the name ends.
pub(super) fn cookies(line: &str, position: usize, hits: &mut Vec<Hit>) {
    const ATTRIBUTES: [&str; 9] = [
        "path", "domain", "expires", "max-age", "samesite", "httponly", "secure", "priority",
        "version",
    ];
    let bytes = line.as_bytes();
    let Some(start) = value_start(bytes, position) else {
        return;
    };
    let end = value_end(bytes, start, before(bytes, start));
    let mut at_pair = start;
    for pair in text(line, start, end).split(';') {
        let pair_start = at_pair;
        at_pair += pair.len() + 1;
        let Some((name, value)) = pair.split_once('=') else {
            continue;
        };
        let is_attribute = ATTRIBUTES
            .iter()
            .any(|known| name.trim().eq_ignore_ascii_case(known));
        let value = value.trim_end();
        let trimmed = value.trim_end_matches(['"', '\\', ',']);
        if is_attribute || name.contains(['(', '{']) || !is_cookie_value(name.trim(), trimmed) {
            continue;
        }
        let from = pair_start + name.len() + 1;
        hits.push(Hit::of(
            Family::Cookie,
            pair_start,
            from,
            from + trimmed.len(),
        ));
    }
}

fn is_cookie_value(name: &str, value: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_session = [
        "sid", "sess", "token", "auth", "jwt", "csrf", "xsrf", "secret", "remember",
    ]
    .iter()
    .any(|word| lower.contains(word));
    let shortest = if is_session { 6 } else { 12 };
    is_opaque(value, shortest) || (is_session && value.len() >= 12 && !is_placeholder(value))
}

/// Reads `-u user:password` of a client; `position` is where the flag ends.
pub(super) fn user_flag(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let is_client = [
        "curl",
        "wget",
        "http ",
        "https ",
        "xh ",
        "ab ",
        "svn",
        "mosquitto",
        "htpasswd",
        "siege",
        "hey ",
    ]
    .iter()
    .any(|client| find_from(part(bytes, 0, position), 0, client.as_bytes()).is_some());
    let start = run_end(bytes, position, |byte| {
        is_blank(byte) || matches!(byte, b'"' | b'\'' | b'=' | b',')
    });
    let end = run_end(bytes, start, |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`')
    });
    let (user, secret) = text(line, start, end).split_once(':')?;
    let is_number = secret.bytes().all(|byte| byte.is_ascii_digit());
    let is_value = is_client
        && !user.contains('/')
        && !secret.is_empty()
        && !is_placeholder(secret)
        && !secret.starts_with(['$', '{', '<', '/'])
        && (!is_number || user.bytes().any(|byte| !byte.is_ascii_digit()));
    let from = start + user.len() + 1;
    is_value.then(|| Hit::of(Family::Argument, start, from, end))
}

/// Reads `-p value` and `-pvalue` of commands that take a password so; `position` is where
/// the flag begins.
pub(super) fn password_flag(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let ahead = part(bytes, 0, position);
    let spaced = [
        "docker login",
        "az login",
        "az acr login",
        "sshpass",
        "podman login",
        "oc login",
        "mongo",
        "helm registry login",
        "az storage",
        "crane auth",
        "skopeo login",
        "buildah login",
        "ldapsearch",
        "influx",
        "nerdctl login",
        "vncviewer",
        "7z",
    ]
    .iter()
    .any(|command| find_from(ahead, 0, command.as_bytes()).is_some());
    let joined = ["mysql", "mariadb", "sshpass", "7z"]
        .iter()
        .any(|command| find_from(ahead, 0, command.as_bytes()).is_some());
    let flag = at(bytes, position + 1);
    let is_other = |letter: u8, command: &str| {
        flag == letter && find_from(ahead, 0, command.as_bytes()).is_some()
    };
    let spaced = match flag {
        b'p' => spaced,
        _ => is_other(b'a', "redis-cli") || is_other(b'w', "ldapsearch"),
    };
    let joined = joined && flag == b'p';
    let flag_end = position + 2;
    let gap = run_end(bytes, flag_end, |byte| {
        is_blank(byte) || matches!(byte, b'"' | b'\'' | b'=')
    });
    let is_spaced = is_blank(at(bytes, flag_end));
    if !(spaced && is_spaced || joined && !is_spaced) {
        return None;
    }
    let end = run_end(bytes, gap, |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`')
    });
    let value = text(line, gap, end);
    let is_value = value.len() >= 3
        && !value.starts_with(['-', '$', '<', '{'])
        && !is_placeholder(value)
        && (!value.bytes().all(|byte| byte.is_ascii_digit()) || value.len() > 5);
    is_value.then(|| Hit::of(Family::Argument, position, gap, end))
}

/// Reads `echo value | client --password-stdin`; `position` is where the flag stands.
pub(super) fn piped(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let ahead = part(bytes, 0, position);
    let found = ["echo ", "printf ", "<<< ", "<<<"]
        .iter()
        .find_map(|word| find_from(ahead, 0, word.as_bytes()).map(|found| found + word.len()))?;
    let mut start = skip_blanks(bytes, found);
    while at(bytes, start) == b'-' || at(bytes, start) == b'%' {
        start = skip_blanks(bytes, run_end(bytes, start, |byte| !is_blank(byte)));
    }
    let start = run_end(bytes, start, |byte| matches!(byte, b'"' | b'\''));
    let end = run_end(bytes, start, |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'|')
    });
    let value = text(line, start, end);
    (value.len() >= 4 && !is_placeholder(value) && !value.starts_with('$'))
        .then(|| Hit::of(Family::Argument, start, start, end))
}
