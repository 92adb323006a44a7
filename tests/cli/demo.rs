//! The demo does what the README says.

use crate::sandbox::Sandbox;

#[test]
fn the_demo_shows_a_success_a_failure_and_a_slow_command() {
    let sandbox = Sandbox::new();
    let called = sandbox.call(["demo", "--folder", "."]);
    assert_eq!(called.status, 0, "{}", called.stderr);
    for words in ["exited 0", "exited 1", "timed-out, no exit code", "[REDACTED]", "non-zero-exit", "refuse: 3 runs"] {
        assert!(called.stdout.contains(words), "`{words}` in {}", called.stdout);
    }
    assert_eq!(sandbox.records().len(), 3);
    assert!(sandbox.records().iter().all(|record| record["agent_note"].is_string()));
}
