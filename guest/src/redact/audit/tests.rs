//! What an audit tells, and what it never does.

use super::*;
use crate::redact::RedactionPolicy;

fn token() -> String {
    format!("ghp_{}", "aB3dE5gH".repeat(5))
}

fn opaque() -> String {
    ["q7Xk2M9vR4t", "Z8b3WyH6pLd1S"].concat()
}

fn audit_in_pieces(text: &str, size: usize) -> (Vec<Sighting>, Audited) {
    let rules = Rc::new(Rules::compile(&RedactionPolicy::default(), &[]).unwrap());
    let mut auditor = Auditor::new(rules, b"a key of the test").unwrap();
    let mut seen = Vec::new();
    for piece in text.as_bytes().chunks(size) {
        seen.extend(auditor.push(piece));
    }
    let end = auditor.finish();
    seen.extend(end.sightings.iter().cloned());
    (seen, end)
}

fn audit(text: &str) -> Vec<Sighting> {
    audit_in_pieces(text, usize::MAX).0
}

#[test]
fn findings_and_suspects_are_told_by_place_and_never_shown() {
    let seen = audit(&format!("a\nvälue {}\nid {} x\n", token(), opaque()));
    let told: Vec<_> = seen
        .iter()
        .map(|seen| (seen.rule.as_deref(), seen.line, seen.column, seen.length))
        .collect();
    assert_eq!(told, [(Some("github-token"), 2, 7, 44), (None, 3, 4, 24)]);
    let all = format!("{seen:?}");
    assert!(!all.contains(&opaque()) && !all.contains(&token()));
}

#[test]
fn the_pieces_make_no_difference() {
    let key = [
        "-----BEGIN PRIVATE",
        " KEY-----\n",
        &"MIIEpAIBAAKCAQEAaOuSirjOtsMlnsRkgOpKqTLI7HlGsdgf\n".repeat(4),
        "-----END PRIVATE KEY-----\n",
    ]
    .concat();
    let long = format!(
        "{} {} {}\n",
        "word ".repeat(40_000),
        token(),
        "x".repeat(200_000)
    );
    let text = format!("a {}\n{key}{long}ü {}\n{}", token(), opaque(), token());
    let whole = audit_in_pieces(&text, usize::MAX);
    assert_eq!(whole.1.lines, 10);
    let rules: Vec<_> = whole
        .0
        .iter()
        .map(|seen| (seen.line, seen.rule.as_deref()))
        .collect();
    assert_eq!(
        rules,
        [
            (1, Some("github-token")),
            (3, Some("private-key")),
            (8, Some("github-token")),
            (9, None),
            (10, Some("github-token"))
        ]
    );
    assert_eq!(whole.0[2].column, 200_002);
    for size in [7, 1000, 65_536, 70_001] {
        assert_eq!(audit_in_pieces(&text, size), whole, "{size}");
    }
}

#[test]
fn a_tag_is_the_same_for_the_same_secret_and_key_alone() {
    let rules = Rc::new(Rules::compile(&RedactionPolicy::default(), &[]).unwrap());
    let tags = |key: &[u8], text: &str| {
        let mut auditor = Auditor::new(Rc::clone(&rules), key).unwrap();
        let mut seen = auditor.push(text.as_bytes());
        seen.extend(auditor.finish().sightings);
        seen.into_iter().map(|seen| seen.tag).collect::<Vec<_>>()
    };
    let text = format!("{}\nagain: \u{1b}[31m{}\u{1b}[0m\n", token(), token());
    let first = tags(b"one", &text);
    assert_eq!(first.len(), 2);
    assert_eq!(first[0], first[1]);
    assert_eq!(first[0].len(), 16);
    assert_ne!(first[0], tags(b"two", &text)[0]);
}

#[test]
fn a_record_is_audited_text_by_text() {
    let record = serde_json::json!({
        "schema_version": "1.0",
        "command_id": "1",
        "command": ["login", "--token", "q7Xk2m9vR4tZ", "x"],
        "stdout_tail": format!("one\ntwo {}", token()),
        "error": "[REDACTED]",
        "client_secret": "q7Xk2m9vR4tZ8b3W",
        "crc": "00000000",
    });
    let (seen, end) = audit_in_pieces(&format!("{record}\n{{}}\n"), 10);
    assert_eq!((end.lines, end.records), (2, 1));
    let told: Vec<_> = seen
        .iter()
        .map(|seen| (seen.field.as_str(), seen.field_line, seen.rule.is_some()))
        .collect();
    assert_eq!(
        told,
        [
            ("/command/2", 1, true),
            ("/stdout_tail", 2, true),
            ("/client_secret", 1, true)
        ]
    );
}

#[test]
fn names_and_digests_are_no_suspects() {
    for line in [
        "src/testParsesUtf8EncodedNamesOfFiles.rs",
        "\"integrity\": \"sha512-q7Xk2M9vR4tZ8b3WyH6pLd1Sq7Xk2M9vR4tZ8b3WyH6pLd1S==\"",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "2024-03-05T10-22-33Z_Build_Linux_x86_64_Release",
        "org_apache_MavenSurefire3ForkedBooterTest",
    ] {
        assert_eq!(audit(line), [], "{line}");
    }
}

#[test]
fn what_stands_beside_a_value_below_its_name_is_told_as_well() {
    let value = ["q7Xk2", "m9vR4z8"].concat();
    let text = format!("name: DB_PASSWORD\nvalue: {value} # {}\nnext\n", token());
    let told = |text: &str| -> Vec<_> {
        let seen = audit(text).into_iter();
        seen.map(|seen| (seen.line, seen.column, seen.rule.unwrap_or_default()))
            .collect()
    };
    let keyed = "keyed-value".to_owned();
    let github = "github-token".to_owned();
    assert_eq!(told(&text), [(2, 8, keyed), (2, 23, github)]);
}

#[test]
fn a_word_behind_the_name_of_a_password_is_a_suspect() {
    for line in [
        "password: sunshine",
        r#"{"user":"me","password":"sunshine"}"#,
        r#"{"log":"{\"password\":\"sunshine\"}"}"#,
        "\u{1b}[1mpassword\u{1b}[0m: sunshine",
    ] {
        let seen = audit(line);
        let told: Vec<_> = seen.iter().map(|seen| (&seen.rule, seen.length)).collect();
        assert_eq!(told, [(&None, 8)], "{line}");
        let column = usize::try_from(seen[0].column).unwrap();
        assert_eq!(column, line.find("sunshine").unwrap() + 1);
    }
}
