//! The exports of the component: translates between the contract's types and this crate's.
//!
//! It decides nothing. The bindings that the macro writes are the only generated code here.

#![expect(
    clippy::as_conversions,
    clippy::undocumented_unsafe_blocks,
    clippy::needless_pass_by_value,
    reason = "the bindings are generated from wit/, where the documentation is"
)]

use std::cell::RefCell;
use std::rc::Rc;

wit_bindgen::generate!({ path: "../wit", world: "policy-component" });

use exports::feedback::policy::types::{Document, Fault, FaultCode, Source};
use exports::feedback::policy::{about, captures, chains, gate, policies, records, redaction};

struct Component;

export!(Component);

impl about::Guest for Component {
    fn describe() -> about::Description {
        about::Description {
            name: "feedback".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            contract: "0.1.0".to_owned(),
            record_schema: crate::record::schema::CURRENT.to_owned(),
            rule_set: crate::redact::rule_set_digest(),
        }
    }
}

struct Policy(Rc<crate::policy::Policy>);

impl policies::Guest for Component {
    type Policy = Policy;

    fn schema() -> Document {
        document(crate::policy::SCHEMA.to_owned())
    }
}

impl policies::GuestPolicy for Policy {
    fn parse(text: String, known_values: String) -> Result<policies::Policy, Fault> {
        let policy = crate::policy::Policy::parse(&text, &known_values)?;
        Ok(policies::Policy::new(Self(Rc::new(policy))))
    }

    fn settings(&self) -> Document {
        document(self.0.settings_json())
    }

    fn effective(&self) -> Document {
        document(self.0.effective_json())
    }

    fn plan(&self, request: String) -> Result<Document, Fault> {
        Ok(document(crate::requirement::plan(&self.0, &request)?))
    }

    fn rules(&self) -> Document {
        document(self.0.rules_json())
    }
}

struct Filter(RefCell<crate::filter::Filter>);

impl redaction::Guest for Component {
    type Filter = Filter;
    type Audit = Audit;

    fn redact(policy: policies::PolicyBorrow<'_>, text: String) -> redaction::Redacted {
        let rules = &policy.get::<Policy>().0.redaction;
        let (text, findings) = crate::redact::redact(rules, &text);
        redaction::Redacted {
            text,
            findings: u32::try_from(findings.count()).unwrap_or(u32::MAX),
        }
    }
}

impl redaction::GuestFilter for Filter {
    fn start(policy: policies::PolicyBorrow<'_>) -> redaction::Filter {
        let filter = crate::filter::Filter::new(Rc::clone(&policy.get::<Policy>().0.redaction));
        redaction::Filter::new(Self(RefCell::new(filter)))
    }

    fn push(&self, bytes: Vec<u8>) -> String {
        self.0.borrow_mut().push(&bytes)
    }

    fn finish(this: redaction::Filter) -> redaction::Redacted {
        let (text, findings) = this.into_inner::<Self>().0.into_inner().finish();
        redaction::Redacted {
            text,
            findings: u32::try_from(findings.count()).unwrap_or(u32::MAX),
        }
    }
}

struct Audit(RefCell<crate::redact::Auditor>);

impl redaction::GuestAudit for Audit {
    fn start(policy: policies::PolicyBorrow<'_>, key: Vec<u8>) -> Result<redaction::Audit, Fault> {
        let rules = Rc::clone(&policy.get::<Policy>().0.redaction);
        let auditor = crate::redact::Auditor::new(rules, &key)?;
        Ok(redaction::Audit::new(Self(RefCell::new(auditor))))
    }

    fn push(&self, bytes: Vec<u8>) -> Vec<redaction::Sighting> {
        let seen = self.0.borrow_mut().push(&bytes);
        seen.into_iter().map(redaction::Sighting::from).collect()
    }

    fn finish(this: redaction::Audit) -> redaction::Audited {
        let end = this.into_inner::<Self>().0.into_inner().finish();
        redaction::Audited {
            sightings: end
                .sightings
                .into_iter()
                .map(redaction::Sighting::from)
                .collect(),
            lines: end.lines,
            records: end.records,
        }
    }
}

impl From<crate::redact::Sighting> for redaction::Sighting {
    fn from(seen: crate::redact::Sighting) -> Self {
        Self {
            rule: seen.rule,
            line: seen.line,
            field: seen.field,
            field_line: seen.field_line,
            column: seen.column,
            length: seen.length,
            takes_line: seen.takes_line,
            tag: seen.tag,
        }
    }
}

