//! The chunks that postings still name and that are gone.

use roaring::RoaringBitmap;

/// Dead chunks, as a set and as a bit for each id: a search asks about every posting that it reads.
#[derive(Debug, Default)]
pub(crate) struct Dead {
    set: RoaringBitmap,
    words: Vec<u64>,
    /// Which words are not 0.
    held: Vec<u32>,
}

impl Dead {
    /// Of ids below the index's next one.
    pub(crate) fn new(set: RoaringBitmap) -> Self {
        let mut words = vec![0u64; set.max().map_or(0, |last| last as usize / 64 + 1)];
        set.iter().for_each(|id| words[id as usize / 64] |= 1 << (id % 64));
        let held = (0..).zip(&words).filter(|(_, word)| **word != 0).map(|(at, _)| at).collect();
        Self { set, words, held }
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

    /// The first id and the bits of each 64 of `count` ids from `first` on, both multiples of 64, of which some are dead.
    pub(super) fn held_words(&self, first: u32, count: usize) -> impl Iterator<Item = (u32, u64)> + '_ {
        let (first, end) = (first / 64, first / 64 + count as u32 / 64);
        let from = self.held.partition_point(|at| *at < first);
        let held = self.held[from..].iter().take_while(move |at| **at < end);
        held.map(|&at| (at * 64, self.words[at as usize]))
    }

    /// The bits of up to `count` ids from `first` on, both multiples of 64; no more than up to the last that is dead.
    pub(crate) fn words(&self, first: u32, count: usize) -> &[u64] {
        let words = self.words.get(first as usize / 64..).unwrap_or_default();
        &words[..words.len().min(count / 64)]
    }
}
