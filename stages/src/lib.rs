//! The eight built-in stages of an index run, and the run itself.
//!
//! Each stage is a folder or a file of its name; [`columns`] lists what travels between them, and
//! [`index`] runs a pipeline of them over a directory. Languages are in the crate [`aurora_languages`];
//! [`formats`] adds document formats. Nothing here answers queries: that is the query crate, which reads what the
//! stages have written.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod bm25;
pub mod chunk;
pub mod columns;
pub mod discover;
pub mod embed;
pub mod formats;
pub mod git_signal;
pub mod incremental;
pub mod index;
pub mod job;
pub mod kept_file;
pub mod limits;
pub mod parse;
pub mod pipelines;
pub mod store;
mod unread;

use aurora_pipeline::Registry;

/// A registry that holds the built-in stages.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register::<discover::Discover>();
    registry.register::<incremental::IncrementalCheck>();
    registry.register::<parse::Parse>();
    registry.register::<git_signal::GitSignal>();
    registry.register::<chunk::ChunkOptions>();
    registry.register::<embed::Embed>();
    registry.register::<store::Store>();
    registry.register::<bm25::Bm25>();
    registry
}
