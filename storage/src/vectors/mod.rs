//! Vectors: int8 with a scale each, 1,024 chunk ids to a block.

mod append;
mod block;
mod kernel;
mod nearest;
mod quantise;

pub(crate) use append::VectorAppender;
pub(crate) use block::{VectorBlock, VectorBlockWriter};
pub(crate) use nearest::{Candidate, scan};
pub(crate) use quantise::quantise;
