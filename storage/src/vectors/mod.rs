//! Vectors: int8 with a scale and a checksum each, and a code of signs, 1,024 chunk ids to a block.

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
