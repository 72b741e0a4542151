//! The built-in stages of an index run, and the run itself.
//!
//! Each stage is a folder or a file of its name; [`columns`] lists what travels between them, and
//! [`index`] runs a pipeline of them over a directory. Languages are in the crate [`aurora_languages`];
//! [`formats`] adds document formats. Deliberately absent: answering queries, which is the query crate's job.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod bm25;
pub mod chunk;
pub mod columns;
mod definitions;
pub mod discover;
mod document;
mod document_rows;
pub mod embed;
pub mod formats;
pub mod git_signal;
pub mod incremental;
pub mod index;
mod kept_stage;
pub mod limits;
mod masking;
mod metadata;
pub mod parse;
mod passages;
pub mod pipelines;
mod registry;
mod services;
pub mod store;
pub mod tokens;

pub use document_rows::emit_documents;
pub use registry::registry;
