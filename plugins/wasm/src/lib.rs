//! Stages that are WebAssembly components.
//!
//! A component that implements the world `aurora:stage/stage@1.0.0` (`wit/stage.wit`) fills custom columns. It can
//! access the columns that the configuration lists. It cannot access files, the network or the environment, and it can
//! read the clock only if the configuration grants this. Each call has a new instance with its own fuel and memory, so
//! the result depends only on the configuration and the rows of the call. If a call fails, its rows are processed one
//! at a time. A row that fails alone gets no values, and the report contains the reason.
//!
//! Deliberately absent: the declaration of columns and the checks of answers, which are shared with processes
//! ([`aurora_plugins`]); WASI functions that language runtimes do not need when they start; and state between calls.
//!
//! | question | module |
//! |---|---|
//! | What does the configuration say? | `config` |
//! | How is a module compiled and limited? | `module`, `compiled`, `contents`, `limits` |
//! | What can a module access? | `imports`, `streams` |
//! | What is passed in a call? | `interface`, `convert` |
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
