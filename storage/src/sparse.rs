//! Numbers by place, of which few are ever asked for.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of a block: about a page of memory.
const BLOCK: usize = 512;

/// A number for each place, 0 where none was put; made in blocks when they are first written to.
#[derive(Debug)]
pub(crate) struct Sparse {
    blocks: Box<[OnceLock<Box<[AtomicU64]>>]>,
}

impl Sparse {
    /// For so many places.
    pub(crate) fn new(places: usize) -> Self {
        Self { blocks: std::iter::repeat_with(OnceLock::new).take(places.div_ceil(BLOCK)).collect() }
    }

    /// The number at a place.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> u64 {
        let block = self.blocks.get(place / BLOCK).and_then(OnceLock::get);
        block.map_or(0, |block| block[place % BLOCK].load(Ordering::Relaxed))
    }

    /// Puts a number at a place, if there is such a one.
    pub(crate) fn set(&self, place: usize, number: u64) {
        if let Some(block) = self.blocks.get(place / BLOCK) {
            let block = block.get_or_init(|| std::iter::repeat_with(AtomicU64::default).take(BLOCK).collect());
            block[place % BLOCK].store(number, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_put_last_is_there(puts in prop::collection::vec((0usize..3000, 1u64..), 0..50), asked in prop::collection::vec(0usize..4000, 0..50)) {
            let (sparse, mut expected) = (Sparse::new(2600), BTreeMap::new());
            for (place, number) in puts {
                sparse.set(place, number);
                expected.insert(place, number);
            }
            // The last block is whole.
            let end = 2600usize.next_multiple_of(BLOCK);
            for place in asked.into_iter().chain(expected.keys().copied()) {
                let number = expected.get(&place).filter(|_| place < end);
                prop_assert_eq!(sparse.get(place), number.copied().unwrap_or(0));
            }
        }
    }
}
