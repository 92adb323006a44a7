//! The forms in which programs print a value: plain, encoded, escaped.
//!
//! It does not choose the values.

use super::encoding::fixed_part;
use super::known::SHORTEST_MIXED;

/// Returns every form a value is printed in.
pub(super) fn forms_of(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    for shift in 0..3 {
        let fixed = fixed_part(secret.as_bytes(), shift);
        if fixed.len() >= 8 {
            forms.push(fixed.replace('+', "-").replace('/', "_"));
            forms.push(fixed);
        }
    }
    let once = json(secret);
    forms.push(json(&once));
    forms.push(once);
    forms.push(percent(secret, |byte| format!("%{byte:02X}")));
    forms.push(percent(secret, |byte| format!("%{byte:02x}")));
    forms.push(percent(secret, |byte| format!("%{byte:02X}")).replace("%20", "+"));
    forms.push(percent(
        &percent(secret, |byte| format!("%{byte:02X}")),
        |byte| format!("%{byte:02X}"),
    ));
    // Browsers and `encodeURI` leave some marks as they are.
    forms.push(loose_percent(secret));
    forms.push(secret.replace('\'', r"'\''"));
    forms.push(secret.replace('\'', "'\"'\"'"));
    forms.push(shell(secret));
    forms.push(xml(secret));
    forms.push(xml(secret).replace("&#39;", "&apos;"));
    forms.push(secret.replace('\\', r"\\"));
    forms.push(secret.replace('\\', r"\\").replace('\'', r"\'"));
    forms.push(secret.bytes().map(|byte| format!("{byte:02x}")).collect());
    forms.retain(|form| form.len() >= SHORTEST_MIXED);
    forms
}

fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or_default()
        .to_owned()
}

fn percent(text: &str, escape: impl Fn(u8) -> String) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&escape(byte));
        }
    }
    encoded
}

fn loose_percent(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~!*'()".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Escapes as `printf %q` does.
fn shell(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii()
            && !character.is_ascii_alphanumeric()
            && !"_-./:=@%+,".contains(character)
        {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
