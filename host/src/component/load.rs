//! Loads a component and refuses one that could do anything but answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};

use sha2::{Digest, Sha256};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component as Compiled, Linker};
use wasmtime::{Engine, OptLevel, Store};

use super::bindings::{PolicyComponent, PolicyComponentPre};
use super::limits::{Limiter, OUTPUT_LIMIT, STEP_LIMIT, Trap};
use super::{cache, config};

/// The built-in component's bytes.
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/feedback.wasm"));
/// The same, compiled for this machine by the build script.
static PRECOMPILED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/feedback.cwasm"));

/// SHA-256 of the sources that the built-in component was built from, in hexadecimal digits;
/// empty where this package was built without them.
pub const SOURCES_DIGEST: &str = env!("FEEDBACK_COMPONENT_SOURCES");
/// The compiler that this program was built with.
pub const TOOLCHAIN: &str = env!("FEEDBACK_COMPONENT_TOOLCHAIN");

/// The package and version that every exported interface must carry.
const CONTRACT: &str = "feedback:policy/";
const CONTRACT_VERSION: &str = "0.1.";
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

/// Why a component is not used. Whoever chose it must choose another.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("component `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The component in a file cannot be used.
    #[error("component `{}`: {source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<Self>,
    },
    /// The bytes are a plain module.
    #[error("this is a core module, not a component")]
    CoreModule,
    /// The bytes are no component.
    #[error("not a component: {0}")]
    NotAComponent(String),
    /// It wants something from outside.
    #[error("the component wants `{0}`: refused, since a policy must not import anything")]
    Imports(String),
    /// It is a component of another kind.
    #[error("the component does not export `{CONTRACT}{0}@{CONTRACT_VERSION}x`")]
    MissingInterface(&'static str),
    /// Its interfaces are there, but not as the contract has them.
    #[error("the component does not follow the contract: {0}")]
    Contract(String),
    /// The engine cannot be set up on this machine.
    #[error("the engine cannot start: {0}")]
    Engine(String),
    /// The system gives no memory for an instance: whoever limits this process must act.
    #[error("no memory for the component: {0}; a limit on addresses (`ulimit -v`) is too low")]
    NoRoom(String),
    /// An instance could not be made, or stopped while it was.
    #[error("the component cannot be instantiated: {0}")]
    Instantiate(Trap),
}

impl Component {
    /// Returns the built-in component.
    ///
    /// # Errors
    /// Only where the engine cannot start on this machine.
    pub fn built_in() -> Result<Self, LoadError> {
        let engine = engine()?;
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
        let engine = counting_engine()?;
        let digest = hex(&Sha256::digest(bytes));
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
            .map_err(|error| not_instantiated(&error))?;
        Ok((store, instance))
    }
}

/// Gives a call its steps.
pub(super) fn refill(store: &mut Store<Limiter>, steps: u64) {
    // It fails only where the engine does not count, and then nothing is to be given.
    let _ = store.set_fuel(steps);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An engine for components that someone else wrote: their steps are counted, so that one that
/// never ends stops, and at the same step on every machine.
fn counting_engine() -> Result<Engine, LoadError> {
    let mut config = config::config();
    config.consume_fuel(true);
    Engine::new(&config).map_err(|error| LoadError::Engine(format!("{error:#}")))
}

fn engine() -> Result<Engine, LoadError> {
    let mut config = config::config();
    if is_address_space_scarce() {
        // Code for so little reservation checks every access, so it is compiled anew; quickly,
        // as that is done for every run.
        config.memory_reservation(SMALL_RESERVATION);
        config.cranelift_opt_level(OptLevel::None);
    }
    Engine::new(&config).map_err(|error| LoadError::Engine(format!("{error:#}")))
}

/// The engine reserves 4 GiB of addresses for each instance, of which a run has two at once, so that
/// its code need not check where it reads; it uses but a few megabytes of them.
const ENOUGH_ADDRESS_SPACE: u64 = 10 << 30;
/// More than [`super::limits::MEMORY_LIMIT`], so that no memory ever moves.
const SMALL_RESERVATION: u64 = 64 << 20;

fn is_address_space_scarce() -> bool {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As);
    limit
        .current
        .is_some_and(|bytes| bytes < ENOUGH_ADDRESS_SPACE)
}

/// Says why an instance could not be made.
fn not_instantiated(error: &wasmtime::Error) -> LoadError {
    let has_no_room = error.chain().any(|cause| {
        let errno = cause.downcast_ref::<rustix::io::Errno>();
        let system = cause.downcast_ref::<io::Error>();
        errno == Some(&rustix::io::Errno::NOMEM)
            || system.is_some_and(|error| error.kind() == io::ErrorKind::OutOfMemory)
    });
    if has_no_room {
        LoadError::NoRoom(format!("{error:#}"))
    } else {
        LoadError::Instantiate(Trap::of(error))
    }
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
