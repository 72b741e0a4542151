//! Reads the vectors of a snapshot.

use aurora_inverted::{Collection, keep_best};
use roaring::RoaringBitmap;

use super::block::{BLOCK_IDS, StoredVector, VectorBlock};
use super::nearest::{Eligible, IndexBlock, Threads, nearest, product};
use crate::error::StorageError;
use crate::read::chunk::ChunkId;
use crate::read::snapshot::{Snapshot, VectorPosition};
use crate::tables::{Table, block_key};

/// Blocks are looked up one by one if there are more than this many blocks for each chunk of a filter. Otherwise, all
/// blocks are scanned, which takes less time for each block.
const BLOCKS_PER_FILTERED_CHUNK: u64 = 2;

impl Snapshot {
    /// Returns the vector of a live chunk, reconstructed from its signed bytes.
    ///
    /// # Errors
    /// Fails if the chunk's block of vectors is damaged.
    pub fn vector(&self, id: ChunkId) -> Result<Option<Vec<f32>>, StorageError> {
        if !self.live().contains(id.0) {
            return Ok(None);
        }
        let row = self.row(id)?;
        Ok(row.map(|(scale, row)| row.iter().map(|&x| f32::from(x as i8) * scale).collect()))
    }

    /// Returns the dot product of a query and the vector of a live chunk, bit-identical to [`Self::nearest`]; `None` if
    /// the chunk has no vector with the same number of dimensions.
    ///
    /// # Errors
    /// Returns the errors of [`Self::vector`].
    pub fn similarity(&self, id: ChunkId, query: &[f32]) -> Result<Option<f32>, StorageError> {
        if !self.live().contains(id.0) {
            return Ok(None);
        }
        let row = self.row(id)?.filter(|(_, row)| row.len() == query.len());
        Ok(row.map(|(scale, row)| product(query, scale, &row)))
    }

    /// Returns the `k` live chunks with the highest dot products, best first. Chunks with equal products are sorted by
    /// key, so that the result does not depend on ids.
    ///
    /// If there are very many vectors, only the vectors with the nearest codes are compared exactly with the query.
    ///
    /// # Errors
    /// Fails if the number of dimensions of the query differs from that of the model, if a value of the query is not
    /// finite, or if the index is damaged.
    pub fn nearest(
        &self,
        query: &[f32],
        k: usize,
        filter: Option<&RoaringBitmap>,
        threads: Threads,
    ) -> Result<Vec<(ChunkId, f32)>, StorageError> {
        Ok(Self::nearest_of_all(&[(self, filter)], query, k, threads)?.pop().unwrap_or_default())
    }

