//! Vectors: int8 with a scale and a checksum each, and a code of signs, 1,024 chunk ids to a block.

mod append;
mod block;
mod code;
mod nearest;
mod quantise;

pub(crate) use append::VectorAppender;
pub(crate) use block::{BLOCK_IDS, Row, VectorBlock, VectorBlockWriter};
pub(crate) use nearest::{Eligible, nearest, product};
pub(crate) use quantise::quantise;
