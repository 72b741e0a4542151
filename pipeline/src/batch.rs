//! The batch: the unit of work that travels from stage to stage.

use crate::column::Entity;
use crate::column_table::ColumnTable;
use crate::missing_result::{self, MissingResult};

/// A table of file rows, and a table of chunk rows that refer to file rows.
pub(crate) struct Batch {
    pub(crate) files: ColumnTable,
    pub(crate) chunks: ColumnTable,
    pub(crate) chunk_files: Vec<u32>,
    /// Rows for which stages have no result.
    pub(crate) missing_results: Vec<MissingResult>,
    /// Size in bytes that the source expects the batch to reach.
    pub(crate) expected_bytes: u64,
}

impl Batch {
    pub(crate) fn with_files(files: usize) -> Self {
        Self {
            files: ColumnTable::with_rows(files),
            chunks: ColumnTable::default(),
            chunk_files: Vec::new(),
            missing_results: Vec::new(),
            expected_bytes: 0,
        }
    }

    /// Returns a batch with the same number of rows and no columns. If several stages share a batch, each of them
    /// writes its columns to such an empty batch. The columns are merged into the shared batch when every stage of the
    /// step has finished.
    pub(crate) fn without_columns(&self) -> Self {
        let mut staged = Self::with_files(self.files.rows());
        staged.chunks = ColumnTable::with_rows(self.chunks.rows());
        staged
    }

    pub(crate) fn table(&self, entity: Entity) -> &ColumnTable {
        match entity {
            Entity::File => &self.files,
            Entity::Chunk => &self.chunks,
        }
    }

    pub(crate) fn table_mut(&mut self, entity: Entity) -> &mut ColumnTable {
        match entity {
            Entity::File => &mut self.files,
            Entity::Chunk => &mut self.chunks,
        }
    }

    /// The bytes to count against the memory budget: the actual size, or the expected one if it is larger.
    pub(crate) fn bytes(&self) -> u64 {
        let held = self.files.bytes() + self.chunks.bytes() + self.chunk_files.len() * size_of::<u32>();
        (held as u64).max(self.expected_bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.rows() == 0 && self.chunks.rows() == 0
    }

    pub(crate) fn retain_files(&mut self, keep: &[bool]) {
        let mut next = 0u32;
        let moved: Vec<Option<u32>> = keep
            .iter()
            .map(|keep| {
                keep.then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let kept_chunks: Vec<bool> = self.chunk_files.iter().map(|file| moved[*file as usize].is_some()).collect();
        self.chunk_files = self.chunk_files.iter().filter_map(|file| moved[*file as usize]).collect();
        self.retain_chunk_rows(&kept_chunks);
        missing_result::retain(&mut self.missing_results, Entity::File, keep);
        self.expected_bytes = self.expected_bytes * u64::from(next) / (keep.len().max(1) as u64);
        self.files.retain(keep);
    }

    /// Drops the chunk rows whose flag in `keep` is false. The caller must already have updated [`Batch::chunk_files`].
    pub(crate) fn retain_chunk_rows(&mut self, keep: &[bool]) {
        missing_result::retain(&mut self.missing_results, Entity::Chunk, keep);
        self.chunks.retain(keep);
    }
}
