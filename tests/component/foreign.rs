//! Components of others: what is refused, and that one which stops starts nothing.

use std::path::Path;

use feedback_host::component::{Component, LoadError, Session};
use feedback_host::project::Project;
use feedback_host::run::{RunError, Runner};
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

/// Returns a component for a world in which every function stops at once.
fn stopping(resolve: &Resolve, world: wit_parser::WorldId) -> Vec<u8> {
    let mut module = dummy_module(resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8).expect("embedded");
    let mut encoder = ComponentEncoder::default();
    let encoder = encoder.module(&module).expect("a module");
    encoder.encode().expect("a component")
}

fn component_for(wit: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("test.wit", wit).expect("WIT");
    let world = resolve.select_world(&[package], None).expect("a world");
    stopping(&resolve, world)
}

fn contract() -> Vec<u8> {
    let mut resolve = Resolve::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    let (package, _) = resolve.push_dir(folder).expect("the contract");
    let world = resolve.select_world(&[package], None).expect("its world");
    stopping(&resolve, world)
}

#[test]
fn what_is_no_component_is_refused_by_name() {
    let module = b"\0asm\x01\0\0\0";
    assert!(matches!(
        Component::from_bytes(module),
        Err(LoadError::CoreModule)
    ));
    assert!(matches!(
        Component::from_bytes(b"garbage"),
        Err(LoadError::NotAComponent(_))
    ));
    assert!(matches!(
        Component::from_bytes(b""),
        Err(LoadError::NotAComponent(_))
    ));
    let missing = Component::from_file(Path::new("/no/such/file.wasm")).expect_err("no file");
    assert!(
        missing.to_string().contains("/no/such/file.wasm"),
        "{missing}"
    );
}

#[test]
fn a_component_that_imports_anything_is_refused() {
    let bytes = component_for(
        "package wasi:cli@0.2.0; interface environment { get: func() -> string; } \
         world w { import environment; export run: func(); }",
    );
    let refused = Component::from_bytes(&bytes).expect_err("it imports");
    assert!(matches!(refused, LoadError::Imports(_)), "{refused:?}");
    assert!(
        refused.to_string().contains("wasi:cli/environment"),
        "{refused}"
    );
}

#[test]
fn a_component_of_another_world_is_refused() {
    let bytes = component_for("package a:b; world w { export run: func(); }");
    assert!(matches!(
        Component::from_bytes(&bytes),
        Err(LoadError::MissingInterface(_))
    ));
}

#[test]
fn a_component_that_stops_in_every_function_starts_no_command() {
    let component = Component::from_bytes(&contract()).expect("it follows the contract");
    assert!(component.describe().is_err());
    assert!(Session::open(&component, "", "").is_err());

    let folder = tempfile::tempdir().expect("a folder");
    let record_file = folder.path().join("records.jsonl");
    let project =
        Project::find(&crate::built_in(), folder.path(), Some(&record_file)).expect("a project");
    let started = folder.path().join("started");
    let run = Runner::new(component, project).run(["touch".as_ref(), started.as_os_str()], None);
    assert!(matches!(run, Err(RunError::Policy(_))), "{run:?}");
    assert!(!started.exists(), "nothing is started");
}
