//! Access to one generation of the index, and the formats of its rows.
//!
//! The entry point is [`snapshot`], which finds the tables of a generation. Each of the other modules adds methods to
//! [`Snapshot`] for the format that it reads. A module has the reader, the codec and the writer of its format, so
//! [`vectors`], [`values`], [`files`], [`content`] and [`chunk`] also encode rows. [`crate::write`] decides which rows
//! are written.

pub(crate) mod blame;
pub(crate) mod chunk;
mod collection;
mod completeness;
pub(crate) mod content;
pub(crate) mod files;
pub(crate) mod label;
pub(crate) mod listing;
pub(crate) mod representation;
pub(crate) mod segment;
pub(crate) mod sizes;
pub(crate) mod snapshot;
pub(crate) mod values;
pub(crate) mod vectors;

pub(crate) use blame::Blame;
pub(crate) use chunk::{Chunk, ChunkId, Governance, MetaValue, NewChunk, SourceRecord, StoredTokens};
pub(crate) use content::{
    BlockBuilder, CONTENT_PARTS, CompressedBlock, Frame, decode_whole, encode_relations, encode_text, encode_whole,
};
pub(crate) use files::{FileOutcome, FileRecord, FileStamp, check_path};
pub(crate) use label::Labels;
pub(crate) use listing::TermListing;
pub(crate) use representation::{FileRepresentation, RepresentationBuilder};
pub(crate) use segment::{SegmentPages, SegmentRows, ranges, with_totals};
pub(crate) use snapshot::Snapshot;
pub(crate) use values::{ValueBlock, ValueRows, parse_value_key, value_key};
pub(crate) use vectors::{BLOCK_IDS, EncodedVectors, VectorAppender, VectorBlock, VectorBlockWriter, quantise};
