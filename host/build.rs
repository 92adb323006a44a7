//! Obtains the component and compiles it ahead of time, so that no run pays for a compiler.
//!
//! With the wasm target installed, the component is built from the guest's source; without it,
//! the shipped bytes are used, after a check that they were built from the source in this tree.
//! Both ways give the same bytes. It never writes outside its output folder.

#[path = "src/component/config.rs"]
mod config;
#[path = "build/guest.rs"]
mod guest;
#[path = "build/sources.rs"]
mod sources;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use sha2::{Digest, Sha256};

/// Decides where the component comes from: `source`, `shipped`, or unset for
/// `source` where the wasm target is installed and `shipped` elsewhere.
const ORIGIN_VARIABLE: &str = "FEEDBACK_COMPONENT";

#[derive(Clone, Copy, PartialEq)]
enum Origin {
    Source,
    Shipped,
}

impl Origin {
    fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Shipped => "shipped",
        }
    }
}

fn main() {
    if let Err(error) = run() {
        println!("cargo::error={error}");
        process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let host = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-env-changed={ORIGIN_VARIABLE}");
    for path in ["build.rs", "build", "src/component/config.rs"] {
        println!("cargo::rerun-if-changed={}", host.join(path).display());
    }

    let tree = sources::Tree::beside(&host);
    if let Some(tree) = &tree {
        for path in tree.watched() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let sources = tree.as_ref().map(sources::Tree::digest).transpose()?;

    let (origin, bytes) = match (origin(tree.is_some())?, &tree) {
        (Origin::Source, Some(tree)) => (Origin::Source, guest::build(tree.root(), &out)?),
        (Origin::Source, None) => return Err("there is no guest source beside this package".into()),
        (Origin::Shipped, _) => (Origin::Shipped, shipped(&host, sources.as_deref())?),
    };

    let engine = wasmtime::Engine::new(&config::config())?;
    let compiled = engine.precompile_component(&bytes)?;
    fs::write(out.join("feedback.wasm"), &bytes)?;
    fs::write(out.join("feedback.cwasm"), compiled)?;
    println!(
        "cargo::rustc-env=FEEDBACK_COMPONENT_SHA256={}",
        hex(&Sha256::digest(&bytes))
    );
    println!(
        "cargo::rustc-env=FEEDBACK_COMPONENT_ORIGIN={}",
        origin.name()
    );
    println!(
        "cargo::rustc-env=FEEDBACK_COMPONENT_SOURCES={}",
        sources.unwrap_or_default()
    );
    println!(
        "cargo::rustc-env=FEEDBACK_COMPONENT_TOOLCHAIN={}",
        guest::toolchain()?
    );
    Ok(())
}

fn origin(has_source: bool) -> Result<Origin, Box<dyn Error>> {
    match env::var(ORIGIN_VARIABLE).as_deref() {
        Ok("source") => Ok(Origin::Source),
        Ok("shipped") => Ok(Origin::Shipped),
        Ok(other) => {
            Err(format!("{ORIGIN_VARIABLE} is `{other}`: give `source` or `shipped`").into())
        }
        Err(_) if has_source && guest::target_is_installed()? => Ok(Origin::Source),
        Err(_) => Ok(Origin::Shipped),
    }
}

/// Returns the shipped bytes, if they are what their description says and were built from `sources`.
fn shipped(host: &Path, sources: Option<&str>) -> Result<Vec<u8>, Box<dyn Error>> {
    println!(
        "cargo::rerun-if-changed={}",
        host.join("component").display()
    );
    let wasm = host.join("component/feedback.wasm");
    let bytes = fs::read(&wasm).map_err(|error| format!("`{}`: {error}", wasm.display()))?;
    let about = host.join("component/feedback.json");
    let about: serde_json::Value = serde_json::from_slice(
        &fs::read(&about).map_err(|error| format!("`{}`: {error}", about.display()))?,
    )?;
    let said = |key: &str| {
        about
            .get(key)
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    if said("sha256") != hex(&Sha256::digest(&bytes)) {
        return Err(format!(
            "`{}` is not the component that feedback.json beside it describes",
            wasm.display()
        )
        .into());
    }
    match sources {
        Some(sources) if said("sources") != sources => Err(format!(
            "the shipped component was built from other sources than the ones in this tree: \
             `rustup target add {}` builds it from source",
            guest::TARGET
        )
        .into()),
        Some(_) | None => Ok(bytes),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
