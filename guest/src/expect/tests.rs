use serde_json::json;

use super::*;
use crate::capture::Source;
use crate::document;
use crate::fault::FaultCode;
use crate::policy::Policy;

fn read(list: &Value) -> Result<Expectations, String> {
    document::fit("options", list, FaultCode::InvalidPolicy).map_err(|fault| fault.message)
}

#[test]
fn every_kind_is_read_and_written_back() {
    let list = json!([
        {"kind": "exit-code", "expected": 0},
        {"kind": "exit-code", "expected": [0, 2]},
        {"kind": "line", "expected": "^ok$"},
        {"kind": "no-line", "expected": "panicked|FAILED"},
        {"kind": "min-count", "expected": {"pattern": "N passed", "count": 12}},
        {"kind": "within", "expected": 90_000},
        {"kind": "within", "expected": "1m30s"}
    ]);
    let read = read(&list).unwrap();
    let mut written = list;
    written[0]["expected"] = json!([0]);
    written[6]["expected"] = json!(90_000);
    assert_eq!(serde_json::to_value(&read).unwrap(), written);
}

#[test]
fn a_fault_names_the_place_and_what_is_expected_there() {
    for (entry, wanted) in [
        (
            json!({"kind": "lines", "expected": "x"}),
            "`[1].kind`: `lines` is not known, did you mean `line`?",
        ),
        (json!({"kind": "line"}), "`[1].expected`: missing"),
        (
            json!({"kind": "line", "expected": "x", "held": true}),
            "`[1].held`: unknown key",
        ),
        (
            json!({"kind": "line", "expected": 5}),
            "`[1]`: `line`: expected a pattern",
        ),
        (
            json!({"kind": "line", "expected": "a("}),
            "`[1]`: `line`: the pattern `a(` cannot be used: ",
        ),
        (
            json!({"kind": "line", "expected": "x*"}),
            "`[1]`: `line`: the pattern matches the empty line",
        ),
        (
            json!({"kind": "no-line", "expected": "a\nb"}),
            "`[1]`: `no-line`: a line holds no line break",
        ),
        (
            json!({"kind": "no-line", "expected": "x".repeat(1001)}),
            "`[1]`: `no-line`: 1001 bytes of pattern",
        ),
        (
            json!({"kind": "line", "expected": "(a{900}){900}"}),
            "`[1]`: `line`: the pattern `(a{900}){900}` cannot be used: ",
        ),
        (
            json!({"kind": "exit-code", "expected": []}),
            "`[1]`: `exit-code`: expected an exit code",
        ),
        (
            json!({"kind": "exit-code", "expected": "0"}),
            "`[1]`: `exit-code`: expected an exit code",
        ),
        (
            json!({"kind": "exit-code", "expected": [0, null]}),
            "`[1]`: `exit-code`: expected an exit code",
        ),
        (
            json!({"kind": "exit-code", "expected": 1_u64 << 40}),
            "`[1]`: `exit-code`: expected an exit code",
        ),
        (
            json!({"kind": "exit-code", "expected": [0, 256]}),
            "`[1]`: `exit-code`: expected an exit code from 0 to 255",
        ),
        (
            json!({"kind": "exit-code", "expected": -1}),
            "`[1]`: `exit-code`: expected an exit code from 0 to 255",
        ),
        (
            json!({"kind": "min-count", "expected": {"pattern": "12 passed", "count": 1}}),
            "`[1]`: `min-count`: expected a text in which one word is `N`",
        ),
        (
            json!({"kind": "min-count", "expected": {"pattern": "N passed", "count": -1}}),
            "`[1]`: `min-count`: expected an object of",
        ),
        (
            json!({"kind": "min-count", "expected": {"pattern": "N passed", "count": 1, "x": 1}}),
            "`[1]`: `min-count`: expected an object of",
        ),
        (
            json!({"kind": "within", "expected": 0}),
            "`[1]`: `within`: expected milliseconds",
        ),
        (
            json!({"kind": "within", "expected": "soon"}),
            "`[1]`: `within`: expected milliseconds",
        ),
    ] {
        let list = json!([{"kind": "line", "expected": "x"}, entry]);
        let message = read(&list).unwrap_err();
        assert!(
            message.starts_with(&format!("options: {wanted}")),
            "{message}"
        );
    }
    let many = vec![json!({"kind": "line", "expected": "x"}); MOST + 1];
    assert!(read(&json!(many)).unwrap_err().contains("33 expectations"));
}

