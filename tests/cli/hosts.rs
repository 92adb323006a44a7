//! The README's pieces for other hosts, as they are written there.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::sandbox::Sandbox;
use crate::tools::{self, Tool};

/// Returns the block of the README that follows `<!-- marker -->`.
pub(crate) fn block(marker: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(path).expect("README.md");
    let marker = format!("<!-- {marker} -->");
    let (_, behind) = readme
        .split_once(&marker)
        .unwrap_or_else(|| panic!("{marker} in README.md"));
    let block = behind.split("```").nth(1).expect("a fenced block");
    block.split_once('\n').expect("a language").1.to_owned()
}

/// A place with the component and the records of a success and a failure.
fn place() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(["true"]);
    sandbox.run(["false"]);
    let extracted = sandbox.call(["component", "extract", "feedback.wasm"]);
    assert_eq!(extracted.status, 0, "{}", extracted.stderr);
    sandbox
}

const SAID: &str = "[REDACTED]\npass\nrefuse\n";

#[test]
fn the_readme_hosts_the_component_in_python_in_twenty_lines() {
    let script = block("python: host the component");
    assert!(script.lines().count() <= 20, "{script}");
    let Some(python) = tools::find(Tool::Python) else {
        return;
    };
    let sandbox = place();
    let mut command = Command::new(python);
    command.arg("-c").arg(script).current_dir(sandbox.path());
    assert_eq!(tools::output(&mut command), SAID);
}

#[test]
fn the_readme_hosts_the_component_in_javascript_in_twenty_lines() {
    let script = block("javascript: host the component");
    assert!(script.lines().count() <= 20, "{script}");
    let Some(jco) = tools::find(Tool::Jco) else {
        return;
    };
    let sandbox = place();
    let mut transpile = Command::new("node");
    transpile.arg(jco).args([
        "transpile",
        "feedback.wasm",
        "--name",
        "feedback",
        "-o",
        "policy",
    ]);
    tools::output(transpile.current_dir(sandbox.path()));
    sandbox.write("policy/package.json", r#"{"type":"module"}"#);
    sandbox.write("host.mjs", script);
    let mut command = Command::new("node");
    command.arg("host.mjs").current_dir(sandbox.path());
    assert_eq!(tools::output(&mut command), SAID);
}

#[test]
fn the_readme_shows_that_the_component_needs_nothing() {
    let commands = block("shell: audit the sandbox");
    let lines: Vec<&str> = commands.lines().collect();
    assert_eq!(lines.len(), 3, "{commands}");
    // The third is a test of this workspace: it must be there under this name.
    let name = lines[2].rsplit(' ').next().expect("a filter");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/component/reproducible.rs");
    let tests = fs::read_to_string(tests).expect("the test");
    assert!(tests.contains(name), "`{name}`");

    let Some(python) = tools::find(Tool::Python) else {
        return;
    };
    let sandbox = Sandbox::new();
    let program = Path::new(env!("CARGO_BIN_EXE_feedback"));
    let path = format!(
        "{}:{}:{}",
        program.parent().expect("a folder").display(),
        python.parent().expect("a folder").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-ec", &lines[..2].join("\n")])
        .env("PATH", path)
        .current_dir(sandbox.path());
    let said = tools::output(&mut shell);
    assert!(
        said.starts_with("sha256:") && said.ends_with("it needs nothing\n"),
        "{said}"
    );
}
