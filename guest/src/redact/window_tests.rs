//! Claims about lines about as long as a window, in whatever pieces they come.

use super::tests::rules;
use super::window::WINDOW;
use super::{Findings, Redactor, Sink};

struct Text(String);

impl Sink for Text {
    fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn retract_line(&mut self) {
        let start = self.0.rfind('\n').map_or(0, |at| at + 1);
        self.0.truncate(start);
    }
}

/// Redacts a text that comes in pieces of so many characters.
fn redacted(text: &str, size: usize) -> (String, Findings) {
    let mut redactor = Redactor::new(rules());
    let mut given = Text(String::new());
    let characters: Vec<char> = text.chars().collect();
    for piece in characters.chunks(size) {
        redactor.push(&piece.iter().collect::<String>(), &mut given);
    }
    redactor.finish(&mut given);
    (given.0, redactor.into_findings())
}

#[test]
fn the_end_of_a_window_does_not_depend_on_the_pieces() {
    let value = "q7Xk2M9vR4tZ".repeat(WINDOW / 12 + 1);
    let name = ["pass", "word="].concat();
    for over in 0..8 {
        let value = value.get(..WINDOW - 20 + 3 * over).unwrap();
        for (before, after) in [
            (String::new(), "\n"),
            ("\u{20ac}".repeat(over), " then\n"),
            ("a b ".repeat(over), ""),
            ("x".repeat(over), "\u{1f511}\u{1f511}\n"),
        ] {
            let line = format!("{before} {name}{value}{after}");
            let whole = redacted(&line, usize::MAX);
            for size in [1, 7, 4096] {
                let pieces = redacted(&line, size);
                assert_eq!(pieces, whole, "{over} {after:?} in pieces of {size}");
            }
        }
    }
}
