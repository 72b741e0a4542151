//! Blocks that were decompressed before.

use std::sync::{Arc, Mutex, PoisonError};

use super::block::Part;
use crate::error::StorageError;

/// Parts of blocks that are kept: those of the shown results of a search and of what it follows references from.
const SLOTS: usize = 64;

/// Decompressed parts of the blocks of one snapshot, each in the slot that its key falls on.
pub(crate) struct BlockCache {
    slots: [Mutex<Option<Cached>>; SLOTS],
}

#[derive(Clone)]
struct Cached {
    first: u32,
    part: Part,
    bytes: Arc<Vec<u8>>,
}

impl BlockCache {
    pub(crate) fn new() -> Self {
        Self { slots: std::array::from_fn(|_| Mutex::new(None)) }
    }

    /// The part of the block with a key, which `decompress` gives where it is not known.
    pub(crate) fn get(
        &self,
        first: u32,
        part: Part,
        decompress: impl FnOnce() -> Result<Vec<u8>, StorageError>,
    ) -> Result<Arc<Vec<u8>>, StorageError> {
        // Fibonacci hashing (Knuth, "The Art of Computer Programming", 6.4).
        let slot =
            first.wrapping_mul(2).wrapping_add(part as u32).wrapping_mul(0x9e37_79b1) >> (u32::BITS - SLOTS.ilog2());
        let slot = &self.slots[slot as usize];
        let known = slot.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known.filter(|known| known.first == first && known.part == part) {
            return Ok(known.bytes);
        }
        let bytes = Arc::new(decompress()?);
        let cached = Cached { first, part, bytes: Arc::clone(&bytes) };
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(cached);
        Ok(bytes)
    }
}
