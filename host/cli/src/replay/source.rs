//! Where the output comes from: files that were given, or what the run kept.
//!
//! It compares nothing.

use std::path::{Path, PathBuf};

use feedback_host::ending::Source as Stream;
use feedback_host::output::{Kept, OutputError, Outputs, kept};

use crate::failure::{Failure, of_store};
use crate::output::unusable;
use crate::texts::Input;

/// The output of one run, to be read once.
pub(super) struct Source {
    inputs: Vec<(Stream, Input)>,
    is_raw: bool,
}

impl Source {
    /// Opens the files `with`, or what is kept beside the record file where none is given.
    ///
    /// # Errors
    /// Nothing was kept, or not all of it, or it is not as the run left it.
    pub(super) fn of(with: &[PathBuf], record_file: &Path, record: &str) -> Result<Self, Failure> {
        let is_raw = !with.is_empty();
        let inputs = if is_raw {
            let streams = [Stream::Stdout, Stream::Stderr].into_iter();
            let open = |(stream, path): (Stream, &PathBuf)| Ok((stream, Input::plain(Some(path))?));
            streams
                .zip(with)
                .map(open)
                .collect::<Result<_, Failure>>()?
        } else {
            of_run(record_file, record)?
        };
        Ok(Self { inputs, is_raw })
    }

    /// Says whether it is what the command printed, rather than what redaction left of it.
    pub(super) fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// Names it in an answer.
    pub(super) fn name(&self) -> &'static str {
        if self.is_raw {
            "as it was given"
        } else {
            "as the run kept it, already redacted"
        }
    }

    /// Returns the streams, standard output first.
    pub(super) fn inputs(&mut self) -> &mut [(Stream, Input)] {
        &mut self.inputs
    }
}

fn of_run(record_file: &Path, record: &str) -> Result<Vec<(Stream, Input)>, Failure> {
    let told = kept(record);
    if told.is_empty() || told.iter().any(|kept| kept.of_dead_runner) {
        return Err(Failure::undecided(
            "the run kept no output beside its record; give what the command printed with `--with FILE`",
        ));
    }
    let outputs =
        Outputs::open(record_file).map_err(|error| Failure::undecided(of_store(&error)))?;
    let streams = told
        .iter()
        .map(|kept| Ok((kept.source, whole(&outputs, kept)?)));
    streams.collect()
}

/// Opens a kept stream, of which nothing may be missing.
fn whole(outputs: &Outputs, kept: &Kept) -> Result<Input, Failure> {
    let is_whole = kept.bytes_omitted == 0 && kept.lines_omitted == 0 && kept.error.is_none();
    if !is_whole || kept.sha256.is_none() {
        return Err(Failure::undecided(
            "the run kept only a part of its output; give what the command printed with `--with FILE`",
        ));
    }
    let whole = outputs
        .open_whole(kept)
        .map_err(|error: OutputError| unusable(&error))?;
    Ok(Input::of_file(whole.path, whole.file))
}