#[test]
fn adding_leaves_out_what_is_said_already() {
    let one = read(&json!([{"kind": "line", "expected": "a"}])).unwrap();
    let two =
        read(&json!([{"kind": "line", "expected": "a"}, {"kind": "no-line", "expected": "a"}]));
    let both = one.and(&two.unwrap()).unwrap();
    assert_eq!(both.list().len(), 2);
}

/// Judges an output that is pushed in pieces of `size` bytes.
fn judged(list: &Value, output: &[u8], size: usize) -> Vec<Judgement> {
    let policy = Policy::parse("", "").unwrap();
    let options = json!({ "expect": list }).to_string();
    let mut capture = policy.capture(&options).unwrap();
    for piece in output.chunks(size) {
        capture.push(Source::Stdout, piece);
    }
    capture.end(Source::Stdout);
    capture.end(Source::Stderr);
    capture.finish().judge(Some(0), Some(10))
}

fn held(list: &Value, output: &str) -> Vec<bool> {
    let judged = judged(list, output.as_bytes(), 7);
    judged.iter().map(|judgement| judgement.held).collect()
}

#[test]
fn lines_are_matched_whole_and_after_normalisation() {
    let list = json!([
        {"kind": "line", "expected": "^3 passed$"},
        {"kind": "no-line", "expected": "panicked"},
        {"kind": "no-line", "expected": "1 of 3"}
    ]);
    assert_eq!(held(&list, "a\n\u{1b}[32m3 passed\u{1b}[0m\r\n"), [true; 3]);
    // A frame that a later one overwrote is no line.
    assert_eq!(held(&list, "1 of 3\r3 passed"), [true; 3]);
    assert_eq!(held(&list, "1 of 3\nx panicked\n3 passed!"), [false; 3]);
}

#[test]
fn no_test_that_ran_is_no_twelve() {
    let list = json!([{"kind": "min-count", "expected": {"pattern": "N passed", "count": 12}}]);
    for (output, wanted) in [
        ("", false),
        ("0 passed\n", false),
        ("11 passed\n", false),
        ("3 passed\n12 passed\n1 passed\n", true),
        ("1,200 passed", true),
    ] {
        assert_eq!(held(&list, output), [wanted], "{output:?}");
    }
    let judged = judged(&list, b"3 passed\n11 passed\n5 passed\n", 100);
    let wanted = json!({"in": "stdout", "line": 2, "text": "11 passed", "number": 11});
    assert_eq!(judged[0].seen, wanted);
}

/// A secret as the rules know it, which must not stand in a source.
fn secret() -> String {
    ["gh", "p_", &"a1B2c3D4e5F6".repeat(3)].concat()
}

#[test]
fn redaction_changes_no_judgement_and_hides_what_is_shown() {
    let secret = secret();
    let line = format!("token {secret} accepted, 7 left");
    let list = json!([
        {"kind": "line", "expected": "^token [^ ]* accepted"},
        {"kind": "no-line", "expected": "token gh.*D4"},
        {"kind": "min-count", "expected": {"pattern": "N left", "count": 5}}
    ]);
    let output = format!("one\n{line}\nthree\n");
    for size in [1, 5, 64, 4096] {
        let judged = judged(&list, output.as_bytes(), size);
        let held: Vec<bool> = judged.iter().map(|judgement| judgement.held).collect();
        assert_eq!(held, [true, false, true]);
        let shown = format!("{:?}", judged.iter().map(|j| &j.seen).collect::<Vec<_>>());
        assert!(
            !shown.contains(&secret) && shown.contains("REDACTED"),
            "{shown}"
        );
        assert!(judged.iter().all(|judgement| judgement.seen["line"] == 2));
    }
}

#[test]
fn a_number_that_redaction_hides_is_not_shown() {
    let list = json!([{"kind": "min-count", "expected": {"pattern": "password= N", "count": 5}}]);
    let judged = judged(&list, b"password= 83920174651\n", 100);
    assert!(judged[0].held);
    assert!(
        !judged[0].seen.to_string().contains("83920174651"),
        "{}",
        judged[0].seen
    );
}

