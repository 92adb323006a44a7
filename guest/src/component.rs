//! The exports of the component: translates between the contract's types and this crate's.
//!
//! It decides nothing. The bindings that the macro writes are the only generated code here.

#![expect(
    clippy::as_conversions,
    clippy::undocumented_unsafe_blocks,
    clippy::needless_pass_by_value,
    unreachable_pub,
    missing_docs,
    reason = "the bindings are generated from wit/, where the documentation is"
)]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

wit_bindgen::generate!({ path: "../wit", world: "policy-component" });

use exports::feedback::policy::types::{Document, Fault, FaultCode, Source};
use exports::feedback::policy::{about, captures, gate, policies, records, redaction, types};

struct Component;

export!(Component);

impl types::Guest for Component {}

impl about::Guest for Component {
    fn describe() -> about::Description {
        about::Description {
            name: "feedback".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            contract: "0.1.0".to_owned(),
            record_schema: crate::record::SCHEMA.to_owned(),
            rule_set: crate::redact::rule_set(),
        }
    }
}

struct Policy(Rc<crate::policy::Policy>);

impl policies::Guest for Component {
    type Policy = Policy;
}

impl policies::GuestPolicy for Policy {
    fn parse(text: String, known_values: String) -> Result<policies::Policy, Fault> {
        let policy = crate::policy::Policy::parse(&text, &known_values)?;
        Ok(policies::Policy::new(Self(Rc::new(policy))))
    }

    fn settings(&self) -> Document {
        document(self.0.settings_json())
    }

    fn rules(&self) -> Document {
        document(self.0.rules_json())
    }
}

struct Filter(RefCell<crate::redact::Filter>);

impl redaction::Guest for Component {
    type Filter = Filter;

    fn redact(policy: policies::PolicyBorrow<'_>, text: String) -> redaction::Redacted {
        let (text, findings) = crate::redact::redact(&policy.get::<Policy>().0.redaction, &text);
        redaction::Redacted { text, findings: findings.count() }
    }
}

impl redaction::GuestFilter for Filter {
    fn start(policy: policies::PolicyBorrow<'_>) -> redaction::Filter {
        let filter = crate::redact::Filter::new(Rc::clone(&policy.get::<Policy>().0.redaction));
        redaction::Filter::new(Self(RefCell::new(filter)))
    }

    fn push(&self, bytes: Vec<u8>) -> String {
        self.0.borrow_mut().push(&bytes)
    }

    fn finish(this: redaction::Filter) -> redaction::Redacted {
        let (text, findings) = this.into_inner::<Self>().0.into_inner().finish();
        redaction::Redacted { text, findings: findings.count() }
    }
}

struct Capture(RefCell<crate::capture::Capture>);

impl captures::Guest for Component {
    type Capture = Capture;
}

impl captures::GuestCapture for Capture {
    fn start(policy: policies::PolicyBorrow<'_>, options: String) -> Result<captures::Capture, Fault> {
        let capture = policy.get::<Policy>().0.capture(&options)?;
        Ok(captures::Capture::new(Self(RefCell::new(capture))))
    }

    fn push(&self, source: Source, bytes: Vec<u8>) {
        self.0.borrow_mut().push(source.into(), &bytes);
    }

    fn end(&self, source: Source) {
        self.0.borrow_mut().end(source.into());
    }

    fn newest_line(&self) -> String {
        self.0.borrow().newest_line()
    }

    fn finish(this: captures::Capture) -> Document {
        document(crate::record::captured_json(this.into_inner::<Self>().0.into_inner().finish()))
    }
}

impl records::Guest for Component {
    fn intend(policy: policies::PolicyBorrow<'_>, request: String) -> Result<Document, Fault> {
        Ok(document(crate::record::intend(&policy.get::<Policy>().0, &request)?))
    }

    fn build(
        policy: policies::PolicyBorrow<'_>,
        intent: String,
        captured: captures::Capture,
        ending: String,
    ) -> Result<Document, Fault> {
        let captured = captured.into_inner::<Capture>().0.into_inner().finish();
        Ok(document(crate::record::build(&policy.get::<Policy>().0, &intent, captured, &ending)?))
    }

    fn recover(intent: String) -> Result<Document, Fault> {
        Ok(document(crate::record::recover(&intent)?))
    }

    fn note_drop(facts: String) -> Result<Document, Fault> {
        Ok(document(crate::record::note_drop(&facts)?))
    }

    fn seal(body: String, seq: u64, prev: String) -> Result<records::Sealed, Fault> {
        Ok(records::Sealed { line: crate::seal::seal(&body, seq, &prev)? })
    }

    fn check(line: String) -> Result<records::Checked, Fault> {
        let checked = crate::seal::check(&line)?;
        Ok(records::Checked {
            command_id: checked.command_id,
            seq: checked.seq,
            prev: checked.prev,
            length: checked.length,
            offset: checked.offset,
        })
    }

    fn identify(document: String) -> Result<records::Identity, Fault> {
        let identity = crate::record::identify(&document)?;
        let kind = match identity.kind {
            crate::record::DocumentKind::Intent => records::DocumentKind::Intent,
            crate::record::DocumentKind::Body => records::DocumentKind::Body,
        };
        Ok(records::Identity { command_id: identity.command_id, kind })
    }
}

/// `None` only while `conclude` takes it out.
struct Review(Cell<Option<crate::gate::Review>>);

impl gate::Guest for Component {
    type Review = Review;

    fn may_continue(policy: policies::PolicyBorrow<'_>, line: String) -> gate::Verdict {
        crate::gate::may_continue(&policy.get::<Policy>().0, &line).into()
    }
}
