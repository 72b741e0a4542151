//! The content of a generation under new chunk ids, as if the index had been written in one run.
//!
//! Chunks are numbered file by file in the order of paths, and in their order within each file. Deleted chunks are
//! omitted and all segments become one, so that the rows depend only on the content, and not on how the index was
//! built.

use std::ops::Range;
use std::sync::Arc;

use aurora_inverted::{
    FIELDS, LengthCodes, ListEncoder, Posting, SegmentWriter, TermRange, WINDOW, add_lengths, encode_lengths,
};
use roaring::RoaringBitmap;

use crate::error::StorageError;
use crate::manifest::{Manifest, SegmentInfo};
use crate::read::{
    BLOCK_IDS, Chunk, ChunkId, SegmentRows, Snapshot, TermListing, VectorBlock, VectorBlockWriter, encode_whole, files,
    ranges, with_totals,
};
use crate::tables::{Emit, Operation, Table, block_key, chunk_key};
use crate::workers::Workers;
use crate::write::{ChunkBatch, ChunkBatches, ChunkRows};

/// Id of the only segment.
pub(crate) const SEGMENT: u32 = 0;
/// Number of chunks that a thread reads at a time.
const CHUNKS: u32 = 512;
/// Number of files whose blames a thread reads at a time.
const FILES: usize = 64;
/// Number of dictionary blocks whose terms a thread reads at a time.
const BLOCKS: usize = 16;

/// Whether file rows keep the data by which this machine recognises unchanged files: stat data, and the blob id in
/// git's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// Keep the data: the index stays with its tree.
    Keep,
    /// Omit the data: it differs between two indexes of the same tree.
    Omit,
}

/// A snapshot whose chunks have new ids.
pub(crate) struct Canonical<'s> {
    snapshot: &'s Snapshot,
    workers: Workers,
    /// The old ids, by new id.
    order: Vec<u32>,
    /// The new ids by old id, in blocks; `None` for a block without live chunks.
    numbers: Vec<Option<Box<[u32; BLOCK_IDS as usize]>>>,
}

impl<'s> Canonical<'s> {
    /// Assigns new ids to the chunks. The threads of `workers` will build the rows. Their number does not affect the
    /// rows.
    ///
    /// # Errors
    /// Fails if a file refers to a missing chunk or to another file's chunk, or if a chunk belongs to no file.
    pub(crate) fn new(snapshot: &'s Snapshot, workers: Workers) -> Result<Self, StorageError> {
        let mut order = Vec::with_capacity(snapshot.live().len() as usize);
        let blocks = snapshot.manifest().next_chunk_id.div_ceil(BLOCK_IDS);
        let mut numbers: Vec<Option<Box<[u32; BLOCK_IDS as usize]>>> = vec![None; blocks as usize];
        let mut seen = RoaringBitmap::new();
        for file in snapshot.files() {
            let file = file?;
            for ChunkId(id) in file.chunks {
                if !snapshot.live().contains(id) || !seen.insert(id) {
                    return Err(snapshot.damaged(format!("chunk {id} of {} is missing or not its own", file.path)));
                }
                let block = numbers[(id / BLOCK_IDS) as usize].get_or_insert_with(|| Box::new([0; BLOCK_IDS as usize]));
                block[(id % BLOCK_IDS) as usize] = order.len() as u32;
                order.push(id);
            }
        }
        match (snapshot.live() - seen).min() {
            Some(id) => Err(snapshot.damaged(format!("chunk {id} belongs to no file"))),
            None => Ok(Self { snapshot, workers, order, numbers }),
        }
    }

    /// Number of chunks. The new ids are less than this number.
    pub(crate) fn len(&self) -> u32 {
        self.order.len() as u32
    }

    /// Returns the new id of a live chunk.
    fn number(&self, old: u32) -> u32 {
        let block = self.numbers[(old / BLOCK_IDS) as usize].as_ref();
        block.map_or(0, |block| block[(old % BLOCK_IDS) as usize])
    }

    /// Emits the rows of all tables except [`Table::Meta`]. Returns the only segment, or `None` if there are no chunks.
    pub(crate) fn rows(&self, evidence: Evidence, emit: Emit<'_>) -> Result<Option<SegmentInfo>, StorageError> {
        self.content(evidence, emit)?;
        let segment = self.segment(emit)?;
        self.lengths(emit)?;
        self.vectors(VectorBlockWriter::operations, emit)?;
        Ok(segment)
    }

    /// Emits the rows of chunks, contents, values, blames, files and representations. The keyword index and the vectors
    /// are not included.
    pub(crate) fn content(&self, evidence: Evidence, emit: Emit<'_>) -> Result<(), StorageError> {
        self.chunks(emit)?;
        self.files(evidence, emit)?;
        self.representations(emit)
    }

    /// Emits the rows of [`Table::Representations`].
    pub(crate) fn representations(&self, emit: Emit<'_>) -> Result<(), StorageError> {
        for file in self.snapshot.files() {
            let Some(&first) = file?.chunks.first() else { continue };
            let row = self.snapshot.encoded_representation(first)?;
            emit(Operation::put(Table::Representations, chunk_key(self.number(first.0)), row.to_vec()))?;
        }
        Ok(())
    }

