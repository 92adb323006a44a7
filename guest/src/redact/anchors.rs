//! The literal texts that a line must hold to be looked at, and what each of them leads to.
//!
//! Two automata: one over whole blocks with the rare texts, so that ordinary output is passed
//! on after a single look, and one over the lines that the first has chosen, with all of them.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::encoded::{Beginning, beginnings};
use super::tokens::TOKENS;

/// What an anchor leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// A token of the table, from its beginning.
    Token(usize),
    /// A word of a name: its value is read.
    Name,
    /// `Bearer`.
    Bearer,
    /// `xoxb-` and the others.
    Slack,
    /// `AKIA`.
    Aws,
    /// `://`.
    Address,
    /// `?` or `&` before a query's key.
    Query,
    /// `Authorization`.
    Authorization,
    /// A header whose value is the secret.
    OpaqueHeader,
    /// `Cookie`.
    Cookie,
    /// `eyJ`.
    Jwt,
    /// A colon before `AA`.
    Telegram,
    /// A dot.
    Dot,
    /// An ending.
    Ending,
    /// A bar between a number and a token.
    Bar,
    /// The number of a key that opens a vault.
    Unseal,
    /// A webhook's host.
    Webhook,
    /// A quoted name of a key's part.
    Jwk,
    /// `PRIVATE KEY`.
    PrivateKey,
    /// ` -u ` and ` --user `.
    UserFlag,
    /// ` -p`.
    PasswordFlag,
    /// `--password-stdin`.
    Piped,
    /// `:5432:`.
    PasswordFile,
    /// A beginning of base64, by its position.
    Encoded(usize),
    /// A rule of the policy, by its position.
    User(usize),
    /// Nothing but a reason to look.
    Look,
}

/// Words that are looked for in every block.
const RARE: &[(&str, Action)] = &[
    ("passw", Action::Name),
    ("passph", Action::Name),
    ("passco", Action::Name),
    ("passkey", Action::Name),
    ("pwd", Action::Name),
    ("pword", Action::Name),
    ("secret", Action::Name),
    ("token", Action::Name),
    ("api_key", Action::Name),
    ("api-key", Action::Name),
    ("apikey", Action::Name),
    ("access_key", Action::Name),
    ("accesskey", Action::Name),
    ("privatekey", Action::Name),
    ("accountkey", Action::Name),
    ("signingkey", Action::Name),
    ("encryptionkey", Action::Name),
    ("masterkey", Action::Name),
    ("sharedkey", Action::Name),
    ("licensekey", Action::Name),
    ("authkey", Action::Name),
    ("_key", Action::Name),
    ("-key", Action::Name),
    ("key_base", Action::Name),
    ("credential", Action::Name),
    ("_cred", Action::Name),
    ("_auth", Action::Name),
    ("auth=", Action::Name),
    ("auth\"", Action::Name),
    ("auth:", Action::Name),
    ("_pass", Action::Name),
    ("-pass", Action::Name),
    ("pass=", Action::Name),
    ("pass:", Action::Name),
    ("pass\"", Action::Name),
    ("pass'", Action::Name),
    ("storepass", Action::Name),
    ("keypass", Action::Name),
    ("requirepass", Action::Name),
    ("userpass", Action::Name),
    ("_pw", Action::Name),
    ("pw=", Action::Name),
    ("pw:", Action::Name),
    ("_psk", Action::Name),
    ("psk=", Action::Name),
    ("_jwt", Action::Name),
    ("_pat", Action::Name),
    ("_sas", Action::Name),
    ("_otp", Action::Name),
    ("_tok", Action::Name),
    ("sessionid", Action::Name),
    ("bearer", Action::Bearer),
    ("xoxb-", Action::Slack),
    ("xoxa-", Action::Slack),
    ("xoxp-", Action::Slack),
    ("xoxr-", Action::Slack),
    ("xoxs-", Action::Slack),
    ("akia", Action::Aws),
    ("hf_", Action::Look),
    ("samlresponse=", Action::Name),
    ("redis-cli", Action::Look),
    ("://", Action::Address),
    ("%3a%2f%2f", Action::Look),
    ("%253a%252f", Action::Look),
    (":\\/\\/", Action::Look),
    ("?key=", Action::Query),
    ("&key=", Action::Query),
    ("?sig=", Action::Query),
    ("&sig=", Action::Query),
    ("?code=", Action::Query),
    ("&code=", Action::Query),
    ("signature=", Action::Look),
    ("samlresponse", Action::Look),
    ("authorization", Action::Authorization),
    ("private-token", Action::OpaqueHeader),
    ("x-auth", Action::OpaqueHeader),
    ("cookie", Action::Cookie),
    ("eyj", Action::Jwt),
    (":aa", Action::Telegram),
    ("q~", Action::Ending),
    ("hooks.", Action::Webhook),
    ("webhook", Action::Look),
    ("maker.ifttt", Action::Webhook),
    ("private key", Action::PrivateKey),
    ("private%20key", Action::Look),
    ("private-lines", Action::Look),
    (" -u ", Action::UserFlag),
    (" --user ", Action::UserFlag),
    (" --user=", Action::UserFlag),
    ("sshpass", Action::Look),
    ("mysql", Action::Look),
    ("mariadb", Action::Look),
    ("docker login", Action::Look),
    ("az login", Action::Look),
    ("podman login", Action::Look),
    ("oc login", Action::Look),
    ("mongo", Action::Look),
    ("ldapsearch", Action::Look),
    ("--password-stdin", Action::Piped),
    (":5432:", Action::PasswordFile),
    (":3306:", Action::PasswordFile),
    (":*:", Action::PasswordFile),
    ("unseal key", Action::Unseal),
    ("recovery key", Action::Unseal),
    ("\u{1b}", Action::Look),
    ("\u{8}", Action::Look),
    ("\u{200b}", Action::Look),
    ("\u{200c}", Action::Look),
    ("\u{200d}", Action::Look),
    ("\u{2060}", Action::Look),
    ("\u{feff}", Action::Look),
    ("\u{ad}", Action::Look),
];

