//! Why a component is not used.
//!
//! It looks at no component; `load` does.

use std::io;
use std::path::PathBuf;

use super::limits::Trap;
use super::load::{CONTRACT, CONTRACT_VERSION};

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

impl LoadError {
    /// Says why an instance could not be made.
    pub(super) fn of_instance(error: &wasmtime::Error) -> Self {
        let has_no_room = error.chain().any(|cause| {
            let errno = cause.downcast_ref::<rustix::io::Errno>();
            let system = cause.downcast_ref::<io::Error>();
            errno == Some(&rustix::io::Errno::NOMEM)
                || system.is_some_and(|error| error.kind() == io::ErrorKind::OutOfMemory)
        });
        if has_no_room {
            Self::NoRoom(format!("{error:#}"))
        } else {
            Self::Instantiate(Trap::of(error))
        }
    }
}
