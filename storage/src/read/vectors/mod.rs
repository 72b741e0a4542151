//! Vectors with int8 components, in blocks of 1,024 chunk ids. Each vector has a scale, a checksum and a code of signs.

mod append;
mod block;
mod code;
mod nearest;
mod quantise;
mod reader;

pub use nearest::Threads;

pub(crate) use append::VectorAppender;
pub(crate) use block::{BLOCK_IDS, EncodedVectors, VectorBlock, VectorBlockWriter};
pub(crate) use quantise::quantise;
