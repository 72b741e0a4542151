//! From symbols to chunks: what becomes a chunk, what it is called and what it holds.

mod assemble;
mod date;
pub mod document;
mod keys;
pub mod knowledge;
mod layout;
pub mod reasoning;
mod references;
mod splitter;
pub mod stage;
#[cfg(test)]
mod tests;

pub use assemble::{ChunkOptions, Source, chunks_of};
