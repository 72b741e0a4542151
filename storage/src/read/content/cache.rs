//! A cache of decompressed frames.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::StorageError;
use crate::tables::Table;

/// Maximum number of cached parts. Enough for the results that a search shows and for the chunks whose references it
/// follows.
const SLOTS: usize = 64;

/// Counts the uses of a cache.
#[derive(Debug, Default)]
pub struct CacheCounter {
    hits: AtomicU64,
    misses: AtomicU64,
}

/// Numbers of uses of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Number of uses that found a value.
    pub hits: u64,
    /// Number of uses for which a value had to be computed.
    pub misses: u64,
}

impl CacheCounter {
    /// Counts a use.
    pub fn count(&self, is_hit: bool) {
        let counter = if is_hit { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds the counts of another cache.
    pub fn add(&self, counts: CacheCounts) {
        self.hits.fetch_add(counts.hits, Ordering::Relaxed);
        self.misses.fetch_add(counts.misses, Ordering::Relaxed);
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> CacheCounts {
        CacheCounts { hits: self.hits.load(Ordering::Relaxed), misses: self.misses.load(Ordering::Relaxed) }
    }
}

/// Decompressed parts of the frames of one snapshot. The key of a part determines its slot, and a new part replaces the
/// old part in its slot.
pub(crate) struct FrameCache {
    slots: [Mutex<Option<CachedPart>>; SLOTS],
    pub(crate) counter: CacheCounter,
}

/// A part with its key.
type CachedPart = (FrameKey, Arc<Vec<u8>>);

/// Key of a part of a frame: the table, the first chunk of the frame, and the number of the part.
pub(crate) type FrameKey = (Table, u32, usize);

impl FrameCache {
    pub(crate) fn new() -> Self {
        Self { slots: std::array::from_fn(|_| Mutex::new(None)), counter: CacheCounter::default() }
    }

    /// Returns the part with a key. Calls `decompress` if the part is not cached.
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
        let known = known.filter(|(known, _)| *known == key);
        self.counter.count(known.is_some());
        if let Some((_, bytes)) = known {
            return Ok(bytes);
        }
        let bytes = Arc::new(decompress()?);
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some((key, Arc::clone(&bytes)));
        Ok(bytes)
    }
}
