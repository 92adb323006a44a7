//! Filters standard input to standard output, with its own environment as known values.
//!
//! For trying the rules on a text; it keeps nothing.

use std::io::{Read, Write};
use std::rc::Rc;

use feedback_guest::redact::{Mode, RedactionPolicy, Rules, redact};

fn main() -> std::io::Result<()> {
    let mode = match std::env::args().nth(1).as_deref() {
        Some("--span") => Mode::Span,
        Some("--line") => Mode::Line,
        _ => Mode::Standard,
    };
    let policy = RedactionPolicy {
        mode,
        ..RedactionPolicy::default()
    };
    let environment: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let rules = Rules::compile(&policy, &environment).map_err(std::io::Error::other)?;
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    let (output, _) = redact(&Rc::new(rules), &String::from_utf8_lossy(&input));
    std::io::stdout().write_all(output.as_bytes())
}
