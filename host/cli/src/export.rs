//! `feedback export`: copies a whole store to where a reviewer can open it, even without this tool.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;
use feedback_host::digest::hex;
use feedback_host::ending::Source;
use feedback_host::output::{Outputs, kept, verify_outputs};
use feedback_host::reader::{Entry, PendingRun, Reader, Scope};
use feedback_host::scribe::ComponentScribe;
use feedback_host::store::{Verification, verify_opened};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::artifact::{Artifact, FORMAT, INDEX, OUTPUTS, RECORD_FILE};
use crate::failure::{self, Failure, of_store, warn};
use crate::place::Place;
use crate::summary::printable;
use crate::texts;
use crate::verification::{State, as_json, as_text, state_word};

const README: &str = "README.txt";
const README_TEXT: &str = include_str!("export/README.txt");
const VERIFICATION: &str = "verification.json";
const PENDING: &str = "pending.jsonl";

/// Copy all records, an index and the verification into a folder or a .tar.gz
///
/// The copy is one moment of the store, made without stopping writers, and holds a README.txt
/// for who has no feedback at hand. A damaged store is copied as it is, and told to be damaged.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// A folder, or a name that ends in .tar.gz; must not exist yet
    #[arg(value_name = "DEST")]
    destination: PathBuf,
    /// Print the index as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Makes the copy.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (component, project) = arguments.place.open(Failure::undecided)?;
    let mut scribe = ComponentScribe::new(component);
    let file = &project.record_file;
    let destination = arguments.destination.display();
    let of_reader = |error| Failure::undecided(of_store(&error));
    let reader = Reader::open(file, Scope::All).map_err(of_reader)?;
    let open_runs = reader.open_runs().map_err(of_reader)?;
    if reader.file_count() == 0 && open_runs.is_empty() {
        return Err(Failure::undecided(format!(
            "`{}` holds nothing to export; `feedback run` makes a record",
            file.display()
        )));
    }

    let mut artifact = Artifact::create(&arguments.destination)?;
    let mut found = verify_opened(&reader, file, &mut scribe);
    found
        .damages
        .extend(verify_outputs(&reader, file, &mut scribe));
    let mut copy = Copy {
        artifact: &mut artifact,
        names: Vec::new(),
    };
    let copied = copy.fill(file, &reader, &open_runs, &found, &mut scribe);
    let names = copy.names;
    let index = match copied {
        Ok(index) => index,
        Err(error) => {
            artifact.discard(&names);
            return Err(Failure::undecided(format!(
                "cannot write `{destination}`: {error}; what was made of it is removed"
            )));
        }
    };
    let shown = if arguments.json {
        texts::redacted_document(index).to_string()
    } else {
        let destination = printable(&destination.to_string());
        texts::redacted(&format!("`{destination}`: {}", as_text(&found)))
    };
    failure::answer(&shown)?;
    if State::of(&found) != State::Sound {
        warn(format_args!(
            "the store in `{destination}` is not sound; its {VERIFICATION} says more"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// A copy in the making.
struct Copy<'a> {
    artifact: &'a mut Artifact,
    names: Vec<String>,
}

impl Copy<'_> {
    /// Writes everything, the index last, and returns the index.
    fn fill(
        &mut self,
        record_file: &Path,
        reader: &Reader,
        open_runs: &[PendingRun],
        found: &Verification,
        scribe: &mut ComponentScribe,
    ) -> io::Result<Value> {
        let files = self.record_files(record_file, reader)?;
        let outputs = self.outputs(record_file, reader, scribe)?;
        let verification = as_json(&without_folder(found, record_file), &|path| {
            exported_name(record_file, path)
        });
        self.add(VERIFICATION, &lines_of(&verification))?;
        let pending: String = open_runs.iter().map(pending_line).collect();
        self.add(PENDING, pending.as_bytes())?;
        self.add(README, README_TEXT.as_bytes())?;
        let index = json!({
            "format": FORMAT,
            "exported_at": humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            "runner": env!("CARGO_PKG_VERSION"),
            "state": State::of(found).word(),
            "head": verification.get("head"),
            "files": files,
            "outputs": outputs,
            "records": records(record_file, reader, scribe),
        });
        self.add(INDEX, &lines_of(&index))?;
        self.artifact.finish()?;
        Ok(index)
    }

    /// Copies the rotated set, oldest first, and describes each file.
    fn record_files(&mut self, record_file: &Path, reader: &Reader) -> io::Result<Vec<Value>> {
        let mut files = Vec::new();
        for file in reader.files() {
            let name = exported_name(record_file, file.path());
            files.push(match file.size() {
                Ok(_) => {
                    let mut content = Vec::new();
                    file.copy_to(&mut content)?;
                    self.add(&name, &content)?;
                    json!({ "name": name, "bytes": content.len(), "sha256": hex(&Sha256::digest(&content)) })
                }
                Err(why) => json!({ "name": name, "not_copied": why }),
            });
        }
        Ok(files)
    }

    /// Copies what the records' runs have kept of their outputs, and describes each file.
    fn outputs(
        &mut self,
        record_file: &Path,
        reader: &Reader,
        scribe: &mut ComponentScribe,
    ) -> io::Result<Vec<Value>> {
        let mut files = Vec::new();
        let mut seen = BTreeSet::new();
        // The verification says why what is not copied is not.
        let Ok(outputs) = Outputs::open(record_file) else {
            return Ok(files);
        };
        for entry in reader.entries(scribe) {
            let Entry::Line { text, .. } = entry else {
                continue;
            };
            for kept in kept(&text) {
                let Ok(mut whole) = outputs.open_whole(&kept) else {
                    continue;
                };
                let stream = match kept.source {
                    Source::Stdout => "stdout",
                    Source::Stderr => "stderr",
                };
                let name = format!("{OUTPUTS}/{}.{stream}", kept.command_id);
                if !seen.insert(name.clone()) {
                    continue;
                }
                if files.is_empty() {
                    self.names.push(OUTPUTS.to_owned());
                    self.artifact.add_folder(OUTPUTS)?;
                }
                self.names.push(name.clone());
                self.artifact
                    .add_from(&name, whole.bytes, &mut whole.file)?;
                files.push(json!({ "name": name, "bytes": whole.bytes, "sha256": whole.sha256 }));
            }
        }
        Ok(files)
    }

    fn add(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        self.names.push(name.to_owned());
        self.artifact.add(name, content)
    }
}

/// Returns one entry for each record, oldest first: enough to find it in the files.
fn records(record_file: &Path, reader: &Reader, scribe: &mut ComponentScribe) -> Vec<Value> {
    let of = |entry| match entry {
        Entry::Line {
            file,
            line_no,
            text,
            checked,
        } => {
            let record: Value = serde_json::from_str(&text).unwrap_or_default();
            Some(json!({
                "seq": checked.seq,
                "command_id": checked.command_id,
                "file": exported_name(record_file, &file),
                "line": line_no,
                "kind": record.get("kind"),
                "started_at": record.get("started_at"),
                "outcome": record.get("outcome"),
                "exit_code": record.get("exit_code"),
                "command": record.get("command"),
            }))
        }
        // The verification names it.
        Entry::Damaged { .. } => None,
    };
    reader.entries(scribe).filter_map(of).collect()
}

/// Returns a run that is not in the record file yet as one line.
fn pending_line(run: &PendingRun) -> String {
    let document = |text: &str| serde_json::from_str::<Value>(text).ok();
    let line = json!({
        "command_id": run.command_id,
        "state": state_word(run.state),
        "intent": document(&run.intent),
        "record": run.body.as_deref().and_then(document),
    });
    format!("{line}\n")
}

/// Returns the name in the export: that of the record file is always the same.
fn exported_name(record_file: &Path, path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let active = record_file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    match name.strip_prefix(active.as_ref()) {
        Some(rest) => format!("{RECORD_FILE}{rest}"),
        None => name.into_owned(),
    }
}

/// Takes the folder out of the findings: where a store was is of no use elsewhere, and nobody
/// has looked at that path for what must not be shown.
fn without_folder(found: &Verification, record_file: &Path) -> Verification {
    let mut found = found.clone();
    let folder = record_file.parent().unwrap_or(Path::new(""));
    let folder = format!("{}/", folder.display());
    for damage in &mut found.damages {
        damage.what = damage.what.replace(&folder, "");
    }
    found
}

/// Returns JSON for a person to read, since this is what an export is for.
fn lines_of(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}
