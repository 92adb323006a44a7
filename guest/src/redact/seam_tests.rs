//! Claims about secrets that are glued to a word by what was taken out between them.

use super::tests::rules;
use super::{redact, redact_args};
use crate::capture::{Capture, ExcerptPolicy, Source};

/// What can stand between two words without being seen.
const SEAMS: [&str; 6] = [
    "\u{1b}[0m\u{1b}[36m",
    "\u{1b}[K",
    "\u{200b}",
    "\u{7f}",
    "\u{feff}",
    "\u{1b}]8;;http://x\u{7}",
];

fn tokens() -> Vec<String> {
    let body = "qkXkWMzvRrtZ".repeat(3);
    vec![
        ["hf", "_"].concat() + body.get(..34).unwrap(),
        ["ghp", "_"].concat() + &"q7Xk2M9vR4tZ".repeat(3),
        ["AKIA", "Q7XK2M9VR4TZ8B3W"].concat(),
        ["sk_live", "_q7Xk2M9vR4tZ"].concat(),
    ]
}

/// Captures a text that comes in pieces and returns the excerpt.
fn captured(text: &str, size: usize) -> String {
    let mut capture = Capture::new(rules(), ExcerptPolicy::default());
    for piece in text.as_bytes().chunks(size) {
        capture.push(Source::Stdout, piece);
    }
    capture.finish().stdout.text
}

#[test]
fn a_token_behind_or_before_a_seam_is_found_wherever_it_comes() {
    for token in tokens() {
        for seam in SEAMS {
            for line in [
                format!("TOKEN{seam}{token} end"),
                format!("the {token}{seam}done"),
                format!("a{seam}{token}{seam}b"),
            ] {
                for size in [1, 7, 4096] {
                    let text = captured(&format!("x\n{line}\ny\n"), size);
                    assert!(text.contains("[REDACTED"), "{line:?} {text}");
                    assert!(!text.contains('\u{1a}'), "{text:?}");
                }
                assert!(redact(&rules(), &line).0.contains("[REDACTED"), "{line:?}");
                let (args, _) = redact_args(&rules(), &["echo".to_owned(), line.clone()]);
                assert!(args.join(" ").contains("[REDACTED"), "{line:?}");
            }
        }
        let escaped = format!(r#"{{"m":"TOKEN\u001b[0m{token} end"}}"#);
        assert!(captured(&escaped, 64).contains("[REDACTED"), "{escaped}");
    }
}

#[test]
fn a_text_that_seams_cut_stays_as_it_would_without_them() {
    let seam = "\u{1b}[1m";
    for line in [
        "pass~word is required",
        "the key~word",
        "cargo-te~st 0.1.~0",
        "a~b~c~d",
        "re~dact_token",
        "token~izer",
        "x~y: 4e1243bd22c66e76c2ba9eddc1f91394e57f9f83",
    ] {
        let expected = line.replace('~', "");
        assert_eq!(captured(&line.replace('~', seam), 5), expected);
        let long = format!(
            "{}{}",
            line.replace('~', seam),
            " w~x".replace('~', seam).repeat(40_000)
        );
        let one = captured(&long, 4096);
        assert!(!one.contains('\u{1a}'));
        assert_eq!(one, captured(&long, 60_001));
    }
}

#[test]
fn a_word_cut_by_a_seam_is_read_as_one_too() {
    let value = ["xK9", "mQ2", "vB7tR4"].concat();
    let line = format!("pass\u{1b}[1mword={value}\u{1b}[0m{value}");
    assert!(!captured(&line, 64).contains("mQ2"));
}
