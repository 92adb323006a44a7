//! What is told of the rules: ids, descriptions, examples, and the digest over all of them.
//!
//! It finds nothing itself.

use crc::{CRC_32_ISCSI, Crc};

use super::hit::Family;
use super::tokens::TOKENS;
use super::user::Scope;

/// A rule as documentation shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// Names the rule in findings and markers.
    pub id: String,
    /// What it finds.
    pub description: String,
    /// What a finding takes in the mode `standard`: `span` or `line`.
    pub scope: &'static str,
    /// A text in which the rule finds something. It opens nothing. Empty for known values, which
    /// depend on the environment.
    pub example: String,
    /// A text that looks alike and in which it finds nothing.
    pub counter_example: String,
}

/// A built-in rule with a scanner of its own.
struct Described {
    family: Family,
    id: &'static str,
    description: &'static str,
    scope: Scope,
    /// Pieces that make an example when joined, so that none stands in the source.
    example: &'static [&'static str],
    counter_example: &'static str,
}

/// What every rule of that name hides, from its position among the environment's values.
pub(super) const KNOWN_ID: &str = "known-value";

#[rustfmt::skip] // One rule, one paragraph.
const DESCRIBED: &[Described] = &[
    Described { family: Family::Bearer, id: "bearer-token", description: "`Bearer ` followed by a token", scope: Scope::Line,
        example: &["Authorization: Bearer ", "q7Xk2m", "9vR4tZ8b"], counter_example: "error: Bearer token missing" },
    Described { family: Family::PasswordAssignment, id: "password-assignment", description: "`password=` followed by a value", scope: Scope::Line,
        example: &["password", "=q7Xk2m"], counter_example: "password=None" },
    Described { family: Family::ApiKeyAssignment, id: "api-key-assignment", description: "`api_key=`, `api-key=` or `apikey=` followed by a value", scope: Scope::Line,
        example: &["api", "_key=q7Xk2m9v"], counter_example: "api_key=os.environ[\"API_KEY\"]" },
    Described { family: Family::AwsAccessKeyId, id: "aws-access-key", description: "`AKIA` and 16 capitals or digits", scope: Scope::Line,
        example: &["AK", "IA", "Q7XK2M9VR4TZ3B5W"], counter_example: "AKIA is how key ids begin" },
    Described { family: Family::SlackToken, id: "slack-bot-token", description: "`xoxb-`, `xoxa-`, `xoxp-`, `xoxr-` or `xoxs-` followed by a value", scope: Scope::Line,
        example: &["xo", "xb-", "2753-q7Xk2m9vR4tZ"], counter_example: "tokens start with xoxb-..." },
    Described { family: Family::PrivateKey, id: "private-key", description: "the body of a private key, in a block or on one line", scope: Scope::Span,
        example: &["-----BEGIN PRIVATE", " KEY-----\\n", "MIIEpAIBAAKCAQEAaOuSirjOtsMlnsRkgOpKqTLI7HlGsdgf", "\\n-----END PRIVATE", " KEY-----"],
        counter_example: "panic: missing -----BEGIN PRIVATE KEY----- line" },
    Described { family: Family::Jwt, id: "jwt", description: "a signed or encrypted token in parts of base64url", scope: Scope::Span,
        example: &["ey", "JhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxODU5OTM2MjA2In0", ".rd33Ipa0OFjFLt"], counter_example: "eyJhbGciOiJIUzI1NiJ9 is only a header" },
    Described { family: Family::EncodedToken, id: "encoded-token", description: "base64 of a token or of a private key", scope: Scope::Span,
        example: &["Z2", "hwXzV6MWNQWXlBS01BNHQ2cjRtam8zVTliUHZValQzSTFGRG05Ug=="], counter_example: "Z2hwXw== is base64" },
    Described { family: Family::ShapedToken, id: "shaped-token", description: "a token told by its shape or its ending: bots, licences, client secrets", scope: Scope::Span,
        example: &["123456789", ":AA", "q7Xk2m9vR4tZ8b3Wq7Xk2m9vR4tZ8b3Wq"], counter_example: "12:AA:BB:CC is no token" },
    Described { family: Family::UrlPassword, id: "url-password", description: "a password or a token before the host of an address", scope: Scope::Span,
        example: &["postgres:/", "/svc:q7Xk2m9v", "@db.example:5432/main"], counter_example: "https://${USER}:${PASS}@git.example/x.git" },
    Described { family: Family::Webhook, id: "webhook", description: "the secret path of a webhook", scope: Scope::Span,
        example: &["https://hooks.sl", "ack.com/services/", "T0Q7XK2M9/B0R4TZ8B3/q7Xk2m9vR4tZ"], counter_example: "https://hooks.slack.com/services/" },
    Described { family: Family::Header, id: "credential-header", description: "the value of a header that carries credentials", scope: Scope::Span,
        example: &["Authorization: Basic ", "Y2k6WTY4Tk01", "cjgwREIw"], counter_example: "Authorization: Basic <credentials>" },
    Described { family: Family::Cookie, id: "cookie", description: "the value of a cookie that looks like a session", scope: Scope::Span,
        example: &["Set-Cookie: sid=", "q7Xk2m9v", "R4tZ8b3W; Path=/"], counter_example: "Cookie: theme=dark; lang=en" },
    Described { family: Family::Query, id: "query-secret", description: "a key, code or signature in the query of an address", scope: Scope::Span,
        example: &["GET /v1/geo?key=", "q7Xk2m9vR4tZ8b3W", "&q=x"], counter_example: "GET /v1/geo?key=name&q=x" },
    Described { family: Family::Argument, id: "command-argument", description: "a secret among the arguments of a command", scope: Scope::Span,
        example: &["login --token ", "q7Xk2m9v", "R4tZ"], counter_example: "login --token <TOKEN>" },
    Described { family: Family::KeyedValue, id: "keyed-value", description: "a value behind a name whose last words mean a secret, unless it reads like words or is a number", scope: Scope::Span,
        example: &["client_secret: \"", "q7Xk2m9v", "R4tZ8b3W\""], counter_example: "client_secret: \"${CLIENT_SECRET}\"" },
];

