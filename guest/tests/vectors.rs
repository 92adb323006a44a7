//! The vectors of `tests/vectors`, played on this crate as it is compiled for this machine.
//!
//! Here is what the exports of the component do, without the component: if both give the same
//! answers, neither the compiler's target nor the bindings change a byte.

#![expect(
    clippy::expect_used,
    clippy::large_enum_variant,
    clippy::needless_pass_by_value,
    clippy::wildcard_enum_match_arm,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code: a failure must be loud"
)]

#[path = "../../tests/vectors/format.rs"]
mod format;

use std::collections::HashMap;
use std::rc::Rc;

use feedback_guest::capture::{Capture, Source};
use feedback_guest::fault::{Fault, FaultCode};
use feedback_guest::filter::Filter;
use feedback_guest::gate::{self, Decision, History, ReasonCode, Review, Verdict};
use feedback_guest::passage::Passage;
use feedback_guest::policy::{Policy, SCHEMA};
use feedback_guest::redact::{Auditor, Findings, Sighting};
use feedback_guest::requirement::plan;
use feedback_guest::{record, redact, seal};
use serde_json::{Value, json};

use format::{Answer, Argument, Host};

/// A resource of the contract.
enum Kept {
    Policy(Policy),
    Filter(Filter),
    Audit(Auditor),
    Capture(Capture),
    Review(Review),
    History(History),
}

/// The crate, with the resources that a session has kept.
#[derive(Default)]
struct Native(HashMap<String, Kept>);

/// Takes a resource out, as a call that uses it up does.
macro_rules! take {
    ($native:expr, $kind:ident, $argument:expr) => {
        match $native.0.remove(name($argument)) {
            Some(Kept::$kind(kept)) => kept,
            _ => panic!("{:?} is not kept", $argument),
        }
    };
}

/// Looks at a resource.
macro_rules! get {
    ($native:expr, $kind:ident, $argument:expr) => {
        match $native.0.get_mut(name($argument)) {
            Some(Kept::$kind(kept)) => kept,
            _ => panic!("{:?} is not kept", $argument),
        }
    };
}

impl Host for Native {
    fn reset(&mut self) {
        self.0.clear();
    }

    fn call(&mut self, call: &str, with: &[Argument], keep: &str) -> Answer {
        self.answer(call, with, keep)
            .unwrap_or_else(|fault| Answer::Fault(fault_json(&fault)))
    }
}