    /// Like [`Self::nearest`], but for several indexes with their filters. Finds the `k` nearest chunks of all indexes, and
    /// returns them by index. The result is the same as if one index had all chunks.
    ///
    /// # Errors
    /// Returns the errors of [`Self::nearest`].
    pub fn nearest_of_all(
        indexes: &[(&Self, Option<&RoaringBitmap>)],
        query: &[f32],
        k: usize,
        threads: Threads,
    ) -> Result<Vec<Vec<(ChunkId, f32)>>, StorageError> {
        let filters: Vec<Option<RoaringBitmap>> =
            indexes.iter().map(|(snapshot, filter)| filter.map(|filter| filter & snapshot.live())).collect();
        let (mut blocks, mut eligible) = (Vec::new(), Vec::new());
        for (index, ((snapshot, _), filter)) in indexes.iter().zip(&filters).enumerate() {
            let (next_id, filter) = (snapshot.manifest().next_chunk_id, filter.as_ref());
            eligible.push(Eligible { next_id, dead: snapshot.tombstones().set(), filter });
            let Some(model) = &snapshot.manifest().model else { continue };
            if query.len() != model.dimensions {
                return Err(StorageError::Refused(format!(
                    "the query vector has {} dimensions, but model {} has {}",
                    query.len(),
                    model.id,
                    model.dimensions
                )));
            }
            let found = snapshot.vector_blocks(filter)?.into_iter();
            blocks.extend(found.map(|(number, vectors)| IndexBlock { index, number, vectors }));
        }
        if !blocks.is_empty() && query.iter().any(|value| !value.is_finite()) {
            return Err(StorageError::Refused("the query vector is not finite".to_owned()));
        }
        let best = nearest(&blocks, query, k, &eligible, threads);
        let best = best.map_err(|(index, damage)| indexes[index].0.wrap(damage))?;
        let mut found: Vec<Vec<(ChunkId, f32)>> = vec![Vec::new(); indexes.len()];
        best.into_iter().for_each(|near| found[near.index].push((ChunkId(near.id), near.product)));
        found.iter_mut().for_each(|found| found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1)));
        keep_best(&mut found, k, |index, chunk| indexes[index].0.key(chunk))?;
        Ok(found)
    }

    /// Returns the blocks of vectors of the current model, with their numbers. If a filter has few chunks, returns only
    /// the blocks of these chunks.
    fn vector_blocks(&self, filter: Option<&RoaringBitmap>) -> Result<Vec<(u32, VectorBlock<'_>)>, StorageError> {
        let all = self.tree(Table::Codes).entries;
        if let Some(filter) = filter
            && filter.len() < all / BLOCKS_PER_FILTERED_CHUNK
        {
            let mut numbers: Vec<u32> = filter.iter().map(|id| id / BLOCK_IDS).collect();
            numbers.dedup();
            let block = |block| Ok(self.vectors(block)?.map(|vectors| (block, vectors)));
            return numbers.into_iter().map(block).filter_map(Result::transpose).collect();
        }
        let positions = match self.inner.vectors.get() {
            Some(positions) => positions,
            None => {
                let positions = self.find_vectors()?;
                self.inner.vectors.get_or_init(|| positions)
            }
        };
        let block = |position: &VectorPosition| Ok(self.vectors_at(position)?.map(|vectors| (position.block, vectors)));
        positions.iter().map(block).filter_map(Result::transpose).collect()
    }

    /// Finds the positions of all blocks of vectors, in the order of their numbers.
    fn find_vectors(&self) -> Result<Vec<VectorPosition>, StorageError> {
        let mut positions = Vec::new();
        for row in self.rows(Table::Codes, &[]) {
            let (key, codes) = row?;
            let block = key.try_into().map(u32::from_be_bytes).ok().filter(|&block| block <= u32::MAX / BLOCK_IDS);
            let block = block.ok_or_else(|| self.damaged("a block of vectors has an impossible key".to_owned()))?;
            positions.push(self.block_position(block, codes)?);
        }
        if positions.len() as u64 == self.tree(Table::Codes).entries {
            Ok(positions)
        } else {
            Err(self.damaged("blocks of vectors are missing".to_owned()))
        }
    }

    /// Returns the vectors of a block, if it has vectors of the current model.
    pub(crate) fn vectors(&self, block: u32) -> Result<Option<VectorBlock<'_>>, StorageError> {
        if let Some(positions) = self.inner.vectors.get() {
            let found = positions.binary_search_by_key(&block, |position| position.block);
            return found.map_or(Ok(None), |found| self.vectors_at(&positions[found]));
        }
        match self.get(Table::Codes, &block_key(block))? {
            Some(codes) => self.vectors_at(&self.block_position(block, codes)?),
            None => Ok(None),
        }
    }

    /// Returns the position of a block of vectors. `codes` is the first value of the block.
    fn block_position(&self, block: u32, codes: &[u8]) -> Result<VectorPosition, StorageError> {
        let packed = self.get(Table::Vectors, &block_key(block))?.ok_or_else(|| self.invalid(block))?;
        Ok(VectorPosition { block, codes: self.position_of(codes), packed: self.position_of(packed) })
    }

    fn vectors_at(&self, position: &VectorPosition) -> Result<Option<VectorBlock<'_>>, StorageError> {
        let bytes = self.pages().bytes;
        let values = bytes.get(position.codes.clone()).zip(bytes.get(position.packed.clone()));
        let vectors = values.and_then(|(codes, packed)| VectorBlock::decode(codes, packed));
        let vectors = vectors.ok_or_else(|| self.invalid(position.block))?;
        let dimensions = self.manifest().model.as_ref().map(|model| model.dimensions);
        Ok(Some(vectors).filter(|vectors| Some(vectors.dimensions) == dimensions))
    }

    fn invalid(&self, block: u32) -> StorageError {
        self.damaged(format!("block {block} of the vectors is invalid"))
    }

    /// Returns the stored vector of a chunk.
    pub(crate) fn row(&self, id: ChunkId) -> Result<Option<StoredVector>, StorageError> {
        let Some(block) = self.vectors(id.0 / BLOCK_IDS)? else { return Ok(None) };
        self.check(block.get((id.0 % BLOCK_IDS) as usize))
    }
}
