//! The artefact of a shard: the rows of its index as they are stored, so that a merge need not build them again.
//!
//! Postings are encoded as in a sorted run, because the segment of the merged index is built from runs. Chunks keep the
//! ids that they have in the shard. A merge adds the same number, a multiple of [`BLOCK_IDS`], to all ids of a shard,
//! so that blocks of ids stay whole. The checks here and the verification of the merged index together cover every row.

use aurora_inverted::{LengthCodes, LengthColumns, Posting, Run, RunWriter, TermRange, WINDOW, encode_list};
use roaring::RoaringBitmap;

use super::SHARD_PARTS;
use super::check::decode_file;
use super::manifest::{ArtefactManifest, Shard};
use super::part::{Frame, RowReader};
use crate::error::StorageError;
use crate::maintain::canonical::term_bounds;
use crate::read::{
    BLOCK_IDS, ChunkId, Snapshot, SourceRecord, TermListing, chunk, files, parse_value_key, ranges, value_key,
};
use crate::tables::{Emit, Operation, Table, block_key, chunk_key, parse_chunk_key};
use crate::unfinished::Unfinished;
use crate::workers::Workers;

const _: () = assert!(WINDOW.is_multiple_of(BLOCK_IDS));

/// Numbers of rows in the artefact of a shard.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) vectors: u64,
    pub(super) terms: u64,
    pub(super) postings: u64,
}

/// Emits the rows of all parts.
pub(super) fn rows(snapshot: &Snapshot, workers: Workers, emit: Emit<'_>) -> Result<Counts, StorageError> {
    let mut counts = Counts::default();
    for (table, _) in SHARD_PARTS {
        if table == Table::Dictionary {
            terms(snapshot, workers, &mut counts, emit)?;
            continue;
        }
        for row in snapshot.rows(table, &[]) {
            let (key, value) = row?;
            let value = match table {
                Table::Files => {
                    let invalid = || snapshot.damaged(format!("the row of {} is invalid", key.escape_ascii()));
                    let mut record = files::decode(key, value).ok_or_else(invalid)?;
                    record.omit_evidence();
                    files::encode(&record)
                }
                _ => value.to_vec(),
            };
            emit(Operation::put(table, key, value))?;
        }
    }
    for block in 0..snapshot.manifest().next_chunk_id.div_ceil(BLOCK_IDS) {
        let Some(vectors) = snapshot.vectors(block)? else { continue };
        let is_live = |index: usize| snapshot.live().contains(block * BLOCK_IDS + index as u32);
        counts.vectors += vectors.stored_indices().filter(|(_, index)| is_live(*index)).count() as u64;
    }
    Ok(counts)
}

/// Emits a row with the live postings of each term.
fn terms(snapshot: &Snapshot, workers: Workers, counts: &mut Counts, emit: Emit<'_>) -> Result<(), StorageError> {
    let read = |range: TermRange<'_>| {
        let (mut listing, mut rows) = (TermListing::entries(snapshot, range, 0..u32::MAX), Vec::new());
        while let Some((term, postings)) = listing.step()? {
            let mut list = Vec::new();
            postings.for_each(|ChunkId(chunk), frequencies| list.push(Posting { chunk, frequencies }));
            if !list.is_empty() {
                let value = encode_list(&term, &list);
                rows.push((list.len() as u64, Operation::put(Table::Dictionary, term, value)));
            }
        }
        Ok::<_, StorageError>(rows)
    };
    workers.for_each(ranges(&term_bounds(snapshot)?), read, |rows| {
        for (postings, row) in rows? {
            counts.terms += 1;
            counts.postings += postings;
            emit(row)?;
        }
        Ok(())
    })
}

/// The chunks of a file.
struct OwnedChunks {
    first: u32,
    last: u32,
    path: String,
}

/// Checks the rows of a shard, and turns them into rows of the merged index.
pub(super) struct ShardRows<'m> {
    manifest: &'m ArtefactManifest,
    /// Number that is added to every id.
    first: u32,
    /// Number of ids.
    ids: u32,
    /// The chunks of all files that have chunks, in the order of their ids.
    owners: Vec<OwnedChunks>,
    /// The chunks of all files.
    live: RoaringBitmap,
}

