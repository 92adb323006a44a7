//! Loads a component and refuses one that could do anything but answer.

use std::path::Path;
use std::sync::Arc;
use std::{fmt, fs};

use sha2::{Digest, Sha256};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component as Compiled, Linker};
use wasmtime::{Engine, Store};

use super::bindings::{PolicyComponent, PolicyComponentPre};
use super::limits::{Limiter, OUTPUT_LIMIT, STEP_LIMIT, Trap};
use super::load_error::LoadError;
use super::{cache, engine};

/// The built-in component's bytes.
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/feedback.wasm"));
/// The same, compiled for this machine by the build script.
static PRECOMPILED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/feedback.cwasm"));

/// SHA-256 of the sources that the built-in component was built from, in hexadecimal digits;
/// empty where this package was built without them.
pub const SOURCES_DIGEST: &str = env!("FEEDBACK_COMPONENT_SOURCES");
/// The compiler that this program was built with.
pub const TOOLCHAIN: &str = env!("FEEDBACK_COMPONENT_TOOLCHAIN");

/// The package that every exported interface must carry.
pub(super) const CONTRACT: &str = "feedback:policy/";
/// The beginning of every version of it that is understood.
pub(super) const CONTRACT_VERSION: &str = "0.1.";
/// The interfaces that the contract asks for.
const INTERFACES: [&str; 8] = [
    "types",
    "about",
    "policies",
    "redaction",
    "captures",
    "records",
    "gate",
    "chains",
];

/// The version of this program and the digest of the component that is built into it.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncomponent sha256:",
    env!("FEEDBACK_COMPONENT_SHA256")
);

/// Where the built-in component's bytes came from when this program was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From the guest's source.
    Source,
    /// From the bytes that are shipped with the source.
    Shipped,
    /// Not built in: given at run time.
    Given,
}

/// A loaded component, ready to be instantiated for a run.
#[derive(Clone)]
pub struct Component {
    engine: Engine,
    instances: PolicyComponentPre<Limiter>,
    digest: String,
    origin: Origin,
    bytes: Arc<[u8]>,
    /// The steps that each call may take, where they are counted.
    steps: Option<u64>,
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component")
            .field("digest", &self.digest)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// What a component says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// The version of the contract that it was written against.
    pub contract: String,
    /// The schema of its records.
    pub record_schema: String,
    /// CRC-32C of its built-in rules.
    pub rule_set: String,
}

impl Component {
    /// Returns the built-in component.
    ///
    /// # Errors
    /// Only where the engine cannot start on this machine.
    pub fn built_in() -> Result<Self, LoadError> {
        let engine = engine::plain()?;
        let origin = if env!("FEEDBACK_COMPONENT_ORIGIN") == "source" {
            Origin::Source
        } else {
            Origin::Shipped
        };
        // SAFETY: the bytes were made by `precompile_component` in this package's build script, with
        // the configuration that the engine was made with, and are part of this program.
        let compiled = unsafe { Compiled::deserialize(&engine, PRECOMPILED) };
        // A program that was built on another machine may have been compiled for another processor.
        let compiled = match compiled {
            Ok(compiled) => compiled,
            Err(_) => compile(&engine, BYTES)?,
        };
        let digest = format!("sha256:{}", env!("FEEDBACK_COMPONENT_SHA256"));
        Self::checked(engine, &compiled, BYTES.into(), digest, origin)
    }

    /// Loads a component from a file. What compiling it gave is kept in a folder of the user's, so
    /// that it is compiled once.
    ///
    /// # Errors
    /// Where it cannot be read, is no component, imports anything, or lacks an interface.
    pub fn from_file(path: &Path) -> Result<Self, LoadError> {
        let bytes = fs::read(path).map_err(|source| LoadError::Read {
            path: path.to_path_buf(),
            source,
        })?;
        Self::given(&bytes, cache::Cache::open().as_ref()).map_err(|source| LoadError::InFile {
            path: path.to_path_buf(),
            source: Box::new(source),
        })
    }

