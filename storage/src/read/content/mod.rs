//! The content of chunks (texts and relations) and the blames of files, compressed in blocks of neighbouring chunks.
//!
//! Data that a search reads of every candidate is stored in the chunk's record ([`crate::read::chunk`]). This module
//! stores the data that a search reads only of the few chunks that it shows or whose references it follows. The texts
//! of a class repeat those of its methods and documentation, and keys repeat paths: within a block, a repetition costs
//! a few bytes.

mod block;
mod cache;
mod codec;
mod whole;

pub(crate) use block::{BlockBuilder, CompressedBlock, Frame};
pub(crate) use cache::FrameCache;
pub(crate) use codec::{decode_relations, decode_text, decode_text_body, encode_relations, encode_text};
pub(crate) use whole::{decode_value, decode_whole, encode_value, encode_whole};

/// Number of parts of blocks of [`crate::tables::Table::Content`].
pub(crate) const CONTENT_PARTS: usize = 2;
/// The part that [`decode_text`] reads.
pub(crate) const TEXTS: usize = 0;
/// The part that [`decode_relations`] reads.
pub(crate) const RELATIONS: usize = 1;