impl Native {
    fn answer(&mut self, call: &str, with: &[Argument], keep: &str) -> Result<Answer, Fault> {
        let value = match call {
            "about.describe" => json!({
                "name": "feedback",
                "version": env!("CARGO_PKG_VERSION"),
                "contract": "0.1.0",
                "record-schema": record::schema::CURRENT,
                "rule-set": redact::rule_set_digest(),
            }),
            "policies.policy.parse" => {
                let policy = Policy::parse(text(&with[0]), text(&with[1]))?;
                return Ok(self.keep(keep, Kept::Policy(policy)));
            }
            "policies.policy.settings" => document(get!(self, Policy, &with[0]).settings_json()),
            "policies.policy.effective" => document(get!(self, Policy, &with[0]).effective_json()),
            "policies.policy.plan" => document(plan(get!(self, Policy, &with[0]), text(&with[1]))?),
            "policies.schema" => document(SCHEMA.to_owned()),
            "policies.policy.rules" => document(get!(self, Policy, &with[0]).rules_json()),
            "redaction.redact" => {
                let policy = get!(self, Policy, &with[0]);
                redacted(redact::redact(&policy.redaction, text(&with[1])))
            }
            "redaction.filter.start" => {
                let rules = Rc::clone(&get!(self, Policy, &with[0]).redaction);
                return Ok(self.keep(keep, Kept::Filter(Filter::new(rules))));
            }
            "redaction.filter.push" => json!(get!(self, Filter, &with[0]).push(bytes(&with[1]))),
            "redaction.filter.finish" => redacted(take!(self, Filter, &with[0]).finish()),
            "redaction.audit.start" => {
                let rules = Rc::clone(&get!(self, Policy, &with[0]).redaction);
                let auditor = Auditor::new(rules, bytes(&with[1]))?;
                return Ok(self.keep(keep, Kept::Audit(auditor)));
            }
            "redaction.audit.push" => sightings(get!(self, Audit, &with[0]).push(bytes(&with[1]))),
            "redaction.audit.finish" => {
                let end = take!(self, Audit, &with[0]).finish();
                json!({
                    "sightings": sightings(end.sightings),
                    "lines": end.lines,
                    "records": end.records,
                })
            }
            "captures.capture.start" => {
                let capture = get!(self, Policy, &with[0]).capture(text(&with[1]))?;
                return Ok(self.keep(keep, Kept::Capture(capture)));
            }
            "captures.capture.push" => {
                get!(self, Capture, &with[0]).push(source(&with[1]), bytes(&with[2]));
                Value::Null
            }
            "captures.capture.push-through" => {
                let capture = get!(self, Capture, &with[0]);
                passage(capture.push_through(source(&with[1]), bytes(&with[2])))
            }
            "captures.capture.flush" => {
                passage(get!(self, Capture, &with[0]).flush(source(&with[1])))
            }
            "captures.capture.end" => {
                get!(self, Capture, &with[0]).end(source(&with[1]));
                Value::Null
            }
            "captures.capture.newest-line" => {
                json!(get!(self, Capture, &with[0]).newest_line())
            }
            "captures.capture.finish" => {
                let captured = take!(self, Capture, &with[0]).finish();
                document(record::captured_json(captured)?)
            }
            "records.intend" => {
                let policy = get!(self, Policy, &with[0]);
                document(record::intend(policy, text(&with[1]))?)
            }
            "records.build" => {
                let captured = take!(self, Capture, &with[2]).finish();
                let policy = get!(self, Policy, &with[0]);
                let (intent, ending) = (text(&with[1]), text(&with[3]));
                document(record::build(policy, intent, captured, ending)?)
            }
            "records.recover" => document(record::recover(text(&with[0]))?),
            "records.note-drop" => document(record::note_drop(text(&with[0]))?),
            "records.seal" => {
                let line = seal::seal(text(&with[0]), number(&with[1]), text(&with[2]))?;
                json!({ "line": line })
            }
            "records.check" => {
                let checked = seal::check(text(&with[0]))?;
                json!({
                    "command-id": checked.command_id,
                    "seq": checked.seq,
                    "prev": checked.prev,
                    "length": checked.length,
                    "offset": checked.offset,
                })
            }
            "records.identify" => {
                let identity = record::identify(text(&with[0]))?;
                let kind = match identity.kind {
                    record::DocumentKind::Intent => "intent",
                    record::DocumentKind::Body => "body",
                };
                json!({ "command-id": identity.command_id, "kind": kind })
            }
            "gate.may-continue" => {
                let policy = get!(self, Policy, &with[0]);
                verdict(gate::may_continue(policy, text(&with[1])))
            }
            "gate.review.start" => {
                let review = Review::start(get!(self, Policy, &with[0]), text(&with[1]))?;
                return Ok(self.keep(keep, Kept::Review(review)));
            }
            "gate.review.consider" => {
                get!(self, Review, &with[0]).consider(text(&with[1]));
                Value::Null
            }
            "gate.review.needed-inputs" => document(get!(self, Review, &with[0]).needed_inputs()),
            "gate.review.scope" => document(get!(self, Review, &with[0]).scope()),
            "gate.review.see-inputs" => {
                get!(self, Review, &with[0]).see_inputs(text(&with[1]))?;
                Value::Null
            }
            "chains.history.start" => {
                let history = History::start(get!(self, Policy, &with[0]))?;
                return Ok(self.keep(keep, Kept::History(history)));
            }
            "chains.history.consider" => {
                get!(self, History, &with[0]).consider(text(&with[1]));
                Value::Null
            }
            "chains.history.next" => {
                // Two resources are looked at, and only one can be borrowed to be changed.
                let Some(Kept::Policy(policy)) = self.0.get(name(&with[1])) else {
                    panic!("{:?} is no policy", with[1]);
                };
                let Some(Kept::History(history)) = self.0.get(name(&with[0])) else {
                    panic!("{:?} is no history", with[0]);
                };
                document(history.next(policy, text(&with[2]))?)
            }
            "chains.history.chain" => document(get!(self, History, &with[0]).chain(text(&with[1]))),
            "gate.review.conclude" => verdict(take!(self, Review, &with[0]).conclude()),
            other => panic!("`{other}` is no call of the contract; add it beside the others"),
        };
        Ok(Answer::Gives(value))
    }

