//! Claims about masks that cover only the beginning of a secret.

use super::redact;
use super::tests::rules;

#[test]
fn what_stands_behind_a_mask_is_found_where_it_is_like_a_secret() {
    let rest = ["q7Xk2M9v", "R4tZ8b3W"].concat();
    for line in [
        "TOKEN=***@",
        "API_SECRET: \"****@\"",
        "password=***@",
        "DB_PASSWORD=*****@",
        "Authorization: Bearer ***@",
        "got Bearer ***@",
        "api_key=********@",
        "{\"token\":\"***@\"}",
    ] {
        let line = line.replace('@', &rest);
        assert!(!redact(&rules(), &line).0.contains(&rest), "{line}");
    }
}

#[test]
fn a_mask_stays_with_the_few_characters_that_tell_secrets_apart() {
    for line in [
        "TOKEN=***",
        "TOKEN=****a1b2",
        "password=***",
        "password=****",
        "password=***end",
        "TOKEN=***, next",
        "Authorization: Bearer ***",
        "Bearer ***",
        "auth token: sk-***a1b2",
        "token: ***/org/repository-2",
        "TOKEN=***-us-east-1",
        "secret=******** (from vault-2.example)",
    ] {
        assert_eq!(redact(&rules(), line).0, line);
    }
}
