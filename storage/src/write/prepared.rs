//! Builds the rows of files and their chunks. Any thread can build rows. The writer writes them in the order of their
//! ids.

use std::sync::Arc;

use aurora_inverted::Inverter;

use crate::column::ColumnDeclaration;
use crate::error::StorageError;
use crate::read::{
    Blame, Chunk, ChunkId, EncodedVectors, FileRecord, Labels, MetaValue, NewChunk, RepresentationBuilder, blame,
    check_path, quantise,
};
use crate::tables::{Operation, Table, chunk_key, collect_sealed};
pub use crate::write::chunk_rows::FirstChunk;
use crate::write::chunk_rows::{ChunkRows, ClosedRows};

/// A reserved range of ids for the chunks of one or more files.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReservedIds {
    /// The next free id before this reservation. `first` is greater if the chunks start a new block of vectors.
    pub(crate) after: u32,
    pub(crate) first: u32,
    pub(crate) end: u32,
    /// Number of dimensions of the vectors of these chunks.
    pub(crate) dimensions: Option<usize>,
}

impl ReservedIds {
    /// Returns the ids, ascending.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ChunkId> + use<> {
        (self.first..self.end).map(ChunkId)
    }
}

/// A part of a file whose chunks are not prepared together.
pub(crate) struct PreparedPart {
    pub(crate) record: FileRecord,
    /// Whether the part replaces the file. Later parts extend it.
    pub(crate) is_first: bool,
    /// Documentation tokens of each chunk, and the quantised vectors. The writer adds them to the representation of the
    /// file, in the order of the chunks.
    pub(crate) tokens: Vec<u16>,
    pub(crate) vectors: Vec<(f32, Vec<i8>)>,
}

/// Builds the rows of one or more files without access to the index.
pub struct FilePreparer {
    ids: ReservedIds,
    next: u32,
    columns: Arc<[ColumnDeclaration]>,
    rows: ChunkRows,
    last_blame: Option<ChunkId>,
    prepared: PreparedFiles,
}

/// Files that are ready to be written by [`crate::IndexWriter::apply`].
#[derive(Default)]
pub struct PreparedFiles {
    pub(crate) ids: ReservedIds,
    pub(crate) files: Vec<FileRecord>,
    pub(crate) parts: Vec<PreparedPart>,
    /// Operations whose values already have checksums.
    pub(crate) operations: Vec<Operation>,
    pub(crate) closed: ClosedRows,
    /// The labels of the chunks.
    pub(crate) labels: Inverter,
    /// The metadata of each chunk, if there are custom columns.
    pub(crate) values: Vec<(u32, Vec<(String, MetaValue)>)>,
    /// The ids of chunks with vectors.
    pub(crate) embedded: Vec<u32>,
    pub(crate) vectors: EncodedVectors,
}

impl PreparedFiles {
    /// Creates an empty set of files, for ids that stay unused.
    pub(crate) fn empty(ids: ReservedIds) -> Self {
        Self { ids, ..Self::default() }
    }
}

impl FilePreparer {
    pub(crate) fn new(ids: ReservedIds, columns: Arc<[ColumnDeclaration]>) -> Self {
        let rows = ChunkRows::new(Arc::clone(&columns));
        Self { ids, next: ids.first, columns, rows, last_blame: None, prepared: PreparedFiles::empty(ids) }
    }