    /// Loads a component from its bytes, compiling it now.
    ///
    /// # Errors
    /// Where it is no component, imports anything, or lacks an interface.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Self::given(bytes, None)
    }

    fn given(bytes: &[u8], cache: Option<&cache::Cache>) -> Result<Self, LoadError> {
        let engine = engine::counting()?;
        let digest = crate::digest::hex(&Sha256::digest(bytes));
        let kept = cache.and_then(|cache| cache.load(&engine, &digest));
        let compiled = match kept {
            Some(compiled) => compiled,
            None => {
                let compiled = compile(&engine, bytes)?;
                if let Some(cache) = cache {
                    cache.keep(&engine, &digest, &compiled);
                }
                compiled
            }
        };
        let digest = format!("sha256:{digest}");
        let mut component = Self::checked(engine, &compiled, bytes.into(), digest, Origin::Given)?;
        component.steps = Some(STEP_LIMIT);
        Ok(component)
    }

    fn checked(
        engine: Engine,
        compiled: &Compiled,
        bytes: Arc<[u8]>,
        digest: String,
        origin: Origin,
    ) -> Result<Self, LoadError> {
        if let Some(import) = imports(&engine, compiled).into_iter().next() {
            return Err(LoadError::Imports(import));
        }
        let exports: Vec<String> = compiled
            .component_type()
            .exports(&engine)
            .map(|(name, _)| name.to_owned())
            .collect();
        for interface in INTERFACES {
            let wanted = format!("{CONTRACT}{interface}@{CONTRACT_VERSION}");
            if !exports.iter().any(|name| name.starts_with(&wanted)) {
                return Err(LoadError::MissingInterface(interface));
            }
        }
        let contract = |error: wasmtime::Error| LoadError::Contract(format!("{error:#}"));
        // The linker is empty: there is nothing that an import could be satisfied with.
        let instances = Linker::new(&engine)
            .instantiate_pre(compiled)
            .map_err(contract)?;
        let instances = PolicyComponentPre::new(instances).map_err(contract)?;
        Ok(Self {
            engine,
            instances,
            digest,
            origin,
            bytes,
            steps: None,
        })
    }

    /// Returns the SHA-256 of the component's bytes, as `sha256:` and 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns where the component came from.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns how many steps each call may take, or nothing where they are not counted.
    #[must_use]
    pub fn step_limit(&self) -> Option<u64> {
        self.steps
    }

    /// Returns the component's bytes, so that others can host it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the names of what the component imports. Always empty: loading checks it.
    #[must_use]
    pub fn imports(&self) -> Vec<String> {
        let component = self.instances.instance_pre().component();
        imports(&self.engine, component)
    }

    /// Returns the interfaces that the component exports, with their functions.
    #[must_use]
    pub fn exports(&self) -> Vec<(String, Vec<String>)> {
        let component = self.instances.instance_pre().component();
        component
            .component_type()
            .exports(&self.engine)
            .map(|(name, item)| {
                let functions = match item.ty {
                    ComponentItem::ComponentInstance(instance) => instance
                        .exports(&self.engine)
                        .filter(|(_, item)| matches!(item.ty, ComponentItem::ComponentFunc(_)))
                        .map(|(name, _)| name.to_owned())
                        .collect(),
                    ComponentItem::ComponentFunc(_)
                    | ComponentItem::CoreFunc(_)
                    | ComponentItem::Module(_)
                    | ComponentItem::Component(_)
                    | ComponentItem::Type(_)
                    | ComponentItem::Resource(_) => Vec::new(),
                };
                (name.to_owned(), functions)
            })
            .collect()
    }

    /// Asks the component what it is.
    ///
    /// # Errors
    /// Where it cannot be instantiated or stops during the call.
    pub fn describe(&self) -> Result<Description, LoadError> {
        let (mut store, instance) = self.instantiate()?;
        let answer = instance
            .feedback_policy_about()
            .call_describe(&mut store)
            .map_err(|error| LoadError::Instantiate(Trap::of(&error)))?;
        Ok(Description {
            name: answer.name,
            version: answer.version,
            contract: answer.contract,
            record_schema: answer.record_schema,
            rule_set: answer.rule_set,
        })
    }

    /// Makes a fresh instance with its own memory and limits.
    pub(super) fn instantiate(&self) -> Result<(Store<Limiter>, PolicyComponent), LoadError> {
        let mut store = Store::new(&self.engine, Limiter::default());
        store.limiter(|limiter| limiter);
        store.set_hostcall_fuel(OUTPUT_LIMIT);
        if let Some(steps) = self.steps {
            refill(&mut store, steps);
        }
        let instance = self
            .instances
            .instantiate(&mut store)
            .map_err(|error| LoadError::of_instance(&error))?;
        Ok((store, instance))
    }
}

/// Gives a call its steps.
pub(super) fn refill(store: &mut Store<Limiter>, steps: u64) {
    // It fails only where the engine does not count, and then nothing is to be given.
    let _ = store.set_fuel(steps);
}

fn compile(engine: &Engine, bytes: &[u8]) -> Result<Compiled, LoadError> {
    // The eight bytes with which every core module begins: magic number and version 1.
    if bytes.starts_with(b"\0asm\x01\0\0\0") {
        return Err(LoadError::CoreModule);
    }
    Compiled::from_binary(engine, bytes)
        .map_err(|error| LoadError::NotAComponent(format!("{error:#}")))
}

fn imports(engine: &Engine, component: &Compiled) -> Vec<String> {
    component
        .component_type()
        .imports(engine)
        .map(|(name, _)| name.to_owned())
        .collect()
}
