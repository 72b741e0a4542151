//! The `aur` program as a library, for programs that add their own stages: arguments, wiring and printing. The other
//! crates of this workspace do the work.
//!
//! Deliberately absent: everything that belongs in those crates.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     // `registry.register::<…>()` adds a stage type.
//!     let registry = aurora::registry();
//!     aurora::cli::run(registry)
//! }
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![warn(missing_docs)]

mod commands;
mod context;
mod output;
mod run;
mod shorthand;

use aurora_pipeline::Registry;
use aurora_plugins::process::{Documents, Process};

pub use aurora_pipeline as engine;
pub use aurora_stages::columns;

/// The command line.
pub mod cli {
    pub use crate::run::run;
}

/// Returns the stage types of `aur`: the built-in types, and the types that run custom stages.
pub fn registry() -> Registry {
    let mut registry = aurora_stages::registry();
    registry.register_described::<Process>();
    registry.register_described::<Documents>();
    #[cfg(feature = "wasm")]
    registry.register_described::<aurora_wasm::Wasm>();
    #[cfg(not(feature = "wasm"))]
    registry
        .register_absent("wasm", "this program was built without WebAssembly stages; build it with `--features wasm`");
    registry
}