#[test]
fn of_a_longer_line_the_beginning_is_looked_at_and_the_rest_is_not_guessed() {
    let list = json!([
        {"kind": "line", "expected": "early"},
        {"kind": "line", "expected": "late"},
        {"kind": "no-line", "expected": "never"},
        {"kind": "line", "expected": "x$"},
        {"kind": "min-count", "expected": {"pattern": "N xx", "count": 1}}
    ]);
    let rest = "x".repeat(watch::LINE_MAX);
    let long = format!("early {rest} late\nshort\n");
    for size in [1000, 65_536, 1 << 20] {
        let judged = judged(&list, long.as_bytes(), size);
        let held: Vec<bool> = judged.iter().map(|judgement| judgement.held).collect();
        assert_eq!(held, [true, false, false, false, false], "{size}");
        assert!(
            judged[2].seen.to_string().contains("undecided"),
            "{}",
            judged[2].seen
        );
        let text = judged[0].seen["text"].as_str().unwrap();
        assert!(
            text.ends_with(&format!("...truncated {} bytes...", long.len() - 7 - 400)),
            "{text}"
        );
    }
}

#[test]
fn what_was_not_read_to_its_end_may_hold_a_line_but_not_its_absence() {
    let policy = Policy::parse("", "").unwrap();
    let list = json!([
        {"kind": "line", "expected": "ok"},
        {"kind": "no-line", "expected": "panicked"},
        {"kind": "min-count", "expected": {"pattern": "N passed", "count": 2}},
        {"kind": "min-count", "expected": {"pattern": "N passed", "count": 3}},
        {"kind": "exit-code", "expected": [0, 2]},
        {"kind": "within", "expected": 5}
    ]);
    let judge = |ends: &[Source], exit_code, duration| -> Vec<bool> {
        let options = json!({ "expect": list }).to_string();
        let mut capture = policy.capture(&options).unwrap();
        capture.push(Source::Stderr, b"ok\n2 passed");
        for end in ends {
            capture.end(*end);
        }
        let judged = capture.finish().judge(exit_code, duration);
        judged.iter().map(|judgement| judgement.held).collect()
    };
    let both = [Source::Stdout, Source::Stderr];
    assert_eq!(
        judge(&both, Some(2), Some(5)),
        [true, true, true, false, true, true]
    );
    assert_eq!(
        judge(&both[..1], Some(1), Some(6)),
        [true, false, true, false, false, false]
    );
    assert_eq!(
        judge(&[], None, Some(5)),
        [true, false, true, false, false, false]
    );
}

/// A small generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

#[test]
fn every_way_of_cutting_the_output_is_judged_the_same() {
    let list = json!([
        {"kind": "line", "expected": "b+c"},
        {"kind": "line", "expected": "(?i)^zz$"},
        {"kind": "no-line", "expected": "aaa|ccc"},
        {"kind": "no-line", "expected": "^$|q{2}x"},
        {"kind": "min-count", "expected": {"pattern": "N ok", "count": 40}},
        {"kind": "line", "expected": "é[0-9]"}
    ]);
    let list = {
        let mut list = list;
        list[3]["expected"] = json!("q{2}x");
        list
    };
    let pieces = [
        "a",
        "b",
        "c",
        "\n",
        "7 ok",
        "41 ok",
        "é1",
        "\r",
        "\u{1b}[1m",
        "q",
        "zz",
        " ",
        "\r\n",
    ];
    let mut random = Random(7);
    let secret = secret();
    for _ in 0..150 {
        let mut output = String::new();
        for _ in 0..random.below(120) {
            output.push_str(pieces[random.below(pieces.len())]);
            if random.below(60) == 0 {
                output.push_str(&secret);
            }
        }
        let whole = judged(&list, output.as_bytes(), 1 << 20);
        let size = random.below(9) + 1;
        assert_eq!(
            judged(&list, output.as_bytes(), size),
            whole,
            "{output:?} {size}"
        );
    }
}

#[test]
fn the_first_line_and_the_newest_alike_are_looked_at_in_a_long_output() {
    let list = json!([
        {"kind": "line", "expected": "needle 1$"},
        {"kind": "line", "expected": "needle 2$"},
        {"kind": "no-line", "expected": "needle 3$"}
    ]);
    let filler = "an ordinary line of output\n".repeat(20_000);
    let output = format!("needle 1\n{filler}needle 2\n{filler}needle 3");
    let judged = judged(&list, output.as_bytes(), 8192);
    let places: Vec<&Value> = judged
        .iter()
        .map(|judgement| &judgement.seen["line"])
        .collect();
    assert_eq!(places, [&json!(1), &json!(20_002), &json!(40_003)]);
}
