//! The eight built-in stages of an index run, and the run itself.
//!
//! Each stage is a folder or a file of its name; [`columns`] lists what travels between them, and
//! [`index`] runs a pipeline of them over a directory. A programming language is a folder in
//! [`languages`]. Nothing here answers queries: that is the query crate, which reads what the
//! stages have written.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod bm25;
pub mod chunk;
pub mod columns;
pub mod discover;
pub mod embed;
pub mod git_signal;
pub mod incremental;
pub mod index;
pub mod job;
pub mod kept_file;
pub mod languages;
pub mod limits;
pub mod parse;
pub mod pipelines;
pub mod store;
mod unread;

use aurora_pipeline::Registry;

/// A registry that holds the built-in stages.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register_described::<discover::Discover>();
    registry.register_described::<incremental::IncrementalCheck>();
    registry.register_described::<parse::stage::Parse>();
    registry.register_described::<git_signal::GitSignal>();
    registry.register_described::<chunk::ChunkOptions>();
    registry.register_described::<embed::Embed>();
    registry.register_described::<store::Store>();
    registry.register_described::<bm25::Bm25>();
    registry
}
