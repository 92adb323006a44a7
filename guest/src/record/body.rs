//! The body: a whole record but for its place in the store.
//!
//! Its exit code comes from the outcome alone; there is no other way in.

use std::rc::Rc;

use serde::Serialize;

use super::end::End;
use super::ending::{Ending, HostStream, Leftover, Stage, Usage};
use super::expectation::{self, Evidence, Judged};
use super::failed;
use super::inputs::{Inputs, Mark};
use super::intent::{Intent, is_false};
use super::kept::Kept;
use super::schema::CURRENT;
use super::scrub::{Clamped, Redactions, Scrubber};
use crate::capture::{Captured, StreamNumbers};
use crate::outcome::Outcome;
use crate::redact::Rules;
use crate::signature;

/// The most leftovers and stages that a record names, and the length of one, in characters.
const LEFTOVERS: usize = 64;
const STAGES: usize = 64;
const NAME_CHARS: usize = 200;

/// A record without its integrity fields, in the order of its keys.
#[derive(Debug, Serialize)]
pub(super) struct Body {
    schema_version: &'static str,
    kind: &'static str,
    command_id: String,
    parent_command_id: Option<String>,
    attempt: u32,
    command: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_base64: Option<Vec<Option<String>>>,
    cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd_base64: Option<String>,
    agent_note: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    exploration: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    started_at: String,
    duration_ms: Option<u64>,
    #[serde(flatten)]
    end: End,
    stdout_tail: String,
    stderr_tail: String,
    stdout: Stream,
    stderr: Stream,
    redactions: Redactions,
    #[serde(skip_serializing_if = "Clamped::is_empty")]
    clamped: Clamped,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stages: Vec<Stage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expectations: Vec<Judged>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requirement: Option<Mark>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<Inputs>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leftovers: Vec<Leftover>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    component: String,
    policy: String,
    runner: String,
}

/// The numbers of a stream, with what only the host knows.
#[derive(Debug, Serialize)]
struct Stream {
    #[serde(flatten)]
    numbers: StreamNumbers,
    last_byte_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<Kept>,
}

impl Body {
    /// The record of a run that a living runner saw to its end.
    pub(super) fn of_run(
        rules: &Rc<Rules>,
        intent: Intent,
        captured: Captured,
        ending: Ending,
    ) -> Self {
        let (redactions, clamped) = (intent.redactions.clone(), intent.clamped.clone());
        let mut intent = intent;
        let mut scrubber = Scrubber::new(rules, redactions, clamped);
        let program = intent.command.first().map_or("", String::as_str);
        let error = sentence(&mut scrubber, &ending, program);
        let outcome = scrub_outcome(&mut scrubber, ending.outcome);
        let leftovers = scrub_leftovers(&mut scrubber, ending.leftovers.unwrap_or_default());
        let stages = scrub_stages(&mut scrubber, ending.stages.unwrap_or_default());
        let (stdout_kept, stderr_kept) = ending.kept.scrubbed(&mut scrubber);
        let inputs = intent.inputs.take();
        let inputs = inputs.map(|inputs| inputs.ended(&mut scrubber, ending.inputs));
        scrubber.redactions.add("stdout", &captured.stdout.findings);
        scrubber.redactions.add("stderr", &captured.stderr.findings);
        // A dead runner had no clock.
        let duration_ms = ending
            .duration_ms
            .filter(|_| outcome != Outcome::RunnerDied);
        let evidence = Evidence {
            rules,
            judged: captured.judge(outcome.exit_code(), duration_ms),
            exit_code: outcome.exit_code(),
            duration_ms,
        };
        let expectations = expectation::judge(intent.expect.clone(), &evidence);
        let not_begun = failed::NotBegun {
            program: intent.command.first().map_or("", String::as_str),
            cwd: &intent.cwd,
        };
        // Of a run that only explores nothing is a failure.
        let failure = (!intent.exploration)
            .then(|| failed::ending(&not_begun, &outcome, &stages, &expectations))
            .flatten();
        let signature =
            |ending: String| signature::of(&ending, &captured.stdout.text, &captured.stderr.text);
        let failure_signature = failure.map(signature);
        Self {
            expectations,
            failure_signature,
            duration_ms,
            stdout_tail: captured.stdout.text,
            stderr_tail: captured.stderr.text,
            stdout: Stream::new(captured.stdout.numbers, ending.stdout, stdout_kept),
            stderr: Stream::new(captured.stderr.numbers, ending.stderr, stderr_kept),
            redactions: scrubber.redactions,
            clamped: scrubber.clamped,
            stages,
            inputs,
            leftovers,
            usage: ending.usage,
            ..Self::begun(intent, outcome, error)
        }
    }

