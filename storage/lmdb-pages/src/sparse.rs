//! A sparse array of numbers, most of which are never set.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of elements in a block. A block takes up one memory page.
const BLOCK_LEN: usize = 512;

/// An array of numbers, initially 0. Blocks are allocated when they are first written to.
#[derive(Debug)]
pub struct Sparse {
    blocks: Box<[OnceLock<Box<[AtomicU64]>>]>,
}

impl Sparse {
    /// Creates an array of `len` numbers.
    pub fn new(len: usize) -> Self {
        Self { blocks: std::iter::repeat_with(OnceLock::new).take(len.div_ceil(BLOCK_LEN)).collect() }
    }

    /// Returns the number at a position.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        let block = self.blocks.get(index / BLOCK_LEN).and_then(OnceLock::get);
        block.map_or(0, |block| block[index % BLOCK_LEN].load(Ordering::Relaxed))
    }

    /// Sets the number at a position, if it is within the array.
    pub fn set(&self, index: usize, number: u64) {
        if let Some(block) = self.blocks.get(index / BLOCK_LEN) {
            let block = block.get_or_init(|| std::iter::repeat_with(AtomicU64::default).take(BLOCK_LEN).collect());
            block[index % BLOCK_LEN].store(number, Ordering::Relaxed);
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
        fn the_last_number_that_was_set_is_returned(puts in prop::collection::vec((0usize..3000, 1u64..), 0..50), indices in prop::collection::vec(0usize..4000, 0..50)) {
            let (sparse, mut expected) = (Sparse::new(2600), BTreeMap::new());
            for (index, number) in puts {
                sparse.set(index, number);
                expected.insert(index, number);
            }
            // The last block has its full length.
            let end = 2600usize.next_multiple_of(BLOCK_LEN);
            for index in indices.into_iter().chain(expected.keys().copied()) {
                let number = expected.get(&index).filter(|_| index < end);
                prop_assert_eq!(sparse.get(index), number.copied().unwrap_or(0));
            }
        }
    }
}
