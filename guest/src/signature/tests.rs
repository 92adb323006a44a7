use super::{normal, of};

#[test]
fn what_varies_is_taken_out_and_what_tells_stays() {
    for (one, two) in [
        (
            "2 failed, 417 passed in 9.07s",
            "2 failed, 417 passed in 11.4s",
        ),
        (
            "<function chunked at 0x7fd26efe5f80>",
            "<function chunked at 0x7f00aa000010>",
        ),
        (
            "UUID('c6ae5bb8-0f54-4c67-bd04-f136dbc76354')",
            "UUID('00000000-0f54-4c67-bd04-f136dbc76355')",
        ),
        (
            "thread 'a::b' (22613) panicked at src/a.rs:3:5:",
            "thread 'a::b' (977) panicked at src/a.rs:3:5:",
        ),
        (
            "2026-11-30T15:15:52.123Z ERROR x",
            "2026-12-01T00:00:01.9Z ERROR x",
        ),
        (
            "Nov 30 15:15:52 host app[123]: failed",
            "Dec  1 01:02:03 host app[99]: failed",
        ),
        ("[15:15:52] error", "[09:00:00] error"),
        (
            "bind 127.0.0.1:45123 refused",
            "bind 127.0.0.1:39999 refused",
        ),
        (
            "connect localhost:45123 refused",
            "connect localhost:5 refused",
        ),
        (
            "open /tmp/pytest-of-root/pytest-12/x0/data: no such file",
            "open /tmp/pytest-of-root/pytest-13/x1/data: no such file",
        ),
        ("in /tmp/tmpab12cd failed", "in /tmp/tmpzz9 failed"),
        ("at commit 1086b9a2", "at commit ca17a72f0"),
        ("worker pid=123 died", "worker pid=9 died"),
        ("==4242== Invalid read", "==17== Invalid read"),
        ("Object@1b2c3d4e is null", "Object@77aa00ff is null"),
        ("took 1m30s, error", "took 2m1s, error"),
        ("started 1764515752, error", "started 1764515999, error"),
        ("using seed 29349", "using seed 1"),
        ("  duration_ms: 7.570042", "  duration_ms: 12"),
        (
            "<testcase name=\"a\" time=\"0.123\">",
            "<testcase name=\"a\" time=\"1.5\">",
        ),
        (
            "log in: /root/.npm/_logs/2026-11-30T20_37_58_865Z-debug-0.log",
            "log in: /root/.npm/_logs/2026-12-01T01_02_03_004Z-debug-0.log",
        ),
    ] {
        assert_eq!(normal(one), normal(two));
    }
    for (one, two) in [
        ("E  assert 401 == 200", "E  assert 500 == 200"),
        ("panicked at src/a.rs:3:5", "panicked at src/b.rs:3:5"),
        ("test a::b ... FAILED", "test a::c ... FAILED"),
        ("1 failed, 11 passed in 3s", "2 failed, 10 passed in 3s"),
        (
            "open /tmp/x1/data: no such file",
            "open /tmp/x1/other: no such file",
        ),
        ("expected 0x1, found 0x2", "expected 0x1, found 0x3"),
        ("left: 12345678", "left: 12345679"),
        ("expected time 3, found 4", "expected time 3, found 5"),
        ("time: 3", "time: 4"),
    ] {
        assert_ne!(normal(one), normal(two));
    }
}

fn pytest(status: u32, seconds: &str, address: &str) -> String {
    format!(
        "=== FAILURES ===\n    def test_login():\n>       assert response.status == 200\nE       assert {status} == 200\nE        +  where {status} = <Response at {address}>.status\n\ntests/test_login.py:12: AssertionError\nFAILED tests/test_login.py::test_login - assert {status} == 200\n=== 1 failed, 11 passed in {seconds}s ===\n"
    )
}

#[test]
fn the_same_failure_again_has_the_same_signature_and_another_has_not() {
    let one = of("exited 1", &pytest(401, "0.31", "0x7fd26efe5f80"), "");
    assert_eq!(one.len(), 16);
    assert_eq!(
        one,
        of("exited 1", &pytest(401, "4.02", "0x7f0000000010"), "")
    );
    assert_ne!(
        one,
        of("exited 1", &pytest(500, "0.31", "0x7fd26efe5f80"), "")
    );
    assert_ne!(
        one,
        of("exited 2", &pytest(401, "0.31", "0x7fd26efe5f80"), "")
    );
    assert_ne!(one, of("signaled 9", "", ""));
}

#[test]
fn tests_that_fail_in_another_order_fail_the_same() {
    let a = "test a ... FAILED\ntest b ... FAILED\nerror: test failed\n";
    let b = "test b ... FAILED\ntest a ... FAILED\nerror: test failed\n";
    assert_eq!(of("exited 101", a, ""), of("exited 101", b, ""));
}

#[test]
fn where_nothing_explains_the_last_lines_count() {
    let one = of("exited 3", "", "step one\nstep two\n");
    assert_eq!(
        one,
        of(
            "exited 3",
            "",
            "...truncated 7 lines...\nstep one\n\nstep two"
        )
    );
    assert_ne!(one, of("exited 3", "", "step one\nstep three"));
}

/// The real logs of one release, run again: other times, addresses, ids and temporary paths.
#[test]
fn real_logs_of_the_same_run_at_another_time_have_the_same_signature() {
    let pytest = "FAILED tests/test_strutils.py::test_is_uuid - AssertionError: assert True == False\n +  where True = <function is_uuid at 0x7fd26e07f9c0>(UUID('c6ae5bb8-0f54-4c67-bd04-f136dbc76354'), version=1)\n======================== 2 failed, 417 passed in 9.07s =========================\n";
    let again = pytest
        .replace("0x7fd26e07f9c0", "0x7f11112222c0")
        .replace("c6ae5bb8-0f54", "11111111-2222")
        .replace("9.07s", "12.50s");
    assert_eq!(of("exited 1", pytest, ""), of("exited 1", &again, ""));
    let vitest = " FAIL  test/a.test.ts > adds\nAssertionError: expected 3 to be 4\n   Start at  10:32:44\n   Duration  19.75s (transform 384ms, collect 4.11s)\n";
    let again = vitest
        .replace("10:32:44", "11:00:01")
        .replace("19.75s", "3.1s")
        .replace("384ms", "9ms");
    assert_eq!(of("exited 1", vitest, ""), of("exited 1", &again, ""));
    let other = vitest.replace("expected 3 to be 4", "expected 3 to be 5");
    assert_ne!(of("exited 1", vitest, ""), of("exited 1", &other, ""));
}
