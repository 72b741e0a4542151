//! The content of chunks (texts and relations) and the blames of files, compressed in blocks of neighbouring chunks.
//!
//! The data that a search reads for every candidate is stored in the chunk's record ([`crate::read::chunk`]). This
//! module stores the data that a search reads only for the few chunks that it shows or whose references it follows. The
//! text of a class repeats the texts of its methods and its documentation, and keys repeat paths. Within a frame, a
//! repetition takes up only a few bytes.

mod block;
mod cache;
mod codec;
mod whole;

pub(crate) use block::{BlockBuilder, CompressedBlock, Frame};
pub(crate) use cache::FrameCache;
pub use cache::{CacheCounter, CacheCounts};
pub(crate) use codec::{
    decode_complexity, decode_relations, decode_text, decode_text_body, encode_relations, encode_text,
};
pub(crate) use whole::{decode_value, decode_whole, encode_value, encode_whole};

/// Number of parts in each frame of [`crate::tables::Table::Content`].
pub(crate) const CONTENT_PARTS: usize = 2;
/// Index of the part that [`decode_text`] reads.
pub(crate) const TEXTS: usize = 0;
/// Index of the part that [`decode_relations`] reads.
pub(crate) const RELATIONS: usize = 1;
