//! Tokens told by a shape or an ending instead of a prefix: signed tokens, bots, webhooks.
//!
//! Each function takes where its anchor stands and answers with the whole token.

use super::armour::{is_armour, is_random, runs};
use super::bytes::{at, before, find_from, has_at, part, run_end, run_start, text};
use super::hit::{Family, Hit};
use super::key::{is_escape, is_escaped_body};

/// Longest private key on one line, in bytes.
const KEY_MAX: usize = 16 * 1024;

const fn is_url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Returns where the run before `until` begins, without the letter of an escape before it.
fn token_start(bytes: &[u8], until: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let start = run_start(bytes, until, belongs);
    let is_escape = before(bytes, start) == b'\\' && matches!(at(bytes, start), b'n' | b'r' | b't');
    start + usize::from(is_escape)
}

/// Reads a signed or encrypted token: `eyJ…` and at least one more part.
pub(super) fn jwt(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    if part(bytes, position, position + 3) != b"eyJ"
        && part(bytes, position, position + 3) != b"ewo"
    {
        return None;
    }
    let first = run_end(bytes, position, is_url_safe);
    let mut end = first;
    let mut parts = 1;
    while at(bytes, end) == b'.' {
        let next = run_end(bytes, end + 1, |byte| is_url_safe(byte) || byte == b'=');
        if next == end + 1 && at(bytes, next) != b'.' {
            break;
        }
        end = next;
        parts += 1;
    }
    let second = run_end(bytes, first + 1, is_url_safe) - (first + 1).min(bytes.len());
    let is_token =
        first - position >= 12 && parts >= 2 && (second >= 12 || parts >= 3 && end - first > 20);
    // A payload torn off from its header is told by being long and followed by nothing.
    is_token.then(|| Hit::of(Family::Jwt, position, position, end))
}

/// Reads `digits:AA…` of a bot; `position` is where the colon stands.
pub(super) fn telegram(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let start = run_start(bytes, position, |byte| byte.is_ascii_digit());
    let end = run_end(bytes, position + 1, is_url_safe);
    let digits = position - start;
    ((7..=12).contains(&digits) && (32..=40).contains(&(end - position - 1)))
        .then(|| Hit::of(Family::ShapedToken, start, start, end))
}

/// Reads a bot token of three parts around the dot at `position`: 24 or more, 6, and 27 or more.
pub(super) fn discord(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let start = token_start(bytes, position, is_url_safe);
    let middle = run_end(bytes, position + 1, is_url_safe);
    let end = run_end(bytes, middle + 1, is_url_safe);
    let first = part(bytes, start, position);
    let last = part(bytes, middle + 1, end);
    let fits = (23..=28).contains(&first.len())
        && matches!(first.first(), Some(b'M' | b'N' | b'O'))
        && (5..=7).contains(&(middle - position - 1))
        && at(bytes, middle) == b'.'
        && (26..=40).contains(&last.len());
    fits.then(|| Hit::of(Family::ShapedToken, start, start, end))
}

