//! Claims about the engine as a whole: examples, pieces, long lines, modes.

use std::rc::Rc;

use super::*;

/// Compiled once per thread, since preparing the searches takes a while without optimisation.
pub(super) fn rules() -> Rc<Rules> {
    thread_local! {
        static RULES: Rc<Rules> = compiled(Mode::Standard, &[]);
    }
    RULES.with(Rc::clone)
}

fn compiled(mode: Mode, environment: &[(&str, &str)]) -> Rc<Rules> {
    let policy = RedactionPolicy {
        mode,
        ..RedactionPolicy::default()
    };
    let environment: Vec<(String, String)> = environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Rc::new(Rules::compile(&policy, &environment).unwrap())
}

/// Collects what a sink is given, and in how many calls.
#[derive(Default)]
struct Collected {
    text: String,
    calls: usize,
}

impl Sink for Collected {
    fn text(&mut self, text: &str) {
        self.text.text(text);
        self.calls += 1;
    }

    fn retract_line(&mut self) {
        self.text.retract_line();
    }
}

pub(super) fn in_pieces(rules: &Rc<Rules>, text: &str, size: usize) -> (String, Findings) {
    let mut sink = Collected::default();
    let mut redactor = Redactor::new(Rc::clone(rules));
    let mut rest = text;
    while !rest.is_empty() {
        let cut = rest.ceil_char_boundary(size.min(rest.len()));
        let (piece, after) = rest.split_at(cut);
        redactor.push(piece, &mut sink);
        rest = after;
    }
    redactor.finish(&mut sink);
    (sink.text, redactor.into_findings())
}

fn token() -> String {
    format!("ghp_{}", "aB3dE5gH".repeat(5))
}

