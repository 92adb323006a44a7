//! What the scanners report: where in a line, by which rule.
//!
//! A hit says nothing of how it is shown.

/// Which rule found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuleRef {
    /// A secret value of the environment, by its number.
    Known(usize),
    /// A rule of the policy, by its position.
    User(usize),
    /// A token of the table, by its position.
    Token(usize),
    /// A rule with a scanner of its own.
    Family(Family),
}

/// The rules with scanners of their own, the more telling ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    /// Base rule: `Bearer ` and a token.
    Bearer,
    /// Base rule: `password=` and a value.
    PasswordAssignment,
    /// Base rule: `api_key=` and a value.
    ApiKeyAssignment,
    /// Base rule: `AKIA` and 16.
    AwsAccessKeyId,
    /// Base rule: `xox`, a letter and a value.
    SlackToken,
    /// The body of a private key.
    PrivateKey,
    /// Two or more base64url parts, the first a JSON object.
    Jwt,
    /// A token in base64.
    EncodedToken,
    /// A value with a telling ending or shape instead of a prefix.
    ShapedToken,
    /// A password in an address.
    UrlPassword,
    /// A webhook address.
    Webhook,
    /// A credential header.
    Header,
    /// A cookie.
    Cookie,
    /// A key of a query.
    Query,
    /// An argument of a command line.
    Argument,
    /// A value behind a sensitive name.
    KeyedValue,
}

/// A span of a line that a rule takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Where the candidate begins, name and all.
    pub(super) from: usize,
    /// Where the secret begins.
    pub(super) start: usize,
    /// Where the secret ends.
    pub(super) end: usize,
    /// The rule.
    pub(super) rule: RuleRef,
}

impl Hit {
    /// Returns a hit of a family.
    pub(super) const fn of(family: Family, from: usize, start: usize, end: usize) -> Self {
        Self {
            from,
            start,
            end,
            rule: RuleRef::Family(family),
        }
    }
}
