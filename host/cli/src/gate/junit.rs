//! The answer of the gate as JUnit XML, which every CI reads.
//!
//! What is not decided is an error there, and never a success.

use feedback_host::component::Decision;

use super::answer::{Against, Answer, Case};

/// Returns the whole document.
pub(super) fn document(answer: &Answer) -> String {
    let cases = answer.cases();
    let against = cases.iter().filter(|case| !case.against.is_empty()).count();
    let (failures, errors) = match answer.decision() {
        Decision::Pass | Decision::Refuse => (against, 0),
        Decision::Undecided => (0, against),
    };
    let numbers = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\"",
        cases.len()
    );
    let mut lines = vec![
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>".to_owned(),
        format!("<testsuites name=\"feedback gate\" {numbers}>"),
        format!("  <testsuite name=\"feedback gate\" {numbers}>"),
    ];
    let tag = if errors > 0 { "error" } else { "failure" };
    lines.extend(cases.iter().map(|case| self::case(case, tag)));
    let mut told = vec![answer.headline()];
    let made_up_for = answer.made_up_for().iter();
    told.extend(made_up_for.map(|line| format!("made up for: {line}")));
    let set_aside = answer.set_aside().into_iter();
    told.extend(set_aside.map(|line| format!("set aside: {line}")));
    let told = escaped(&told.join("\n"));
    lines.push(format!("    <system-out>{told}</system-out>"));
    lines.push("  </testsuite>".to_owned());
    lines.push("</testsuites>".to_owned());
    lines.join("\n")
}

fn case(case: &Case, tag: &str) -> String {
    let class = if case.required {
        "feedback.requirement"
    } else {
        "feedback.gate"
    };
    let start = format!(
        "    <testcase classname=\"{class}\" name=\"{}\" time=\"0\">",
        escaped(&case.name)
    );
    let Some(first) = case.against.first() else {
        let shown_by = escaped(&case.shown_by);
        return format!("{start}<system-out>{shown_by}</system-out></testcase>");
    };
    let told: Vec<String> = case.against.iter().map(told).collect();
    format!(
        "{start}\n      <{tag} type=\"{}\" message=\"{}\">{}</{tag}>\n    </testcase>",
        escaped(first.code),
        escaped(&first.message),
        escaped(&told.join("\n"))
    )
}

fn told(against: &Against) -> String {
    let Against {
        code,
        message,
        remedy,
    } = against;
    if remedy.is_empty() {
        format!("{code}: {message}")
    } else {
        format!("{code}: {message}\n  {remedy}")
    }
}

/// A text as it may stand in an element or between double quotes. What XML 1.0 has no place for,
/// not even as a reference, becomes U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            plain => escaped.push(plain),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_can_end_its_place() {
        assert_eq!(
            escaped("a<b>&\"'\n\t\u{1b}\0\r]]>\u{ffff}é"),
            "a&lt;b&gt;&amp;&quot;&apos;&#10;&#9;\u{fffd}\u{fffd}\u{fffd}]]&gt;\u{fffd}é"
        );
    }

    #[test]
    fn no_answer_is_an_error_and_never_a_success() {
        let document = document(&Answer::Failed("the store is gone".to_owned()));
        assert!(
            document.contains("tests=\"1\" failures=\"0\" errors=\"1\""),
            "{document}"
        );
        assert!(document.contains("<error type=\"undecided\""), "{document}");
    }
}
