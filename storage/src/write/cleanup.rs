//! Removes rows that a writer has committed but never published.

use aurora_inverted::WINDOW;

use crate::error::StorageError;
use crate::read::{BLOCK_IDS, Snapshot};
use crate::tables::{Operation, Table, block_key, chunk_key};
use crate::write::commit::Committer;

/// Returns, for each table, the first key that does not belong to the published generation.
fn first_unpublished_keys(snapshot: &Snapshot) -> [(Table, Vec<u8>); 11] {
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

/// Whether there are unpublished rows.
pub(crate) fn has_leftovers(snapshot: &Snapshot) -> Result<bool, StorageError> {
    for (table, start) in first_unpublished_keys(snapshot) {
        if snapshot.rows(table, &start).next().transpose()?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes all unpublished rows.
///
/// A block of lengths or vectors may contain both published ids and unpublished ids. Such a block is not changed. The
/// next writer assigns the unpublished ids again, and replaces their rows.
pub(crate) fn remove_leftovers(snapshot: &Snapshot, committer: &mut Committer) -> Result<(), StorageError> {
    for (table, start) in first_unpublished_keys(snapshot) {
        for row in snapshot.rows(table, &start) {
            committer.push(Operation::delete(table, row?.0))?;
        }
    }
    committer.finish()
}
