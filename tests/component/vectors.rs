//! The vectors of `tests/vectors`, played on the component by wasmtime, Python and JavaScript.
//!
//! Python and node are installed by `.ci/run`; where they are missing outside CI, the tests that
//! need them say so and stop.

#[path = "../../host/src/component/config.rs"]
mod config;
#[path = "../vectors/format.rs"]
mod format;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};
use wasmtime::component::{Component, Func, Instance, Linker, ResourceAny, Type, Val};
use wasmtime::{Engine, Store};

use crate::contract;
use crate::tools::{self, Tool};
use format::{Answer, Argument, Host};

/// The built-in component as any wasmtime host sees it: by names, with an empty linker.
struct Dynamic {
    engine: Engine,
    component: Component,
    store: Store<()>,
    instance: Instance,
    kept: BTreeMap<String, ResourceAny>,
}

impl Dynamic {
    fn new() -> Self {
        let engine = Engine::new(&config::config()).expect("an engine");
        let compiled = include_bytes!(concat!(env!("OUT_DIR"), "/feedback.cwasm"));
        // SAFETY: made by this package's build script for an engine with the same configuration.
        let component = unsafe { Component::deserialize(&engine, compiled) }.expect("compiled");
        let (store, instance) = fresh(&engine, &component);
        Self {
            engine,
            component,
            store,
            instance,
            kept: BTreeMap::new(),
        }
    }

    fn function(&mut self, name: &str) -> Func {
        let (interface, function) = name.split_once('.').expect("an interface");
        let interface = format!("feedback:policy/{interface}@0.1.0");
        let outer = self.component.get_export_index(None, &interface);
        let outer = outer.unwrap_or_else(|| panic!("no `{interface}`"));
        ["", "[static]", "[method]"]
            .iter()
            .find_map(|prefix| {
                let name = format!("{prefix}{function}");
                self.component.get_export_index(Some(&outer), &name)
            })
            .and_then(|index| self.instance.get_func(&mut self.store, index))
            .unwrap_or_else(|| panic!("no `{function}` in `{interface}`"))
    }
}

fn fresh(engine: &Engine, component: &Component) -> (Store<()>, Instance) {
    let mut store = Store::new(engine, ());
    let linker = Linker::new(engine);
    let instance = linker
        .instantiate(&mut store, component)
        .expect("no import");
    (store, instance)
}

impl Host for Dynamic {
    fn reset(&mut self) {
        (self.store, self.instance) = fresh(&self.engine, &self.component);
        self.kept.clear();
    }

    fn call(&mut self, name: &str, arguments: &[Argument], keep: &str) -> Answer {
        let function = self.function(name);
        let kinds = function.ty(&self.store);
        let values: Vec<Val> = kinds
            .params()
            .zip(arguments)
            .map(|((_, kind), argument)| match argument {
                Argument::Text(text) if matches!(kind, Type::Enum(_)) => Val::Enum(text.clone()),
                Argument::Text(text) => Val::String(text.clone()),
                Argument::Bytes(bytes) => Val::List(bytes.iter().copied().map(Val::U8).collect()),
                Argument::Number(number) => Val::U64(*number),
                Argument::Kept(name) => Val::Resource(self.kept[name]),
            })
            .collect();
        let mut results = vec![Val::Bool(false); kinds.results().len()];
        function
            .call(&mut self.store, &values, &mut results)
            .unwrap_or_else(|trap| panic!("{name}: {trap:?}"));
        let answer = match results.pop() {
            None => return Answer::Gives(Value::Null),
            Some(Val::Result(Err(fault))) => {
                return Answer::Fault(plain(*fault.expect("a fault")));
            }
            Some(Val::Result(Ok(None))) => return Answer::Gives(Value::Null),
            Some(Val::Result(Ok(Some(answer)))) => *answer,
            Some(answer) => answer,
        };
        if let Val::Resource(resource) = answer {
            self.kept.insert(keep.to_owned(), resource);
            return Answer::Resource;
        }
        Answer::Gives(plain(answer))
    }
}

/// Returns a value of the component model as JSON.
fn plain(value: Val) -> Value {
    match value {
        Val::Bool(value) => json!(value),
        Val::U32(value) => json!(value),
        Val::U64(value) => json!(value),
        Val::String(value) | Val::Enum(value) => json!(value),
        Val::List(items) => items.into_iter().map(plain).collect(),
        Val::Option(inner) => inner.map_or(Value::Null, |inner| plain(*inner)),
        Val::Record(fields) => {
            let fields = fields.into_iter().map(|(name, field)| (name, plain(field)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => panic!("{other:?} is not in the contract"),
    }
}

#[test]
fn the_vectors_hold_in_wasmtime() {
    assert!(format::play(&mut Dynamic::new(), false) > 100);
}

/// Every function is called, and refused where it can be.
#[test]
fn the_vectors_cover_every_function_and_every_fault() {
    let (mut called, mut refused, mut codes) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for path in format::files() {
        let file = format::read(&path);
        for call in file["sessions"]
            .as_array()
            .expect("sessions")
            .iter()
            .flat_map(|session| session["calls"].as_array().expect("calls"))
        {
            let name = call["call"].as_str().expect("a name").to_owned();
            if let Some(code) = call["fault"]["code"].as_str() {
                codes.insert(code.to_owned());
                refused.insert(name.clone());
            }
            called.insert(name);
        }
    }
    let contract = contract::current();
    let functions = contract.functions();
    let names: BTreeSet<String> = functions.keys().cloned().collect();
    assert_eq!(called, names, "every function has a vector");
    for (name, can_be_refused) in functions {
        // One takes a record of 256 KiB, which is none of a vector, and one is never refused.
        let is_out_of_reach = ["captures.capture.finish", "chains.history.start"].contains(&&*name);
        if can_be_refused && !is_out_of_reach {
            assert!(refused.contains(&name), "`{name}` is never refused");
        }
    }
    assert_eq!(codes, contract.cases("fault-code"), "every code is met");
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests")
}

/// Returns the built-in component as a file.
fn component(folder: &Path) -> PathBuf {
    let path = folder.join("feedback.wasm");
    fs::write(&path, crate::built_in().bytes()).expect("written");
    path
}

fn agrees(command: &mut Command) {
    let said = tools::output(command);
    assert!(said.ends_with("calls agree\n"), "{said}");
}

#[test]
fn the_vectors_hold_in_python() {
    let Some(python) = tools::find(Tool::Python) else {
        return;
    };
    let temporary = tempfile::tempdir().expect("a folder");
    agrees(
        Command::new(python)
            .arg(folder().join("component/vectors.py"))
            .arg(component(temporary.path()))
            .arg(folder().join("vectors")),
    );
}

#[test]
fn the_vectors_hold_on_the_build_for_wasip2() {
    let (Some(python), Some(wasm)) = (tools::find(Tool::Python), tools::find(Tool::Wasip2)) else {
        return;
    };
    agrees(
        Command::new(python)
            .arg(folder().join("component/vectors.py"))
            .arg(wasm)
            .arg(folder().join("vectors"))
            .arg("--wasi"),
    );
}

#[test]
fn the_vectors_hold_in_javascript() {
    let Some(jco) = tools::find(Tool::Jco) else {
        return;
    };
    let temporary = tempfile::tempdir().expect("a folder");
    let module = tools::transpile(&jco, &component(temporary.path()), temporary.path());
    agrees(
        Command::new("node")
            .arg(folder().join("component/vectors.mjs"))
            .arg(module)
            .arg(folder().join("vectors")),
    );
}
