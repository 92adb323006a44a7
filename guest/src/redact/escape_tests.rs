//! Claims about secrets that are written with escapes.

use std::rc::Rc;

use super::tests::{in_pieces, rules};
use super::{RedactionPolicy, Rules, redact};

/// Spells every dash and underscore of a text in one way.
fn spelt(text: &str, dash: &str, underscore: &str) -> String {
    text.replace('-', dash).replace('_', underscore)
}

fn streamed(line: &str) -> String {
    let (text, _) = in_pieces(&rules(), &format!("{line}\n"), 4096);
    text.trim_end().to_owned()
}

const SPELLINGS: [(&str, &str); 17] = [
    (r"\-", r"\_"),
    (r"\\-", r"\\_"),
    ("%2D", "%5F"),
    ("%2d", "%5f"),
    ("%252D", "%255F"),
    ("&#45;", "&#95;"),
    ("&#x2D;", "&#x5F;"),
    ("&amp;#45;", "&amp;#95;"),
    (r"\u002D", r"\u005F"),
    (r"\\u002d", r"\\u005f"),
    (r"\x2d", r"\x5f"),
    (r"\U0000002d", r"\U0000005F"),
    ("&#045;", "&#095;"),
    ("&#x002D;", "&#x005f;"),
    ("&hyphen;", "&lowbar;"),
    ("&dash;", "&UnderBar;"),
    ("&amp;dash;", "&amp;lowbar;"),
];

