//! The writer of an index. An index has at most one writer at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aurora_inverted::{Inverter, TermVector, length_code};

use crate::column::{ColumnDeclaration, check_columns};
use crate::environment::Environment;
use crate::error::StorageError;
use crate::fault;
use crate::index_id::IndexId;
use crate::interrupted;
use crate::lock::FileLock;
use crate::manifest::{Manifest, ManifestUpdate};
use crate::read::{ChunkId, FileRecord, MetaValue, NewChunk, check_path};
use crate::write::cleanup::{has_leftovers, remove_leftovers};
use crate::write::commit::{Committer, create_tables};
use crate::write::options::WriterOptions;
use crate::write::prepared::{FilePreparer, PreparedFiles, ReservedIds};
use crate::write::publish::publish;
use crate::write::state::WriterState;

/// Minimum and maximum size of a batch, in bytes. Each batch is a separate transaction.
const BATCH_BYTES: std::ops::RangeInclusive<usize> = (256 << 10)..=(32 << 20);

/// Adds, replaces and removes files, and publishes all changes at once.
///
/// Readers see no changes before [`IndexWriter::publish`]. If the writer is dropped or its process is killed, the
/// published generation stays unchanged.
pub struct IndexWriter {
    environment: Environment,
    id: IndexId,
    columns: Arc<[ColumnDeclaration]>,
    state: Mutex<WriterState>,
    /// Released last.
    _lock: FileLock,
}

impl Environment {
    /// Opens the writer. An index has only one writer at a time on a machine.
    ///
    /// # Errors
    /// Returns [`StorageError::Locked`] if another writer is open; [`StorageError::Replaced`] if the index was replaced
    /// by another one; [`StorageError::Refused`] if the columns are invalid.
    pub fn writer(&self, options: WriterOptions) -> Result<IndexWriter, StorageError> {
        check_columns(&options.columns).map_err(StorageError::Refused)?;
        let store = &self.store;
        let lock = FileLock::writer(&store.home)?;
        store.check_current()?;
        fault::point();
        interrupted::clear(&store.home)?;
        // A killed process leaves its slot in the reader table. With such a slot, LMDB would never reuse the pages of
        // that reader's generation.
        let stale = store.lmdb.clear_stale_readers();
        stale.map_err(|error| StorageError::lmdb(&store.data, error))?;
        let limit = (options.memory / 8).clamp(*BATCH_BYTES.start(), *BATCH_BYTES.end());
        let mut base = self.snapshot()?;
        if base.id().is_none() {
            create_tables(store)?;
            base = self.snapshot()?;
        }
        let id = base.id().ok_or_else(|| base.damaged("it has no id".to_owned()))?;
        if has_leftovers(&base)? {
            let mut committer = Committer::new(&base, limit);
            remove_leftovers(&base, &mut committer)?;
            base = self.snapshot()?;
        }
        let state = WriterState::begin(base, &store.home, limit, options)?;
        let columns = Arc::clone(&state.columns);
        Ok(IndexWriter { environment: self.clone(), id, columns, state: Mutex::new(state), _lock: lock })
    }
}

impl IndexWriter {
    /// Returns the id of the index.
    pub fn id(&self) -> IndexId {
        self.id
    }

    /// Reserves ids for `chunks` chunks. If the chunks have vectors, `dimensions` is the number of dimensions of the
    /// vectors. The ids are greater than the ids of all earlier calls.
    ///
    /// # Errors
    /// Returns [`StorageError::Refused`] if the number of dimensions differs from that of an earlier call, and
    /// [`StorageError::IdsExhausted`] if no ids are left.
    pub fn reserve(&self, chunks: usize, dimensions: Option<usize>) -> Result<ReservedIds, StorageError> {
        self.state().reserve(chunks, dimensions)
    }

    /// Returns a builder for the rows of files whose chunks get these ids. Building rows does not lock the writer.
    pub fn prepare(&self, ids: ReservedIds) -> FilePreparer {
        FilePreparer::new(ids, Arc::clone(&self.columns))
    }

    /// Writes prepared files. If files with lower ids have not been applied yet, the write is deferred until they are
    /// applied.
    ///
    /// # Errors
    /// Returns [`StorageError::Damaged`] if the old row of a file cannot be read, and the first error of the writing
    /// thread.
    pub fn apply(&self, mut prepared: PreparedFiles) -> Result<(), StorageError> {
        self.add_postings(std::mem::take(&mut prepared.labels))?;
        self.state().apply(prepared)
    }

