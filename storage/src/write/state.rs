//! State of a writer: the changes that it has collected for the next generation.

use std::collections::BTreeMap;
use std::sync::Arc;

use aurora_confined::Directory;
use aurora_inverted::{FIELDS, LengthCodes};
use roaring::RoaringBitmap;

use crate::column::ColumnDeclaration;
use crate::error::StorageError;
use crate::read::{ChunkId, FileRecord, RepresentationBuilder, Snapshot, ValueRows, VectorAppender, check_path};
use crate::tables::{Operation, Table, chunk_key};
use crate::write::chunk_rows::ClosedRows;
use crate::write::commit::Committer;
use crate::write::inversion::Inversion;
use crate::write::options::WriterOptions;
use crate::write::prepared::{PreparedFiles, PreparedPart, ReservedIds};

/// State that a writer has collected since it was opened.
pub(crate) struct WriterState {
    /// The generation to change.
    pub(crate) base: Snapshot,
    pub(crate) committer: Committer,
    pub(crate) values: ValueRows,
    pub(crate) closed: ClosedRows,
    pub(crate) vectors: VectorAppender,
    pub(crate) inversion: Inversion,
    /// The custom columns of the next generation.
    pub(crate) columns: Arc<[ColumnDeclaration]>,
    /// Changed file rows by path; `None` removes the row.
    pub(crate) files: BTreeMap<String, Option<FileRecord>>,
    /// Representation of the file whose parts are being written.
    open_file: RepresentationBuilder,
    /// Deleted chunks, both of the base generation and of this writer.
    pub(crate) dead: RoaringBitmap,
    /// The first chunk of each file whose chunks were deleted.
    pub(crate) dead_firsts: Vec<ChunkId>,
    /// Chunks that this writer has added.
    pub(crate) added: RoaringBitmap,
    /// The next free id.
    pub(crate) next_id: u32,
    /// The first id whose chunk has not been written yet.
    written: u32,
    /// Prepared files that wait for files with lower ids, by [`ReservedIds::after`].
    pub(crate) waiting: BTreeMap<u32, PreparedFiles>,
    /// Field lengths of new chunks, starting at the id `lengths_from`.
    pub(crate) lengths: Vec<LengthCodes>,
    pub(crate) lengths_from: u32,
    /// Chunks whose terms have been added.
    pub(crate) with_terms: RoaringBitmap,
    /// Number of threads that build segments.
    pub(crate) threads: usize,
}

impl WriterState {
    /// Creates the state of a writer without changes to `base`. `limit` is the size of a batch in bytes. Postings use
    /// up to half of [`WriterOptions::memory`].
    pub(crate) fn begin(
        base: Snapshot,
        home: &Directory,
        limit: usize,
        options: WriterOptions,
    ) -> Result<Self, StorageError> {
        let next_id = base.manifest().next_chunk_id;
        let columns: Arc<[ColumnDeclaration]> = options.columns.into();
        Ok(Self {
            values: ValueRows::new(Arc::clone(&columns), Some(base.clone())),
            closed: ClosedRows::default(),
            committer: Committer::new(&base, limit),
            vectors: VectorAppender::new(&base)?,
            inversion: Inversion::begin(home, options.memory / 2)?,
            columns,
            files: BTreeMap::new(),
            open_file: RepresentationBuilder::default(),
            dead: RoaringBitmap::new(),
            dead_firsts: Vec::new(),
            added: RoaringBitmap::new(),
            next_id,
            written: next_id,
            waiting: BTreeMap::new(),
            lengths: Vec::new(),
            lengths_from: next_id,
            with_terms: RoaringBitmap::new(),
            threads: options.threads.max(1),
            base,
        })
    }

    /// Whether the writer has anything to publish.
    pub(crate) fn is_touched(&self) -> bool {
        !self.files.is_empty() || !self.added.is_empty() || self.values.has_changes()
    }

