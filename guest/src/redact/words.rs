//! The table of words that a line must hold to be looked at, and what each of them leads to.
//!
//! Prefixes of tokens are in their own table.

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
pub(super) const RARE: &[(&str, Action)] = &[
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
    ("api key", Action::Name),
    ("access key", Action::Name),
    ("signing key", Action::Name),
    ("encryption key", Action::Name),
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
    // Key ids in base64 may hold no digit, and then are no long run.
    ("qutjq", Action::Look),
    ("flsue", Action::Look),
    ("bs0lb", Action::Look),
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
pub(super) const COMMON: &[(&str, Action)] = &[
    ("key:", Action::Name),
    ("key=", Action::Name),
    ("key\"", Action::Name),
    ("key'", Action::Name),
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
pub(super) const COMMON_PREFIXES: [&str; 23] = [
    "test_", "live_", "api-", "sdk-", "mob-", "rel-", "key-", "comp_", "pat.", "sat.", "npm_",
    "ext_", "sess-", "sandbox_", "secret_", "API-", "dapi", "dose", "EAAA", "EAAC", "EAAB", "cflt",
    "4b1d",
];
