//! Checksums of values.
//!
//! LMDB does not notice when a byte of its file changes. Every value of a sealed table therefore ends in a CRC-32 of
//! its table, key and bytes. A value that was changed, or that a damaged page returns for another key, is reported as
//! damage.

use crc32fast::Hasher;

use crate::sparse::Sparse;

/// Number of bytes of a checksum.
const CHECKSUM_BYTES: usize = 4;

/// Number that identifies a table in the checksums of its values.
pub type Mark = u8;

/// Appends the checksum of a value.
pub fn seal(mark: Mark, key: &[u8], value: &mut Vec<u8>) {
    let checksum = checksum(mark, key, value);
    value.extend_from_slice(&checksum.to_le_bytes());
}

/// Returns the value without its checksum, or `None` if the checksum is wrong.
pub fn unseal<'a>(mark: Mark, key: &[u8], bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (value, stored) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
    (checksum(mark, key, value) == u32::from_le_bytes(*stored)).then_some(value)
}

/// Returns the value without its checksum, which is not checked.
pub(crate) fn without_seal(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().saturating_sub(CHECKSUM_BYTES)]
}

/// Returns the CRC-32 of `bytes`.
pub fn crc(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

fn checksum(mark: Mark, key: &[u8], value: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(&[mark]);
    hasher.update(key);
    hasher.update(value);
    hasher.finalize()
}

/// Large values whose checksums have been verified. They are not checked again as long as the pages do not change.
#[derive(Debug)]
pub struct Unsealed {
    /// For the first overflow page of a verified value, the number of the node that refers to it; 0 for all other
    /// pages.
    nodes: Sparse,
}

impl Unsealed {
    /// Creates an empty set for a file with `pages` pages.
    pub fn new(pages: u64) -> Self {
        Self { nodes: Sparse::new(pages as usize) }
    }

    /// Whether the value that starts at a page has been verified for this node.
    pub(crate) fn contains(&self, page: u64, node: (u64, usize)) -> bool {
        self.nodes.get(page as usize) == node_number(node)
    }

    /// Records that the value has been verified for a node.
    pub(crate) fn insert(&self, page: u64, node: (u64, usize)) {
        self.nodes.set(page as usize, node_number(node));
    }
}

/// Encodes a node, given by its leaf page and its index in the page, as a number that is never 0.
fn node_number((leaf, index): (u64, usize)) -> u64 {
    (leaf << u16::BITS | index as u64) + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_changed_value_key_or_table_is_noticed(
            mark in 0u8..8, key in prop::collection::vec(any::<u8>(), 1..20), value in prop::collection::vec(any::<u8>(), 0..300),
            at in any::<prop::sample::Index>(), bit in 0u8..8,
        ) {
            let mut sealed = value.clone();
            seal(mark, &key, &mut sealed);
            prop_assert_eq!(unseal(mark, &key, &sealed), Some(&value[..]));
            prop_assert_eq!(unseal(mark ^ 1 << bit, &key, &sealed), None);
            let mut other = key.clone();
            other[at.index(key.len())] ^= 1 << bit;
            prop_assert_eq!(unseal(mark, &other, &sealed), None);
            prop_assert_eq!(unseal(mark, &key, &sealed[..sealed.len() - 1]), None);
            let at = at.index(sealed.len());
            sealed[at] ^= 1 << bit;
            prop_assert_eq!(unseal(mark, &key, &sealed), None);
        }
    }
}
