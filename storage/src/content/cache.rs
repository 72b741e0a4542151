//! Frames that were decompressed before.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::StorageError;
use crate::tables::Table;

/// Parts of frames that are kept: those of the shown results of a search and of what it follows references from.
const SLOTS: usize = 64;

/// Decompressed parts of the frames of one snapshot, each in the slot that its key falls on.
pub(crate) struct FrameCache {
    slots: [Mutex<Option<Cached>>; SLOTS],
}

#[derive(Clone)]
struct Cached {
    key: FrameKey,
    bytes: Arc<Vec<u8>>,
}

/// A part of a frame: the table, the first chunk of the frame, the number of the part.
pub(crate) type FrameKey = (Table, u32, usize);

impl FrameCache {
    pub(crate) fn new() -> Self {
        Self { slots: std::array::from_fn(|_| Mutex::new(None)) }
    }

    /// The part with a key, which `decompress` gives where it is not known.
    pub(crate) fn get(
        &self,
        key: FrameKey,
        decompress: impl FnOnce() -> Result<Vec<u8>, StorageError>,
    ) -> Result<Arc<Vec<u8>>, StorageError> {
        // Fibonacci hashing (Knuth, "The Art of Computer Programming", 6.4).
        let (_, first, part) = key;
        let number = first.wrapping_mul(2).wrapping_add(part as u32);
        let slot = number.wrapping_mul(0x9e37_79b1) >> (u32::BITS - SLOTS.ilog2());
        let slot = &self.slots[slot as usize];
        let known = slot.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known.filter(|known| known.key == key) {
            return Ok(known.bytes);
        }
        let bytes = Arc::new(decompress()?);
        let cached = Cached { key, bytes: Arc::clone(&bytes) };
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(cached);
        Ok(bytes)
    }
}