/// Words that are looked for only in lines that were chosen.
const COMMON: &[(&str, Action)] = &[
    ("discord.com/api/", Action::Webhook),
    ("discordapp.com/api/", Action::Webhook),
    ("webhook.office.com", Action::Webhook),
    ("outlook.office.com/", Action::Webhook),
    ("?x-amz-sig", Action::Query),
    ("&x-amz-sig", Action::Query),
    ("&x-amz-sec", Action::Query),
    ("?x-amz-sec", Action::Query),
    ("&x-goog-sig", Action::Query),
    ("?signature=", Action::Query),
    ("&signature=", Action::Query),
    ("?x-goog-sig", Action::Query),
    ("?hash=", Action::Query),
    (" -a ", Action::PasswordFlag),
    (" -w ", Action::PasswordFlag),
    ("|", Action::Bar),
    ("&samlresponse=", Action::Query),
    ("?samlresponse=", Action::Query),
    ("ewo", Action::Jwt),
    (".", Action::Dot),
    ("nral", Action::Ending),
    ("_mmk", Action::Ending),
    ("azdo", Action::Ending),
    ("-us1", Action::Ending),
    ("-us2", Action::Ending),
    ("-us3", Action::Ending),
    ("-us4", Action::Ending),
    ("-us5", Action::Ending),
    ("-us6", Action::Ending),
    ("-us7", Action::Ending),
    ("-us8", Action::Ending),
    ("-us9", Action::Ending),
    ("\"d\"", Action::Jwk),
    ("\"p\"", Action::Jwk),
    ("\"q\"", Action::Jwk),
    ("\"dp\"", Action::Jwk),
    ("\"dq\"", Action::Jwk),
    ("\"qi\"", Action::Jwk),
    ("\"k\"", Action::Jwk),
    (" -p", Action::PasswordFlag),
];

/// Prefixes of tokens too common to search whole blocks for; lines with a long run of letters
/// and digits are chosen anyway.
const COMMON_PREFIXES: [&str; 23] = [
    "test_", "live_", "api-", "sdk-", "mob-", "rel-", "key-", "comp_", "pat.", "sat.", "npm_",
    "ext_", "sess-", "sandbox_", "secret_", "API-", "dapi", "dose", "EAAA", "EAAC", "EAAB", "cflt",
    "4b1d",
];

/// How much of a token's prefix the first look searches for.
const PREFIX: usize = 8;

/// Where an anchor stands and what it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// What it leads to.
    pub(super) action: Action,
    /// Where it begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// Both automata.
#[derive(Debug)]
pub(super) struct Anchors {
    rare: Option<AhoCorasick>,
    all: Option<AhoCorasick>,
    actions: Vec<Action>,
    encoded: Vec<Beginning>,
}

