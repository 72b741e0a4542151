//! The one writer of an index.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use aurora_inverted::{FIELDS, HashedTerm, LengthCodes, TermVector, length_code};
use roaring::RoaringBitmap;

use crate::blame::{self, Blame};
use crate::chunk::{Chunk, ChunkId};
use crate::chunk_rows::ChunkRows;
use crate::cleanup::{has_leftovers, remove_leftovers};
use crate::commit::{Committer, create_tables};
use crate::env::Environment;
use crate::error::StorageError;
use crate::fault;
use crate::files::FileRecord;
use crate::inversion::Inversion;
use crate::label::labels_of;
use crate::lock::WriterLock;
use crate::manifest::{Manifest, ManifestUpdate};
use crate::publish::publish;
use crate::replace;
use crate::snapshot::Snapshot;
use crate::tables::{Operation, Table, chunk_key};
use crate::trust::IndexId;
use crate::vectors::{VectorAppender, quantise};

/// Smallest and largest batch, in bytes, that is committed on its own.
const BATCH: std::ops::RangeInclusive<usize> = (256 << 10)..=(32 << 20);

/// What a writer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriterOptions {
    /// About how many bytes of memory to use: half for the inversion, which is spilled to disk beyond
    /// that, and an eighth for each batch on its way to disk: the one being built, one that waits, the one being
    /// written, and its pages.
    pub memory: usize,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self { memory: 256 << 20 }
    }
}

/// Adds, replaces and removes files, and publishes all of it at once.
///
/// Nothing is visible before [`IndexWriter::publish`] returns. A writer that is dropped, or whose
/// process is killed, leaves the generation as it was.
pub struct IndexWriter {
    environment: Environment,
    id: IndexId,
    state: Mutex<State>,
    /// Released last.
    _lock: WriterLock,
}

/// What a writer has gathered.
pub(crate) struct State {
    /// The generation that is being changed.
    pub(crate) base: Snapshot,
    pub(crate) committer: Committer,
    pub(crate) rows: ChunkRows,
    pub(crate) vectors: VectorAppender,
    pub(crate) inversion: Inversion,
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
    last_terms: Option<ChunkId>,
}

impl IndexWriter {
    pub(crate) fn open(environment: Environment, options: WriterOptions) -> Result<Self, StorageError> {
        let store = &environment.store;
        let lock = WriterLock::acquire(&store.home)?;
        store.check_current()?;
        fault::point();
        replace::clear(&store.home)?;
        // A place in the reader table that a killed process left would keep old pages for ever.
        let stale = store.lmdb.clear_stale_readers();
        stale.map_err(|error| StorageError::lmdb(&store.data, error))?;
        let limit = (options.memory / 8).clamp(*BATCH.start(), *BATCH.end());
        let mut base = environment.snapshot()?;
        if base.id().is_none() {
            create_tables(store)?;
            base = environment.snapshot()?;
        }
        let id = base.id().ok_or_else(|| base.damaged("it has no id".to_owned()))?;
        if has_leftovers(&base)? {
            let mut committer = Committer::new(&base, limit);
            remove_leftovers(&base, &mut committer)?;
            base = environment.snapshot()?;
        }
        let next_id = base.manifest().next_chunk_id;
        let state = State {
            committer: Committer::new(&base, limit),
            rows: ChunkRows::new()?,
            vectors: VectorAppender::new(&base)?,
            inversion: Inversion::begin(&store.home, options.memory / 2)?,
            files: BTreeMap::new(),
            dead: RoaringBitmap::new(),
            dead_firsts: Vec::new(),
            added: RoaringBitmap::new(),
            next_id,
            lengths: Vec::new(),
            lengths_from: next_id,
            rebuild: false,
            last_terms: None,
            base,
        };
        Ok(Self { environment, id, state: Mutex::new(state), _lock: lock })
    }

    /// The id of the index that is written.
    pub fn id(&self) -> IndexId {
        self.id
    }

    /// Replaces a file with its chunks, each with its vector if it has one, and returns the chunks' ids
    /// in the order given. The file's earlier chunks die; `record.chunks` is set.
    ///
    /// # Errors
    /// Refuses an empty path, chunks of another path or of several languages, and vectors that are not finite or differ in
    /// their dimensions.
    pub fn replace_file(
        &self,
        mut record: FileRecord,
        chunks: Vec<(Chunk, Option<Vec<f32>>)>,
    ) -> Result<Vec<ChunkId>, StorageError> {
        let mut prepared = Vec::with_capacity(chunks.len());
        for (chunk, vector) in chunks {
            let vector = match vector {
                Some(vector) => Some(
                    quantise(&vector)
                        .ok_or_else(|| StorageError::Refused(format!("the vector of {} is not finite", chunk.key)))?,
                ),
                None => None,
            };
            let labels = labels_of(&chunk);
            prepared.push((chunk, labels, vector));
        }
        let language = prepared.first().map(|(first, ..)| first.language.as_str());
        let is_of_file = |chunk: &Chunk| chunk.path == record.path && Some(chunk.language.as_str()) == language;
        if let Some((other, ..)) = prepared.iter().find(|(chunk, ..)| !is_of_file(chunk)) {
            return Err(StorageError::Refused(format!("{} is no chunk of {}", other.key, record.path)));
        }
        let mut state = self.state();
        let vectors = prepared.iter().filter_map(|(_, _, vector)| vector.as_ref());
        state.reserve(prepared.len(), vectors.map(|(_, row)| row.len()))?;
        state.retire(&record.path)?;
        let mut ids = Vec::with_capacity(prepared.len());
        state.rows.begin_file();
        for (chunk, labels, vector) in prepared {
            ids.push(state.add_chunk(&chunk, &labels, vector)?);
        }
        record.chunks.clone_from(&ids);
        state.files.insert(record.path.clone(), Some(record));
        state.inversion.spill_if_large()?;
        Ok(ids)
    }

