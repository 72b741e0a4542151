//! Stages that are WebAssembly components.
//!
//! A component that implements the world `aurora:stage/stage@1.0.0` (`wit/stage.wit`) fills custom columns. It sees the columns
//! that the configuration names and nothing else: no files, no network, no environment and, unless granted, no clock. Each call
//! has a new instance with its own fuel and memory, so an answer depends on the rows of the call and the configuration only. A
//! call that fails is repeated one row at a time; a row that fails alone keeps no values, and the report says why.
//!
//! Deliberately absent: the declaration of columns and the checks of answers, which processes share ([`aurora_plugins`]), WASI beyond what language runtimes need to start, and state between calls.
//!
//! | question | module |
//! |---|---|
//! | What does the configuration say? | `config` |
//! | How is a module compiled and limited? | `module`, `compiled`, `contents`, `limits` |
//! | What can it reach? | `imports`, `streams` |
//! | What does a call carry? | `interface`, `convert` |
//! | What happens to a call that fails? | `stage`, `call`, `state` |
//!
//! ```
//! use aurora_pipeline::{PipelineSource, Registry, load};
//! use aurora_wasm::Wasm;
//!
//! let mut registry = Registry::new();
//! registry.register::<Wasm>();
//! let configured = registry.configure(
//!     "owner",
//!     r#"
//!         use = "wasm"
//!         module = "plugins/owner.wasm"
//!         reads = ["file.path"]
//!         writes = { owner = "string" }
//!     "#,
//! )?;
//! assert_eq!(configured.access().written().next().map(|column| column.name()), Some("chunk.owner"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![warn(missing_docs)]

mod call;
mod compiled;
mod config;
mod contents;
mod convert;
#[cfg(test)]
#[path = "../tests/guest/mod.rs"]
mod guest;
mod imports;
mod interface;
mod limits;
mod module;
mod stage;
mod state;
mod streams;

pub use compiled::CompiledModules;
pub use config::Wasm;