    /// Replaces one file and its chunks (see [`FilePreparer::replace_file`]).
    ///
    /// # Errors
    /// Returns the errors of [`Self::reserve`], [`FilePreparer::replace_file`] and [`Self::apply`].
    pub fn replace_file(&self, record: FileRecord, chunks: &[NewChunk<'_>]) -> Result<Vec<ChunkId>, StorageError> {
        let dimensions = chunks.iter().find_map(|chunk| chunk.vector).map(<[f32]>::len);
        let ids = self.reserve(chunks.len(), dimensions)?;
        let mut preparer = self.prepare(ids);
        let prepared = preparer.replace_file(record, chunks).and_then(|chunks| Ok((preparer.finish()?, chunks)));
        match prepared {
            Ok((prepared, chunks)) => self.apply(prepared).map(|()| chunks),
            Err(error) => {
                self.apply(PreparedFiles::empty(ids))?;
                Err(error)
            }
        }
    }

    /// Removes a file and its chunks. A path without a row is not an error.
    ///
    /// # Errors
    /// Returns [`StorageError::Damaged`] if the old row of the file, or its chunks, cannot be read.
    pub fn remove_file(&self, path: &str) -> Result<(), StorageError> {
        let mut state = self.state();
        if state.row(path)?.is_some() {
            state.retire(path)?;
            state.files.insert(path.to_owned(), None);
        }
        Ok(())
    }

    /// Sets the values of a published chunk in all custom columns to the values in `metadata`, and leaves the rest of
    /// the chunk unchanged. If a column is missing in `metadata`, its value is removed. Returns whether a value has
    /// changed.
    ///
    /// # Errors
    /// Returns [`StorageError::Refused`] for a chunk that is not live, a changed value of a column with terms, and a
    /// value whose type differs from the type of its column.
    pub fn set_values(&self, id: ChunkId, metadata: &[(String, MetaValue)]) -> Result<bool, StorageError> {
        let mut state = self.state();
        if !state.base.live().contains(id.0) || state.dead.contains(id.0) {
            return Err(StorageError::Refused(format!("chunk {id} does not exist, so it cannot get values")));
        }
        for column in state.columns.iter().filter(|column| column.terms.is_some()) {
            let given = metadata.iter().find(|(name, _)| *name == column.name).map(|(_, value)| value);
            if state.base.custom_value(id, &column.name)?.as_ref() != given {
                let message = format!("the terms of chunk {id} depend on the column `{}`", column.name);
                return Err(StorageError::Refused(message));
            }
        }
        state.values.set(id.0, metadata)
    }

    /// Sets a file's row and leaves its chunks unchanged.
    ///
    /// # Errors
    /// Returns [`StorageError::Refused`] for an empty path; [`StorageError::Damaged`] if the old row cannot be read.
    pub fn update_file_record(&self, mut record: FileRecord) -> Result<(), StorageError> {
        check_path(&record.path)?;
        let mut state = self.state();
        let old = state.row(&record.path)?;
        record.chunks = old.as_ref().map(|old| old.chunks.clone()).unwrap_or_default();
        if old.as_ref() != Some(&record) {
            state.files.insert(record.path.clone(), Some(record));
        }
        Ok(())
    }

    /// Adds the terms of chunks, in ascending order of ids. The terms of a chunk can be added only once.
    ///
    /// # Errors
    /// Returns [`StorageError::Refused`] for a chunk that this writer did not add or that already has terms, and for
    /// ids that do not ascend.
    pub fn add_terms<'t>(
        &self,
        terms: impl IntoIterator<Item = (ChunkId, &'t TermVector)> + Clone,
    ) -> Result<(), StorageError> {
        let mut inverter = Inverter::default();
        let mut last = None;
        for (id, terms) in terms.clone() {
            if last.replace(id) >= Some(id) {
                return Err(refused_terms(id));
            }
            if inverter.is_full() {
                self.add_postings(std::mem::take(&mut inverter))?;
            }
            inverter.add(id.0, terms.hashed());
        }
        {
            let mut state = self.state();
            for (id, terms) in terms {
                if !state.added.contains(id.0) || !state.with_terms.insert(id.0) {
                    return Err(refused_terms(id));
                }
                let row = (id.0 - state.lengths_from) as usize;
                state.lengths[row] = terms.lengths().map(length_code);
            }
        }
        self.add_postings(inverter)
    }

    /// Adds postings to the next segment. Sorting them, and writing them to a file if there are too many, does not lock
    /// the writer.
    fn add_postings(&self, inverter: Inverter) -> Result<(), StorageError> {
        if inverter.is_empty() {
            return Ok(());
        }
        let run = inverter.into_run();
        let spill = self.state().inversion.add(run);
        if let Some(spill) = spill {
            let file = spill.write()?;
            self.state().inversion.add_file(file);
        }
        Ok(())
    }

    /// Whether the writer has anything to publish.
    pub fn is_touched(&self) -> bool {
        self.state().is_touched()
    }

    /// Publishes all changes as the next generation, in one final transaction, and returns its manifest. If nothing has
    /// changed, writes nothing and returns the old manifest.
    ///
    /// # Errors
    /// Returns the first error of the writing thread ([`StorageError::DiskFull`], [`StorageError::MapFull`],
    /// [`StorageError::Damaged`]). Returns [`StorageError::Refused`] if the terms of chunks that stay live were built
    /// for other columns, if the vectors do not match the model, or if files with reserved ids were not applied. After
    /// an error, the previous generation stays published.
    pub fn publish(self, update: ManifestUpdate) -> Result<Manifest, StorageError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        publish(state, update)
    }

    /// Discards all changes, and removes the rows that were already committed.
    ///
    /// # Errors
    /// Fails if the committed rows cannot be removed, because the disk is full or the index is damaged. No reader sees
    /// these rows, and the next writer removes them.
    pub fn abandon(self) -> Result<(), StorageError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        drop(state);
        let base = self.environment.snapshot()?;
        let mut committer = Committer::new(&base, *BATCH_BYTES.end());
        remove_leftovers(&base, &mut committer)
    }

    fn state(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused_terms(id: ChunkId) -> StorageError {
    StorageError::Refused(format!("terms of chunk {id} cannot be added now"))
}
