//! One run from start to record: spawn → capture → component → store, then record → gate.
//!
//! Only this page knows all the parts; the parts do not know each other.

mod before;

use std::ffi::OsString;
use std::io;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::chain::ChainError;
use crate::component::{CallError, Component, PolicyError, Session, Verdict};
use crate::ending::Ending;
use crate::fallback;
use crate::keep::{Keeper, KeptStreams};
use crate::known::known_values;
use crate::lookup::LookupError;
use crate::plan::Planned;
use crate::project::Project;
use crate::recording::Recording;
use crate::relay::{Feeder, Relay};
use crate::scribe::ComponentScribe;
use crate::store::{Appended, FinishError, OpenRun, Options, Store, StoreError};
use crate::supervise::{self, Command, Control, Limits};
use crate::watch::{CaptureSink, Redacting};

pub use crate::plan::PlanError;
pub use crate::watch::{Observer, Silent};

/// What to run, and what was said about it beforehand.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The command and how it is started. Its run id becomes the id of its record.
    pub command: Command,
    /// How long it may take.
    pub limits: Limits,
    /// One line, written before the run: what is expected.
    pub note: Option<String>,
    /// The attempt that this run retries.
    pub parent: Option<String>,
    /// Makes the newest failed run of the same command in the same directory the parent.
    pub retry: bool,
    /// A run that only explores: no evidence, and its failure refuses nothing.
    pub exploration: bool,
    /// What is expected, as a JSON list that the component takes; null for nothing.
    pub expect: Value,
    /// Capture options as the component takes them (JSON), or the empty text.
    pub capture_options: String,
    /// The files that the run depends on, relative to the project's folder: `git`, globs, `!GLOB`.
    pub inputs: Vec<String>,
    /// Runs even where no record can be guaranteed.
    pub best_effort: bool,
    /// Keeps the redacted streams whole in files beside the record file, or does not; the
    /// project's policy decides where nothing is said.
    pub keep_output: Option<bool>,
}

/// A run that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its identity.
    pub command_id: String,
    /// How the command ended.
    pub ending: Ending,
    /// The record: the line as it was appended, or the body that could not be.
    pub record: String,
    /// Where the record is, or why it is not there.
    pub stored: Result<Appended, NotStored>,
    /// Whether the agent may go on after this run.
    pub verdict: Result<Verdict, CallError>,
    /// Why the fallback record stands in for the record, where it does.
    pub fallback: Option<CallError>,
}

/// Why the record of a finished run is not in the record file.
#[derive(Debug, thiserror::Error)]
pub enum NotStored {
    /// There was no place for it from the beginning, and the run was wanted all the same.
    #[error("no record is kept: {0}")]
    Refused(StoreError),
    /// It waits in the store's `pending` folder; the next run or `feedback recover` appends it.
    #[error("{0}")]
    Waiting(FinishError),
}