struct Capture(RefCell<crate::capture::Capture>);

impl captures::Guest for Component {
    type Capture = Capture;
}

impl captures::GuestCapture for Capture {
    fn start(
        policy: policies::PolicyBorrow<'_>,
        options: String,
    ) -> Result<captures::Capture, Fault> {
        let capture = policy.get::<Policy>().0.capture(&options)?;
        Ok(captures::Capture::new(Self(RefCell::new(capture))))
    }

    fn push(&self, source: Source, bytes: Vec<u8>) {
        self.0.borrow_mut().push(source.into(), &bytes);
    }

    fn push_through(&self, source: Source, bytes: Vec<u8>) -> captures::Passage {
        let passage = self.0.borrow_mut().push_through(source.into(), &bytes);
        passage.into()
    }

    fn flush(&self, source: Source) -> captures::Passage {
        self.0.borrow_mut().flush(source.into()).into()
    }

    fn end(&self, source: Source) {
        self.0.borrow_mut().end(source.into());
    }

    fn newest_line(&self) -> String {
        self.0.borrow().newest_line()
    }

    fn finish(this: captures::Capture) -> Result<Document, Fault> {
        let captured = this.into_inner::<Self>().0.into_inner().finish();
        Ok(document(crate::record::captured_json(captured)?))
    }
}

impl From<crate::passage::Passage> for captures::Passage {
    fn from(passage: crate::passage::Passage) -> Self {
        Self {
            taken_back: passage.taken_back(),
            text: passage.into_text(),
        }
    }
}

impl records::Guest for Component {
    fn intend(policy: policies::PolicyBorrow<'_>, request: String) -> Result<Document, Fault> {
        Ok(document(crate::record::intend(
            &policy.get::<Policy>().0,
            &request,
        )?))
    }

    fn build(
        policy: policies::PolicyBorrow<'_>,
        intent: String,
        captured: captures::Capture,
        ending: String,
    ) -> Result<Document, Fault> {
        let captured = captured.into_inner::<Capture>().0.into_inner().finish();
        Ok(document(crate::record::build(
            &policy.get::<Policy>().0,
            &intent,
            captured,
            &ending,
        )?))
    }

    fn recover(intent: String) -> Result<Document, Fault> {
        Ok(document(crate::record::recover(&intent)?))
    }

    fn note_drop(facts: String) -> Result<Document, Fault> {
        Ok(document(crate::record::note_drop(&facts)?))
    }

    fn seal(body: String, seq: u64, prev: String) -> Result<records::Sealed, Fault> {
        Ok(records::Sealed {
            line: crate::seal::seal(&body, seq, &prev)?,
        })
    }

    fn check(line: String) -> Result<records::Checked, Fault> {
        let checked = crate::seal::check(&line)?;
        Ok(records::Checked {
            command_id: checked.command_id,
            seq: checked.seq,
            prev: checked.prev,
            length: whole(checked.length),
            offset: whole(checked.offset),
        })
    }

    fn identify(document: String) -> Result<records::Identity, Fault> {
        let identity = crate::record::identify(&document)?;
        let kind = match identity.kind {
            crate::record::DocumentKind::Intent => records::DocumentKind::Intent,
            crate::record::DocumentKind::Body => records::DocumentKind::Body,
        };
        Ok(records::Identity {
            command_id: identity.command_id,
            kind,
        })
    }
}

struct Review(RefCell<crate::gate::Review>);

impl gate::Guest for Component {
    type Review = Review;

    fn may_continue(policy: policies::PolicyBorrow<'_>, line: String) -> gate::Verdict {
        crate::gate::may_continue(&policy.get::<Policy>().0, &line).into()
    }
}

impl gate::GuestReview for Review {
    fn start(policy: policies::PolicyBorrow<'_>, facts: String) -> Result<gate::Review, Fault> {
        let review = crate::gate::Review::start(&policy.get::<Policy>().0, &facts)?;
        Ok(gate::Review::new(Self(RefCell::new(review))))
    }

    fn consider(&self, line: String) {
        self.0.borrow_mut().consider(&line);
    }

    fn needed_inputs(&self) -> Document {
        document(self.0.borrow().needed_inputs())
    }

    fn see_inputs(&self, sight: String) -> Result<(), Fault> {
        Ok(self.0.borrow_mut().see_inputs(&sight)?)
    }

    fn scope(&self) -> Document {
        document(self.0.borrow().scope())
    }

