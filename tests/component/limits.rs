//! What an instance may use, and that one which stopped is not used again.

use feedback_host::component::{CallError, Decision, MEMORY_LIMIT, ReasonCode, Trap};
use feedback_host::ending::{Ending, Outcome, Source, StreamFacts};

use crate::session;

#[test]
fn too_much_memory_stops_the_instance_for_good() {
    let mut session = session();
    let capture = session.start_capture("").expect("a capture");
    let flood = vec![b'x'; MEMORY_LIMIT + 1];
    let stopped = session
        .push(&capture, Source::Stdout, &flood)
        .expect_err("too much");
    let CallError::Stopped { trap, .. } = stopped else {
        panic!("{stopped:?}");
    };
    assert_eq!(trap, Trap::Memory);

    let after = session
        .push(&capture, Source::Stdout, b"more")
        .expect_err("it has stopped");
    assert!(
        matches!(
            after,
            CallError::Stopped {
                trap: Trap::Memory,
                ..
            }
        ),
        "{after:?}"
    );
    assert!(
        session.redact("text").is_err(),
        "no other call is answered either"
    );
    assert!(
        crate::session().redact("text").is_ok(),
        "a fresh instance is"
    );
}

#[test]
fn a_refused_input_leaves_the_instance_usable() {
    let mut session = session();
    let refused = session.seal("no JSON", 1, "").expect_err("no body");
    assert!(matches!(refused, CallError::Refused(_)), "{refused:?}");
    assert_eq!(session.redact("text").expect("usable"), "text");
}

#[test]
fn the_fallback_record_is_sealed_like_any_other_and_refused_by_the_gate() {
    let mut session = session();
    let intent = session
        .intend(
            r#"{"command_id":"01a2","parent_command_id":null,"attempt":1,"command":[{"text":"true"}],
                "cwd":{"text":"/"},"agent_note":null,"started_at":"2026-01-01T00:00:00.000Z",
                "component":"sha256:0","policy":"sha256:0","runner":"0"}"#,
        )
        .expect("an intent");
    let ending = Ending {
        outcome: Outcome::Exited { code: 0 },
        duration_ms: 1,
        error: None,
        stdout: StreamFacts::default(),
        stderr: StreamFacts::default(),
        usage: None,
        leftovers: Vec::new(),
        stages: Vec::new(),
        interrupted: None,
    };
    let cause = CallError::Unavailable("a test".to_owned());
    let body = feedback_host::fallback::body(&intent, &ending, &cause);
    let line = session.seal(&body, 1, "").expect("a line");
    assert_eq!(session.check(&line).expect("checked").command_id, "01a2");
    let verdict = session.may_continue(&line).expect("a verdict");
    assert_eq!(verdict.decision, Decision::Refuse);
    assert!(
        verdict
            .reasons
            .iter()
            .any(|reason| reason.code == ReasonCode::FallbackRecord),
        "{verdict:?}"
    );
}
