//! What a writer has gathered for the next generation.

use std::collections::BTreeMap;
use std::sync::Arc;

use aurora_confined::Directory;
use aurora_inverted::{FIELDS, HashedTerm, LengthCodes};
use roaring::RoaringBitmap;

use crate::chunk::{ChunkId, NewChunk};
use crate::chunk_rows::ChunkRows;
use crate::column::ColumnDeclaration;
use crate::commit::Committer;
use crate::error::StorageError;
use crate::files::FileRecord;
use crate::inversion::Inversion;
use crate::label::Labels;
use crate::snapshot::Snapshot;
use crate::vectors::VectorAppender;
use crate::writer_options::WriterOptions;

/// What a writer has gathered since it was opened.
pub(crate) struct WriterState {
    /// The generation that is being changed.
    pub(crate) base: Snapshot,
    pub(crate) committer: Committer,
    pub(crate) rows: ChunkRows,
    pub(crate) vectors: VectorAppender,
    pub(crate) inversion: Inversion,
    /// The custom columns of the next generation.
    pub(crate) columns: Arc<[ColumnDeclaration]>,
    /// Rows that change; `None` removes the row.
    pub(crate) files: BTreeMap<String, Option<FileRecord>>,
    /// Chunks that die, of the base and of this writer.
    pub(crate) dead: RoaringBitmap,
    /// The first chunks of the files that these were.
    pub(crate) dead_firsts: Vec<ChunkId>,
    /// Chunks that this writer has added.
    pub(crate) added: RoaringBitmap,
    pub(crate) next_id: u32,
    /// Field lengths of the chunks from `lengths_from` on.
    pub(crate) lengths: Vec<LengthCodes>,
    pub(crate) lengths_from: u32,
    /// Whether all segments are replaced by the terms added here.
    pub(crate) rebuild: bool,
    pub(crate) last_terms: Option<ChunkId>,
    pub(crate) last_blame: Option<ChunkId>,
}

impl WriterState {
    /// Starts behind the chunks of a generation. `limit` is in bytes of a batch; about half of the memory holds postings.
    pub(crate) fn begin(
        base: Snapshot,
        home: &Directory,
        limit: usize,
        options: WriterOptions,
    ) -> Result<Self, StorageError> {
        let next_id = base.manifest().next_chunk_id;
        let columns: Arc<[ColumnDeclaration]> = options.columns.into();
        Ok(Self {
            rows: ChunkRows::new(Arc::clone(&columns), Some(base.clone()))?,
            committer: Committer::new(&base, limit),
            vectors: VectorAppender::new(&base)?,
            inversion: Inversion::begin(home, options.memory / 2)?,
            columns,
            files: BTreeMap::new(),
            dead: RoaringBitmap::new(),
            dead_firsts: Vec::new(),
            added: RoaringBitmap::new(),
            next_id,
            lengths: Vec::new(),
            lengths_from: next_id,
            rebuild: false,
            last_terms: None,
            last_blame: None,
            base,
        })
    }

    /// Whether anything was asked of the writer.
    pub(crate) fn is_touched(&self) -> bool {
        self.rebuild || !self.files.is_empty() || !self.added.is_empty() || self.rows.values.has_changes()
    }

    /// The row of a file as it would be published now.
    pub(crate) fn row(&self, path: &str) -> Result<Option<FileRecord>, StorageError> {
        match self.files.get(path) {
            Some(row) => Ok(row.clone()),
            None => self.base.file(path),
        }
    }

    /// Lets the chunks of a file die.
    pub(crate) fn retire(&mut self, path: &str) -> Result<(), StorageError> {
        check_path(path)?;
        let chunks = self.row(path)?.map(|row| row.chunks).unwrap_or_default();
        self.dead.extend(chunks.iter().map(|id| id.0));
        self.dead_firsts.extend(chunks.first());
        Ok(())
    }

    /// Makes sure that `count` ids are left and that vectors have the same dimensions.
    pub(crate) fn reserve(
        &mut self,
        count: usize,
        dimensions: impl Iterator<Item = usize>,
    ) -> Result<(), StorageError> {
        for dimensions in dimensions {
            self.next_id = self.vectors.expect(dimensions, self.next_id)?;
        }
        let end = u64::from(self.next_id) + count as u64;
        if end < u64::from(u32::MAX) {
            Ok(())
        } else {
            Err(StorageError::IdsExhausted { path: self.base.path().to_owned() })
        }
    }

    /// Adds a chunk with its labels and its vector, and returns its id.
    pub(crate) fn add_chunk(
        &mut self,
        chunk: &NewChunk<'_>,
        labels: &Labels,
        vector: Option<(f32, Vec<i8>)>,
    ) -> Result<ChunkId, StorageError> {
        let id = self.next_id;
        self.next_id += 1;
        self.added.insert(id);
        self.lengths.resize((self.next_id - self.lengths_from) as usize, [0; FIELDS]);
        self.rows.push(id, chunk, &mut |operation| self.committer.push(operation))?;
        self.inversion.add(id, labels.iter().map(|label| (HashedTerm::new(label), [0; FIELDS])));
        if let Some((scale, row)) = vector {
            self.vectors.push(id, scale, &row, &mut self.committer)?;
        }
        Ok(ChunkId(id))
    }
}

/// Refuses an empty path.
pub(crate) fn check_path(path: &str) -> Result<(), StorageError> {
    if path.is_empty() { Err(StorageError::Refused("a file needs a path".to_owned())) } else { Ok(()) }
}
