//! Components that stop: every function names itself and the reason, and the session is given up.

use std::fmt::Debug;

use feedback_host::component::{CallError, Component, PolicyError, Session, Trap};
use feedback_host::ending::Source;

use crate::built_in;
use crate::patch::{Deed, patched};

/// What a call of a session that was opened for it gave.
fn stops<T: Debug>(
    component: &Component,
    call: &str,
    wanted: Trap,
    ask: impl FnOnce(&mut Session) -> Result<T, CallError>,
) {
    let mut session = Session::open(component, "", "").expect("a policy is read");
    let error = ask(&mut session).expect_err(call);
    let CallError::Stopped { call: named, trap } = &error else {
        panic!("{call}: {error:?}");
    };
    assert_eq!((*named, *trap), (call, wanted), "{error}");
    // Nothing works after it, and nothing hangs.
    let after = session.redact("text").expect_err("it is given up");
    assert_eq!(after.to_string(), error.to_string());
}

#[test]
fn a_panic_in_any_function_is_named_and_ends_its_session_alone() {
    let functions = [
        "policies#[method]policy.settings",
        "policies#[method]policy.rules",
        "redaction#redact",
        "redaction#[method]filter.push",
        "redaction#[static]filter.finish",
        "redaction#[method]audit.push",
        "redaction#[static]audit.finish",
        "captures#[method]capture.push",
        "captures#[method]capture.end",
        "captures#[method]capture.newest-line",
        "captures#[static]capture.finish",
        "records#intend",
        "records#build",
        "records#recover",
        "records#note-drop",
        "records#seal",
        "records#check",
        "records#identify",
        "gate#may-continue",
        "gate#[method]review.consider",
        "gate#[static]review.conclude",
    ];
    let deeds = functions.map(|name| (name, Deed::Panic));
    let rogue = Component::from_bytes(&patched(built_in().bytes(), &deeds)).expect("it loads");
    let panics = Trap::Unreachable;
    let facts = r#"{"now":"2026-11-30T14:00:00.000Z","open_runs":[],"damage":[]}"#;

    stops(&rogue, "policy.settings", panics, Session::settings);
    stops(&rogue, "policy.rules", panics, Session::rules);
    stops(&rogue, "redact", panics, |session| session.redact("text"));
    stops(&rogue, "filter.push", panics, |session| {
        let filter = session.start_filter()?;
        session.filter(&filter, b"x")
    });
    stops(&rogue, "filter.finish", panics, |session| {
        let filter = session.start_filter()?;
        session.finish_filter(filter)
    });
    stops(&rogue, "audit.push", panics, |session| {
        let audit = session.start_audit(b"key")?;
        session.audit(&audit, b"x")
    });
    stops(&rogue, "audit.finish", panics, |session| {
        let audit = session.start_audit(b"key")?;
        session.finish_audit(audit)
    });
    stops(&rogue, "capture.push", panics, |session| {
        let capture = session.start_capture("")?;
        session.push(&capture, Source::Stdout, b"x")
    });
    stops(&rogue, "capture.end", panics, |session| {
        let capture = session.start_capture("")?;
        session.end(&capture, Source::Stdout)
    });
    stops(&rogue, "capture.newest-line", panics, |session| {
        let capture = session.start_capture("")?;
        session.newest_line(&capture)
    });
    stops(&rogue, "capture.finish", panics, |session| {
        let capture = session.start_capture("")?;
        session.finish_capture(capture)
    });
    stops(&rogue, "intend", panics, |session| session.intend("{}"));
    stops(&rogue, "build", panics, |session| {
        let capture = session.start_capture("")?;
        session.build("{}", capture, "{}")
    });
    stops(&rogue, "recover", panics, |session| session.recover("{}"));
    stops(&rogue, "note-drop", panics, |session| {
        session.note_drop("{}")
    });
    stops(&rogue, "seal", panics, |session| session.seal("{}", 1, ""));
    stops(&rogue, "check", panics, |session| session.check("{}"));
    stops(&rogue, "identify", panics, |session| session.identify("{}"));
    stops(&rogue, "may-continue", panics, |session| {
        session.may_continue("{}")
    });
    stops(&rogue, "review.consider", panics, |session| {
        let review = session.start_review(facts)?;
        session.consider(&review, "{}")
    });
    stops(&rogue, "review.conclude", panics, |session| {
        let review = session.start_review(facts)?;
        session.conclude(review)
    });
}

#[test]
fn each_way_to_stop_has_its_own_reason_at_the_start_of_a_resource_too() {
    let deeds = [
        ("redaction#[static]filter.start", Deed::Loop),
        ("redaction#[static]audit.start", Deed::Hog),
        ("captures#[static]capture.start", Deed::Panic),
        ("gate#[static]review.start", Deed::Hog),
        ("redaction#redact", Deed::Flood),
        ("about#describe", Deed::Panic),
    ];
    let rogue = Component::from_bytes(&patched(built_in().bytes(), &deeds)).expect("it loads");
    stops(
        &rogue,
        "filter.start",
        Trap::OutOfFuel,
        Session::start_filter,
    );
    stops(&rogue, "audit.start", Trap::Memory, |session| {
        session.start_audit(b"")
    });
    stops(&rogue, "capture.start", Trap::Unreachable, |session| {
        session.start_capture("")
    });
    stops(&rogue, "review.start", Trap::Memory, |session| {
        session.start_review("{}")
    });
    stops(&rogue, "redact", Trap::Output, |session| {
        session.redact("text")
    });
    assert!(rogue.describe().is_err());
    // Everything else still answers.
    let mut session = Session::open(&rogue, "", "").expect("a session");
    assert!(
        session
            .recover("{}")
            .is_err_and(|error| matches!(error, CallError::Refused(_)))
    );
    let steps = session.steps().expect("they are counted");
    assert!(steps > 0 && session.memory() > 0);
    assert!(matches!(
        Session::open(&rogue, "{", "").expect_err("no policy"),
        PolicyError::Policy(CallError::Refused(_))
    ));
}