impl Family {
    /// Returns the rule's id.
    pub(super) fn id(self) -> &'static str {
        DESCRIBED
            .iter()
            .find(|described| described.family == self)
            .map_or("", |described| described.id)
    }

    /// Says whether the rule takes the line.
    pub(super) const fn takes_line(self) -> bool {
        matches!(
            self,
            Self::Bearer
                | Self::PasswordAssignment
                | Self::ApiKeyAssignment
                | Self::AwsAccessKeyId
                | Self::SlackToken
        )
    }
}

/// Says whether a built-in rule has this id.
pub(super) fn is_builtin(id: &str) -> bool {
    id == KNOWN_ID
        || DESCRIBED.iter().any(|described| described.id == id)
        || TOKENS.iter().any(|token| token.id == id)
}

/// Returns every built-in rule in table order.
pub(super) fn builtin() -> Vec<RuleInfo> {
    let known = RuleInfo {
        id: KNOWN_ID.to_owned(),
        description: "the value of a secret variable of the environment, in every form that programs print it in".to_owned(),
        scope: Scope::Span.name(),
        example: String::new(),
        counter_example: String::new(),
    };
    let described = DESCRIBED.iter().map(|rule| RuleInfo {
        id: rule.id.to_owned(),
        description: rule.description.to_owned(),
        scope: rule.scope.name(),
        example: rule.example.concat(),
        counter_example: rule.counter_example.to_owned(),
    });
    let tokens = TOKENS.iter().map(|token| RuleInfo {
        id: token.id.to_owned(),
        description: token.description.to_owned(),
        scope: Scope::Span.name(),
        example: token.example(),
        counter_example: token.counter_example(),
    });
    described.chain(tokens).chain([known]).collect()
}

/// Returns the CRC-32C, as eight hexadecimal digits, of the built-in rules in table order:
/// the same digits mean the same rules.
#[must_use]
pub fn rule_set_digest() -> String {
    let crc = Crc::<u32>::new(&CRC_32_ISCSI);
    let mut digest = crc.digest();
    for rule in builtin() {
        for field in [
            rule.id.as_str(),
            &rule.description,
            rule.scope,
            &rule.example,
            &rule.counter_example,
        ] {
            digest.update(field.as_bytes());
            digest.update(&[0]);
        }
    }
    for token in TOKENS {
        let facts = format!(
            "{:?}{}{:?}{}{:?}",
            token.prefixes, token.is_glued, token.alphabet, token.shortest, token.fact
        );
        digest.update(facts.as_bytes());
    }
    format!("{:08x}", digest.finalize())
}
