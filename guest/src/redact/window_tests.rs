//! Claims about lines about as long as a window, in whatever pieces they come.

use super::tests::{in_pieces, rules};
use super::window::WINDOW;

#[test]
fn the_end_of_a_window_does_not_depend_on_the_pieces() {
    let rules = rules();
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
            let whole = in_pieces(&rules, &line, usize::MAX);
            for size in [1, 7, 4096] {
                let pieces = in_pieces(&rules, &line, size);
                assert_eq!(pieces, whole, "{over} {after:?} in pieces of {size}");
            }
        }
    }
}