    /// Returns the row of a file with the changes so far.
    pub(crate) fn row(&self, path: &str) -> Result<Option<FileRecord>, StorageError> {
        match self.files.get(path) {
            Some(row) => Ok(row.clone()),
            None => self.base.file(path),
        }
    }

    /// Deletes the chunks of a file.
    pub(crate) fn retire(&mut self, path: &str) -> Result<(), StorageError> {
        check_path(path)?;
        let chunks = self.row(path)?.map(|row| row.chunks).unwrap_or_default();
        self.dead.extend(chunks.iter().map(|id| id.0));
        self.dead_firsts.extend(chunks.first());
        Ok(())
    }

    /// Reserves the next `count` ids for chunks. `dimensions` is the number of dimensions of their vectors; `None` if
    /// they have no vectors.
    pub(crate) fn reserve(&mut self, count: usize, dimensions: Option<usize>) -> Result<ReservedIds, StorageError> {
        let after = self.next_id;
        let first = match dimensions {
            Some(dimensions) => self.vectors.announce(dimensions, after)?,
            None => after,
        };
        let end = u64::from(first) + count as u64;
        match u32::try_from(end) {
            Ok(end) if end < u32::MAX => {
                self.next_id = end;
                Ok(ReservedIds { after, first, end, dimensions })
            }
            _ => Err(StorageError::IdsExhausted { path: self.base.path().to_owned() }),
        }
    }

    /// Writes prepared files. If files with lower ids have not been written yet, defers the write until they are
    /// applied.
    pub(crate) fn apply(&mut self, prepared: PreparedFiles) -> Result<(), StorageError> {
        if prepared.ids.after == prepared.ids.end {
            return self.write(prepared);
        }
        self.waiting.insert(prepared.ids.after, prepared);
        while let Some(next) = self.waiting.remove(&self.written) {
            self.written = next.ids.end;
            self.write(next)?;
        }
        Ok(())
    }

    fn write(&mut self, prepared: PreparedFiles) -> Result<(), StorageError> {
        let PreparedFiles { ids, files, parts, operations, mut closed, values, embedded, vectors, .. } = prepared;
        for record in &files {
            self.retire(&record.path)?;
        }
        parts.into_iter().try_for_each(|part| self.add_part(part))?;
        self.added.extend(files.iter().flat_map(|record| &record.chunks).map(|id| id.0));
        let end = self.lengths.len().max(ids.end.saturating_sub(self.lengths_from) as usize);
        self.lengths.resize(end, [0; FIELDS]);
        for (id, metadata) in values {
            self.values.push(id, &metadata, &mut |operation| self.committer.push(operation))?;
        }
        self.committer.push_sealed(operations)?;
        self.closed.append(&mut closed);
        self.vectors.push(&embedded, &vectors, &mut |operations| self.committer.push_together(operations))?;
        self.files.extend(files.into_iter().map(|record| (record.path.clone(), Some(record))));
        Ok(())
    }

    /// Adds a part of a file to the file's row and to its representation.
    fn add_part(&mut self, part: PreparedPart) -> Result<(), StorageError> {
        let PreparedPart { mut record, is_first, tokens, vectors } = part;
        self.added.extend(record.chunks.iter().map(|id| id.0));
        if is_first {
            self.retire(&record.path)?;
            self.open_file = RepresentationBuilder::default();
        }
        let before = if is_first { None } else { self.files.get_mut(&record.path).and_then(Option::take) };
        if let Some(before) = before {
            record = before.followed_by(record);
        }
        if let Some(first) = record.chunks.first().copied() {
            self.open_file.add_tokens(tokens);
            vectors.iter().for_each(|(scale, row)| self.open_file.add_vector(*scale, row));
            let row = self.open_file.encode();
            self.committer.push(Operation::put(Table::Representations, chunk_key(first.0), row))?;
        }
        self.files.insert(record.path.clone(), Some(record));
        Ok(())
    }
}
