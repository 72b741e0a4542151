//! The chunks that postings still name and that are gone.

use roaring::RoaringBitmap;

/// Dead chunks, as a set and as a bit for each id: a search asks about every posting that it reads.
#[derive(Debug, Default)]
pub(crate) struct Dead {
    set: RoaringBitmap,
    words: Vec<u64>,
}

impl Dead {
    /// Of ids below the index's next one.
    pub(crate) fn new(set: RoaringBitmap) -> Self {
        let mut words = vec![0u64; set.max().map_or(0, |last| last as usize / 64 + 1)];
        set.iter().for_each(|id| words[id as usize / 64] |= 1 << (id % 64));
        Self { set, words }
    }

    /// The same as a set.
    pub(crate) fn set(&self) -> &RoaringBitmap {
        &self.set
    }

    /// Whether nothing is dead.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether a chunk is dead.
    #[inline]
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.word(id) >> (id % 64) & 1 != 0
    }

    /// The bits of the 64 ids around one, from a multiple of 64 on.
    #[inline]
    pub(super) fn word(&self, id: u32) -> u64 {
        self.words.get(id as usize / 64).copied().unwrap_or(0)
    }
}
