//! The tools of other languages, which `.ci/run` installs and names in environment variables.
//!
//! One that is missing is a failure in CI; elsewhere its tests say so and stop.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Something that not every machine has.
#[derive(Clone, Copy)]
pub(crate) enum Tool {
    /// A Python with `wasmtime`, in `FEEDBACK_TEST_PYTHON`, else `python3`.
    Python,
    /// The program of `@bytecodealliance/jco`, in `FEEDBACK_TEST_JCO`.
    Jco,
    /// The guest, built for `wasm32-wasip2`, in `FEEDBACK_TEST_WASIP2`.
    Wasip2,
    /// The program of `componentize-qjs`, in `FEEDBACK_TEST_COMPONENTIZE`.
    Componentize,
}

impl Tool {
    fn variable(self) -> &'static str {
        match self {
            Self::Python => "FEEDBACK_TEST_PYTHON",
            Self::Jco => "FEEDBACK_TEST_JCO",
            Self::Wasip2 => "FEEDBACK_TEST_WASIP2",
            Self::Componentize => "FEEDBACK_TEST_COMPONENTIZE",
        }
    }
}

/// Returns where a tool is, or nothing outside of CI.
pub(crate) fn find(tool: Tool) -> Option<PathBuf> {
    let named = env::var_os(tool.variable()).map(PathBuf::from);
    let found = match tool {
        Tool::Python => {
            let python = named.unwrap_or_else(|| "python3".into());
            let mut probe = Command::new(&python);
            let output = probe.args(["-c", "import wasmtime"]).output();
            output
                .is_ok_and(|output| output.status.success())
                .then_some(python)
        }
        Tool::Jco | Tool::Wasip2 | Tool::Componentize => named.filter(|path| path.is_file()),
    };
    if found.is_none() {
        let missing = format!("`{}` names no such tool", tool.variable());
        assert!(env::var_os("CI").is_none(), "{missing}");
        eprintln!("{missing}: not tested here");
    }
    found
}

/// Returns what a command prints; it must succeed.
pub(crate) fn output(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
    said
}

/// Makes a JavaScript module of a component, and returns it.
pub(crate) fn transpile(jco: &Path, component: &Path, folder: &Path) -> PathBuf {
    let module = folder.join("module");
    output(
        Command::new("node")
            .arg(jco)
            .arg("transpile")
            .arg(component)
            .args(["--name", "feedback", "-o"])
            .arg(&module),
    );
    fs::write(module.join("package.json"), r#"{"type":"module"}"#).expect("written");
    module.join("feedback.js")
}
