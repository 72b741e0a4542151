//! The values of custom columns, in a separate table, so that records and contents need not be rewritten when a value
//! changes.
//!
//! A row has the values of one column for 1,024 chunk ids. [`block`] defines the format, [`rows`] writes rows, and
//! [`reader`] reads them. Filters also read these rows. Neighbouring chunks mostly have the same value, so a row has
//! only a few runs of ids.

mod block;
mod reader;
mod rows;

pub(crate) use block::{ValueBlock, ValueBlockBuilder};
pub(crate) use rows::ValueRows;

use crate::read::vectors::BLOCK_IDS;

/// Returns the key of a column's values for a block of 1,024 chunk ids.
pub(crate) fn value_key(block: u32, column: &str) -> Vec<u8> {
    [&block.to_be_bytes(), column.as_bytes()].concat()
}

/// Parses a key into block and column. Returns `None` if the key is invalid.
pub(crate) fn parse_value_key(key: &[u8]) -> Option<(u32, &str)> {
    let (block, column) = key.split_first_chunk()?;
    Some((u32::from_be_bytes(*block), std::str::from_utf8(column).ok()?))
}

/// Returns the block of a chunk id, and the index of the id in the block.
pub(crate) fn split_id(id: u32) -> (u32, usize) {
    (id / BLOCK_IDS, (id % BLOCK_IDS) as usize)
}