/// The checked rows of a frame, or of all frames of a table.
#[derive(Default)]
pub(super) struct CheckedRows {
    /// Key of the first row.
    pub(super) first: Vec<u8>,
    /// Key of the last row.
    pub(super) last: Vec<u8>,
    rows: u64,
    owners: Vec<OwnedChunks>,
    live: RoaringBitmap,
    unfinished: Unfinished,
    /// Rows of the merged index, with checksums.
    pub(super) operations: Vec<Operation>,
    pub(super) lengths: Vec<LengthCodes>,
    pub(super) run: Run,
}

impl CheckedRows {
    /// Adds the next frame, except for the data that is written to the merged index.
    pub(super) fn append(&mut self, next: &mut Self) -> Result<(), String> {
        if self.last >= next.first {
            return Err("its rows are out of order".to_owned());
        }
        if self.rows == 0 {
            self.first.clone_from(&next.first);
        }
        self.last = std::mem::take(&mut next.last);
        self.rows += next.rows;
        self.owners.append(&mut next.owners);
        self.unfinished.append(std::mem::take(&mut next.unfinished));
        if !self.live.is_disjoint(&next.live) {
            return Err("a chunk belongs to two files".to_owned());
        }
        self.live |= std::mem::take(&mut next.live);
        Ok(())
    }
}

impl<'m> ShardRows<'m> {
    /// Creates a checker for the artefact of a shard. `first` is added to all ids.
    pub(super) fn new(manifest: &'m ArtefactManifest, shard: &Shard, first: u32) -> Self {
        Self { manifest, first, ids: shard.ids, owners: Vec::new(), live: RoaringBitmap::new() }
    }

    /// Checks the rows of a frame.
    pub(super) fn check(&self, table: Table, frame: &Frame) -> Result<CheckedRows, String> {
        let bytes = frame.rows()?;
        let (mut checked, mut terms) = (CheckedRows::default(), RunWriter::new(Vec::new()));
        let mut rows = RowReader::new(&bytes);
        while let Some((key, value)) = rows.next()? {
            // No key is empty, so the first key is always greater than the empty `last`.
            if checked.last.as_slice() >= key {
                return Err("its rows are out of order".to_owned());
            }
            let invalid = || format!("the row {} is invalid", key.escape_ascii());
            match table {
                Table::Files => self.file(&mut checked, key, value)?,
                Table::Lengths => checked.lengths.extend(self.lengths(key, value).ok_or_else(invalid)?),
                Table::Dictionary => {
                    terms.push_list(key, value, self.first, |id| self.live.contains(id)).ok_or_else(invalid)?;
                }
                _ => {
                    let key = self.key(table, key).ok_or_else(invalid)?;
                    let value = self.value(table, &key, value).ok_or_else(invalid)?;
                    checked.operations.push(Operation::put(table, key, value).sealed());
                }
            }
            if checked.rows == 0 {
                checked.first = key.to_owned();
            }
            checked.rows += 1;
            checked.last.clear();
            checked.last.extend_from_slice(key);
        }
        let (bytes, index) = terms.finish().map_err(|error| error.to_string())?;
        checked.run = Run { bytes, index };
        Ok(checked)
    }

    /// Checks the row of a file.
    fn file(&self, checked: &mut CheckedRows, key: &[u8], value: &[u8]) -> Result<(), String> {
        let mut record = decode_file(key, value)?;
        checked.unfinished.add(&record.unfinished, record.chunks.len());
        if !record.chunks.iter().all(|id| id.0 < self.ids) {
            return Err(format!("the row of {} has a chunk that the shard lacks", record.path.escape_debug()));
        }
        if let (Some(first), Some(last)) = (record.chunks.first(), record.chunks.last()) {
            checked.owners.push(OwnedChunks { first: first.0, last: last.0, path: record.path.clone() });
        }
        for ChunkId(id) in &mut record.chunks {
            if !checked.live.insert(*id) {
                return Err(format!("chunk {id} of {} also belongs to another file", record.path.escape_debug()));
            }
            *id += self.first;
        }
        checked.operations.push(Operation::put(Table::Files, key, files::encode(&record)).sealed());
        Ok(())
    }