    /// Replaces a file and its chunks, and returns the ids of the new chunks in the order of `chunks`. The file's
    /// earlier chunks will be deleted. Sets the field `chunks` of the record.
    ///
    /// # Errors
    /// Returns [`StorageError::Refused`] for an empty path, chunks of another path or of several languages, more chunks
    /// than reserved ids, and vectors that are not finite or whose number of dimensions differs from the reservation.
    pub fn replace_file(
        &mut self,
        mut record: FileRecord,
        chunks: &[NewChunk<'_>],
    ) -> Result<Vec<ChunkId>, StorageError> {
        self.check_chunks(&record, chunks)?;
        self.rows.begin_file();
        let mut representation = RepresentationBuilder::default();
        let ids = self.add_chunks(chunks, |tokens, vector| {
            representation.add_tokens(tokens.iter().copied());
            vector.into_iter().for_each(|(scale, row)| representation.add_vector(scale, &row));
        })?;
        if let Some(first) = ids.first() {
            let row = Operation::put(Table::Representations, chunk_key(first.0), representation.encode());
            self.prepared.operations.push(row.sealed());
        }
        record.chunks.clone_from(&ids);
        self.prepared.files.push(record);
        Ok(ids)
    }

    /// Adds a part of a file whose chunks do not fit into memory together, and returns the ids of the new chunks. The
    /// part whose `first` is `None` replaces the file. Each later part gives the first chunk of the file, and adds its
    /// chunks at the end of the file. The last part whose `hash` is not zero sets the other fields of the record.
    ///
    /// The ids of the parts must be reserved in the order of the parts, without chunks of other files in between. At
    /// least one id must be reserved for each part.
    ///
    /// # Errors
    /// Returns the errors of [`Self::replace_file`].
    pub fn add_part(
        &mut self,
        mut record: FileRecord,
        chunks: &[NewChunk<'_>],
        first: Option<&FirstChunk>,
    ) -> Result<Vec<ChunkId>, StorageError> {
        self.check_chunks(&record, chunks)?;
        if self.ids.first == self.ids.end {
            return Err(StorageError::Refused(format!("no ids are reserved for a part of {}", record.path)));
        }
        match (first, chunks.first()) {
            (Some(first), Some(chunk)) => self.rows.continue_file(first, chunk),
            _ => self.rows.begin_file(),
        }
        let (mut tokens, mut vectors) = (Vec::new(), Vec::new());
        let ids = self.add_chunks(chunks, |doc, vector| {
            tokens.extend_from_slice(doc);
            vectors.extend(vector);
        })?;
        tokens.sort_unstable();
        tokens.dedup();
        record.chunks.clone_from(&ids);
        self.prepared.parts.push(PreparedPart { record, is_first: first.is_none(), tokens, vectors });
        Ok(ids)
    }

    fn check_chunks(&self, record: &FileRecord, chunks: &[NewChunk<'_>]) -> Result<(), StorageError> {
        check_path(&record.path)?;
        let language = chunks.first().map(|first| first.language.as_str());
        let is_of_file = |chunk: &Chunk| chunk.path == record.path && Some(chunk.language.as_str()) == language;
        if let Some(other) = chunks.iter().find(|chunk| !is_of_file(chunk)) {
            return Err(StorageError::Refused(format!("{} is not a chunk of {}", other.key, record.path)));
        }
        if chunks.len() > (self.ids.end - self.next) as usize {
            return Err(StorageError::Refused(format!("no ids are reserved for the chunks of {}", record.path)));
        }
        Ok(())
    }

    /// Builds the rows of chunks, and returns their ids. Passes the documentation tokens and the quantised vector of
    /// each chunk to `represent`.
    fn add_chunks(
        &mut self,
        chunks: &[NewChunk<'_>],
        mut represent: impl FnMut(&[u16], Option<(f32, Vec<i8>)>),
    ) -> Result<Vec<ChunkId>, StorageError> {
        let Self { prepared, rows, .. } = self;
        let first = self.next;
        for (id, chunk) in (first..).zip(chunks) {
            rows.push(id, chunk, &mut collect_sealed(&mut prepared.operations))?;
            prepared.labels.add(id, Labels::new(chunk, &self.columns).postings());
            if !self.columns.is_empty() {
                prepared.values.push((id, chunk.metadata.to_vec()));
            }
            let mut quantised = None;
            if let Some(vector) = chunk.vector {
                if self.ids.dimensions != Some(vector.len()) {
                    return Err(StorageError::Refused(format!(
                        "a vector of {} dimensions cannot be stored with vectors of {}",
                        vector.len(),
                        self.ids.dimensions.unwrap_or(0)
                    )));
                }
                let refused = || StorageError::Refused(format!("the vector of {} is not finite", chunk.key));
                let (scale, row) = quantise(vector).ok_or_else(refused)?;
                prepared.embedded.push(id);
                prepared.vectors.push(scale, &row.iter().map(|&x| x as u8).collect::<Vec<_>>());
                quantised = Some((scale, row));
            }
            represent(&chunk.tokens.doc, quantised);
        }
        self.next += chunks.len() as u32;
        Ok((first..self.next).map(ChunkId).collect())
    }

    /// Sets the blame of a file, given its first chunk. Must be called at most once for each file, in ascending order
    /// of ids.
    ///
    /// # Errors
    /// Returns [`StorageError::Refused`] for a chunk that this preparer did not add, and for ids that do not ascend.
    pub fn add_blame(&mut self, first: ChunkId, blame: &Blame) -> Result<(), StorageError> {
        if !(self.ids.first..self.next).contains(&first.0) || self.last_blame >= Some(first) {
            return Err(StorageError::Refused(format!("the blame of chunk {first} cannot be added now")));
        }
        self.last_blame = Some(first);
        let emit = &mut collect_sealed(&mut self.prepared.operations);
        self.rows.push_blame(first.0, &blame::encode(blame), emit)
    }

    /// Returns the prepared files.
    ///
    /// # Errors
    /// Fails if a text is too long for a compressed block.
    pub fn finish(self) -> Result<PreparedFiles, StorageError> {
        let Self { mut rows, mut prepared, .. } = self;
        rows.finish(&mut collect_sealed(&mut prepared.operations))?;
        prepared.closed = rows.take_closed();
        Ok(prepared)
    }
}
