//! The built-in stages of an index run, and the run itself.
//!
//! Each stage has a folder or a file with its name. [`columns`] defines the data that stages exchange, and [`index`]
//! runs a pipeline over a directory. The crate [`aurora_languages`] supports programming languages, and [`formats`]
//! adds document formats. This crate deliberately does not answer queries, which is the purpose of the query crate.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod bm25;
pub mod chunk;
pub mod columns;
mod definitions;
pub mod discover;
mod document;
pub mod document_source;
pub mod embed;
pub mod formats;
pub mod git_signal;
pub mod incremental;
pub mod index;
pub mod limits;
mod masking;
mod metadata;
pub mod parse;
mod passages;
pub mod pipelines;
mod registry;
mod services;
mod stand_in;
pub mod store;
pub mod tokens;

pub use registry::registry;
