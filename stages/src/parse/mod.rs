//! From text to symbols: the syntax tree is walked once and dropped.

mod boundaries;
mod captures;
mod constants;
mod deadline;
pub(crate) mod docs;
pub mod parser;
pub(crate) mod pattern;
pub(crate) mod query;
pub(crate) mod sections;
mod signature;
pub mod stage;
mod structure;
pub mod symbols;
mod tree_memory;

pub use symbols::FileSymbols;
