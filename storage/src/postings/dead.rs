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
        self.words.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 != 0)
    }

    /// The bits of up to `count` ids from `first` on, both multiples of 64; no more than up to the last that is dead.
    pub(crate) fn words(&self, first: u32, count: usize) -> &[u64] {
        let words = self.words.get(first as usize / 64..).unwrap_or_default();
        &words[..words.len().min(count / 64)]
    }
}