    /// The record of a run whose runner died: nothing of its end is known.
    pub(super) fn of_dead_runner(intent: Intent) -> Self {
        let error = Outcome::RunnerDied.sentence("");
        Self::begun(intent, Outcome::RunnerDied, error)
    }

    /// What the intent and the outcome say, with nothing captured.
    fn begun(intent: Intent, outcome: Outcome, error: Option<String>) -> Self {
        let expectations = expectation::unjudged(intent.expect);
        Self {
            schema_version: CURRENT,
            kind: "run",
            command_id: intent.command_id,
            parent_command_id: intent.parent_command_id,
            attempt: intent.attempt,
            command: intent.command,
            command_base64: intent.command_base64,
            cwd: intent.cwd,
            cwd_base64: intent.cwd_base64,
            agent_note: intent.agent_note,
            exploration: intent.exploration,
            project: intent.project,
            started_at: intent.started_at,
            duration_ms: None,
            end: End::new(outcome, error),
            stdout_tail: String::new(),
            stderr_tail: String::new(),
            stdout: Stream::new(StreamNumbers::default(), HostStream::default(), None),
            stderr: Stream::new(StreamNumbers::default(), HostStream::default(), None),
            redactions: intent.redactions,
            clamped: intent.clamped,
            stages: Vec::new(),
            expectations,
            failure_signature: None,
            requirement: intent.requirement,
            inputs: intent.inputs,
            leftovers: Vec::new(),
            usage: None,
            component: intent.component,
            policy: intent.policy,
            runner: intent.runner,
        }
    }
}

impl Stream {
    fn new(numbers: StreamNumbers, host: HostStream, kept: Option<Kept>) -> Self {
        Self {
            numbers,
            last_byte_ms: host.last_byte_ms,
            kept,
        }
    }
}

/// The reason why there is no exit code. Only for a run that did not start the host knows it
/// better than the outcome.
fn sentence(scrubber: &mut Scrubber<'_>, ending: &Ending, program: &str) -> Option<String> {
    let from_host = match &ending.outcome {
        Outcome::NotStarted { .. } => ending.error.clone().filter(|error| !error.is_empty()),
        Outcome::Exited { .. }
        | Outcome::Signaled { .. }
        | Outcome::TimedOut { .. }
        | Outcome::Cancelled { .. }
        | Outcome::RunnerDied => None,
    };
    let sentence = from_host.or_else(|| ending.outcome.sentence(program))?;
    Some(scrubber.line("error", &sentence))
}

/// Redacts the texts that a host put into the detail.
fn scrub_outcome(scrubber: &mut Scrubber<'_>, outcome: Outcome) -> Outcome {
    let mut clean =
        |text: Option<String>| text.map(|text| scrubber.name("outcome_detail", &text, NAME_CHARS));
    match outcome {
        Outcome::Signaled {
            signal,
            name,
            core_dumped,
            hint,
        } => Outcome::Signaled {
            signal,
            name: clean(name),
            core_dumped,
            hint: clean(hint),
        },
        Outcome::Cancelled {
            signal,
            name,
            escalated,
            then,
        } => Outcome::Cancelled {
            signal,
            name: clean(name),
            escalated,
            then,
        },
        Outcome::NotStarted { cause, errno } => Outcome::NotStarted {
            cause,
            errno: clean(errno),
        },
        Outcome::Exited { .. } | Outcome::TimedOut { .. } | Outcome::RunnerDied => outcome,
    }
}

fn scrub_leftovers(scrubber: &mut Scrubber<'_>, leftovers: Vec<Leftover>) -> Vec<Leftover> {
    scrubber.left_out("leftovers", leftovers.len().saturating_sub(LEFTOVERS));
    let kept = leftovers.into_iter().take(LEFTOVERS);
    kept.map(|leftover| Leftover {
        name: scrubber.name("leftovers", &leftover.name, NAME_CHARS),
        ..leftover
    })
    .collect()
}

/// The gate judges every stage that is here, so the last ones are kept: the very last decides
/// what a shell reports.
fn scrub_stages(scrubber: &mut Scrubber<'_>, stages: Vec<Stage>) -> Vec<Stage> {
    let omitted = stages.len().saturating_sub(STAGES);
    scrubber.left_out("stages", omitted);
    let kept = stages.into_iter().skip(omitted);
    kept.map(|stage| Stage {
        command: stage
            .command
            .map(|command| scrubber.name("stages", &command, NAME_CHARS)),
        ..stage
    })
    .collect()
}