    /// Emits the rows of [`Table::Files`].
    pub(crate) fn files(&self, evidence: Evidence, emit: Emit<'_>) -> Result<(), StorageError> {
        for row in self.snapshot.rows(Table::Files, &[]) {
            let (key, value) = row?;
            let mut record = files::decode(key, value)
                .ok_or_else(|| self.snapshot.damaged(format!("the row of {} is invalid", key.escape_ascii())))?;
            for ChunkId(id) in &mut record.chunks {
                *id = self.number(*id);
            }
            if evidence == Evidence::Omit {
                record.omit_evidence();
            }
            emit(Operation::put(Table::Files, key, files::encode(&record)))?;
        }
        Ok(())
    }

    /// Calls `each` for every file with a blame, with the new id of the file's first chunk and the encoded blame.
    fn blames(&self, mut each: impl FnMut(u32, Vec<u8>) -> Result<(), StorageError>) -> Result<(), StorageError> {
        let mut firsts = Vec::new();
        for file in self.snapshot.files() {
            firsts.extend(file?.chunks.first());
        }
        let read = |firsts: &[ChunkId]| {
            let snapshot = self.snapshot.with_own_frames();
            let blame =
                |first: &ChunkId| Ok(snapshot.encoded_blame(*first)?.map(|blame| (self.number(first.0), blame)));
            firsts.iter().map(blame).filter_map(Result::transpose).collect::<Result<Vec<_>, StorageError>>()
        };
        self.workers.for_each(firsts.chunks(FILES), read, |blames| {
            blames?.into_iter().try_for_each(|(first, blame)| each(first, blame))
        })
    }

    /// Emits one row for each blame, for an artefact.
    pub(crate) fn bare_blames(&self, emit: Emit<'_>) -> Result<(), StorageError> {
        self.blames(|first, blame| emit(Operation::put(Table::Blames, chunk_key(first), blame)))
    }

    /// Emits the rows of [`Table::Chunks`], [`Table::Sources`], [`Table::Values`], [`Table::Content`] and
    /// [`Table::Blames`].
    pub(crate) fn chunks(&self, emit: Emit<'_>) -> Result<(), StorageError> {
        let columns: Arc<[_]> = self.snapshot.manifest().columns.clone().into();
        let mut batches = ChunkBatches::new(&columns);
        let encode = |batch: ChunkBatch| batch.rows(&columns);
        self.workers.in_order(
            encode,
            |rows: Result<Vec<_>, _>| rows?.into_iter().try_for_each(&mut *emit),
            |queue| {
                let read = |ids| self.whole_chunks(ids).map(|(_, chunk)| chunk).collect::<Result<Vec<_>, _>>();
                self.workers.for_each(self.ids(), read, |chunks| queue.push(0, batches.push(chunks?)?))
            },
        )?;
        batches.finish(emit)?;
        let mut rows = ChunkRows::new(columns);
        self.blames(|first, blame| rows.push_blame(first, &blame, emit))?;
        rows.finish(emit)
    }

    /// Emits one row for each chunk, for an artefact.
    pub(crate) fn bare_chunks(&self, emit: Emit<'_>) -> Result<(), StorageError> {
        let row = |(id, chunk): (u32, Result<Chunk, StorageError>)| {
            Ok(Operation::put(Table::Chunks, chunk_key(id), encode_whole(&chunk?)))
        };
        let read = |ids| self.whole_chunks(ids).map(row).collect::<Result<Vec<_>, StorageError>>();
        self.workers.for_each(self.ids(), read, |rows| rows?.into_iter().try_for_each(&mut *emit))
    }

    /// Returns the new ids in ranges, one for each task of a thread.
    fn ids(&self) -> impl Iterator<Item = Range<u32>> {
        let end = self.len();
        (0..end).step_by(CHUNKS as usize).map(move |first| first..end.min(first + CHUNKS))
    }

    /// Reads chunks by their new ids.
    pub(crate) fn whole_chunks(&self, ids: Range<u32>) -> impl Iterator<Item = (u32, Result<Chunk, StorageError>)> {
        let snapshot = self.snapshot.with_own_frames();
        ids.map(move |new| {
            let old = self.order[new as usize];
            let missing = || self.snapshot.damaged(format!("chunk {old} has no record"));
            (new, snapshot.whole_chunk(ChunkId(old)).and_then(|chunk| chunk.ok_or_else(missing)))
        })
    }

    /// Emits the rows of [`Table::Lengths`].
    ///
    /// # Errors
    /// Fails if the index is damaged, or the lengths do not add up to the totals in the manifest.
    pub(crate) fn lengths(&self, emit: Emit<'_>) -> Result<(), StorageError> {
        let all = self.snapshot.all_field_lengths()?;
        let rows: Vec<_> = self.order.iter().map(|&old| all.of(ChunkId(old))).collect();
        if put_lengths(&rows, emit)? == self.snapshot.field_totals() {
            Ok(())
        } else {
            Err(self.snapshot.damaged("field lengths do not add up to the totals in the manifest".to_owned()))
        }
    }