impl Anchors {
    /// Builds the automata; `literals` come from the policy, `values` from the environment.
    pub(super) fn new(literals: &[String], values: &[Vec<u8>]) -> Self {
        let encoded = beginnings();
        let prefixes = TOKENS
            .iter()
            .enumerate()
            .flat_map(|(index, token)| token.prefixes.iter().map(move |prefix| (*prefix, index)));
        let mut rare: Vec<&[u8]> = RARE.iter().map(|(text, _)| text.as_bytes()).collect();
        let mut all: Vec<(&[u8], Action)> = RARE
            .iter()
            .chain(COMMON)
            .map(|(text, action)| (text.as_bytes(), *action))
            .collect();
        for (prefix, index) in prefixes {
            // What is shorter than a long run must be searched for, however common.
            let is_short = TOKENS
                .get(index)
                .is_some_and(|token| prefix.len() + token.shortest < LONG);
            if is_short || prefix.len() >= 4 && !COMMON_PREFIXES.contains(&prefix) {
                // The first look needs no more, and a smaller automaton is a faster one.
                rare.push(prefix.as_bytes().get(..PREFIX).unwrap_or(prefix.as_bytes()));
            }
            all.push((prefix.as_bytes(), Action::Token(index)));
        }
        for (index, literal) in literals.iter().enumerate() {
            rare.push(literal.as_bytes());
            all.push((literal.as_bytes(), Action::User(index)));
        }
        for (index, beginning) in encoded.iter().enumerate() {
            all.push((beginning.text.as_bytes(), Action::Encoded(index)));
        }
        rare.extend(values.iter().map(Vec::as_slice));
        let actions = all.iter().map(|(_, action)| *action).collect();
        Self {
            rare: build(&rare, AhoCorasickKind::DFA),
            all: build(
                &all.iter().map(|(text, _)| *text).collect::<Vec<_>>(),
                AhoCorasickKind::DFA,
            ),
            actions,
            encoded,
        }
    }

    /// Returns where the first rare anchor at or after `from` ends.
    pub(super) fn first_rare(&self, block: &[u8], from: usize) -> Option<usize> {
        let automaton = self.rare.as_ref()?;
        automaton
            .find(Input::new(block).range(from..))
            .map(|found| found.end())
    }

    /// Calls `found` for every anchor of a line.
    pub(super) fn each(&self, line: &str, mut found: impl FnMut(Found)) {
        let Some(automaton) = &self.all else {
            return;
        };
        for hit in automaton.find_overlapping_iter(line) {
            if let Some(action) = self.actions.get(hit.pattern().as_usize()) {
                found(Found {
                    action: *action,
                    start: hit.start(),
                    end: hit.end(),
                });
            }
        }
    }

    /// Returns the beginning of base64 at this position.
    pub(super) fn beginning(&self, index: usize) -> Option<&Beginning> {
        self.encoded.get(index)
    }
}

fn build(patterns: &[&[u8]], kind: AhoCorasickKind) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(kind))
        .build(patterns)
        .ok()
}

/// How many characters apart the samples are of the search for long runs.
const STRIDE: usize = 11;
/// Shortest run that is found: it holds a sample with twelve more characters behind it.
const LONG: usize = 2 * STRIDE + 1;

/// Returns where a run of 23 or more letters, digits, `_` and `-`, among them a digit, begins
/// at or after `from`.
pub(super) fn first_long_run(block: &[u8], from: usize) -> Option<usize> {
    let mut position = from + STRIDE - 1;
    while let Some(sample) = block.get(position..position + STRIDE + 2) {
        // Words end within a few characters, so most samples cost three looks.
        let is_long = [0, 4, 8, 12, 2, 6, 10]
            .iter()
            .all(|offset| sample.get(*offset).is_some_and(|byte| is_run(*byte)));
        if !is_long {
            position += STRIDE;
            continue;
        }
        let start = super::bytes::run_start(block, position, is_run).max(from);
        let end = super::bytes::run_end(block, position, is_run);
        let run = super::bytes::part(block, start, end);
        if run.len() >= LONG && run.iter().any(u8::is_ascii_digit) {
            return Some(start);
        }
        // The next run begins behind this one; its first sample must not be later than
        // `STRIDE` characters into it.
        position = end.max(position + 1) + STRIDE - 1;
    }
    None
}

const fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_is_found_wherever_it_begins() {
        for offset in 0..30 {
            let block = format!("{} {}1\n", "x y".repeat(offset), "ab".repeat(11));
            let found = first_long_run(block.as_bytes(), 0);
            assert_eq!(found, Some(offset * 3 + 1), "{offset}");
        }
        assert_eq!(
            first_long_run(b"an ordinary line without any of them 1\n", 0),
            None
        );
    }
}