    fn conclude(this: gate::Review) -> gate::Verdict {
        this.into_inner::<Self>().0.into_inner().conclude().into()
    }
}

struct History(RefCell<crate::gate::History>);

impl chains::Guest for Component {
    type History = History;
}

impl chains::GuestHistory for History {
    fn start(policy: policies::PolicyBorrow<'_>) -> Result<chains::History, Fault> {
        let history = crate::gate::History::start(&policy.get::<Policy>().0)?;
        Ok(chains::History::new(Self(RefCell::new(history))))
    }

    fn consider(&self, line: String) {
        self.0.borrow_mut().consider(&line);
    }

    fn next(&self, policy: policies::PolicyBorrow<'_>, request: String) -> Result<Document, Fault> {
        let answer = self.0.borrow().next(&policy.get::<Policy>().0, &request)?;
        Ok(document(answer))
    }

    fn chain(&self, id: String) -> Document {
        document(self.0.borrow().chain(&id))
    }
}

/// Every length in here fits: the memory of a component has 32-bit addresses.
fn whole(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn document(json: String) -> Document {
    Document { json }
}

impl From<crate::fault::Fault> for Fault {
    fn from(fault: crate::fault::Fault) -> Self {
        use crate::fault::FaultCode as Code;
        let code = match fault.code {
            Code::InvalidJson => FaultCode::InvalidJson,
            Code::InvalidPolicy => FaultCode::InvalidPolicy,
            Code::UnsupportedSchema => FaultCode::UnsupportedSchema,
            Code::LimitExceeded => FaultCode::LimitExceeded,
            Code::DamagedRecord => FaultCode::DamagedRecord,
        };
        Self {
            code,
            message: fault.message,
        }
    }
}

impl From<Source> for crate::capture::Source {
    fn from(source: Source) -> Self {
        match source {
            Source::Stdout => Self::Stdout,
            Source::Stderr => Self::Stderr,
        }
    }
}

impl From<crate::gate::Verdict> for gate::Verdict {
    fn from(verdict: crate::gate::Verdict) -> Self {
        use crate::gate::Decision;
        Self {
            decision: match verdict.decision {
                Decision::Pass => gate::Decision::Pass,
                Decision::Refuse => gate::Decision::Refuse,
                Decision::Undecided => gate::Decision::Undecided,
            },
            reasons: verdict
                .reasons
                .into_iter()
                .map(gate::Reason::from)
                .collect(),
            judged: verdict.judged,
            superseded: verdict.superseded,
            evidence: verdict
                .evidence
                .into_iter()
                .map(gate::Evidence::from)
                .collect(),
        }
    }
}

impl From<crate::gate::Reason> for gate::Reason {
    fn from(reason: crate::gate::Reason) -> Self {
        Self {
            code: reason.code.into(),
            command_id: reason.command_id,
            message: reason.message,
            remedy: reason.remedy,
            requirement: reason.requirement,
        }
    }
}

impl From<crate::gate::Evidence> for gate::Evidence {
    fn from(evidence: crate::gate::Evidence) -> Self {
        Self {
            requirement: evidence.requirement,
            command_id: evidence.command_id,
            message: evidence.message,
        }
    }
}

impl From<crate::gate::ReasonCode> for gate::ReasonCode {
    fn from(code: crate::gate::ReasonCode) -> Self {
        use crate::gate::ReasonCode as Code;
        match code {
            Code::NoRecords => Self::NoRecords,
            Code::NeverRun => Self::NeverRun,
            Code::OpenRun => Self::OpenRun,
            Code::NonZeroExit => Self::NonZeroExit,
            Code::Signaled => Self::Signaled,
            Code::TimedOut => Self::TimedOut,
            Code::Cancelled => Self::Cancelled,
            Code::NotStarted => Self::NotStarted,
            Code::RunnerDied => Self::RunnerDied,
            Code::StageFailed => Self::StageFailed,
            Code::UnmetExpectation => Self::UnmetExpectation,
            Code::Stale => Self::Stale,
            Code::ChangedDuringRun => Self::ChangedDuringRun,
            Code::SameFailure => Self::SameFailure,
            Code::StoreDamaged => Self::StoreDamaged,
            Code::UnknownComponent => Self::UnknownComponent,
            Code::FallbackRecord => Self::FallbackRecord,
            Code::ContradictoryRecord => Self::ContradictoryRecord,
            Code::UnsupportedSchema => Self::UnsupportedSchema,
            Code::FromTheFuture => Self::FromTheFuture,
        }
    }
}