    /// Returns the manifest of an index with these rows.
    pub(crate) fn manifest(&self, generation: u64, segment: Option<SegmentInfo>) -> Manifest {
        Manifest {
            generation,
            next_segment: segment.iter().map(|segment| segment.id + 1).sum(),
            segments: segment.into_iter().collect(),
            next_chunk_id: self.len(),
            ..self.snapshot.manifest().clone()
        }
    }

    /// Emits the rows that `encode` returns for each block of vectors. Returns the number of vectors.
    pub(crate) fn vectors(
        &self,
        encode: impl Fn(VectorBlockWriter, u32) -> Vec<Operation> + Sync,
        emit: Emit<'_>,
    ) -> Result<u64, StorageError> {
        let Some(model) = &self.snapshot.manifest().model else { return Ok(0) };
        let read = |(block, ids): (u32, &[u32])| {
            let (mut writer, mut count) = (VectorBlockWriter::new(model.dimensions), 0);
            let mut at: Option<(u32, Option<VectorBlock<'_>>)> = None;
            for (index, &old) in ids.iter().enumerate() {
                let stored = match at {
                    Some((number, stored)) if number == old / BLOCK_IDS => stored,
                    _ => self.snapshot.vectors(old / BLOCK_IDS)?,
                };
                at = Some((old / BLOCK_IDS, stored));
                let row = stored.map(|stored| stored.get((old % BLOCK_IDS) as usize)).transpose();
                if let Some((scale, row)) = self.snapshot.check(row)?.flatten() {
                    writer.push(index, scale, &row);
                    count += 1;
                }
            }
            Ok::<_, StorageError>((encode(writer, block), count))
        };
        let mut all = 0;
        self.workers.for_each((0u32..).zip(self.order.chunks(BLOCK_IDS as usize)), read, |block| {
            let (rows, count) = block?;
            all += count;
            rows.into_iter().try_for_each(&mut *emit)
        })?;
        Ok(all)
    }

    /// Emits the rows of [`Table::Dictionary`] and of [`Table::Postings`], each in key order. Returns `None` if there
    /// are no chunks.
    pub(crate) fn segment(&self, emit: Emit<'_>) -> Result<Option<SegmentInfo>, StorageError> {
        let Some(info) = segment_info(self.len()) else { return Ok(None) };
        let lengths = self.snapshot.all_field_lengths()?;
        let length = |new: u32| lengths.of(ChunkId(self.order[new as usize]));
        let encode = |range: TermRange<'_>| {
            let mut listing = TermListing::entries(self.snapshot, range, 0..u32::MAX);
            let (mut lists, mut renumbered) = (ListEncoder::new(&length), Vec::new());
            while let Some((term, postings)) = listing.step()? {
                renumbered.clear();
                postings.for_each(|ChunkId(old), frequencies| {
                    renumbered.push(Posting { chunk: self.number(old), frequencies });
                });
                renumbered.sort_unstable_by_key(|posting| posting.chunk);
                lists.begin(&term);
                renumbered.iter().for_each(|&posting| lists.push(posting));
                lists.end();
            }
            Ok::<_, StorageError>(lists.take())
        };
        let mut writer = SegmentWriter::new(SegmentRows { id: info.id, emit });
        let bounds = term_bounds(self.snapshot)?;
        self.workers.for_each(ranges(&bounds), encode, |lists| writer.append(&lists?))?;
        Ok(Some(with_totals(info, writer.finish(&[])?)))
    }
}

/// Returns terms that divide the dictionary into ranges of a few blocks.
pub(crate) fn term_bounds(snapshot: &Snapshot) -> Result<Vec<Vec<u8>>, StorageError> {
    let mut bounds = vec![Vec::new()];
    for segment in snapshot.segments() {
        let keys = snapshot.check(segment.block_keys(BLOCKS))?;
        bounds.extend(keys.into_iter().map(<[u8]>::to_vec));
    }
    bounds.sort_unstable();
    bounds.dedup();
    Ok(bounds)
}

/// Returns the description of the only segment of an index with this number of chunks, without counts; `None` if there
/// are no chunks.
pub(crate) fn segment_info(chunks: u32) -> Option<SegmentInfo> {
    let info = SegmentInfo {
        id: SEGMENT,
        first_chunk: 0,
        end_chunk: chunks,
        chunks: u64::from(chunks),
        terms: 0,
        postings: 0,
        bytes: 0,
    };
    (chunks > 0).then_some(info)
}

/// Emits the rows of [`Table::Lengths`] for all chunks, and returns the totals of the fields.
pub(crate) fn put_lengths(lengths: &[LengthCodes], emit: Emit<'_>) -> Result<[u64; FIELDS], StorageError> {
    let mut totals = [0; FIELDS];
    for (window, lengths) in (0u32..).zip(lengths.chunks(WINDOW as usize)) {
        lengths.iter().for_each(|codes| add_lengths(&mut totals, *codes));
        emit(Operation::put(Table::Lengths, block_key(window), encode_lengths(lengths)))?;
    }
    Ok(totals)
}