    /// Returns the length codes of the ids in a window, up to the end of the last block of ids.
    fn lengths(&self, key: &[u8], value: &[u8]) -> Option<Vec<LengthCodes>> {
        let (first, columns) = (self.block(key, WINDOW)? * WINDOW, LengthColumns::decode(value)?);
        let of = |id: u32| if self.live.contains(id) { columns.at((id - first) as u16) } else { [0; _] };
        let end = self.ids.next_multiple_of(BLOCK_IDS).min(first + WINDOW);
        Some((first..end).map(of).collect())
    }

    /// Returns the number of a block of `size` ids, given its key.
    fn block(&self, key: &[u8], size: u32) -> Option<u32> {
        let block = key.try_into().map(u32::from_be_bytes).ok()?;
        (block < self.ids.div_ceil(size)).then_some(block)
    }

    /// Returns the key of a row in the merged index.
    fn key(&self, table: Table, key: &[u8]) -> Option<Vec<u8>> {
        let blocks = self.first / BLOCK_IDS;
        match table {
            Table::Codes | Table::Vectors => Some(block_key(self.block(key, BLOCK_IDS)? + blocks).to_vec()),
            Table::Values => {
                let (block, column) = parse_value_key(key)?;
                self.block(&block_key(block), BLOCK_IDS).map(|block| value_key(block + blocks, column))
            }
            _ => {
                let id = parse_chunk_key(key).filter(|id| *id < self.ids)?;
                Some(chunk_key(id + self.first).to_vec())
            }
        }
    }

    /// Returns the value of a row in the merged index, given the key in that index.
    fn value(&self, table: Table, key: &[u8], value: &[u8]) -> Option<Vec<u8>> {
        let mut value = value.to_vec();
        match table {
            Table::Sources => {
                let (id, source) = (parse_chunk_key(key)? - self.first, SourceRecord::decode(&value)?);
                self.owner(id).filter(|owner| owner.first == id && source.path() == owner.path)?;
            }
            Table::Chunks => {
                let id = parse_chunk_key(key)? - self.first;
                let owner = self.owner(id).filter(|_| self.live.contains(id))?;
                chunk::decode(&value).filter(|record| record.source == owner.first)?;
                chunk::move_source(&mut value, self.first)?;
            }
            _ => {}
        }
        Some(value)
    }

    /// Returns the file whose range of chunks contains an id.
    fn owner(&self, id: u32) -> Option<&OwnedChunks> {
        let after = self.owners.partition_point(|owner| owner.first <= id);
        self.owners.get(after.checked_sub(1)?).filter(|owner| id <= owner.last)
    }

    /// Ends a table, and checks its number of rows.
    pub(super) fn end(&mut self, table: Table, found: CheckedRows) -> Result<(), String> {
        let manifest = self.manifest;
        if table == Table::Files {
            (self.owners, self.live) = (found.owners, found.live);
            self.owners.sort_unstable_by_key(|owner| owner.first);
            if !self.owners.is_sorted_by(|a, b| a.last < b.first) {
                return Err("the chunks of two files are mixed".to_owned());
            }
            if self.live.len() != u64::from(manifest.chunks) || found.unfinished.rows != manifest.unfinished.rows {
                return Err("its numbers of chunks or of unfinished rows differ from the manifest".to_owned());
            }
        }
        let expected = match table {
            Table::Files => manifest.files,
            Table::Sources | Table::Representations => self.owners.len() as u64,
            Table::Chunks => u64::from(manifest.chunks),
            Table::Lengths => u64::from(self.ids.div_ceil(WINDOW)),
            Table::Dictionary => manifest.terms,
            _ => found.rows,
        };
        if found.rows == expected { Ok(()) } else { Err(format!("it has {} rows, not {expected}", found.rows)) }
    }

    /// The ids of all chunks in the merged index.
    pub(super) fn live(&self) -> impl Iterator<Item = u32> {
        self.live.iter().map(|id| id + self.first)
    }
}