#[test]
fn every_rule_finds_its_example_and_not_its_counter_example() {
    let rules = rules();
    let mut faults = Vec::new();
    for rule in rules.rows() {
        if rule.id == "known-value" {
            continue;
        }
        let (redacted, findings) = redact(&rules, &rule.example);
        let takes_line = redacted == "[REDACTED]";
        if !findings.per_rule.contains_key(&rule.id) || takes_line != (rule.scope == "line") {
            faults.push(format!("{}: {redacted} in {}", rule.id, rule.example));
        }
        let (unchanged, _) = redact(&rules, &rule.counter_example);
        if unchanged != rule.counter_example {
            faults.push(format!("{}: {unchanged}", rule.id));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_rule_is_listed_once_and_known_values_are_one() {
    let list = rules().list();
    let ids: BTreeSet<&str> = list.iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(ids.len(), list.len());
    assert!(ids.contains("known-value"));
}

#[test]
fn the_policy_says_for_a_single_rule_what_it_takes() {
    let policy = RedactionPolicy {
        scopes: BTreeMap::from([
            ("bearer-token".to_owned(), Scope::Span),
            ("github-token".to_owned(), Scope::Line),
        ]),
        ..RedactionPolicy::default()
    };
    let rules = Rc::new(Rules::compile(&policy, &[]).unwrap());
    let text = format!(
        "a Bearer q7Xk2m9vR4tZ b\nc {} d\npassword{}\n",
        token(),
        "=q7Xk2m"
    );
    assert_eq!(
        redact(&rules, &text).0,
        "a Bearer [REDACTED:bearer-token#1] b\n[REDACTED]\n[REDACTED]\n"
    );
    let scope = |id: &str| {
        rules
            .list()
            .iter()
            .find(|rule| rule.id == id)
            .map(|rule| rule.scope)
    };
    assert_eq!(scope("bearer-token"), Some("span"));
    assert_eq!(scope("github-token"), Some("line"));
    let policy = RedactionPolicy {
        scopes: BTreeMap::from([("no-such-rule".to_owned(), Scope::Span)]),
        ..RedactionPolicy::default()
    };
    let fault = Rules::compile(&policy, &[]).unwrap_err();
    assert!(fault.message.starts_with("redaction.scopes.no-such-rule: "));
}

#[test]
fn the_digest_is_eight_digits_and_always_the_same() {
    assert_eq!(rule_set_digest(), rule_set_digest());
    assert_eq!(rule_set_digest().len(), 8);
}

#[test]
fn the_same_secret_has_the_same_number() {
    let first = token();
    let second = token().replace("aB3", "Zz9");
    let (redacted, _) = redact(&rules(), &format!("{first} {second}\nagain {first}\n"));
    assert_eq!(
        redacted,
        "[REDACTED:github-token#1] [REDACTED:github-token#2]\nagain [REDACTED:github-token#1]\n"
    );
}

#[test]
fn a_coloured_token_has_the_number_of_the_plain_one() {
    let plain = token();
    let coloured = plain.replace("ghp_", "ghp_\u{1b}[31m");
    let (redacted, _) = redact(&rules(), &format!("{plain}\n{coloured}\n"));
    assert_eq!(
        redacted,
        "[REDACTED:github-token#1]\n[REDACTED:github-token#1]\n"
    );
}

#[test]
fn findings_name_lines_and_stop_at_sixty_four() {
    let line = format!("x {} y\n", token());
    let (_, findings) = redact(&rules(), &format!("ordinary\n{}", line.repeat(70)));
    assert_eq!(findings.count(), 70);
    assert_eq!(findings.lines.len(), 64);
    assert_eq!(findings.lines_omitted, 6);
    assert_eq!(findings.lines.first().map(|found| found.line), Some(2));
}

#[test]
fn modes_take_the_span_or_the_line() {
    let secret = ["q7Xk2m", "9vR4tZ"].concat();
    let bearer = format!("> authorization: Bearer {secret}\n");
    let keyed = format!("token: \"{secret}\"\n");
    let both = format!("{bearer}{keyed}");
    assert_eq!(
        redact(&compiled(Mode::Standard, &[]), &both).0,
        "[REDACTED]\ntoken: \"[REDACTED:keyed-value#1]\"\n"
    );
    assert_eq!(
        redact(&compiled(Mode::Span, &[]), &both).0,
        "> authorization: Bearer [REDACTED:bearer-token#1]\ntoken: \"[REDACTED:keyed-value#1]\"\n"
    );
    assert_eq!(
        redact(&compiled(Mode::Line, &[]), &both).0,
        "[REDACTED]\n[REDACTED]\n"
    );
}

#[test]
fn a_rule_of_the_policy_takes_its_span_or_the_line() {
    let rule = |id: &str, literal: &str, scope| UserRule {
        id: id.to_owned(),
        description: String::new(),
        literal: literal.to_owned(),
        pattern: format!("{literal}[0-9]{{4}}"),
        scope,
        example: format!("{literal}1234"),
        counter_example: "nothing".to_owned(),
    };
    let policy = RedactionPolicy {
        rules: vec![
            rule("acme-span", "acme.", Scope::Span),
            rule("acme-line", "corp.", Scope::Line),
        ],
        ..RedactionPolicy::default()
    };
    let rules = Rc::new(Rules::compile(&policy, &[]).unwrap());
    let (redacted, _) = redact(&rules, "a acme.1234 b\nc corp.1234 d\n");
    assert_eq!(redacted, "a [REDACTED:acme-span#1] b\n[REDACTED]\n");
    assert!(
        rules
            .list()
            .iter()
            .any(|info| info.id == "acme-line" && info.scope == "line")
    );
}

#[test]
fn a_known_value_has_one_number_everywhere() {
    let value = ["q7Xk2m", "9vR4tZ"].concat();
    let rules = compiled(
        Mode::Standard,
        &[("B_TOKEN", &value), ("A_TOKEN", "z8Yw3n5bTq1Lp")],
    );
    let (redacted, _) = redact(&rules, &format!("got {value} there\n"));
    assert_eq!(redacted, "got [REDACTED:known-value#2] there\n");
    let (args, _) = redact_args(&rules, &[format!("x{value}y")]);
    assert_eq!(args, ["x[REDACTED:known-value#2]y"]);
}

#[test]
fn ordinary_blocks_are_handed_on_in_one_call() {
    let block = "   Compiling thing\nrunning 3 tests\ntest a ... ok\n".repeat(1000);
    let mut sink = Collected::default();
    let mut redactor = Redactor::new(rules());
    redactor.push(&block, &mut sink);
    assert_eq!(sink.calls, 1);
    assert_eq!(sink.text, block);
}

/// A text with one of everything that spans lines or pieces.
fn mixed() -> String {
    let begin = ["-----BEGIN PRIVATE", " KEY-----"].concat();
    format!(
        "plain line é\nvalue {} end\nAuthorization: Bearer {}\n{begin}\n{}\n+lY=\n-----END PRIVATE KEY-----\nname: DB_PASSWORD\nvalue: x7Kq2mPz9\n\u{1b}[31mghp_\u{1b}[0m{}\ntail without newline, password: 'x7Kq2mPz9!'",
        token(),
        "q7Xk2m9vR4tZ",
        "MIIEpAIB".repeat(8),
        "aB3dE5gH".repeat(5)
    )
}

#[test]
fn the_answer_is_the_same_for_every_size_of_piece() {
    let rules = rules();
    let text = mixed();
    let whole = redact(&rules, &text);
    assert_eq!(whole.0.matches("[REDACTED").count(), 7, "{}", whole.0);
    for size in 1..text.len() {
        assert_eq!(in_pieces(&rules, &text, size), whole, "{size}");
    }
}

#[test]
fn no_piece_of_a_secret_is_left_wherever_a_border_falls() {
    let rules = rules();
    let secret = token();
    let body = secret.strip_prefix("ghp_").unwrap();
    for border in 0..60 {
        let text = format!("{}{secret} end\n", "-".repeat(border));
        let mut sink = Collected::default();
        let mut redactor = Redactor::new(Rc::clone(&rules));
        let (head, tail) = text.split_at(40.min(text.len()));
        redactor.push(head, &mut sink);
        redactor.push(tail, &mut sink);
        redactor.finish(&mut sink);
        let pieces = body.as_bytes().windows(8);
        for piece in pieces.map(|piece| std::str::from_utf8(piece).unwrap()) {
            assert!(!sink.text.contains(piece), "{border}");
        }
    }
}

#[test]
fn a_secret_at_any_place_of_a_long_line_leaves_no_piece() {
    let rules = rules();
    let secret = token();
    for fill in ["word ", "x", "é,"] {
        for offset in (0..140_000)
            .step_by(4_999)
            .chain(57_000..57_400)
            .step_by(13)
        {
            let head = fill.repeat(offset / fill.len());
            let text = format!("{head} {secret} {}\nnext\n", fill.repeat(9_000));
            let (redacted, findings) = redact(&rules, &text);
            assert_eq!(findings.count(), 1, "{fill} {offset}");
            assert_eq!(
                redacted,
                text.replace(&secret, "[REDACTED:github-token#1]"),
                "{fill} {offset}"
            );
        }
    }
}

#[test]
fn long_lines_are_the_same_for_every_size_of_piece() {
    let rules = rules();
    let secret = token();
    let text = format!(
        "{}{secret}{}\nshort {secret}\n{}Bearer {}{}\nlast\n",
        "a b ".repeat(17_000),
        " c".repeat(40_000),
        "d ".repeat(50_000),
        "q7Xk2m9v".repeat(3),
        " e".repeat(50_000)
    );
    let whole = redact(&rules, &text);
    assert!(whole.0.ends_with("\n[REDACTED]\nlast\n"));
    for size in [1_000, 4_096, 65_535, 65_536, 65_537, 70_001, 200_000] {
        assert_eq!(in_pieces(&rules, &text, size), whole, "{size}");
    }
}

#[test]
fn a_secret_longer_than_a_window_is_swallowed() {
    let text = format!(
        "client_secret: \"{}\" and more\nnext\n",
        "q7Xk2m9v".repeat(20_000)
    );
    let (redacted, _) = redact(&rules(), &text);
    assert!(!redacted.contains("q7Xk2m9v"));
    assert!(redacted.ends_with("\" and more\nnext\n"), "{redacted}");
}

#[test]
fn a_file_of_variables_keeps_what_is_harmless() {
    let secret = ["8vmr", "l5niw13w8"].concat();
    let text = format!("PORT=1\nMAIL_TOKEN={secret}\nDEBUG=0\n");
    assert_eq!(
        redact(&rules(), &text).0,
        "PORT=1\nMAIL_TOKEN=[REDACTED:keyed-value#1]\nDEBUG=0\n"
    );
}

#[test]
fn diagnostics_stay_as_they_are() {
    let text = "error: Bearer token missing\npassword=None\napi_key=os.environ[\"X\"]\nMAX_TOKENS=100\n\
        git cat-file -t 1c1aa8c8b2f1b1f6a6f7d2b3c4d5e6f708192a3b\nerror: vaultKey: 'name'\n\
        --- PASS: TestBashCompletionV2WithActiveHelp (0.00s)\nAuthorization: Bearer ${VAR}\n\
        npm http fetch GET 200 https://registry.example/@scope/pkg 106ms\nPassword: \nbuilding...\n";
    assert_eq!(redact(&rules(), text).0, text);
}

#[test]
fn redacting_twice_changes_nothing() {
    let once = redact(&rules(), &mixed()).0;
    assert_eq!(redact(&rules(), &once).0, once);
}

/// Fragments that rules look for, and what makes trouble for positions.
const FRAGMENTS: [&str; 68] = [
    "password",
    "=",
    ":",
    " ",
    "\"",
    "'",
    "token",
    "secret",
    "api_key",
    "Bearer ",
    "AKIA",
    "xoxb-",
    "://",
    "@",
    "user:",
    "\u{1b}[31m",
    "\u{1b}",
    "\u{8}",
    "%3D",
    "%",
    "\\n",
    "\\u003d",
    "\\",
    "&quot;",
    "&",
    "é",
    "🦀",
    "\u{200b}",
    "ghp_",
    "eyJ",
    ".",
    "-",
    "--",
    "_",
    "-----BEGIN PRIVATE KEY-----",
    "-----END",
    "Authorization",
    "Cookie",
    "Set-Cookie: a=",
    ";",
    ",",
    "q7Xk2M9vR4tZ8b3W",
    "Z2hwX3",
    "LS0tLS1CRUdJTiB",
    "\n",
    "\r",
    "\t",
    "(",
    ")",
    "{",
    "}",
    "[",
    "<",
    ">",
    "is",
    "name: DB_PASSWORD",
    "value: ",
    "Private-Lines: 2",
    ":AA",
    "|",
    "\\_",
    "%5F",
    "&#45;",
    "sk\\_live\\_",
    "\\u001b[1m",
    "\u{8}",
    "\r\n",
    "pass\\\":\\\"",
];

#[test]
fn any_text_gives_the_same_answer_in_any_pieces() {
    let rules = compiled(Mode::Span, &[("APP_TOKEN", "é7Xk2M9v\"R4")]);
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for _ in 0..400 {
        let text: String = (0..next(40) + 1)
            .map(|_| FRAGMENTS[next(FRAGMENTS.len())])
            .collect();
        let whole = in_pieces(&rules, &text, text.len());
        assert_eq!(
            whole.0.matches('\n').count(),
            text.matches('\n').count(),
            "{text:?}"
        );
        let size = next(20) + 1;
        assert_eq!(in_pieces(&rules, &text, size), whole, "{text:?}");
        let mut auditor = Auditor::new(Rc::clone(&rules), b"key").unwrap();
        let _ = auditor.push(text.as_bytes());
        let _ = auditor.finish();
        let args: Vec<String> = text.split(' ').map(str::to_owned).collect();
        assert_eq!(redact_args(&rules, &args).0.len(), args.len());
    }
}

/// A token that nothing but its own shape gives away.
fn stripe(end: &str) -> String {
    ["sk", "_live_", "q7Xk2m9vR4", end].concat()
}

#[test]
fn what_belongs_to_the_line_above_hides_nothing_else_in_its_line() {
    let rules = compiled(Mode::Standard, &[]);
    let (value, token) = (["q7Xk2", "m9vR4z8"].concat(), stripe("z8Yw"));
    let body = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b";
    let frame = |word: &str| ["-----", word, " PRIVATE KEY-----"].concat();
    for text in [
        format!("name: DB_PASSWORD\nvalue: {value} {token}\nnext"),
        format!("- name: DB_PASSWORD\n  value: \"{value}\" # {token}\nnext"),
        format!(
            "{}\n{body}\n{body}\n{token} {body}\n{body} {token}\n{}\nnext",
            frame("BEGIN"),
            frame("END")
        ),
    ] {
        let (clean, findings) = redact(&rules, &text);
        assert!(!clean.contains("_live_"), "{clean}");
        assert!(!clean.contains(&value), "{clean}");
        assert!(clean.ends_with("\nnext"), "{clean}");
        assert!(findings.count() >= 2);
    }
}

#[test]
fn a_long_line_behind_a_name_is_looked_through_and_given_whole() {
    let rules = compiled(Mode::Standard, &[]);
    let (value, token) = (["q7Xk2", "m9vR4z8"].concat(), stripe("z8Yw"));
    let early = format!("{}{token} {}", "x ".repeat(10_000), "x ".repeat(30_000));
    let late = format!("{}{token} {}", "x ".repeat(35_000), "x ".repeat(5_000));
    for middle in [early, late] {
        let text = format!("name: DB_PASSWORD\nvalue: {value} {middle}error: END\nnext");
        let (clean, _) = redact(&rules, &text);
        assert!(!clean.contains("_live_") && !clean.contains(&value));
        assert!(clean.ends_with(" x error: END\nnext"));
        let kept = clean.matches("x ").count();
        assert_eq!(kept, 40_000, "nothing else is lost");
    }
}

#[test]
fn what_one_reading_hides_another_does_not_bring_back() {
    let value = ["my", "\\!", "secr", "\\#", "et9"].concat();
    let rules = compiled(Mode::Standard, &[("APP_PASSWORD", &value)]);
    let escaped = |end: &str| stripe(end).replace('_', "\\_");
    let text = format!("x {value}\n{} {}", escaped("a"), escaped("b"));
    let (clean, findings) = redact(&rules, &text);
    assert!(
        !clean.contains("secr") && !clean.contains("live"),
        "{clean}"
    );
    assert_eq!(findings.count(), 3, "{clean}");
    let note = format!("password=\\<{}\\> {}", "uperS3cret99x", stripe("a"));
    assert!(!redact(&rules, &note).0.contains("uperS3"), "{note}");
    let harmless = r"grep -E a\.b\-c \(x\)";
    assert_eq!(redact(&rules, harmless).0, harmless);
}

#[test]
fn glued_names_are_no_name_and_take_no_time_of_their_own() {
    let rules = compiled(Mode::Standard, &[]);
    let glued = "password".repeat(7_000);
    assert_eq!(redact(&rules, &glued).0, glued);
}

#[test]
fn a_line_keeps_its_end_whatever_is_taken_of_it() {
    let rules_of_modes = [Mode::Standard, Mode::Span, Mode::Line].map(|mode| compiled(mode, &[]));
    let long = format!(
        "{} password=q7Xk2m9vR {}",
        "x ".repeat(40_000),
        "y ".repeat(40_000)
    );
    let early = format!("password=q7Xk2m9vR {}", "x".repeat(200_000));
    let key = [
        "-----BEGIN PRIVATE",
        " KEY-----\r\n",
        &"MIIEpAIBAAKCAQEAaOuSirjOtsMlnsRkgOpKqTLI7HlGsdgf\r\n".repeat(4),
        "-----END PRIVATE KEY-----",
    ]
    .concat();
    for rules in &rules_of_modes {
        let examples = rules.rows().into_iter().map(|rule| rule.example);
        let more = [long.clone(), early.clone(), key.clone()];
        for text in examples.chain(more) {
            let text = format!("{text}\r\nnext\r\n");
            for size in [text.len(), 1000] {
                let (redacted, findings) = in_pieces(rules, &text, size);
                assert_eq!(
                    redacted.matches("\r\n").count(),
                    text.matches("\r\n").count(),
                    "{findings:?}"
                );
                assert_eq!(
                    redacted.matches('\r').count(),
                    redacted.matches('\n').count()
                );
            }
        }
    }
}
