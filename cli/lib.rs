//! The `aur` program as a library, for programs that add stages of their own: arguments, wiring and printing. The other
//! libraries of this workspace do the work.
//!
//! Deliberately absent: everything that a user of those libraries would miss.
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

mod args;
mod args_artefact;
mod args_browse;
mod args_eval;
mod args_filter;
mod args_graph;
mod args_logs;
mod args_mcp;
mod args_memory;
mod args_model;
mod args_pipeline;
mod args_plugin;
mod args_roots;
mod args_search;
mod args_serve;
mod args_transfer;
mod blame;
mod browse;
mod compact;
mod completions;
mod disk;
mod doctor;
mod eval;
mod export;
mod failed;
mod failure;
mod feedback;
mod findings;
mod golden;
mod graph;
mod import;
mod index;
mod init;
mod interrupt;
mod kept;
mod logs;
mod mcp;
mod memories;
mod memory;
mod mine;
mod mined_trees;
mod model;
mod opened;
mod output;
mod pipeline;
mod place;
mod plugin;
mod program;
mod programs;
mod query_embedder;
mod rebuild;
mod refresh;
mod rerankers;
mod roots;
mod run;
mod search;
mod searched;
mod serve;
mod shorthand;
mod skipped;
mod stats;
mod terminal;
mod trust;
mod tune;
mod values;
mod verify;
mod why;

use aurora_pipeline::Registry;
use aurora_plugins::process::{Documents, Process};

pub use aurora_pipeline as engine;
pub use aurora_stages::columns;

/// The command line.
pub mod cli {
    pub use crate::run::run;
}

/// The stage types that `aur` knows: the built-in ones, and those that run custom stages.
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
