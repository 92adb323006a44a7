//! The answer of the gate.
//!
//! A refusal is an answer, not a malfunction. It does not decide; it only says.

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The records show success.
    Pass,
    /// The records show that something is missing or failed.
    Refuse,
    /// There is nothing to decide on, or it cannot be read. Never a pass.
    Undecided,
}

/// Why the gate does not pass. The same set as in `wit/gate.wit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasonCode {
    /// The store holds no record to judge.
    NoRecords,
    /// A required command has no record.
    NeverRun,
    /// A run has begun and not ended.
    OpenRun,
    /// The command exited with a code that is not success.
    NonZeroExit,
    /// A signal ended the command.
    Signaled,
    /// The deadline passed.
    TimedOut,
    /// The run was cancelled.
    Cancelled,
    /// The command could not be started.
    NotStarted,
    /// The runner died during the run.
    RunnerDied,
    /// A stage of a pipeline failed.
    StageFailed,
    /// An expectation that was declared before the run does not hold.
    UnmetExpectation,
    /// The inputs have changed since the run, or the run is too old. Of inputs that cannot be
    /// read nobody can tell; by itself that refuses nothing and passes nothing.
    Stale,
    /// The inputs changed while the command ran.
    ChangedDuringRun,
    /// The same failure came again, more often than the policy allows.
    SameFailure,
    /// A line of the store is damaged, missing, doubled or edited.
    StoreDamaged,
    /// The record was built by a component that the policy does not accept.
    UnknownComponent,
    /// The record could not be built; the fallback stands in for it.
    FallbackRecord,
    /// Fields of the record contradict each other.
    ContradictoryRecord,
    /// The record was written under a schema that this component does not know.
    UnsupportedSchema,
    /// The record says that it was made later than now.
    FromTheFuture,
}

impl ReasonCode {
    /// Returns the name that people and programs see.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoRecords => "no-records",
            Self::NeverRun => "never-run",
            Self::OpenRun => "open-run",
            Self::NonZeroExit => "non-zero-exit",
            Self::Signaled => "signaled",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::NotStarted => "not-started",
            Self::RunnerDied => "runner-died",
            Self::StageFailed => "stage-failed",
            Self::UnmetExpectation => "unmet-expectation",
            Self::Stale => "stale",
            Self::ChangedDuringRun => "changed-during-run",
            Self::SameFailure => "same-failure",
            Self::StoreDamaged => "store-damaged",
            Self::UnknownComponent => "unknown-component",
            Self::FallbackRecord => "fallback-record",
            Self::ContradictoryRecord => "contradictory-record",
            Self::UnsupportedSchema => "unsupported-schema",
            Self::FromTheFuture => "from-the-future",
        }
    }

    /// Returns what whoever must act can do about it.
    const fn remedy(self) -> &'static str {
        match self {
            Self::NoRecords | Self::NeverRun => "run the command with `feedback run`",
            Self::OpenRun => {
                "wait until the run ends; if its runner is gone, run `feedback recover`"
            }
            Self::NonZeroExit | Self::Signaled | Self::StageFailed => {
                "read the record, fix the cause and run the same command again"
            }
            Self::UnmetExpectation => {
                "read the record, fix the cause and run the same command again; if another one was meant, run that with `--parent` and this id; a wrong expectation is taken back by no later run: correct the policy where it is a requirement's, or let a person judge from a later run on with `gate --since ID`"
            }
            Self::TimedOut => "find out why it takes so long, or allow more time, and run it again",
            Self::Cancelled | Self::RunnerDied => "run the same command again",
            Self::NotStarted => {
                "install what is missing and run it again, or run the corrected command with `--parent` and this id"
            }
            Self::Stale => "run the same command again, on the files as they are",
            Self::ChangedDuringRun => {
                "run the same command again, on the files as they are; what it writes itself is no input: let git ignore it, or name it with `!` in `inputs`"
            }
            Self::SameFailure => "stop repeating it and read the newest failure",
            Self::StoreDamaged => "run `feedback verify` and let a person look at what it finds",
            Self::UnknownComponent => "run it again with the component that the policy names",
            Self::FallbackRecord => {
                "find out why the record could not be built, and run the command again"
            }
            Self::ContradictoryRecord => "let a person look at the record; no runner writes this",
            Self::UnsupportedSchema => "use the version of feedback that wrote the record",
            Self::FromTheFuture => "correct the clock of the machine that ran it",
        }
    }
}

/// One reason, with the record that it speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// For programs.
    pub code: ReasonCode,
    /// The record, or the empty string where there is none.
    pub command_id: String,
    /// For people: what was found, with the command.
    pub message: String,
    /// For whoever must act.
    pub remedy: String,
    /// The requirement that it speaks of, or the empty string.
    pub requirement: String,
    /// It says that something cannot be told, rather than that something is wrong.
    pub(super) is_open: bool,
}

/// A run that shows what a requirement asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The requirement.
    pub requirement: String,
    /// The record.
    pub command_id: String,
    /// For people: the command.
    pub message: String,
}

impl Reason {
    /// Returns a reason with the remedy that belongs to its code.
    pub(super) fn new(code: ReasonCode, command_id: &str, message: String) -> Self {
        Self {
            code,
            command_id: command_id.to_owned(),
            message,
            remedy: code.remedy().to_owned(),
            requirement: String::new(),
            is_open: false,
        }
    }

    /// Returns the reason as one for which nothing can be decided, by itself.
    pub(super) fn leaves_open(self) -> Self {
        Self {
            is_open: true,
            ..self
        }
    }

    /// Returns the reason with another remedy than its code has.
    pub(super) fn with_remedy(self, remedy: &str) -> Self {
        Self {
            remedy: remedy.to_owned(),
            ..self
        }
    }

    /// Returns the reason as one of a requirement.
    pub(super) fn for_requirement(self, name: &str) -> Self {
        Self {
            requirement: name.to_owned(),
            ..self
        }
    }
}

/// The decision and everything that led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The answer.
    pub decision: Decision,
    /// Every reason, in record order. Empty exactly when the decision is a pass.
    pub reasons: Vec<Reason>,
    /// How many runs were judged.
    pub judged: u32,
    /// Failed attempts that a later success made up for, one readable line each.
    pub superseded: Vec<String>,
    /// What shows that a requirement is met, in the order of the policy.
    pub evidence: Vec<Evidence>,
}

impl Verdict {
    /// The only way to a pass: at least one run was judged, and there is no reason against it.
    pub(super) fn of(reasons: Vec<Reason>, judged: u32, superseded: Vec<String>) -> Self {
        if reasons.is_empty() && judged == 0 {
            let message = "the store holds no run to judge".to_owned();
            return Self::undecided(Reason::new(ReasonCode::NoRecords, "", message));
        }
        let decision = if reasons.is_empty() {
            Decision::Pass
        } else if reasons.iter().all(|reason| reason.is_open) {
            Decision::Undecided
        } else {
            Decision::Refuse
        };
        Self {
            decision,
            reasons,
            judged,
            superseded,
            evidence: Vec::new(),
        }
    }

    /// Returns the verdict with what shows that requirements are met.
    pub(super) fn with_evidence(self, evidence: Vec<Evidence>) -> Self {
        Self { evidence, ..self }
    }

    /// Nothing was judged, for this reason.
    pub(super) fn undecided(reason: Reason) -> Self {
        Self {
            decision: Decision::Undecided,
            reasons: vec![reason],
            judged: 0,
            superseded: Vec::new(),
            evidence: Vec::new(),
        }
    }
}