/// Why a command was not started.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The component or the policy cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The component did not make an intent.
    #[error("the intent could not be built: {0}")]
    Intent(CallError),
    /// What is to be kept of the output cannot be kept so.
    #[error("{0}")]
    CaptureOptions(CallError),
    /// What must be declared beforehand cannot be.
    #[error("{0}")]
    Plan(#[from] PlanError),
    /// A record cannot be guaranteed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The parent is not to be found.
    #[error("parent `{id}`: {source}")]
    Parent {
        /// The id that was given.
        id: String,
        /// Why.
        source: LookupError,
    },
    /// What came before cannot be told.
    #[error("{0}")]
    Chain(#[from] ChainError),
    /// The policy, or what came before, speaks against the run.
    #[error("{0}")]
    Forbidden(String),
    /// The working directory of the runner cannot be named.
    #[error("the working directory cannot be found: {0}")]
    WorkingDirectory(io::Error),
}

/// Returns a new id: a UUID version 7, unique and sortable by time.
#[must_use]
pub fn new_command_id() -> String {
    Uuid::now_v7().to_string()
}

/// Runs commands for one project.
///
/// ```
/// use feedback_host::component::{Component, Decision};
/// use feedback_host::project::Project;
/// use feedback_host::run::Runner;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let component = Component::built_in()?;
/// let project = Project::find(&component, folder, None)?;
/// let runner = Runner::new(component, project);
///
/// // Says what is expected, runs it, and leaves its record in the project's record file.
/// let finished = runner.run(["echo", "12 passed"], Some("12 passed"))?;
/// assert!(finished.record.contains(r#""exit_code":0"#));
///
/// // May the agent go on after it? Only a pass says yes.
/// let verdict = runner.may_continue(&finished.record)?;
/// assert_eq!(verdict.decision, Decision::Pass);
///
/// let failed = runner.run(["false"], None)?;
/// let verdict = runner.may_continue(&failed.record)?;
/// assert_eq!(verdict.decision, Decision::Refuse);
/// for reason in &verdict.reasons {
///     println!("{}; {}", reason.message, reason.remedy);
/// }
/// # Ok(())
/// # }
/// ```
///
/// Expectations, retries and inputs are in [`Request`], for [`Runner::execute`].
#[derive(Debug)]
pub struct Runner {
    component: Component,
    project: Project,
    options: Options,
}

impl Runner {
    /// Returns a runner that keeps its records in the project's record file.
    #[must_use]
    pub fn new(component: Component, project: Project) -> Self {
        Self {
            component,
            project,
            options: Options::default(),
        }
    }

    /// Returns the runner with other options for its store.
    #[must_use]
    pub fn with_store_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Runs `argv` with the project's limits and `note` as what is expected.
    ///
    /// # Errors
    /// Where the command was not started, because no record could have been kept.
    pub fn run<A: Into<OsString>>(
        &self,
        argv: impl IntoIterator<Item = A>,
        note: Option<&str>,
    ) -> Result<Finished, RunError> {
        let command = Command {
            argv: argv.into_iter().map(Into::into).collect(),
            ..Command::default()
        };
        let request = Request {
            command,
            limits: self.limits(),
            note: note.map(str::to_owned),
            ..Request::default()
        };
        self.execute(&request, &mut Control::none(), &mut Silent)
    }

    /// Returns the limits that the project's policy sets.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let defaults = Limits::default();
        let settings = &self.project.settings;
        Limits {
            timeout: settings
                .timeout_ms
                .map(Duration::from_millis)
                .or(defaults.timeout),
            grace: settings
                .grace_ms
                .map_or(defaults.grace, Duration::from_millis),
            ..defaults
        }
    }

    /// Runs a command; `control` brings the signals that the runner receives.
    ///
    /// # Errors
    /// Where the command was not started, because no record could have been kept.
    pub fn execute(
        &self,
        request: &Request,
        control: &mut Control,
        observer: &mut dyn Observer,
    ) -> Result<Finished, RunError> {
        let environment = known_values(
            supervise::environment(&request.command),
            &self.project.env_files,
        );
        let mut session = Session::open(&self.component, &self.project.policy, &environment)?;
        let mut scribe = ComponentScribe::new(self.component.clone());

        let command_id = new_command_id();
        let (parent, attempt) = self.attempt(request.parent.as_deref(), &mut scribe)?;
        let planned = self.plan(request, &mut session)?;
        let mut described =
            self.describe(request, &command_id, parent.as_deref(), attempt, &planned)?;
        self.look_back(request, &mut described, &mut session, &mut scribe)?;
        let intent = session
            .intend(&described.to_string())
            .map_err(RunError::Intent)?;
        // Before the intent is on disk, so that a bad option leaves no trace of a run.
        let options = with_expectations(&request.capture_options, &planned.expect);
        let capture = session
            .start_capture(&options)
            .map_err(RunError::CaptureOptions)?;

        let stream = Redacting::start(
            &self.component,
            &self.project.policy,
            &environment,
            observer,
        )?;

        let begun = self.begin(&command_id, &intent, &mut scribe);
        let begun = match begun {
            Err(refused) if !request.best_effort => return Err(refused.into()),
            begun => begun,
        };

        let mut keeper = begun
            .as_ref()
            .ok()
            .filter(|_| self.keeps_output(request))
            .map(|(run, store)| {
                Keeper::start(store, run, self.project.settings.keep_output_max_bytes)
            });

        // The processes of the run are known by its id.
        let command = Command {
            run_id: Some(command_id.clone()),
            ..request.command.clone()
        };
        let relay = Relay::new(Recording::new(&mut session, &capture, keeper.as_mut()));
        let ending = thread::scope(|scope| {
            let mut sink = CaptureSink::new(Feeder::new(&relay, scope), observer, stream);
            let ending = supervise::supervise(&command, &request.limits, control, &mut sink);
            sink.finish();
            ending
        });
        let stopped = relay.finish();
        let kept = match (&begun, keeper) {
            (Ok((_, store)), Some(keeper)) => Some(keeper.finish(store)),
            (Ok(_) | Err(_), _) => None,
        };
        let keeps = kept.is_some();
        let built = match stopped {
            Some(stopped) => Err(stopped),
            None => session.build(&intent, capture, &to_json(&ending, &planned, kept)),
        };
        let (body, fallback) = match built {
            Ok(body) => (body, None),
            Err(cause) => (fallback::body(&intent, &ending, &cause), Some(cause)),
        };

        let stored = match begun {
            Ok((run, store)) => {
                // A fallback record names no output. What cannot be removed goes with the record.
                if keeps && fallback.is_some() {
                    let _ = store.remove_outputs(&command_id);
                }
                store
                    .finish(run, &body, &mut scribe)
                    .map_err(NotStored::Waiting)
            }
            Err(refused) => Err(NotStored::Refused(refused)),
        };
        let record = stored
            .as_ref()
            .map_or_else(|_| body.clone(), |appended| appended.line.clone());
        // An instance that stopped answers nothing any more; what it left is judged by a fresh one.
        let verdict = match fallback {
            None => session.may_continue(&record),
            Some(_) => self.may_continue(&record),
        };
        Ok(Finished {
            command_id,
            ending,
            record,
            stored,
            verdict,
            fallback,
        })
    }

    fn keeps_output(&self, request: &Request) -> bool {
        request
            .keep_output
            .unwrap_or(self.project.settings.keep_output)
    }

    fn begin(
        &self,
        command_id: &str,
        intent: &str,
        scribe: &mut ComponentScribe,
    ) -> Result<(OpenRun, Store), StoreError> {
        let store = Store::open(&self.project.record_file, self.options)?;
        store.refuse_unknown_schema(scribe)?;
        let known = store.known(scribe)?;
        let run = store.begin(command_id, intent)?;
        Ok((run.knowing(known), store))
    }

    /// Judges one record: may the agent go on after it?
    ///
    /// # Errors
    /// Where the component stops. That is never a pass.
    pub fn may_continue(&self, record: &str) -> Result<Verdict, CallError> {
        match Session::open(&self.component, &self.project.policy, "") {
            Ok(mut session) => session.may_continue(record),
            Err(error) => Err(CallError::Unavailable(error.to_string())),
        }
    }
}

/// Returns the options of a capture that is told what to look for. Options that are no object are
/// the component's to refuse.
fn with_expectations(options: &str, expect: &Value) -> String {
    if expect.as_array().is_none_or(Vec::is_empty) {
        return options.to_owned();
    }
    let given = if options.is_empty() { "{}" } else { options };
    match serde_json::from_str::<Map<String, Value>>(given) {
        Ok(mut keys) => {
            keys.insert("expect".to_owned(), expect.clone());
            Value::Object(keys).to_string()
        }
        Err(_) => options.to_owned(),
    }
}

/// The `ending` document: how the run ended, what was kept of its output, and the inputs as they
/// are now.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    ending: &'a Ending,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<KeptStreams>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<Value>,
}

/// Every ending has a JSON form; the empty text would be refused by the component. The inputs
/// are looked at again only where the command itself came to its end.
fn to_json(ending: &Ending, planned: &Planned, kept: Option<KeptStreams>) -> String {
    let inputs = ending.exit_code().map(|_| planned.after());
    let document = Document {
        ending,
        kept,
        inputs,
    };
    serde_json::to_string(&document).unwrap_or_default()
}
