//! Adds, replaces and removes files, and publishes the next generation.
//!
//! A [`writer::IndexWriter`] collects changes in its [`state`]. Rows are built on any thread ([`prepared`]), and one thread
//! owns the write transaction ([`commit`]). [`publish`] writes the segments that the [`merge_policy`] selects, and the
//! manifest.

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
