//! A sparse array of numbers, few of which are ever used.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of elements in a block, which takes about a page of memory.
const BLOCK_LEN: usize = 512;

/// An array of numbers, initially 0. Blocks are allocated when they are first written to.
#[derive(Debug)]
pub struct Sparse {
    blocks: Box<[OnceLock<Box<[AtomicU64]>>]>,
}

impl Sparse {
    /// Creates an array for `places` numbers.
    pub fn new(places: usize) -> Self {
        Self { blocks: std::iter::repeat_with(OnceLock::new).take(places.div_ceil(BLOCK_LEN)).collect() }
    }

    /// Returns the number at a position.
    #[inline]
    pub fn get(&self, place: usize) -> u64 {
        let block = self.blocks.get(place / BLOCK_LEN).and_then(OnceLock::get);
        block.map_or(0, |block| block[place % BLOCK_LEN].load(Ordering::Relaxed))
    }

    /// Sets the number at a position, if it is within the array.
    pub fn set(&self, place: usize, number: u64) {
        if let Some(block) = self.blocks.get(place / BLOCK_LEN) {
            let block = block.get_or_init(|| std::iter::repeat_with(AtomicU64::default).take(BLOCK_LEN).collect());
            block[place % BLOCK_LEN].store(number, Ordering::Relaxed);
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
        fn the_last_number_that_was_set_is_returned(puts in prop::collection::vec((0usize..3000, 1u64..), 0..50), asked in prop::collection::vec(0usize..4000, 0..50)) {
            let (sparse, mut expected) = (Sparse::new(2600), BTreeMap::new());
            for (place, number) in puts {
                sparse.set(place, number);
                expected.insert(place, number);
            }
            // The last block has its full length.
            let end = 2600usize.next_multiple_of(BLOCK_LEN);
            for place in asked.into_iter().chain(expected.keys().copied()) {
                let number = expected.get(&place).filter(|_| place < end);
                prop_assert_eq!(sparse.get(place), number.copied().unwrap_or(0));
            }
        }
    }
}