#[test]
fn a_short_token_is_found_in_every_spelling_of_its_marks() {
    let tokens = [
        ["sk_live", "_q7Xk2M9vR4tZ"].concat(),
        ["rk-test", "_"].concat().replace('-', "_") + "q7Xk2M9vR4tZ",
        ["whsec", "_q7Xk+M9vR4tZ+b3Wq7Xk2M9v"].concat(),
        ["glpat", "-q7Xk-M9vR-tZ8b-W"].concat(),
        ["NRAK", "-Q7XK2M9VR4TZ8B3WQ7X"].concat(),
        ["tskey", "-q7Xk2M9vR4-Z8b3Wq7Xk"].concat(),
        ["sk_sbox", "_q7xk2m9vr4tz8b3wq7xk"].concat(),
        ["xoxc", "-1234-q7Xk2M9v"].concat(),
        ["hf", "_qkXkWMzvRrtZqkXkWMzvRrtZqkXkWMzvRr"].concat(),
    ];
    let mut left = Vec::new();
    for token in &tokens {
        for (dash, underscore) in SPELLINGS {
            for (before, after) in [("key ", " end"), ("(", ")"), ("a=", "&b=1"), ("\"", "\"")] {
                let line = format!("{before}{}{after}", spelt(token, dash, underscore));
                let redacted = streamed(&line);
                if !redacted.contains("[REDACTED") || redacted.contains("q7Xk") {
                    left.push(line.clone());
                }
                let (redacted, _) = redact(&rules(), &line);
                assert!(redacted.contains("[REDACTED"), "{line}");
            }
        }
    }
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn a_token_is_found_in_quoted_printable() {
    let letters = ["qkXkWM", "zvRrtZ"].concat();
    for token in [
        ["sk_live", "_q7Xk2M9vR4tZ"].concat(),
        format!("{}_{}", "hf", letters.repeat(3).get(..34).unwrap()),
        ["glpat", "-q7XkM9vRtZ8bWq7XkM9v"].concat(),
        ["xoxb", "-1234-q7Xk2M9v"].concat(),
        ["ghp", "_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eFgH1i"].concat(),
    ] {
        for line in ["key @ end", r#"{\"m\":\"@\"}"#] {
            let last = token.rfind(['_', '-']).unwrap();
            let (head, tail) = token.split_at(last);
            let spelt = format!("{head}{}", spelt(tail, "=2D", "=5F"));
            let line = line.replace('@', &spelt);
            assert!(streamed(&line).contains("[REDACTED"), "{line}");
        }
    }
    for line in ["days=2d", "id=5F3e1243", "color=5F5F5F size=2D"] {
        assert_eq!(streamed(line), line);
    }
}

#[test]
fn a_token_is_found_where_only_one_of_its_marks_is_escaped() {
    for start in [r"sk_live\_", r"rk_prod\_", r"rzp_live\_", r"sk_test\\_"] {
        let line = format!("key {start}{}8b end", ["q7Xk2M", "9vR4tZ"].concat());
        assert_eq!(streamed(&line).matches("[REDACTED").count(), 1, "{line}");
    }
}

#[test]
fn a_password_in_an_address_is_found_however_its_strokes_are_escaped() {
    let password = ["x7Kq2m", "Pz9wTb"].concat();
    for strokes in [
        r":\u002F\u002F",
        ":&#x2F;&#x2F;",
        ":&#47;&#47;",
        r":\\/\\/",
        ":%2F%2F",
        r":\x2f\x2f",
        "&#58;//",
        r"\u003a//",
    ] {
        let line = format!("url \"postgres{strokes}svc:{password}@db.example\"");
        assert!(!streamed(&line).contains(&password), "{line}");
    }
}

#[test]
fn a_password_at_the_end_of_a_sentence_is_no_shortened_one() {
    let password = ["x7Kq2m", "Pz9wTb"].concat();
    let line = format!("connecting with password={password}...");
    assert!(!streamed(&line).contains(&password));
    let shortened = "using password=x7Kq2mPz... for all";
    assert_eq!(streamed(shortened), shortened);
}

#[test]
fn a_name_is_read_however_its_quotes_and_signs_are_escaped() {
    let value = ["xK9", "mQ2", "vB!7tR4"].concat();
    for form in [
        r#"{\"pass\":\"@\"}"#,
        r#"{\\\"pass\\\":\\\"@\\\"}"#,
        r#"{\\\\\\\"auth\\\\\\\":\\\\\\\"@\\\\\\\"}"#,
        "{&quot;pass&quot;:&quot;@&quot;}",
        "%7B%22pass%22%3A%22@%22%7D",
        "pw%3D@%26x",
        r"pw\u003d@",
        r#"{\u0022auth\u0022:\u0022@\u0022}"#,
        "pw&#61;@",
    ] {
        let line = form.replace('@', &value);
        let redacted = streamed(&line);
        assert!(!redacted.contains("mQ2vB"), "{line}: {redacted}");
    }
}

#[test]
fn a_known_value_is_found_with_any_of_its_marks_escaped() {
    let value = ["p!q7", "=zz-4_x", "@w"].concat();
    let environment = [("DB_PASSWORD".to_owned(), value.clone())];
    let rules = Rc::new(Rules::compile(&RedactionPolicy::default(), &environment).unwrap());
    for marks in ["!", "=", "-", "_", "@", "-_", "!=-_@"] {
        for escape in [r"\", r"\\"] {
            let mut printed = value.clone();
            for mark in marks.chars() {
                printed = printed.replace(mark, &format!("{escape}{mark}"));
            }
            let (text, findings) = in_pieces(&rules, &format!("x {printed} y\n"), 4096);
            assert_eq!(text, "x [REDACTED:known-value#1] y\n", "{printed}");
            assert_eq!(findings.count(), 1);
        }
    }
}

#[test]
fn ordinary_lines_with_escapes_stay_and_are_not_even_chosen() {
    for line in [
        r"C:\Users\runneradmin\AppData\Local\Temp\pip-build-x7\setup.py",
        r"D:\a\_temp\8f6a7c2e-0f60-4b55.sh",
        r"D:\\a\\_work\\_temp\\setup.cmd",
        r"##[command]C:\hostedtoolcache\windows\Python\3.12.1\x64\python.exe -m pip",
        "GET /search?q=caf%C3%A9%20au%20lait&page=2 HTTP/1.1",
        "see /docs/a%20b%2Fc.html and 100%",
        r"sed 's/\.rs$/\.o/; s/[^a-z]\+/\_/g'",
        r"expected a\-b, found a\_b",
        r#"{\"status\":\"ok\",\"took\":12}"#,
        "&lt;div class=&quot;row&quot;&gt;it&#39;s&lt;/div&gt;",
        r"\begin{tabular} a \& b \\ c\_d \end{tabular}",
    ] {
        assert_eq!(streamed(line), line);
        assert!(!super::scan::is_chosen(&rules(), line), "{line}");
        assert_eq!(redact(&rules(), line).0, line);
    }
    // Chosen for the names in them, and nothing there is a secret.
    for line in [
        r"App\Http\Middleware\Token\Auth\Pass.php",
        r"C:\secret\_token\password.txt",
        r"password\_file = C:\\x",
        r#"grep 'sk\_live\_[0-9a-zA-Z]{24}' src"#,
        r"^ghp\_[A-Za-z0-9]{36}$",
        "https://h/login?redirect=https%3A%2F%2Fh%2Ftoken%3Fa%3Db",
    ] {
        assert_eq!(streamed(line), line);
        assert_eq!(redact(&rules(), line).0, line);
    }
}

#[test]
fn a_secret_keeps_its_number_in_every_spelling() {
    let token = ["ghp", "_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"].concat();
    let other = token.replace("aB3", "Zz9");
    let text = format!(
        "{token} {}\n{} {other}",
        token.replace('_', r"\_"),
        other.replace('_', r"\_")
    );
    assert_eq!(
        redact(&rules(), &text).0,
        "[REDACTED:github-token#1] [REDACTED:github-token#1]\n\
         [REDACTED:github-token#2] [REDACTED:github-token#2]"
    );
}

#[test]
fn what_is_no_secret_keeps_its_backslashes() {
    let token = ["sk\\_live", "\\_q7Xk2m9vR4z8"].concat();
    let text = format!(r"grep -e '\.{token}\.' C:\dir\_x \n");
    assert_eq!(
        redact(&rules(), &text).0,
        r"grep -e '\.[REDACTED:stripe-key#1]\.' C:\dir\_x \n"
    );
}

#[test]
fn control_characters_that_are_shown_hide_nothing() {
    let token = ["ghp", "_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"].concat();
    for shown in [
        r"\u{1}",
        r"\u{7f}",
        r"\u{9b}31m",
        r"\u{200b}",
        r"\x01",
        r"\u0008",
        r"\u001b[1m",
        "\u{1}",
        "\u{9d}",
        "\u{7f}",
        "\u{202e}",
    ] {
        for at in [1, 4, 9, 30] {
            let (head, tail) = token.split_at(at);
            let line = format!("program not found: `x {head}{shown}{tail}`");
            let (redacted, _) = redact(&rules(), &line);
            assert!(redacted.contains("[REDACTED"), "{line}: {redacted}");
            assert!(!redacted.contains("yZ7bC0"), "{line}: {redacted}");
        }
    }
}
