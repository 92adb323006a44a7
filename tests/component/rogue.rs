//! Components that stop: every function names itself and the reason, and the session is given up.

use std::fmt::Debug;
use std::sync::OnceLock;

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

/// Everything but the captures gives up. It is compiled once, which takes long without optimisation.
pub(crate) fn panicking() -> Component {
    static ROGUE: OnceLock<Component> = OnceLock::new();
    let functions = [
        "policies#schema",
        "policies#[method]policy.settings",
        "policies#[method]policy.effective",
        "policies#[method]policy.plan",
        "policies#[method]policy.rules",
        "redaction#redact",
        "redaction#[method]filter.push",
        "redaction#[static]filter.finish",
        "redaction#[method]audit.push",
        "redaction#[static]audit.finish",
        "captures#[static]capture.start",
        "records#intend",
        "records#recover",
        "records#note-drop",
        "records#seal",
        "records#check",
        "records#identify",
        "gate#may-continue",
        "gate#[method]review.consider",
        "gate#[method]review.needed-inputs",
        "gate#[method]review.see-inputs",
        "gate#[method]review.scope",
        "gate#[static]review.conclude",
        "chains#[method]history.consider",
        "chains#[method]history.next",
        "chains#[method]history.chain",
    ];
    let component = ROGUE.get_or_init(|| rogue(&functions.map(|name| (name, Deed::Panic))));
    component.clone()
}

/// The captures and filters give up, and each other start of a resource in its own way. What is not of a capture
/// answers.
pub(crate) fn stopping() -> Component {
    static ROGUE: OnceLock<Component> = OnceLock::new();
    let deeds = [
        ("captures#[method]capture.push", Deed::Panic),
        ("captures#[method]capture.push-through", Deed::Panic),
        ("captures#[method]capture.flush", Deed::Panic),
        ("captures#[method]capture.end", Deed::Panic),
        ("captures#[method]capture.newest-line", Deed::Panic),
        ("captures#[static]capture.finish", Deed::Panic),
        ("records#build", Deed::Panic),
        ("redaction#[method]filter.push", Deed::Panic),
        ("redaction#[static]audit.start", Deed::Loop),
        ("gate#[static]review.start", Deed::Hog),
        ("chains#[static]history.start", Deed::Panic),
        ("redaction#redact", Deed::Flood),
        ("about#describe", Deed::Panic),
    ];
    ROGUE.get_or_init(|| rogue(&deeds)).clone()
}

fn rogue(deeds: &[(&str, Deed)]) -> Component {
    Component::from_bytes(&patched(built_in().bytes(), deeds)).expect("it loads")
}

const PANIC: Trap = Trap::Unreachable;

#[test]
fn a_panic_in_a_policy_or_a_text_is_named_and_ends_its_session_alone() {
    let rogue = panicking();
    stops(&rogue, "schema", PANIC, Session::schema);
    stops(&rogue, "policy.settings", PANIC, Session::settings);
    stops(&rogue, "policy.effective", PANIC, Session::effective);
    stops(&rogue, "policy.plan", PANIC, |session| session.plan("{}"));
    stops(&rogue, "policy.rules", PANIC, Session::rules);
    stops(&rogue, "redact", PANIC, |session| session.redact("text"));
    stops(&rogue, "filter.push", PANIC, |session| {
        let filter = session.start_filter()?;
        session.filter(&filter, b"x")
    });
    stops(&rogue, "filter.finish", PANIC, |session| {
        let filter = session.start_filter()?;
        session.finish_filter(filter)
    });
    stops(&rogue, "audit.push", PANIC, |session| {
        let audit = session.start_audit(b"key")?;
        session.audit(&audit, b"x")
    });
    stops(&rogue, "audit.finish", PANIC, |session| {
        let audit = session.start_audit(b"key")?;
        session.finish_audit(audit)
    });
    stops(&rogue, "capture.start", PANIC, |session| {
        session.start_capture("")
    });
}

#[test]
fn a_panic_in_a_record_a_review_or_a_history_is_named_and_ends_its_session_alone() {
    let rogue = panicking();
    let facts = r#"{"now":"2026-11-30T14:00:00.000Z","open_runs":[],"damage":[]}"#;
    stops(&rogue, "intend", PANIC, |session| session.intend("{}"));
    stops(&rogue, "recover", PANIC, |session| session.recover("{}"));
    stops(&rogue, "note-drop", PANIC, |session| {
        session.note_drop("{}")
    });
    stops(&rogue, "seal", PANIC, |session| session.seal("{}", 1, ""));
    stops(&rogue, "check", PANIC, |session| session.check("{}"));
    stops(&rogue, "identify", PANIC, |session| session.identify("{}"));
    stops(&rogue, "may-continue", PANIC, |session| {
        session.may_continue("{}")
    });
    stops(&rogue, "review.consider", PANIC, |session| {
        let review = session.start_review(facts)?;
        session.consider(&review, "{}")
    });
    stops(&rogue, "review.needed-inputs", PANIC, |session| {
        let review = session.start_review(facts)?;
        session.needed_inputs(&review)
    });
    stops(&rogue, "review.see-inputs", PANIC, |session| {
        let review = session.start_review(facts)?;
        session.see_inputs(&review, "{}")
    });
    stops(&rogue, "review.scope", PANIC, |session| {
        let review = session.start_review(facts)?;
        session.scope(&review)
    });
    stops(&rogue, "review.conclude", PANIC, |session| {
        let review = session.start_review(facts)?;
        session.conclude(review)
    });
    stops(&rogue, "history.consider", PANIC, |session| {
        let history = session.start_history()?;
        session.tell(&history, "{}")
    });
    stops(&rogue, "history.next", PANIC, |session| {
        let history = session.start_history()?;
        session.next(&history, "{}")
    });
    stops(&rogue, "history.chain", PANIC, |session| {
        let history = session.start_history()?;
        session.chain(&history, "")
    });
}

#[test]
fn a_panic_in_a_capture_is_named_and_ends_its_session_alone() {
    let rogue = stopping();
    stops(&rogue, "capture.push", PANIC, |session| {
        let capture = session.start_capture("")?;
        session.push(&capture, Source::Stdout, b"x")
    });
    stops(&rogue, "capture.push-through", PANIC, |session| {
        let capture = session.start_capture("")?;
        session.push_through(&capture, Source::Stdout, b"x")
    });
    stops(&rogue, "capture.flush", PANIC, |session| {
        let capture = session.start_capture("")?;
        session.flush(&capture, Source::Stdout)
    });
    stops(&rogue, "capture.end", PANIC, |session| {
        let capture = session.start_capture("")?;
        session.end(&capture, Source::Stdout)
    });
    stops(&rogue, "capture.newest-line", PANIC, |session| {
        let capture = session.start_capture("")?;
        session.newest_line(&capture)
    });
    stops(&rogue, "capture.finish", PANIC, |session| {
        let capture = session.start_capture("")?;
        session.finish_capture(capture)
    });
    stops(&rogue, "build", PANIC, |session| {
        let capture = session.start_capture("")?;
        session.build("{}", capture, "{}")
    });
}

#[test]
fn each_way_to_stop_has_its_own_reason_at_the_start_of_a_resource_too() {
    let rogue = stopping();
    stops(&rogue, "audit.start", Trap::OutOfFuel, |session| {
        session.start_audit(b"")
    });
    stops(&rogue, "history.start", PANIC, Session::start_history);
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
