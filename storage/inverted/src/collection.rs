//! Trait for the index data that a search reads in addition to posting lists.

use std::borrow::Cow;

use crate::chunk_id::ChunkId;
use crate::lengths::LengthColumns;
use crate::postings::Tombstones;

/// The chunks of an index, as a search sees them.
pub trait Collection {
    /// Error when the index cannot be read.
    type Error;

    /// The id after the highest assigned chunk id.
    fn end(&self) -> u32;

    /// The tombstones: all ids below [`Self::end`] without a live chunk.
    fn tombstones(&self) -> &Tombstones;

    /// Returns the field lengths of the chunks of a window.
    ///
    /// # Errors
    /// Fails if the stored lengths of the window cannot be read or are damaged.
    fn window_lengths(&self, window: u32) -> Result<LengthColumns<'_>, Self::Error>;

    /// Returns the key of a chunk, which orders chunks with equal scores.
    ///
    /// # Errors
    /// Fails if the record of the chunk cannot be read or is damaged.
    fn key(&self, chunk: ChunkId) -> Result<Cow<'_, str>, Self::Error>;
}
