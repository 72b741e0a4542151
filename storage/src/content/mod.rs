//! The content of chunks, texts and relations, and the blames of files: compressed by blocks of neighbouring chunks.
//!
//! What a search reads of every candidate stands in its record ([`crate::chunk`]); what it reads of the few that it shows, or
//! follows references of, stands here. The texts of a class repeat those of its methods and documentation, and keys repeat
//! paths: within a block, a repetition costs a few bytes.

mod block;
mod cache;
mod codec;
mod whole;

pub(crate) use block::{BlockBuilder, CompressedBlock, Frame};
pub(crate) use cache::FrameCache;
pub(crate) use codec::{decode_relations, decode_text, encode_relations, encode_text, text_of};
pub(crate) use whole::{decode_value, decode_whole, encode_value, encode_whole};

/// The parts of blocks of [`crate::tables::Table::Content`].
pub(crate) const CONTENT_PARTS: usize = 2;
/// What [`decode_text`] reads.
pub(crate) const TEXTS: usize = 0;
/// What [`decode_relations`] reads.
pub(crate) const RELATIONS: usize = 1;
