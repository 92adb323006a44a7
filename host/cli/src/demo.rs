//! `feedback demo`: a success, a failure and a slow command, and what the gate says of them.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use feedback_host::component::Component;
use feedback_host::project::Project;
use feedback_host::run::{Request, Runner, Silent};
use feedback_host::supervise::{Adoption, Command};

use crate::failure::Failure;
use crate::signals;
use crate::{gate, summary};

/// Show what feedback does: a success, a failure and a slow command
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The folder for the demo's records [default: a new one in the temporary folder]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// One command of the demo, with what is expected of it.
struct Scene {
    title: &'static str,
    note: &'static str,
    script: &'static str,
    timeout: Option<Duration>,
}

const SCENES: [Scene; 3] = [
    Scene {
        title: "a success",
        note: "12 passed",
        script: "echo 'collected 12 items'; echo '12 passed in 0.31s'",
        timeout: None,
    },
    Scene {
        title: "a failure, whose output holds a password",
        note: "12 passed",
        script: "echo 'collected 12 items'; \
                 echo 'connecting with password=correct-horse-battery'; \
                 echo 'FAILED tests/test_login.py::test_refund - assert 401 == 200' >&2; \
                 echo '1 failed, 11 passed in 0.40s'; exit 1",
        timeout: None,
    },
    Scene {
        title: "a slow command, with a deadline of one second",
        note: "the server answers",
        script: "echo 'waiting for the server'; exec sleep 600",
        timeout: Some(Duration::from_secs(1)),
    },
];

/// Runs the demo.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    let mut say = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    let folder = folder(arguments)?;
    let component = Component::built_in().map_err(Failure::undecided)?;
    let record_file = folder.join(feedback_host::project::RECORD_FILE);
    let project = Project::find(&component, &folder, Some(&record_file)).map_err(Failure::undecided)?;
    let mut control = signals::control().map_err(Failure::undecided)?;
    let runner = Runner::new(component.clone(), project.clone());

    for (number, scene) in SCENES.iter().enumerate() {
        say(format!("── {}. {}", number.saturating_add(1), scene.title));
        let mut limits = runner.limits();
        limits.timeout = scene.timeout;
        limits.adoption = Adoption::Subreaper;
        let request = Request {
            command: Command {
                argv: ["sh", "-c", scene.script].map(Into::into).to_vec(),
                ..Command::default()
            },
            limits,
            note: Some(scene.note.to_owned()),
            ..Request::default()
        };
        let finished = runner
            .execute(&request, &mut control, &mut Silent)
            .map_err(Failure::undecided)?;
        if finished.ending.interrupted.is_some() {
            return Err(Failure::undecided("interrupted"));
        }
        if let Err(error) = &finished.stored {
            return Err(Failure::undecided(error));
        }
        say(summary::of(&finished.record));
        let verdict = gate::judge(component.clone(), project.clone(), true)?;
        say(format!("may the agent continue? {}\n", gate::as_text(&verdict)));
    }

    let verdict = gate::judge(component, project.clone(), false)?;
    say(format!("── the gate, over all three\n{}\n", gate::as_text(&verdict)));
    say(format!("the records: {}", project.record_file.display()));
    Ok(ExitCode::SUCCESS)
}

fn folder(arguments: &Arguments) -> Result<PathBuf, Failure> {
    let folder = arguments.folder.clone().unwrap_or_else(|| {
        std::env::temp_dir().join(format!("feedback-demo-{}", feedback_host::run::new_command_id()))
    });
    fs::create_dir_all(&folder)
        .and_then(|()| folder.canonicalize())
        .map_err(|error| Failure::undecided(format!("folder `{}`: {error}", folder.display())))
}
