//! Which names stand for a secret: of a variable, a key, a field, a flag.
//!
//! It does not look at values.

/// How surely a name stands for a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A password: values may be short and may be words.
    Password,
    /// A secret, token or key by its last words.
    Secret,
    /// Some key, of which only an opaque value is taken.
    SomeKey,
}

/// Endings that mean a password, also when glued to what precedes.
const PASSWORDS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "pwd",
    "passw",
    "pword",
    "requirepass",
    "userpass",
];
/// The same, but only as a word of their own.
const PASSWORD_WORDS: [&str; 7] = [
    "pass",
    "pw",
    "psw",
    "pswd",
    "storepass",
    "keypass",
    "dbpass",
];

const SECRETS: [&str; 19] = [
    "secret",
    "secrets",
    "token",
    "apikey",
    "apitoken",
    "accesskey",
    "secretkey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "accountkey",
    "presharedkey",
    "credential",
    "credentials",
    "authkey",
    "licensekey",
    "passkey",
    "sharedaccesskey",
];
const SECRET_WORDS: [&str; 12] = [
    "auth",
    "psk",
    "jwt",
    "sas",
    "cred",
    "creds",
    "bearer",
    "otp",
    "pat",
    "sessionid",
    "authtoken",
    "tok",
];
/// Words that make a secret of the `key` that follows.
const KEYS: [&str; 59] = [
    "api",
    "access",
    "private",
    "signing",
    "secret",
    "encryption",
    "encrypt",
    "master",
    "account",
    "auth",
    "shared",
    "storage",
    "hmac",
    "cipher",
    "crypto",
    "jwt",
    "webhook",
    "preshared",
    "admin",
    "license",
    "deploy",
    "sign",
    "unseal",
    "consumer",
    "decryption",
    "session",
    "app",
    "application",
    "subscription",
    "service",
    "server",
    "ingest",
    "function",
    "openai",
    "anthropic",
    "gemini",
    "google",
    "stripe",
    "sendgrid",
    "mailgun",
    "twilio",
    "datadog",
    "algolia",
    "cohere",
    "mistral",
    "groq",
    "azure",
    "aws",
    "maps",
    "firebase",
    "supabase",
    "pusher",
    "newrelic",
    "sentry",
    "cloudflare",
    "heroku",
    "write",
    "integration",
    "rest",
];
/// Words before `key` with which it is no secret.
const HARMLESS_KEYS: [&str; 33] = [
    "public",
    "primary",
    "foreign",
    "sort",
    "partition",
    "cache",
    "map",
    "websocket",
    "gpg",
    "kms",
    "pub",
    "unique",
    "routing",
    "object",
    "row",
    "composite",
    "index",
    "registry",
    "json",
    "hash",
    "group",
    "column",
    "lookup",
    "dict",
    "i18n",
    "event",
    "config",
    "host",
    "known",
    "candidate",
    "publishable",
    "idempotency",
    "dedupe",
];
/// Words before `token` with which it is no secret.
const HARMLESS_TOKENS: [&str; 25] = [
    "max",
    "min",
    "num",
    "next",
    "page",
    "continuation",
    "cancellation",
    "cancel",
    "stop",
    "pad",
    "eos",
    "bos",
    "unk",
    "mask",
    "sep",
    "cls",
    "unexpected",
    "expected",
    "invalid",
    "syntax",
    "first",
    "last",
    "current",
    "end",
    "start",
];
/// Words before `auth`, `secret` and the like with which they are none.
const HARMLESS_BEFORE: [&str; 8] = [
    "no", "is", "has", "use", "public", "missing", "skip", "with",
];

/// Returns what the name means, or nothing where it stands for no secret.
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    if name.eq_ignore_ascii_case("samlresponse") {
        return Some(Meaning::Secret);
    }
    let words = words(name);
    let last = words.last()?.as_str();
    let before = words
        .len()
        .checked_sub(2)
        .and_then(|at| words.get(at))
        .map_or("", String::as_str);
    // `PWD` and `OLDPWD` are directories in every shell.
    if words.len() == 1 && matches!(last, "pwd" | "oldpwd" | "pass" | "auth" | "bearer" | "pat") {
        return (last == "pass" || (last == "pwd" && name != "PWD" && name != "pwd"))
            .then_some(Meaning::Password)
            .or_else(|| (last == "pwd" && name == "pwd").then_some(Meaning::Secret))
            .or_else(|| (last == "auth").then_some(Meaning::Secret));
    }
    if HARMLESS_BEFORE.contains(&before) {
        return None;
    }
    if last == "oldpwd" {
        return None;
    }
    if PASSWORDS.iter().any(|ending| last.ends_with(ending)) || PASSWORD_WORDS.contains(&last) {
        return Some(Meaning::Password);
    }
    if last == "key" {
        return key_meaning(before, name);
    }
    if last == "base" && before == "key" {
        return Some(Meaning::Secret);
    }
    if last == "data" && before == "key" {
        return Some(Meaning::Secret);
    }
    if last.ends_with("token") && HARMLESS_TOKENS.contains(&before) {
        return None;
    }
    (SECRETS.iter().any(|ending| last.ends_with(ending)) || SECRET_WORDS.contains(&last))
        .then_some(Meaning::Secret)
}

fn key_meaning(before: &str, name: &str) -> Option<Meaning> {
    if before.is_empty() || HARMLESS_KEYS.contains(&before) {
        return None;
    }
    if KEYS.contains(&before) {
        return Some(Meaning::Secret);
    }
    let is_variable = name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_variable.then_some(Meaning::SomeKey)
}

/// Splits a name into lower-case words, at marks and at changes from lower to upper case.
/// Trailing numbers do not count.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut previous = ' ';
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        let next_is_lower = characters.peek().is_some_and(char::is_ascii_lowercase);
        let begins = character.is_ascii_uppercase()
            && (previous.is_ascii_lowercase()
                || previous.is_ascii_digit()
                || (previous.is_ascii_uppercase() && next_is_lower));
        if begins || !character.is_ascii_alphanumeric() {
            keep(&mut words, &mut word);
        }
        if character.is_ascii_alphanumeric() {
            word.push(character.to_ascii_lowercase());
        }
        previous = character;
    }
    keep(&mut words, &mut word);
    words
}

fn keep(words: &mut Vec<String>, word: &mut String) {
    let trimmed = word.trim_end_matches(|character: char| character.is_ascii_digit());
    if !trimmed.is_empty() {
        words.push(trimmed.to_owned());
    }
    word.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_decide() {
        for name in [
            "DB_PASSWORD",
            "dbPassword",
            "aws_secret_access_key",
            "apiKey",
            "X-API-KEY",
            "userPwd",
            "client_secret",
            "mypassword",
            "FAKE_SECRETS",
            "password2",
            "SECRET_KEY_BASE",
            "spring.datasource.password",
            "MYSQL_PW",
            "CREDENTIALS",
            "accessToken",
            "ACCESS_TOKEN",
        ] {
            assert!(meaning(name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_of_other_things_are_harmless() {
        for name in [
            "PWD",
            "OLDPWD",
            "MAX_TOKENS",
            "max_token",
            "public_key",
            "primaryKey",
            "token_type",
            "token_count",
            "secret_name",
            "password_policy",
            "auth_mode",
            "credentials_id",
            "cache_key",
            "tokenizer",
            "prompt_tokens",
            "password_hash_algorithm",
            "key",
            "passed",
            "SSH_AUTH_SOCK",
            "compass",
            "author",
            "bypass",
            "MAX_TOKEN_LENGTH",
        ] {
            assert!(meaning(name).is_none(), "{name}");
        }
    }
}
