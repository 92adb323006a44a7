//! Builds the component from the guest's source, to the same bytes in every folder.

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "sections.rs"]
mod sections;

/// The target whose standard library imports nothing.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Says whether the standard library for [`TARGET`] is installed.
pub(crate) fn target_is_installed() -> Result<bool, Box<dyn Error>> {
    let folder = rustc(&["--print", "target-libdir", "--target", TARGET])?;
    Ok(Path::new(folder.trim()).is_dir())
}

/// Returns the version line of the compiler.
pub(crate) fn toolchain() -> Result<String, Box<dyn Error>> {
    Ok(rustc(&["--version"])?.trim().to_owned())
}

/// Builds the guest of the workspace at `root` into a folder of its own below `out`.
pub(crate) fn build(root: &Path, out: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let target_dir = out.join("guest");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(root)
        .args([
            "rustc",
            "--package",
            "feedback-guest",
            "--lib",
            "--crate-type",
            "cdylib",
        ])
        .args([
            "--profile",
            "component",
            "--target",
            TARGET,
            "--locked",
            "--quiet",
            "--target-dir",
        ])
        .arg(&target_dir);
    for (name, _) in env::vars_os().filter(|(name, _)| is_outer_setting(name)) {
        cargo.env_remove(name);
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rustflags(root)?.join("\u{1f}"));

    let output = cargo
        .output()
        .map_err(|error| format!("cargo for the component: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "the component could not be built from source (FEEDBACK_COMPONENT=shipped uses the shipped one): {}",
            String::from_utf8_lossy(&output.stderr).trim().replace('\n', " | ")
        )
        .into());
    }
    let wasm = target_dir
        .join(TARGET)
        .join("component/feedback_guest.wasm");
    let linked = fs::read(&wasm).map_err(|error| format!("`{}`: {error}", wasm.display()))?;
    sections::without_custom(&linked)
        .ok_or_else(|| format!("`{}`: is no component", wasm.display()).into())
}

/// The outer build's flags, wrappers and profile must not reach the component:
/// they would change its bytes.
fn is_outer_setting(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    let kept = [
        "CARGO_HOME",
        "CARGO_MAKEFLAGS",
        "CARGO_NET_",
        "CARGO_HTTP_",
        "CARGO_REGISTR",
        "CARGO_SOURCE_",
    ];
    matches!(
        &*name,
        "RUSTFLAGS"
            | "RUSTC"
            | "RUSTC_WRAPPER"
            | "RUSTC_WORKSPACE_WRAPPER"
            | "RUSTC_LINKER"
            | "TARGET"
    ) || (name.starts_with("CARGO")
        && name != "CARGO"
        && !kept.iter().any(|prefix| name.starts_with(prefix)))
}

/// Panic locations carry the paths of sources, so the folders that differ from machine to
/// machine are given fixed names.
fn rustflags(root: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let sysroot = rustc(&["--print", "sysroot"])?;
    let version = rustc(&["--version", "--verbose"])?;
    let commit = version
        .lines()
        .find_map(|line| line.strip_prefix("commit-hash: "))
        .unwrap_or("unknown");
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    Ok(vec![
        "-Clinker=wasm-component-ld".to_owned(),
        "-Ctarget-feature=+simd128".to_owned(),
        // Only what is tiny is put into its callers, and of what is marked `#[inline]`, which most
        // of the standard library is, only what is small: a seventh less code, and 3 % slower.
        // What a hot loop cannot do without is to be marked `#[inline(always)]`.
        "-Cllvm-args=-inline-threshold=15".to_owned(),
        "-Cllvm-args=-inlinehint-threshold=60".to_owned(),
        // Numbers that the linker fills in take the bytes that they need, not five each.
        "-Clink-arg=--compress-relocations".to_owned(),
        remap(&cargo_home()?, "/cargo"),
        remap(root, "/feedback"),
        // Present only where rust-src is installed.
        remap(
            &Path::new(sysroot.trim()).join("lib/rustlib/src/rust"),
            &format!("/rustc/{commit}"),
        ),
    ])
}

fn cargo_home() -> Result<PathBuf, Box<dyn Error>> {
    if let Some(home) = env::var_os("CARGO_HOME") {
        return Ok(PathBuf::from(home));
    }
    let home = env::var_os("HOME").ok_or("neither CARGO_HOME nor HOME is set")?;
    Ok(PathBuf::from(home).join(".cargo"))
}

fn rustc(arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc)
        .args(arguments)
        .output()
        .map_err(|error| format!("`{}`: {error}", rustc.to_string_lossy()))?;
    if !output.status.success() {
        return Err(format!(
            "`{} {}` failed",
            rustc.to_string_lossy(),
            arguments.join(" ")
        )
        .into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