    fn keep(&mut self, name: &str, kept: Kept) -> Answer {
        self.0.insert(name.to_owned(), kept);
        Answer::Resource
    }
}

fn name(argument: &Argument) -> &str {
    match argument {
        Argument::Kept(name) => name,
        other => panic!("{other:?} is no resource"),
    }
}

fn text(argument: &Argument) -> &str {
    match argument {
        Argument::Text(text) => text,
        other => panic!("{other:?} is no text"),
    }
}

fn bytes(argument: &Argument) -> &[u8] {
    match argument {
        Argument::Bytes(bytes) => bytes,
        other => panic!("{other:?} are no bytes"),
    }
}

fn number(argument: &Argument) -> u64 {
    match argument {
        Argument::Number(number) => *number,
        other => panic!("{other:?} is no number"),
    }
}

fn source(argument: &Argument) -> Source {
    match text(argument) {
        "stdout" => Source::Stdout,
        "stderr" => Source::Stderr,
        other => panic!("`{other}` is no stream"),
    }
}

fn document(json: String) -> Value {
    json!({ "json": json })
}

fn passage(passage: Passage) -> Value {
    json!({ "taken-back": passage.taken_back(), "text": passage.into_text() })
}

fn redacted((text, findings): (String, Findings)) -> Value {
    json!({ "text": text, "findings": findings.count() })
}

fn sightings(seen: Vec<Sighting>) -> Value {
    let one = |seen: Sighting| {
        json!({
            "rule": seen.rule,
            "line": seen.line,
            "field": seen.field,
            "field-line": seen.field_line,
            "column": seen.column,
            "length": seen.length,
            "takes-line": seen.takes_line,
            "tag": seen.tag,
        })
    };
    seen.into_iter().map(one).collect()
}

fn fault_json(fault: &Fault) -> Value {
    let code = match fault.code {
        FaultCode::InvalidJson => "invalid-json",
        FaultCode::InvalidPolicy => "invalid-policy",
        FaultCode::UnsupportedSchema => "unsupported-schema",
        FaultCode::LimitExceeded => "limit-exceeded",
        FaultCode::DamagedRecord => "damaged-record",
    };
    json!({ "code": code, "message": fault.message })
}

fn verdict(verdict: Verdict) -> Value {
    let reasons: Vec<Value> = verdict
        .reasons
        .into_iter()
        .map(|reason| {
            json!({
                "code": kebab(reason.code),
                "command-id": reason.command_id,
                "message": reason.message,
                "remedy": reason.remedy,
                "requirement": reason.requirement,
            })
        })
        .collect();
    let evidence: Vec<Value> = verdict
        .evidence
        .into_iter()
        .map(|evidence| {
            json!({
                "requirement": evidence.requirement,
                "command-id": evidence.command_id,
                "message": evidence.message,
            })
        })
        .collect();
    json!({
        "decision": match verdict.decision {
            Decision::Pass => "pass",
            Decision::Refuse => "refuse",
            Decision::Undecided => "undecided",
        },
        "reasons": reasons,
        "judged": verdict.judged,
        "superseded": verdict.superseded,
        "evidence": evidence,
    })
}

/// The contract spells the cases of an enum like Rust does, in lower case with hyphens.
fn kebab(code: ReasonCode) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

#[test]
fn the_vectors_hold_natively() {
    assert!(format::play(&mut Native::default(), true) > 100);
}
