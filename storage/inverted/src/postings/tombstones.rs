//! Tombstones: deleted chunks whose postings are still in a segment.

use roaring::RoaringBitmap;

/// The ids of deleted chunks, as a set and as a bit vector. A search checks every posting that it reads, and the bit
/// vector is faster to query than the set.
#[derive(Debug, Default)]
pub struct Tombstones {
    set: RoaringBitmap,
    words: Vec<u64>,
    /// Indexes of the words that are not 0.
    nonzero: Vec<u32>,
}

impl Tombstones {
    /// Creates tombstones from the set of deleted ids. All ids must be below the next id of the index.
    pub fn new(set: RoaringBitmap) -> Self {
        let mut words = vec![0u64; set.max().map_or(0, |last| last as usize / 64 + 1)];
        set.iter().for_each(|id| words[id as usize / 64] |= 1 << (id % 64));
        let nonzero = (0..).zip(&words).filter(|(_, word)| **word != 0).map(|(at, _)| at).collect();
        Self { set, words, nonzero }
    }

    /// The deleted ids.
    pub fn set(&self) -> &RoaringBitmap {
        &self.set
    }

    /// Whether no chunk is deleted.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether a chunk is deleted.
    #[inline]
    pub fn contains(&self, id: u32) -> bool {
        self.words.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 != 0)
    }

    /// Returns the nonzero words of the bit vector for the `count` ids from `first` on, and the first id of each word.
    /// `first` and `count` must be multiples of 64.
    pub(super) fn nonzero_words(&self, first: u32, count: usize) -> impl Iterator<Item = (u32, u64)> + '_ {
        let (first, end) = (first / 64, first / 64 + count as u32 / 64);
        let from = self.nonzero.partition_point(|at| *at < first);
        let nonzero = self.nonzero[from..].iter().take_while(move |at| **at < end);
        nonzero.map(|&at| (at * 64, self.words[at as usize]))
    }

    /// Returns the words of the bit vector for up to `count` ids from `first` on. `first` and `count` must be multiples
    /// of 64. Words after the last tombstone are omitted.
    pub fn words(&self, first: u32, count: usize) -> &[u64] {
        let words = self.words.get(first as usize / 64..).unwrap_or_default();
        &words[..words.len().min(count / 64)]
    }
}