/// Reads a token by its ending; `position` is where the ending begins.
pub(super) fn ending(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    if part(bytes, position, position + 4) == b"NRAL" {
        let start = token_start(bytes, position, |byte| byte.is_ascii_alphanumeric());
        let end = position + 4;
        return (position - start >= 30 && !at(bytes, end).is_ascii_alphanumeric())
            .then(|| Hit::of(Family::ShapedToken, start, start, end));
    }
    if part(bytes, position, position + 4) == b"_mmk" {
        let start = token_start(bytes, position, |byte| {
            byte.is_ascii_alphanumeric() || byte == b'_'
        });
        return (position - start >= 30)
            .then(|| Hit::of(Family::ShapedToken, start, start, position + 4));
    }
    if part(bytes, position, position + 4) == b"AZDO" {
        let start = token_start(bytes, position, |byte| byte.is_ascii_alphanumeric());
        let end = run_end(bytes, position, |byte| byte.is_ascii_alphanumeric());
        return (position - start >= 70 && end - position >= 8)
            .then(|| Hit::of(Family::ShapedToken, start, start, end));
    }
    if part(bytes, position, position + 2) == b"Q~" {
        let belongs = |byte: u8| is_url_safe(byte) || matches!(byte, b'~' | b'.');
        let start = run_start(bytes, position, belongs);
        let end = run_end(bytes, position, belongs);
        let end = run_start(part(bytes, 0, end), end, |byte| byte == b'.');
        return (position - start >= 4
            && end - position >= 30
            && before(bytes, position).is_ascii_digit())
        .then(|| Hit::of(Family::ShapedToken, start, start, end));
    }
    if has_at(bytes, position, b"-us") {
        let start = run_start(bytes, position, |byte| byte.is_ascii_hexdigit());
        let end = run_end(bytes, position + 3, |byte| byte.is_ascii_digit());
        return (position - start == 32 && end > position + 3)
            .then(|| Hit::of(Family::ShapedToken, start, start, end));
    }
    None
}

/// Reads `number|token` of an application; `position` is where the bar stands.
pub(super) fn barred(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let start = run_start(bytes, position, |byte| byte.is_ascii_digit());
    let end = run_end(bytes, position + 1, is_url_safe);
    ((14..=17).contains(&(position - start)) && (26..=41).contains(&(end - position - 1)))
        .then(|| Hit::of(Family::ShapedToken, start, start, end))
}

/// Reads the key of `Unseal Key 1: …`; `position` is where the words end.
pub(super) fn unseal(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let number = run_end(bytes, position, |byte| {
        byte.is_ascii_digit() || matches!(byte, b' ' | b'#')
    });
    let start = super::bytes::skip_blanks(bytes, number + 1);
    let end = run_end(bytes, start, super::bytes::is_base64);
    (at(bytes, number) == b':' && end - start >= 32)
        .then(|| Hit::of(Family::PrivateKey, position, start, end))
}

/// Reads the secret path of a webhook's address; `position` is where the host begins.
pub(super) fn webhook(line: &str, position: usize) -> Option<Hit> {
    const PATHS: [(&str, &str); 10] = [
        ("hooks.slack.com", "/"),
        ("hooks.slack-gov.com", "/"),
        ("discord.com/api/", "webhooks/"),
        ("discordapp.com/api/", "webhooks/"),
        ("hooks.zapier.com", "/hooks/"),
        ("webhook.office.com", "/"),
        ("outlook.office.com/", "webhook/"),
        ("hook.", "make.com/"),
        ("maker.ifttt.com", "/use/"),
        ("hooks.airtable.com", "/"),
    ];
    let bytes = line.as_bytes();
    let (host, path) = PATHS
        .iter()
        .find(|(host, _)| has_at(bytes, position, host.as_bytes()))?;
    let until = (position + host.len() + 40).min(bytes.len());
    let found = find_from(
        part(bytes, 0, until),
        position + host.len(),
        path.as_bytes(),
    )?;
    let start = found + path.len();
    let end = run_end(bytes, start, |byte| {
        super::bytes::is_base64(byte) || matches!(byte, b'.' | b'@' | b'?' | b'&' | b'%' | b'~')
    });
    let path = text(line, start, end).trim_end_matches(['.', '?']);
    let has_digit = path.bytes().any(|byte| byte.is_ascii_digit());
    (path.len() >= 16 && has_digit)
        .then(|| Hit::of(Family::Webhook, position, start, start + path.len()))
}

