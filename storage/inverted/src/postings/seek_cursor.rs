//! Seek cursors, which look up a few chunks in a long list without decoding it.

use super::chunk_ids::ChunkIdCursor;
use super::tf_column::TfCursor;
use super::tf_vector::TfVector;
use super::window::TfCode;
use crate::chunk_id::WINDOW;

/// Looks up chunks of one window, in ascending order.
#[derive(Debug)]
pub struct SeekCursor<'p>(CursorState<'p>);

#[derive(Debug)]
enum CursorState<'p> {
    Empty,
    Decoded { chunks: &'p [u32], frequencies: &'p [TfVector], window: u32 },
    Encoded { chunks: ChunkIdCursor<'p>, frequencies: TfCursor<'p> },
}

impl<'p> SeekCursor<'p> {
    /// A cursor without postings.
    pub(super) const EMPTY: Self = Self(CursorState::Empty);

    /// Creates a cursor over the decoded postings of a window and the postings after it.
    pub(super) fn decoded(chunks: &'p [u32], frequencies: &'p [TfVector], window: u32) -> Self {
        Self(CursorState::Decoded { chunks, frequencies, window })
    }

    /// Creates a cursor over encoded postings.
    pub(super) fn encoded(chunks: ChunkIdCursor<'p>, frequencies: TfCursor<'p>) -> Self {
        Self(CursorState::Encoded { chunks, frequencies })
    }

    /// Returns the tf vector of the chunk at an offset, or the code of the vector; `None` if the chunk does not contain
    /// the term. Offsets must ascend from call to call.
    #[inline]
    pub fn seek(&mut self, offset: u16) -> Option<TfCode> {
        match &mut self.0 {
            CursorState::Empty => None,
            CursorState::Decoded { chunks, frequencies, window } => {
                let at = chunks.binary_search(&(*window * WINDOW + u32::from(offset))).ok()?;
                frequencies.get(at).copied().map(TfCode::Exception)
            }
            CursorState::Encoded { chunks, frequencies } => Some(frequencies.get(chunks.seek(offset)?)),
        }
    }
}
