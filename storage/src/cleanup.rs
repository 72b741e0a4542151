//! What a writer that never published has left behind.

use aurora_inverted::WINDOW;

use crate::commit::Committer;
use crate::error::StorageError;
use crate::snapshot::Snapshot;
use crate::tables::{Operation, Table, block_key, chunk_key};
use crate::vectors::BLOCK_IDS;

/// Where the rows begin that no published generation refers to.
fn starts(snapshot: &Snapshot) -> [(Table, Vec<u8>); 11] {
    let manifest = snapshot.manifest();
    let first = |ids: u32| block_key(manifest.next_chunk_id.div_ceil(ids)).to_vec();
    let segment = manifest.next_segment.to_be_bytes().to_vec();
    [
        (Table::Chunks, chunk_key(manifest.next_chunk_id).to_vec()),
        (Table::Sources, chunk_key(manifest.next_chunk_id).to_vec()),
        (Table::Representations, chunk_key(manifest.next_chunk_id).to_vec()),
        (Table::Content, chunk_key(manifest.next_chunk_id).to_vec()),
        (Table::Blames, chunk_key(manifest.next_chunk_id).to_vec()),
        (Table::Dictionary, segment.clone()),
        (Table::Postings, segment),
        (Table::Lengths, first(WINDOW)),
        (Table::Codes, first(BLOCK_IDS)),
        (Table::Vectors, first(BLOCK_IDS)),
        (Table::Values, first(BLOCK_IDS)),
    ]
}

/// Whether there is anything to remove.
pub(crate) fn has_leftovers(snapshot: &Snapshot) -> Result<bool, StorageError> {
    for (table, start) in starts(snapshot) {
        let cursor = snapshot.cursor(table, &start)?;
        if cursor.entry().map_err(|damage| snapshot.wrap(damage))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes all of it.
///
/// A block of lengths or vectors that the generation shares with the lost writer keeps rows of ids
/// that nobody has; the next writer, which gives those ids out again, drops them.
pub(crate) fn remove_leftovers(snapshot: &Snapshot, committer: &mut Committer) -> Result<(), StorageError> {
    for (table, start) in starts(snapshot) {
        let mut cursor = snapshot.cursor(table, &start)?;
        while let Some((key, _)) = cursor.entry().map_err(|damage| snapshot.wrap(damage))? {
            committer.push(Operation::delete(table, key))?;
            cursor.next().map_err(|damage| snapshot.wrap(damage))?;
        }
    }
    committer.finish()
}
