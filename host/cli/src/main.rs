//! The command line of feedback: reads the arguments and hands each command to its own file.

mod artifact;
mod budget;
mod expectations;
mod failure;
mod inputs;
mod invocation;
mod live;
mod notices;
mod output;
mod place;
mod signals;
mod summary;
mod tee;
mod texts;
mod usage;
mod verification;

mod audit;
mod chain;
mod component;
mod demo;
mod excerpt;
mod export;
mod gate;
mod policy;
mod recover;
mod redact;
mod replay;
mod rules;
mod run;
mod show;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::failure::Failure;

/// Runs commands, keeps an honest record of each, and refuses to call work done when the
/// records do not show it.
#[derive(Parser, Debug)]
#[command(
    name = "feedback",
    version = feedback_host::component::VERSION,
    max_term_width = 100,
    subcommand_required = true
)]
struct Arguments {
    /// Another policy component, in place of the built-in one [default: `component` of the nearest
    /// feedback.json upward]
    #[arg(long, global = true, value_name = "FILE")]
    component: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Run(Box<run::Arguments>),
    Show(show::Arguments),
    Chain(chain::Arguments),
    Gate(gate::Arguments),
    Policy(policy::Arguments),
    Verify(verify::Arguments),
    Recover(recover::Arguments),
    Export(export::Arguments),
    Excerpt(excerpt::Arguments),
    Redact(redact::Arguments),
    Rules(rules::Arguments),
    Audit(audit::Arguments),
    Component(component::Arguments),
    Replay(replay::Arguments),
    Demo(demo::Arguments),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error),
    };
    place::choose(arguments.component);
    let done = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Chain(arguments) => chain::run(&arguments),
        Command::Gate(arguments) => gate::run(&arguments),
        Command::Policy(arguments) => policy::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Recover(arguments) => recover::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Excerpt(arguments) => excerpt::run(&arguments),
        Command::Redact(arguments) => redact::run(&arguments),
        Command::Rules(arguments) => rules::run(&arguments),
        Command::Audit(arguments) => audit::run(&arguments),
        Command::Component(arguments) => component::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
    };
    done.unwrap_or_else(|failure| failure.report())
}

/// Tells wrong usage on one line; help and version are no failures.
fn explain(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        // A closed pipe behind `--help` is nobody's concern.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::undecided("a command is missing; see `feedback --help`").report();
    }
    let said = usage::told(error);
    let all = Arguments::command();
    let names: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
    let command = usage::meant(std::env::args_os().skip(1), &names);
    let help = command.map_or("feedback --help".to_owned(), |name| {
        format!("feedback {name} --help")
    });
    let message = format!("{said}; see `{help}`");
    if command == Some("run") {
        Failure::runner(message).report()
    } else {
        Failure::undecided(message).report()
    }
}
