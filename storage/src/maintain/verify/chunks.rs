//! Checks the records, contents and custom values of chunks.

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::entries::Entries;
use super::report::{VerifyReport, problem_message};
use crate::error::StorageError;
use crate::read::{
    BLOCK_IDS, CONTENT_PARTS, ChunkId, CompressedBlock, Frame, Labels, NewChunk, Snapshot, ValueBlock, parse_value_key,
};
use crate::tables::{Table, parse_chunk_key};
use crate::workers::Workers;

/// Number of chunks that a thread checks at a time.
const CHUNKS: usize = 256;
/// Number of blocks of contents that a thread checks at a time.
const BLOCKS: usize = 8;

/// The result for one row: the id of its chunk if that chunk is live, and either the chunk's key or a problem.
type FoundChunk = (Option<u32>, Result<String, String>);

/// The result for one block of contents: its key, its last chunk, and whether it has a live chunk. `None` if the block
/// is invalid.
type FoundBlock = Option<(u32, Option<u32>, bool)>;

impl Snapshot {
    pub(super) fn verify_chunks(
        &self,
        workers: Workers,
        report: &mut VerifyReport,
        entries: &Entries,
    ) -> Result<(), StorageError> {
        let mut present = RoaringBitmap::new();
        let mut keys: FxHashMap<String, u32> = FxHashMap::default();
        let visit = |snapshot: &Self, found: &mut Vec<FoundChunk>, key: &[u8], _: &[u8]| {
            found.push(match parse_chunk_key(key) {
                Some(id) if self.live().contains(id) => (Some(id), snapshot.verify_chunk(id, entries)),
                Some(id) => (None, Err(format!("chunk {id} is deleted but has a record"))),
                None => (None, Err("a chunk record has an impossible key".to_owned())),
            });
            Ok(())
        };
        let add = |found: Vec<FoundChunk>| {
            for (id, key) in found {
                present.extend(id);
                report.chunks += u64::from(id.is_some());
                match (id, key) {
                    (Some(id), Ok(key)) => {
                        if let Some(other) = keys.insert(key, id) {
                            report.problem(format!("chunks {id} and {other} share a key"));
                        }
                    }
                    (_, Err(problem)) => report.problem(problem),
                    (None, Ok(_)) => {}
                }
            }
        };
        self.verify_rows(workers, Table::Chunks, CHUNKS, |key| self.is_unpublished(key), visit, add)?;
        for id in self.live() - &present {
            report.problem(format!("chunk {id} has no record"));
        }
        let count = self.manifest().chunk_count;
        report.expect(count == self.live().len(), || {
            format!("the manifest counts {count} chunks, but {} are live", self.live().len())
        });
        self.verify_content(workers, report)
    }

    /// Reads all data of a live chunk, and records the labels that the dictionary must have. Returns the chunk's key,
    /// or a problem.
    fn verify_chunk(&self, id: u32, entries: &Entries) -> Result<String, String> {
        match self.whole_chunk(ChunkId(id)) {
            Ok(Some(chunk)) => {
                let labels = Labels::new(&NewChunk::from(&chunk), &self.manifest().columns);
                labels.iter().for_each(|label| entries.expect(id, label));
                Ok(chunk.key)
            }
            Ok(None) => Err(format!("chunk {id} has no valid record")),
            Err(error) => Err(problem_message(error)),
        }
    }

    /// Checks that the blocks of contents do not overlap, and that each block has a live chunk.
    fn verify_content(&self, workers: Workers, report: &mut VerifyReport) -> Result<(), StorageError> {
        let visit = |_: &Self, found: &mut Vec<FoundBlock>, key: &[u8], value: &[u8]| {
            let first = parse_chunk_key(key);
            let frames =
                first.and_then(|first| Some((first, CompressedBlock::decode(first, value)?.read::<CONTENT_PARTS>()?)));
            found.push(frames.map(|(first, frames)| {
                let mut ids = frames.iter().flat_map(Frame::ids);
                let last = frames.last().and_then(|frame| frame.ids().next_back());
                (first, last, ids.any(|id| self.live().contains(id)))
            }));
            Ok(())
        };
        let mut end = 0;
        let add = |found: Vec<FoundBlock>| {
            for block in found {
                let Some((first, last, is_live)) = block else {
                    report.problem("a block of contents is invalid".to_owned());
                    continue;
                };
                report.expect(first >= end, || format!("the block of contents {first} overlaps the previous block"));
                end = last.map_or(end, |last| last.saturating_add(1));
                report.expect(is_live, || format!("the block of contents {first} has only deleted chunks"));
            }
        };
        self.verify_rows(workers, Table::Content, BLOCKS, |key| self.is_unpublished(key), visit, add)
    }

    /// Checks that every block of values belongs to a column and has live chunks, and that its values have the type of
    /// the column.
    pub(super) fn verify_values(&self, report: &mut VerifyReport) -> Result<(), StorageError> {
        for row in self.rows(Table::Values, &[]) {
            let (key, value) = row?;
            let parsed = parse_value_key(key);
            let end = self.manifest().next_chunk_id.div_ceil(BLOCK_IDS);
            // The remaining rows belong to a writer that has not published them yet, or never will.
            if parsed.is_some_and(|(block, _)| block >= end) {
                break;
            }
            let column = parsed.and_then(|(block, name)| Some((block, self.custom_column(name)?)));
            match column.and_then(|(block, column)| Some((block, column, ValueBlock::decode(value)?))) {
                Some((block, column, values)) => {
                    let name = &column.name;
                    report.expect(values.values().all(|value| value.kind() == column.kind), || {
                        format!("block {block} of the column `{name}` has values of another type")
                    });
                    let ids = block * BLOCK_IDS..=block * BLOCK_IDS + (BLOCK_IDS - 1);
                    report.expect(self.live().range_cardinality(ids) > 0, || {
                        format!("block {block} of the column `{name}` has only deleted chunks")
                    });
                }
                None => report.problem(format!("the block of values {} is invalid", key.escape_ascii())),
            }
        }
        Ok(())
    }
}
