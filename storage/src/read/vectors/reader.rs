//! Reads the vectors of a snapshot.

use roaring::RoaringBitmap;

use super::block::{BLOCK_IDS, StoredVector, VectorBlock};
use super::nearest::{Eligible, Threads, nearest, product};
use crate::error::StorageError;
use crate::read::chunk::ChunkId;
use crate::read::snapshot::{Snapshot, VectorPlace};
use crate::tables::{Table, block_key};

/// With fewer filtered chunks than one for each this many blocks, blocks are looked up one by one. Otherwise all blocks
/// are scanned, which takes less time for each block.
const BLOCKS_PER_FILTERED_CHUNK: u64 = 2;

impl Snapshot {
    /// Returns the vector of a live chunk, reconstructed from its signed bytes.
    ///
    /// # Errors
    /// The chunk's block of vectors is damaged.
    pub fn vector(&self, id: ChunkId) -> Result<Option<Vec<f32>>, StorageError> {
        if !self.live().contains(id.0) {
            return Ok(None);
        }
        let row = self.row(id)?;
        Ok(row.map(|(scale, row)| row.iter().map(|&x| f32::from(x as i8) * scale).collect()))
    }

    /// Returns the dot product of a query and the vector of a live chunk, bit-identical to [`Self::nearest`]; `None` if
    /// the chunk has no vector of the same dimensions.
    ///
    /// # Errors
    /// The errors of [`Self::vector`].
    pub fn similarity(&self, id: ChunkId, query: &[f32]) -> Result<Option<f32>, StorageError> {
        if !self.live().contains(id.0) {
            return Ok(None);
        }
        let row = self.row(id)?.filter(|(_, row)| row.len() == query.len());
        Ok(row.map(|(scale, row)| product(query, scale, &row)))
    }

    /// Returns the `k` live chunks with the highest dot products, best first. Equal ones are sorted by key, so that the
    /// result does not depend on ids.
    ///
    /// If there are very many vectors, only those with the nearest codes are compared with the query.
    ///
    /// # Errors
    /// The query has other dimensions than the model, or a value that is not finite; or the index is damaged.
    pub fn nearest(
        &self,
        query: &[f32],
        k: usize,
        filter: Option<&RoaringBitmap>,
        threads: Threads,
    ) -> Result<Vec<(ChunkId, f32)>, StorageError> {
        let Some(model) = &self.manifest().model else { return Ok(Vec::new()) };
        if query.len() != model.dimensions {
            return Err(StorageError::Refused(format!(
                "the query vector has {} dimensions, but model {} has {}",
                query.len(),
                model.id,
                model.dimensions
            )));
        }
        if query.iter().any(|value| !value.is_finite()) {
            return Err(StorageError::Refused("the query vector is not finite".to_owned()));
        }
        let filter = filter.map(|filter| filter & self.live());
        let next_id = self.manifest().next_chunk_id;
        let eligible = Eligible { next_id, dead: self.tombstones().set(), filter: filter.as_ref() };
        let blocks = self.vector_blocks(filter.as_ref())?;
        let best = self.check(nearest(&blocks, query, k, &eligible, threads))?;
        let mut best: Vec<(ChunkId, f32)> = best.into_iter().map(|(chunk, score)| (ChunkId(chunk), score)).collect();
        best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        for equal in best.chunk_by_mut(|a, b| a.1 == b.1).filter(|equal| equal.len() > 1) {
            self.sort_by_key(equal)?;
        }
        best.truncate(k);
        Ok(best)
    }

    fn sort_by_key(&self, chunks: &mut [(ChunkId, f32)]) -> Result<(), StorageError> {
        let mut keyed = Vec::with_capacity(chunks.len());
        for &(id, score) in &*chunks {
            keyed.push((self.chunk(id)?.map(|record| record.key()).unwrap_or_default(), (id, score)));
        }
        keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        chunks.iter_mut().zip(keyed).for_each(|(chunk, (_, keyed))| *chunk = keyed);
        Ok(())
    }

    /// Returns all blocks of vectors of the current model with their numbers, or only the blocks of a filter that has
    /// few chunks.
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
        let places = match self.inner.vectors.get() {
            Some(places) => places,
            None => {
                let places = self.find_vectors()?;
                self.inner.vectors.get_or_init(|| places)
            }
        };
        let block = |place: &VectorPlace| Ok(self.vectors_at(place)?.map(|vectors| (place.block, vectors)));
        places.iter().map(block).filter_map(Result::transpose).collect()
    }

    /// Finds the positions of all blocks of vectors, in the order of their numbers.
    fn find_vectors(&self) -> Result<Vec<VectorPlace>, StorageError> {
        let mut places = Vec::new();
        for row in self.rows(Table::Codes, &[]) {
            let (key, codes) = row?;
            let block = key.try_into().map(u32::from_be_bytes).ok().filter(|&block| block <= u32::MAX / BLOCK_IDS);
            let block = block.ok_or_else(|| self.damaged("a block of vectors has an impossible key".to_owned()))?;
            places.push(self.place_of(block, codes)?);
        }
        if places.len() as u64 == self.tree(Table::Codes).entries {
            Ok(places)
        } else {
            Err(self.damaged("blocks of vectors are missing".to_owned()))
        }
    }

    /// Returns the vectors of a block, if it has vectors of the current model.
    pub(crate) fn vectors(&self, block: u32) -> Result<Option<VectorBlock<'_>>, StorageError> {
        if let Some(places) = self.inner.vectors.get() {
            let found = places.binary_search_by_key(&block, |place| place.block);
            return found.map_or(Ok(None), |found| self.vectors_at(&places[found]));
        }
        match self.get(Table::Codes, &block_key(block))? {
            Some(codes) => self.vectors_at(&self.place_of(block, codes)?),
            None => Ok(None),
        }
    }

    /// The position of a block of vectors; `codes` is its first value.
    fn place_of(&self, block: u32, codes: &[u8]) -> Result<VectorPlace, StorageError> {
        let packed = self.get(Table::Vectors, &block_key(block))?.ok_or_else(|| self.invalid(block))?;
        Ok(VectorPlace { block, codes: self.place(codes), packed: self.place(packed) })
    }

    fn vectors_at(&self, place: &VectorPlace) -> Result<Option<VectorBlock<'_>>, StorageError> {
        let bytes = self.pages().bytes;
        let values = bytes.get(place.codes.clone()).zip(bytes.get(place.packed.clone()));
        let vectors = values.and_then(|(codes, packed)| VectorBlock::decode(codes, packed));
        let vectors = vectors.ok_or_else(|| self.invalid(place.block))?;
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
