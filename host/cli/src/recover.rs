//! `feedback recover`: does what the next run would do before it appends.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use feedback_host::scribe::ComponentScribe;
use feedback_host::store::{Options, Store};

use crate::failure::{Failure, of_store};
use crate::notices;
use crate::place::Place;

/// Repair the record file and append the records of runs whose runner died
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    place: Place,
}

/// Recovers the store.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (component, project) = arguments.place.open(Failure::undecided)?;
    let mut scribe = ComponentScribe::new(component);
    let store = Store::open(&project.record_file, Options::default())
        .map_err(|error| Failure::undecided(of_store(&error)))?;
    let recovered = store
        .recover(&mut scribe)
        .map_err(|error| Failure::undecided(of_store(&error)))?;
    let mut out = io::stdout().lock();
    if recovered.notices.is_empty() {
        let _ = writeln!(
            out,
            "`{}`: nothing to recover",
            project.record_file.display()
        );
    }
    for notice in &recovered.notices {
        let _ = writeln!(out, "{}", notices::text(notice));
    }
    Ok(ExitCode::SUCCESS)
}
