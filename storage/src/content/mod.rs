//! The content of chunks: texts and relations, compressed by blocks of neighbouring chunks.
//!
//! What a search reads of every candidate stands in its record ([`crate::chunk`]); what it reads of the few that it shows, or
//! follows references of, stands here. The texts of a class repeat those of its methods and documentation, and keys repeat
//! paths: within a block, a repetition costs a few bytes.

mod block;
mod cache;
mod codec;
mod whole;
mod writer;

pub(crate) use block::{Block, Part};
pub(crate) use cache::BlockCache;
pub(crate) use codec::{decode_relations, decode_text};
pub(crate) use whole::{decode_whole, encode_whole};
pub(crate) use writer::ContentWriter;