/// Reads a part of a key in JSON: `"d": "…"`; `position` is where the name's quote stands.
pub(super) fn jwk(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let name = run_end(bytes, position + 1, |byte| byte.is_ascii_lowercase());
    let colon = super::bytes::skip_blanks(bytes, name + 1);
    let start = super::bytes::skip_blanks(bytes, colon + 1) + 1;
    let end = run_end(bytes, start, is_url_safe);
    let value = part(bytes, start, end);
    let fits = at(bytes, colon) == b':'
        && before(bytes, start) == b'"'
        && at(bytes, end) == b'"'
        && value.len() >= 42
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_lowercase)
        && value.iter().any(u8::is_ascii_uppercase);
    fits.then(|| Hit::of(Family::PrivateKey, position, start, end))
}

/// Reads a private key on one line, its line ends escaped or gone; `position` is where
/// `PRIVATE KEY` stands behind `BEGIN`.
pub(super) fn key_on_a_line(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let begin = find_from(
        part(bytes, 0, position),
        position.saturating_sub(40),
        b"BEGIN ",
    );
    let Some(begin) = begin else {
        return key_before_end(line, position);
    };
    let dashes = run_end(bytes, position + "PRIVATE KEY".len(), |byte| {
        byte != b'-' && byte != b'\n'
    });
    let start = run_end(bytes, dashes, |byte| byte == b'-');
    if start - dashes < 3 || dashes - position > 40 {
        return None;
    }
    // Up to the end mark everything belongs to the key, quotes of a list included.
    let until = (start + KEY_MAX).min(bytes.len());
    let end = find_from(part(bytes, 0, until), start, b"-----END").unwrap_or_else(|| {
        // A header of the armour may name a cipher.
        run_end(bytes, start, |byte| {
            is_escaped_body(byte)
                || matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b':' | b',' | b'%')
        })
    });
    let armour = part(bytes, start, end)
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .count();
    // What goes on below is judged there.
    let is_cut = is_escape(part(bytes, start, bytes.len())) && end == bytes.len() && armour > 0;
    (armour >= 32 || is_cut).then(|| Hit::of(Family::PrivateKey, begin, start, end))
}

/// Reads the rest of a private key that stands before its end mark on the same line.
fn key_before_end(line: &str, position: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let from = position.saturating_sub(40);
    let mark = find_from(part(bytes, 0, position), from, b"-----END ")?;
    let until = run_start(bytes, mark, |byte| !is_armour(byte) && byte != b'=');
    let is_escape = matches!(before(bytes, until), b'n' | b'r' | b't')
        && before(bytes, until.saturating_sub(1)) == b'\\';
    let until = run_start(bytes, until - 2 * usize::from(is_escape), |byte| {
        !is_armour(byte) && byte != b'='
    });
    let last = runs(text(line, 0, until)).last()?;
    let is_piece = mark - last.end <= 12 && is_random(part(bytes, last.start, last.end));
    is_piece.then(|| Hit::of(Family::PrivateKey, last.start, last.start, last.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(hit: Option<Hit>, line: &str) -> Option<&str> {
        hit.map(|hit| text(line, hit.start, hit.end))
    }

    #[test]
    fn shapes_are_found_whole() {
        let bot = format!("123456789:AA{}", "x1Y".repeat(11));
        assert_eq!(found(telegram(&bot, 9), &bot), Some(bot.as_str()));
        let licence = format!("{}NRAL", "9a20".repeat(9));
        assert_eq!(
            found(ending(&licence, 36), &licence),
            Some(licence.as_str())
        );
        let signed = format!("eyJ{0}.eyJ{0}.{0}", "hbGciOiJI".repeat(2));
        assert_eq!(found(jwt(&signed, 0), &signed), Some(signed.as_str()));
        let bot = format!("MTk4{}.Cl2FMQ.{}", "Nj".repeat(10), "aB3".repeat(9));
        assert_eq!(found(discord(&bot, 24), &bot), Some(bot.as_str()));
    }

    #[test]
    fn near_shapes_are_not() {
        assert_eq!(jwt("eyJhbGciOiJIUzI1NiJ9", 0), None);
        assert_eq!(telegram("12:30:AA", 5), None);
        assert_eq!(webhook("https://hooks.slack.com/services/", 8), None);
    }
}
