//! The batch: the unit that travels from stage to stage.

use crate::column::Entity;
use crate::table::Table;

/// File rows, and chunk rows which point at them.
pub(crate) struct Batch {
    pub(crate) files: Table,
    pub(crate) chunks: Table,
    pub(crate) chunk_files: Vec<u32>,
    /// Bytes which the source expects the batch to grow to.
    pub(crate) expected_bytes: u64,
}

impl Batch {
    pub(crate) fn with_files(files: usize) -> Self {
        Self { files: Table::with_rows(files), chunks: Table::default(), chunk_files: Vec::new(), expected_bytes: 0 }
    }

    pub(crate) fn table(&self, entity: Entity) -> &Table {
        match entity {
            Entity::File => &self.files,
            Entity::Chunk => &self.chunks,
        }
    }

    pub(crate) fn table_mut(&mut self, entity: Entity) -> &mut Table {
        match entity {
            Entity::File => &mut self.files,
            Entity::Chunk => &mut self.chunks,
        }
    }

    /// Bytes to account for: what is there, or what is expected if that is more.
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
        self.chunks.retain(&kept_chunks);
        self.expected_bytes = self.expected_bytes * u64::from(next) / (keep.len().max(1) as u64);
        self.files.retain(keep);
    }
}

/// Columns written beside a shared batch, merged into it when every stage of the group is through.
pub(crate) struct Staged {
    pub(crate) files: Table,
    pub(crate) chunks: Table,
}

impl Staged {
    pub(crate) fn beside(batch: &Batch) -> Self {
        Self { files: Table::with_rows(batch.files.rows()), chunks: Table::with_rows(batch.chunks.rows()) }
    }

    pub(crate) fn table(&self, entity: Entity) -> &Table {
        match entity {
            Entity::File => &self.files,
            Entity::Chunk => &self.chunks,
        }
    }

    pub(crate) fn table_mut(&mut self, entity: Entity) -> &mut Table {
        match entity {
            Entity::File => &mut self.files,
            Entity::Chunk => &mut self.chunks,
        }
    }
}
