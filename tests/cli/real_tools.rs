//! Real tools on small real projects: what an agent needs is in the record.
//!
//! pytest is installed by `.ci/run`; where it is missing outside CI, its tests say so and stop.

use std::process::Command;

use crate::sandbox::{Sandbox, text};

/// Returns a Python that has pytest. `FEEDBACK_TEST_PYTHON` names it, else `python3`.
fn python() -> Option<String> {
    let python = std::env::var("FEEDBACK_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python)
        .args(["-m", "pytest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    if found {
        return Some(python);
    }
    assert!(std::env::var_os("CI").is_none(), "pytest is missing");
    eprintln!("`{python}` has no pytest: not tested here");
    None
}

#[test]
fn the_one_failing_test_of_many_is_in_the_record_with_its_reason() {
    let Some(python) = python() else { return };
    let sandbox = Sandbox::new();
    let mut tests = String::from("import pytest\n");
    for number in 0..300 {
        tests += &format!("def test_order_{number}():\n    assert {number} + 1 == {number} + 1\n");
    }
    tests += "def test_refund_total():\n    expected = 1250\n    assert 1205 == expected\n";
    sandbox.write("test_shop.py", tests);
    let record = sandbox.run_with(
        ["--note", "301 passed"],
        [&python, "-m", "pytest", "-v", "-p", "no:cacheprovider"],
    );
    assert_eq!(record["exit_code"], 1);
    let excerpt = text(&record, "stdout_tail");
    for words in [
        "assert 1205 == 1250",
        "test_shop.py::test_refund_total",
        "1 failed, 300 passed",
        "...truncated ",
    ] {
        assert!(excerpt.contains(words), "`{words}` in {excerpt}");
    }
    assert_eq!(sandbox.gate(&["--last"]).0, 1);
}

#[test]
fn a_module_that_is_not_found_is_named() {
    let Some(python) = python() else { return };
    let sandbox = Sandbox::new();
    sandbox.write(
        "test_import.py",
        "import payments_client_v7\n\ndef test_it():\n    pass\n",
    );
    let record = sandbox.run([&python, "-m", "pytest", "-p", "no:cacheprovider"]);
    assert_eq!(record["exit_code"], 2);
    let excerpt = text(&record, "stdout_tail");
    assert!(
        excerpt.contains("ModuleNotFoundError: No module named 'payments_client_v7'"),
        "{excerpt}"
    );
}

#[test]
fn a_cargo_test_that_does_not_compile_shows_the_error_and_its_place() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    sandbox.write(
        "src/lib.rs",
        "pub fn total(prices: &[u32]) -> u32 {\n    prices.iter().sum::<u64>()\n}\n",
    );
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let record = sandbox.run([&cargo, "test", "--offline", "--target-dir", "target"]);
    assert_eq!(record["exit_code"], 101);
    let excerpt = text(&record, "stderr_tail");
    for words in ["error[E0277]", "src/lib.rs:2", "could not compile `shop`"] {
        assert!(excerpt.contains(words), "`{words}` in {excerpt}");
    }
}

#[test]
fn a_gigabyte_goes_through_in_constant_memory_with_exact_counts() {
    let sandbox = Sandbox::new();
    let line = "0123456789012345678901234567890123456789012345678901234567890123456789012345678\n";
    let block = sandbox.write("block", line.repeat(12_500));
    // 1,000 times one megabyte, then the line that matters.
    let script = "i=0; while [ $i -lt 1000 ]; do cat \"$1\"; i=$((i+1)); done; echo 'fatal: disk quota exceeded'; exit 3";
    let record = sandbox.run(["sh", "-c", script, "sh", block.to_str().expect("UTF-8")]);
    assert_eq!(record["exit_code"], 3);
    assert_eq!(record["stdout"]["bytes"], 1_000_000_027_u64);
    assert_eq!(record["stdout"]["lines"], 12_500_001);
    assert!(text(&record, "stdout_tail").ends_with("fatal: disk quota exceeded"));
}
