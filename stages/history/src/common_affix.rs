//! The lengths of the common prefix and the common suffix of two slices.

/// Sizes of the blocks in which slices are compared, largest first.
const BLOCKS: [usize; 3] = [256, 16, 1];

/// Returns the length of the longest common prefix.
pub(crate) fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    let len = left.len().min(right.len());
    let (left, right) = (&left[..len], &right[..len]);
    BLOCKS.into_iter().fold(0, |shared, block| {
        let blocks = left[shared..].chunks_exact(block).zip(right[shared..].chunks_exact(block));
        shared + block * blocks.take_while(|(l, r)| l == r).count()
    })
}

/// Returns the length of the longest common suffix.
pub(crate) fn common_suffix(left: &[u8], right: &[u8]) -> usize {
    let len = left.len().min(right.len());
    let (left, right) = (&left[left.len() - len..], &right[right.len() - len..]);
    BLOCKS.into_iter().fold(0, |shared, block| {
        let rest = len - shared;
        let blocks = left[..rest].rchunks_exact(block).zip(right[..rest].rchunks_exact(block));
        shared + block * blocks.take_while(|(l, r)| l == r).count()
    })
}

#[cfg(test)]
mod tests {
    use super::{common_prefix, common_suffix};

    #[test]
    fn counts_common_bytes_across_block_borders() {
        for difference in [0, 1, 255, 256, 257, 511, 600] {
            let left = vec![7u8; 700];
            let mut right = left.clone();
            right[difference] = 8;
            assert_eq!(common_prefix(&left, &right), difference);
            assert_eq!(common_suffix(&left, &right), 699 - difference);
        }
        assert_eq!(common_prefix(b"", b"x"), 0);
        assert_eq!(common_suffix(b"xabc", b"abc"), 3);
    }
}