    /// Sets which commit every line of a file came from, given the first of its chunks.
    ///
    /// # Errors
    /// Refuses a chunk that this writer did not add.
    pub fn add_blame(&self, first: ChunkId, blame: &Blame) -> Result<(), StorageError> {
        let mut state = self.state();
        if !state.added.contains(first.0) {
            return Err(StorageError::Refused(format!("the blame of chunk {first} cannot be added now")));
        }
        state.committer.push(Operation::put(Table::Blames, chunk_key(first.0), blame::encode(blame)))
    }

    /// Removes a file and its chunks; a path without a row is no error.
    ///
    /// # Errors
    /// [`StorageError::Damaged`] when the old row of the file, or its chunks, cannot be read.
    pub fn remove_file(&self, path: &str) -> Result<(), StorageError> {
        let mut state = self.state();
        if state.row(path)?.is_some() {
            state.retire(path)?;
            state.files.insert(path.to_owned(), None);
        }
        Ok(())
    }

    /// Sets a file's row and leaves its chunks as they are.
    ///
    /// # Errors
    /// [`StorageError::Refused`] for an empty path; [`StorageError::Damaged`] when the old row
    /// cannot be read.
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

    /// Adds the terms of a chunk, at most once for each, in ascending order of ids.
    ///
    /// # Errors
    /// Refuses a chunk that this writer did not add (unless terms are rebuilt), and another order.
    pub fn add_terms(&self, id: ChunkId, terms: &TermVector) -> Result<(), StorageError> {
        let mut state = self.state();
        let known = state.added.contains(id.0) || state.rebuild && state.base.live().contains(id.0);
        if !known || state.last_terms >= Some(id) {
            return Err(StorageError::Refused(format!("terms of chunk {id} cannot be added now")));
        }
        state.last_terms = Some(id);
        let row = (id.0 - state.lengths_from) as usize;
        state.lengths[row] = terms.lengths().map(length_code);
        state.inversion.add(id.0, terms.hashed());
        state.inversion.spill_if_large()
    }

    /// Builds all postings anew: after this, [`IndexWriter::add_terms`] must be called for every live
    /// chunk. Chunks, vectors and files stay.
    ///
    /// # Errors
    /// Refuses unless it is the first call on the writer.
    pub fn rebuild_terms(&self) -> Result<(), StorageError> {
        let mut state = self.state();
        if state.is_touched() {
            let message = "terms can be rebuilt only before anything else is written";
            return Err(StorageError::Refused(message.to_owned()));
        }
        state.rebuild = true;
        state.lengths_from = 0;
        state.lengths = vec![[0; FIELDS]; state.next_id as usize];
        let base = state.base.clone();
        for id in base.live() {
            if let Some(chunk) = base.whole_chunk(ChunkId(id))? {
                let labels = labels_of(&chunk);
                state.inversion.add(id, labels.iter().map(|label| (HashedTerm::new(label), [0; FIELDS])));
            }
            state.inversion.spill_if_large()?;
        }
        Ok(())
    }

    /// Publishes everything as the next generation, in one last transaction, and returns its manifest.
    /// When nothing has changed nothing is written, and the manifest is the old one.
    ///
    /// # Errors
    /// The first error of the thread that writes ([`StorageError::DiskFull`], [`StorageError::MapFull`], [`StorageError::Damaged`]);
    /// the generation before is then still the published one.
    pub fn publish(self, update: ManifestUpdate) -> Result<Manifest, StorageError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        publish(state, update)
    }

    /// Gives up everything, and frees the space that it took.
    ///
    /// # Errors
    /// When the rows that were committed cannot be removed, as the disk is full or the index damaged. No reader sees them, and the
    /// next writer removes them.
    pub fn abandon(self) -> Result<(), StorageError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        drop(state);
        let base = self.environment.snapshot()?;
        let mut committer = Committer::new(&base, *BATCH.end());
        remove_leftovers(&base, &mut committer)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether anything was asked of the writer.
    pub(crate) fn is_touched(&self) -> bool {
        self.rebuild || !self.files.is_empty() || !self.added.is_empty()
    }

    /// The row of a file as it would be published now.
    fn row(&self, path: &str) -> Result<Option<FileRecord>, StorageError> {
        match self.files.get(path) {
            Some(row) => Ok(row.clone()),
            None => self.base.file(path),
        }
    }

    /// Lets the chunks of a file die.
    fn retire(&mut self, path: &str) -> Result<(), StorageError> {
        check_path(path)?;
        let chunks = self.row(path)?.map(|row| row.chunks).unwrap_or_default();
        self.dead.extend(chunks.iter().map(|id| id.0));
        self.dead_firsts.extend(chunks.first());
        Ok(())
    }

    /// Makes sure that `count` ids are left and that vectors have the same dimensions.
    fn reserve(&mut self, count: usize, dimensions: impl Iterator<Item = usize>) -> Result<(), StorageError> {
        for dimensions in dimensions {
            self.next_id = self.vectors.expect(dimensions, self.next_id)?;
        }
        let end = u64::from(self.next_id) + count as u64;
        match end < u64::from(u32::MAX) {
            true => Ok(()),
            false => Err(StorageError::IdsExhausted { path: self.base.path().to_owned() }),
        }
    }

    fn add_chunk(
        &mut self,
        chunk: &Chunk,
        labels: &[Vec<u8>],
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

fn check_path(path: &str) -> Result<(), StorageError> {
    match path.is_empty() {
        true => Err(StorageError::Refused("a file needs a path".to_owned())),
        false => Ok(()),
    }
}
