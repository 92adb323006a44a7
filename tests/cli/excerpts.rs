//! That the record keeps what explains a failure, whatever the size of the output.

use crate::sandbox::{Sandbox, text};

/// Returns the number in each `...truncated N lines...` of an excerpt.
fn truncated(excerpt: &str) -> u64 {
    excerpt
        .lines()
        .filter_map(|line| {
            line.strip_prefix("...truncated ")?
                .strip_suffix(" lines...")?
                .parse::<u64>()
                .ok()
        })
        .sum()
}

#[test]
fn the_error_in_the_last_lines_of_50_mb_is_in_the_record() {
    let sandbox = Sandbox::new();
    let script = "awk 'BEGIN { for (i = 0; i < 1000000; i++) print \"compiling unit \" i \" of a very large project is done\" }'; \
                  echo 'ld: undefined reference to `refund_total`'; echo 'make: *** [all] Error 1'; exit 2";
    let record = sandbox.run(["sh", "-c", script]);
    let excerpt = text(&record, "stdout_tail");
    assert!(
        record["stdout"]["bytes"].as_u64() > Some(50_000_000),
        "{record}"
    );
    assert_eq!(record["exit_code"], 2);
    assert!(
        excerpt.contains("undefined reference to `refund_total`"),
        "{excerpt}"
    );
    let markers = excerpt
        .lines()
        .filter(|line| line.starts_with("...truncated "))
        .count();
    let kept = excerpt.lines().count() - markers;
    assert_eq!(
        truncated(excerpt) + u64::try_from(kept).expect("small"),
        1_000_002,
        "every line is accounted for"
    );
    assert_eq!(record["stdout"]["lines"], 1_000_002);
}

#[test]
fn one_line_of_10_mb_does_not_flood_the_record() {
    let sandbox = Sandbox::new();
    let script = "echo first; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo last";
    let called = sandbox.call(["run", "--", "sh", "-c", script]);
    assert!(
        called.stdout.len() < 16_000,
        "{} bytes",
        called.stdout.len()
    );
    let record = called.json();
    let excerpt = text(&record, "stdout_tail");
    assert!(
        excerpt.starts_with("first\n") && excerpt.ends_with("\nlast"),
        "{excerpt}"
    );
    assert_eq!(record["stdout"]["lines"], 3);
    assert_eq!(record["stdout"]["lines_clamped"], 1);
    let omitted = record["stdout"]["bytes_omitted"]
        .as_u64()
        .expect("a number");
    assert!(
        excerpt.contains(&omitted.to_string()),
        "the marker says {omitted}: {excerpt}"
    );
}

#[test]
fn the_same_output_gives_the_same_bytes() {
    let sandbox = Sandbox::new();
    let script = "for i in $(seq 1 3000); do echo line $i; [ $((i % 700)) = 0 ] && echo \"error: unit $i\" >&2; done; true";
    let first = sandbox.run(["sh", "-c", script]);
    let second = sandbox.run(["sh", "-c", script]);
    for key in ["stdout_tail", "stderr_tail"] {
        assert_eq!(first[key], second[key]);
    }
    assert_eq!(
        first["stdout"]["lines_omitted"],
        second["stdout"]["lines_omitted"]
    );
}

#[test]
fn output_that_fits_goes_through_whole() {
    let sandbox = Sandbox::new();
    let record = sandbox.run(["seq", "1", "100"]);
    let whole: Vec<String> = (1..=100).map(|n| n.to_string()).collect();
    assert_eq!(text(&record, "stdout_tail"), whole.join("\n"));
    assert_eq!(truncated(text(&record, "stdout_tail")), 0);
}

#[test]
fn a_progress_bar_is_collapsed_to_its_last_frame() {
    let sandbox = Sandbox::new();
    let script = "i=0; while [ $i -lt 500 ]; do printf '\\rprogress %d%%' $i; i=$((i+1)); done; printf '\\ndone\\n'";
    let record = sandbox.run(["sh", "-c", script]);
    assert_eq!(text(&record, "stdout_tail"), "progress 499%\ndone");
    assert!(
        record["stdout"]["frames_collapsed"].as_u64() >= Some(499),
        "{record}"
    );
}
