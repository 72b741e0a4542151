//! Adds, replaces and removes files, and publishes the next generation.
//!
//! A [`writer::IndexWriter`] collects changes in its [`state`]. Rows are built on any thread ([`prepared`]), and one
//! thread owns the write transaction ([`commit`]). [`publish`] writes the segments that the [`merge_policy`] selects,
//! and the manifest.

pub(crate) mod chunk_rows;
pub(crate) mod cleanup;
pub(crate) mod commit;
mod compressed_blocks;
pub(crate) mod generation;
pub(crate) mod inversion;
mod merge_policy;
pub(crate) mod options;
pub(crate) mod prepared;
mod publish;
pub(crate) mod segment_input;
mod state;
pub(crate) mod writer;

pub(crate) use chunk_rows::{ChunkBatch, ChunkBatches, ChunkRows};
pub(crate) use cleanup::has_leftovers;
pub(crate) use commit::Committer;
pub(crate) use generation::generation_rows;
pub(crate) use inversion::Inversion;
pub(crate) use options::WriterOptions;
pub(crate) use segment_input::SegmentInput;
