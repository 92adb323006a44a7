//! Secrets of addresses: passwords before the host, keys in the query.
//!
//! Tokens with a prefix of their own are found by the table, wherever they stand.

use super::bytes::{at, before, part, run_end, run_start, text};
use super::hit::{Family, Hit};
use super::placeholder::is_placeholder;
use super::value::is_opaque;

/// Reads the password in `scheme://user:password@host`; `position` is where `://` stands.
pub(super) fn password(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let scheme = run_start(bytes, position, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
    });
    let start = position + 3;
    if scheme == position {
        return None;
    }
    let end = run_end(bytes, start, |byte| {
        !byte.is_ascii_whitespace()
            && !matches!(byte, b'/' | b'"' | b'<' | b'>' | b'`' | b'\\' | b'^')
    });
    let authority = text(line, start, end);
    let (user, _) = authority
        .rsplit_once('@')
        .or_else(|| slashed(line, start))?;
    let Some((name, secret)) = user.split_once(':') else {
        return lone(line, scheme, start, user);
    };
    let from = start + name.len() + 1;
    let is_harmless = secret.is_empty()
        || is_template(secret)
        || matches!(
            secret,
            "x-oauth-basic" | "password" | "pass" | "PASSWORD" | "pw" | "passwd" | "PASS"
        )
        || is_host_like(name, secret);
    if is_harmless {
        return lone(line, scheme, start, name);
    }
    Some(Hit::of(
        Family::UrlPassword,
        scheme,
        from,
        from + secret.len(),
    ))
}

/// Reads a password that holds a slash: only where user, colon and at sign are plain.
fn slashed(line: &str, start: usize) -> Option<(&str, &str)> {
    let bytes = line.as_bytes();
    let end = run_end(bytes, start, |byte| {
        !byte.is_ascii_whitespace()
            && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b'?' | b'#')
    });
    let rest = text(line, start, end);
    let (user, host) = rest.split_once('@')?;
    let (_, secret) = user.split_once(':')?;
    let digits = secret.bytes().take_while(u8::is_ascii_digit).count();
    // `host:8080/@scope/name` is a port and a path.
    let is_port = digits > 0 && secret.as_bytes().get(digits) == Some(&b'/');
    let is_host = host
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphanumeric())
        && host.contains(['.', ':']);
    (!is_port && is_host && is_opaque(secret, 8) && !secret.contains("/-/")).then_some((user, host))
}

/// Reads a token that stands alone before the host.
fn lone(line: &str, scheme: usize, start: usize, user: &str) -> Option<Hit> {
    let is_token = user.len() >= 30
        && user.bytes().any(|byte| byte.is_ascii_digit())
        && user
            .bytes()
            .all(|byte| super::bytes::is_base64(byte) || matches!(byte, b'.' | b'~'));
    (is_token && !is_template(user) && text(line, start, start + user.len()) == user)
        .then(|| Hit::of(Family::UrlPassword, scheme, start, start + user.len()))
}

fn is_template(secret: &str) -> bool {
    let named = secret.strip_prefix('$').is_some_and(|rest| {
        rest.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !rest.bytes().any(|byte| {
                byte.is_ascii_lowercase() && rest.bytes().any(|other| other.is_ascii_digit())
            })
    });
    named
        || secret.contains("${")
        || secret.contains("{{")
        || (secret.starts_with(['{', '<', '[', '%']) && secret.ends_with(['}', '>', ']', 's']))
        || secret.starts_with("$(")
        || secret
            .bytes()
            .all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.'))
        || secret.contains("***")
        || secret.starts_with("[REDACTED")
}

/// Says whether this is a host and a port after all, with an at sign further on.
fn is_host_like(name: &str, secret: &str) -> bool {
    name.contains('.')
        && secret.bytes().take_while(u8::is_ascii_digit).count() >= 2
        && secret.contains('/')
}

/// Reads the value of a query's key; `position` is where `?` or `&` stands.
pub(super) fn query(line: &str, position: usize) -> Option<Hit> {
    const LONG: [&str; 5] = ["key", "sig", "code", "hash", "sign"];
    const SHORT: [&str; 14] = [
        "token",
        "signature",
        "password",
        "client_secret",
        "access_token",
        "auth",
        "secret",
        "pwd",
        "pass",
        "x-amz-signature",
        "x-amz-security-token",
        "x-goog-signature",
        "samlresponse",
        "jwt",
    ];
    let bytes = line.as_bytes();
    let start = position + 1;
    let equals = run_end(bytes, start, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
    });
    if at(bytes, equals) != b'=' {
        return None;
    }
    let key = text(line, start, equals).to_ascii_lowercase();
    let end = run_end(bytes, equals + 1, |byte| {
        byte.is_ascii_graphic()
            && !matches!(
                byte,
                b'&' | b'"'
                    | b'\''
                    | b'<'
                    | b'>'
                    | b'#'
                    | b')'
                    | b']'
                    | b'}'
                    | b'`'
                    | b';'
                    | b','
                    | b'|'
            )
    });
    let end = run_start(part(bytes, 0, end), end, |byte| matches!(byte, b'.' | b':'));
    let value = text(line, equals + 1, end);
    let accepted = if SHORT.contains(&key.as_str()) {
        is_opaque(value, 8)
    } else {
        LONG.contains(&key.as_str())
            && is_opaque(value, 16)
            && value.bytes().any(|byte| byte.is_ascii_digit())
    };
    (accepted && !is_placeholder(value)).then(|| Hit::of(Family::Query, start, equals + 1, end))
}

/// Reads `host:port:database:user:password`, a line of a password file; `position` is where
/// the colon before the port stands.
pub(super) fn password_file(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let start = run_start(bytes, position, |byte| {
        !byte.is_ascii_whitespace() && byte != b':'
    });
    let end = run_end(bytes, position, |byte| !byte.is_ascii_whitespace());
    let fields: Vec<&str> = text(line, position + 1, end).splitn(4, ':').collect();
    let [port, database, user, secret] = fields.as_slice() else {
        return None;
    };
    let plain = |field: &str| {
        !field.is_empty()
            && field.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'*' | b'.')
            })
    };
    let fits = (port.bytes().all(|byte| byte.is_ascii_digit()) || *port == "*")
        && plain(database)
        && plain(user)
        && is_opaque(secret, 6)
        && !secret.contains(':')
        && before(bytes, position) != b':';
    fits.then(|| Hit::of(Family::KeyedValue, start, end - secret.len(), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password_of(line: &str) -> Option<&str> {
        let hit = password(line, line.find("://")?)?;
        Some(text(line, hit.start, hit.end))
    }

    #[test]
    fn the_password_goes_and_the_host_stays() {
        assert_eq!(password_of("postgres://u:pw12@h:5432/d"), Some("pw12"));
        assert_eq!(password_of("redis://:s3cr3t@h:6379/0"), Some("s3cr3t"));
        assert_eq!(password_of("amqp://u:p@ss:w@h/v"), Some("p@ss:w"));
        let token = "a1B2c3".repeat(6);
        assert_eq!(
            password_of(&format!("https://{token}@git.example/x")),
            Some(token.as_str())
        );
    }

    #[test]
    fn templates_ports_and_package_names_stay() {
        for line in [
            "https://${username}:${password}/",
            "https://u:$SOME_BASH_VARIABLE@h/",
            "https://h:8080/@scope/n",
            "git+ssh://git@github.com/x",
            "x@https://registry.example/x/-/x-1.2.tgz",
            "https://h/a@b:c@d",
            "https://u:<password>@h/",
            "https://u:***@h/",
        ] {
            assert_eq!(password_of(line), None, "{line}");
        }
    }
}
