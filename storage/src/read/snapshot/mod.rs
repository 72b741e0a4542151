//! Read access to one generation of the index.

mod chunks;

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use aurora_inverted::{
    FIELDS, FieldLengths, LengthColumns, Postings, Tombstones, WINDOW, is_term, length_from_code, normalise,
};
use aurora_lmdb_pages::{Cursor, Damage, Entry, Mark, Meta, Pages, Tree};
use roaring::RoaringBitmap;

use crate::error::StorageError;
use crate::index_id::IndexId;
use crate::manifest::{FORMAT_VERSION, Manifest};
use crate::read::chunk::{ArchivedSourceRecord, ArchivedStoredChunk, ChunkId, Records};
use crate::read::content::{CacheCounts, FrameCache};
use crate::read::label::Label;
use crate::read::segment::{SegmentPages, StoredSegment};
use crate::store::{IndexStore, Mapped};
use crate::tables::{FORMAT_MARK, Table, block_key, meta_key};

/// One published generation of the index.
///
/// A snapshot is cheap to clone, and any number of threads can use it. While a snapshot exists, the writer does not
/// reuse the pages of its generation.
#[derive(Clone)]
pub struct Snapshot {
    pub(in crate::read) inner: Arc<Inner>,
    frames: Arc<FrameCache>,
}

pub(in crate::read) struct Inner {
    mapped: Mapped,
    tables: [Tree; Table::COUNT],
    id: Option<IndexId>,
    manifest: Manifest,
    live: RoaringBitmap,
    /// Ids of deleted chunks: all ids below the next id that are not live. Computed on first use.
    tombstones: OnceLock<Tombstones>,
    /// Whether the index is complete; computed on first use.
    pub(in crate::read) completeness: OnceLock<bool>,
    records: Records<ArchivedStoredChunk>,
    sources: Records<ArchivedSourceRecord>,
    /// For each window that has been read, the position of its field lengths in the file.
    lengths: Box<[OnceLock<Range<usize>>]>,
    /// Positions of all blocks of vectors in the file. Set by the first search that reads all blocks.
    pub(in crate::read) vectors: OnceLock<Vec<VectorPosition>>,
    /// Keeps the environment open; dropped last.
    store: Arc<IndexStore>,
}

/// Positions of the two values of a vector block in the mapped file.
pub(crate) struct VectorPosition {
    /// Number of the block.
    pub(crate) block: u32,
    pub(crate) codes: Range<usize>,
    pub(crate) packed: Range<usize>,
}

impl Snapshot {
    pub(crate) fn open(store: &Arc<IndexStore>) -> Result<Self, StorageError> {
        let mapped = store.read()?;
        let damaged = |damage: Damage| damaged(&store.data, damage);
        if mapped.meta.main.is_empty() && mapped.meta.transaction > 0 {
            return Err(damaged(Damage("its tables are lost".to_owned())));
        }
        let pages = mapped.pages();
        let tree = |table: Table| match Cursor::named(pages, mapped.meta.main, table.name()).map_err(damaged)? {
            Some(tree) => Ok(tree.with_seal(table.seal())),
            None if mapped.meta.main.is_empty() => Ok(Tree::EMPTY),
            None => {
                let reason = format!("it has no table `{}`", table.name());
                Err(StorageError::Foreign { path: store.data.clone(), reason })
            }
        };
        let meta = tree(Table::Meta)?;
        if !mapped.meta.main.is_empty() {
            // The format is checked first, because other versions have other tables and checksums.
            check_format(&store.data, Cursor::get(pages, meta.with_seal(None), meta_key::FORMAT).map_err(damaged)?)?;
        }
        let mut tables = [meta; Table::COUNT];
        for (table, root) in Table::all().zip(&mut tables) {
            *root = tree(table)?;
        }
        let meta = |key| Cursor::get(pages, meta, key).map_err(damaged);
        let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
        let written_by = meta(meta_key::TRANSACTION)?.and_then(number);
        let signature = (Table::Meta.name(), Table::Meta as Mark, meta_key::TRANSACTION);
        if !mapped.meta.main.is_empty()
            && (written_by != Some(mapped.meta.transaction) || mapped.is_rolled_back(signature, number))
        {
            return Err(damaged(Damage("its tables belong to an earlier generation".to_owned())));
        }
        let manifest = match meta(meta_key::MANIFEST)? {
            Some(bytes) => serde_json::from_slice(bytes)
                .map_err(|error| damaged(Damage(format!("the manifest is unreadable: {error}"))))?,
            None => Manifest::empty(),
        };
        let id = meta(meta_key::ID)?.and_then(IndexId::from_bytes);
        if id.is_none() && !mapped.meta.main.is_empty() {
            return Err(damaged(Damage("it has no id".to_owned())));
        }
        let live = match meta(meta_key::LIVE)? {
            Some(bytes) => RoaringBitmap::deserialize_from(bytes)
                .map_err(|_| damaged(Damage("the set of live chunks is unreadable".to_owned())))?,
            None => RoaringBitmap::new(),
        };
        if live.max().is_some_and(|last| last >= manifest.next_chunk_id) {
            return Err(damaged(Damage("chunks are live that were never written".to_owned())));
        }
        let inner = Inner {
            tombstones: OnceLock::new(),
            completeness: OnceLock::new(),
            records: Records::new(manifest.next_chunk_id),
            sources: Records::new(manifest.next_chunk_id),
            lengths: (0..manifest.next_chunk_id.div_ceil(WINDOW)).map(|_| OnceLock::new()).collect(),
            vectors: OnceLock::new(),
            store: Arc::clone(store),
            mapped,
            tables,
            id,
            manifest,
            live,
        };
        Ok(Self { inner: Arc::new(inner), frames: Arc::new(FrameCache::new()) })
    }

    /// Returns the same generation with a separate cache of decompressed frames. A thread that reads many neighbouring
    /// chunks should use this, so that reads by other threads do not evict its frames.
    pub(crate) fn with_own_frames(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), frames: Arc::new(FrameCache::new()) }
    }

    /// Returns how often the cache of decompressed texts was used by this snapshot and its clones.
    pub fn cached_texts(&self) -> CacheCounts {
        self.frames.counter.counts()
    }

    /// Returns the id of the index; `None` before the first transaction.
    pub fn id(&self) -> Option<IndexId> {
        self.inner.id
    }

    /// Returns the manifest of the generation.
    pub fn manifest(&self) -> &Manifest {
        &self.inner.manifest
    }

    /// Returns the ids of the generation's chunks.
    pub fn live(&self) -> &RoaringBitmap {
        &self.inner.live
    }

    /// Returns the live postings of a term. `term` must be in the form that the analyzer returns.
    ///
    /// # Errors
    /// Fails if the dictionary of a segment, or a posting list of the term, is damaged.
    pub fn postings(&self, term: &str) -> Result<Postings<'_>, StorageError> {
        if is_term(term) {
            self.list(normalise(term).as_bytes())
        } else {
            Ok(Postings::new(Vec::new(), self.tombstones()))
        }
    }

    /// Returns the number of live chunks with a term, like [`Postings::doc_frequency`], but faster if the postings are
    /// not needed.
    ///
    /// # Errors
    /// Fails if the dictionary of a segment is damaged, or if a damaged posting list has to be read to count deleted
    /// chunks.
    pub fn doc_frequency(&self, term: &str) -> Result<u32, StorageError> {
        Ok(self.doc_frequency_up_to(term, u32::MAX)?.unwrap_or(u32::MAX))
    }

    /// Like [`Self::doc_frequency`], but returns `None` if the result is greater than `most`. A posting list whose
    /// length alone shows this is not read.
    ///
    /// # Errors
    /// Returns the errors of [`Self::doc_frequency`].
    pub fn doc_frequency_up_to(&self, term: &str, most: u32) -> Result<Option<u32>, StorageError> {
        let mut count = 0;
        if is_term(term) {
            let entry = normalise(term);
            for segment in self.segments() {
                let Some(found) = self.check(segment.find(entry.as_bytes()))? else { continue };
                if u64::from(found.count) > u64::from(most) + self.tombstones().set().len() {
                    return Ok(None);
                }
                count += self.check(segment.live(&found, self.tombstones()))?;
            }
        }
        Ok(Some(count).filter(|count| *count <= most))
    }

    /// Returns the number of terms in every field of a chunk, rounded to the precision of one byte. All numbers are 0
    /// for a chunk without terms.
    ///
    /// # Errors
    /// Fails if the lengths of the chunk's window are damaged or missing.
    pub fn field_lengths(&self, id: ChunkId) -> Result<[u32; FIELDS], StorageError> {
        Ok(self.window_lengths(id.0 / WINDOW)?.at((id.0 % WINDOW) as u16).map(length_from_code))
    }

    /// Returns the field lengths of all chunks.
    ///
    /// # Errors
    /// Fails if the lengths of a window are damaged or missing.
    pub fn all_field_lengths(&self) -> Result<FieldLengths<'_>, StorageError> {
        self.field_lengths_of(0..self.manifest().next_chunk_id)
    }

    /// Returns the field lengths of the chunks in a range. The lengths of chunks outside the range may be 0.
    pub(crate) fn field_lengths_of(&self, ids: Range<u32>) -> Result<FieldLengths<'_>, StorageError> {
        let wanted = ids.start / WINDOW..ids.end.div_ceil(WINDOW);
        let columns =
            |window| if wanted.contains(&window) { self.window_lengths(window) } else { Ok(LengthColumns::NONE) };
        Ok(FieldLengths::new((0..self.inner.lengths.len() as u32).map(columns).collect::<Result<_, _>>()?))
    }

    /// Returns the field lengths of the chunks in a window.
    ///
    /// # Errors
    /// Fails if the lengths of the window are damaged, or if they are missing although the window has live chunks.
    pub fn window_lengths(&self, window: u32) -> Result<LengthColumns<'_>, StorageError> {
        let Some(known) = self.inner.lengths.get(window as usize) else { return Ok(LengthColumns::NONE) };
        let position = match known.get() {
            Some(position) => position.clone(),
            None => {
                let position = self.find_lengths(window)?;
                known.get_or_init(|| position).clone()
            }
        };
        let block = self.pages().bytes.get(position).filter(|block| !block.is_empty());
        let columns = block.map_or(Some(LengthColumns::NONE), LengthColumns::decode);
        columns.ok_or_else(|| self.damaged(format!("window {window} of the field lengths is invalid")))
    }

    /// Returns the position of a window's field lengths in the mapped file. A position can be cached in `self`, unlike
    /// a reference into the map that `self` owns.
    fn find_lengths(&self, window: u32) -> Result<Range<usize>, StorageError> {
        let first = window * WINDOW;
        match self.get(Table::Lengths, &block_key(window))? {
            Some(bytes) => Ok(self.position_of(bytes)),
            None if self.live().range_cardinality(first..=first + (WINDOW - 1)) == 0 => Ok(0..0),
            None => Err(self.damaged(format!("window {window} of the field lengths is missing"))),
        }
    }

    /// Returns the position of a value in the mapped file.
    pub(crate) fn position_of(&self, value: &[u8]) -> Range<usize> {
        let start = value.as_ptr() as usize - self.pages().bytes.as_ptr() as usize;
        start..start + value.len()
    }

    /// Returns the sum of the lengths of all live chunks for each field.
    pub fn field_totals(&self) -> [u64; FIELDS] {
        self.inner.manifest.field_totals
    }

    /// Returns the live chunks that have a label.
    ///
    /// # Errors
    /// Fails if the dictionary of a segment, a posting list of the label, or a block of values is damaged.
    pub fn label(&self, label: Label<'_>) -> Result<RoaringBitmap, StorageError> {
        if let Label::Meta { key, value } = label
            && self.custom_column(key).is_some()
        {
            return self.chunks_with_value(key, value);
        }
        Ok(self.list(&label.to_bytes())?.docs())
    }

    /// Returns the live chunks that have a label, ascending, or `None` if there are more than `most`. This is a cheap
    /// way to follow a relationship. Values of custom columns are not found.
    ///
    /// # Errors
    /// Fails if the dictionary of a segment, or a posting list of the label, is damaged. A posting list whose length
    /// alone shows that there are more than `most` chunks is not read, so damage in it is not reported.
    pub fn few_with_label(&self, label: Label<'_>, most: usize) -> Result<Option<Vec<ChunkId>>, StorageError> {
        let entry = label.to_bytes();
        let mut few = Vec::new();
        for segment in self.segments() {
            let Some(found) = self.check(segment.find(&entry))? else { continue };
            if u64::from(found.count) > most as u64 + self.tombstones().set().len() {
                return Ok(None);
            }
            let chunks = self.check(segment.chunks(&found))?;
            few.extend(chunks.into_iter().filter(|&chunk| !self.tombstones().contains(chunk)).map(ChunkId));
            if few.len() > most {
                return Ok(None);
            }
        }
        Ok(Some(few))
    }

    /// Returns the live postings of a dictionary entry.
    pub(crate) fn list(&self, entry: &[u8]) -> Result<Postings<'_>, StorageError> {
        let mut parts = Vec::new();
        for segment in self.segments() {
            if let Some(found) = self.check(segment.find(entry))? {
                parts.extend(self.check(segment.parts(&found))?);
            }
        }
        Ok(Postings::new(parts, self.tombstones()))
    }

    /// Returns the segments in the order of their chunk ids.
    pub(crate) fn segments(&self) -> impl Iterator<Item = StoredSegment<'_>> + '_ {
        self.inner.manifest.segments.iter().map(|info| self.segment(info.id))
    }

    /// Returns a segment by its number.
    pub(crate) fn segment(&self, id: u32) -> StoredSegment<'_> {
        let (dictionary, postings) = (self.tree(Table::Dictionary), self.tree(Table::Postings));
        StoredSegment::new(SegmentPages { pages: self.pages(), dictionary, postings, id })
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, table: Table, key: &[u8]) -> Result<Option<&[u8]>, StorageError> {
        self.check(Cursor::get(self.pages(), self.tree(table), key))
    }

    /// Returns a cursor in a table, starting at a key.
    pub(crate) fn cursor(&self, table: Table, from: &[u8]) -> Result<Cursor<'_>, StorageError> {
        self.check(Cursor::seek(self.pages(), self.tree(table), from))
    }

    /// Returns the rows of a table in key order, starting at a key. The iteration ends after an error.
    pub(crate) fn rows(&self, table: Table, from: &[u8]) -> impl Iterator<Item = Result<Entry<'_>, StorageError>> + '_ {
        let (entries, error) = match self.cursor(table, from) {
            Ok(cursor) => (Some(cursor), None),
            Err(error) => (None, Some(Err(error))),
        };
        let entries = entries.into_iter().flat_map(Cursor::entries).map(|entry| self.check(entry));
        error.into_iter().chain(entries)
    }

    pub(crate) fn pages(&self) -> Pages<'_> {
        self.inner.mapped.pages()
    }

    pub(crate) fn tree(&self, table: Table) -> Tree {
        self.inner.tables[table as usize]
    }

    /// Returns the meta page of the generation.
    pub(crate) fn meta(&self) -> &Meta {
        &self.inner.mapped.meta
    }

    /// Returns the store that the snapshot keeps open.
    pub(crate) fn store(&self) -> &Arc<IndexStore> {
        &self.inner.store
    }

    /// Returns the ids of deleted chunks.
    pub(crate) fn tombstones(&self) -> &Tombstones {
        self.inner.tombstones.get_or_init(|| {
            let mut deleted = RoaringBitmap::new();
            deleted.insert_range(..self.inner.manifest.next_chunk_id);
            deleted -= &self.inner.live;
            Tombstones::new(deleted)
        })
    }

    /// Returns the path of the data file.
    pub(crate) fn path(&self) -> &Path {
        &self.inner.store.data
    }

    pub(crate) fn wrap(&self, damage: Damage) -> StorageError {
        damaged(self.path(), damage)
    }

    /// Adds the path of the data file to an error.
    pub(crate) fn check<T>(&self, result: Result<T, Damage>) -> Result<T, StorageError> {
        result.map_err(|damage| self.wrap(damage))
    }

    pub(crate) fn damaged(&self, what: String) -> StorageError {
        damaged(self.path(), Damage(what))
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("generation", &self.manifest().generation)
            .field("chunks", &self.live().len())
            .finish_non_exhaustive()
    }
}

fn damaged(path: &Path, damage: Damage) -> StorageError {
    StorageError::Damaged { path: path.to_owned(), what: damage.0 }
}

fn check_format(data: &Path, value: Option<&[u8]>) -> Result<(), StorageError> {
    let version = value.and_then(|value| value.strip_prefix(FORMAT_MARK));
    let Some(version) = version.and_then(|version| version.try_into().ok()) else {
        let reason = "it has no format mark".to_owned();
        return Err(StorageError::Foreign { path: data.to_owned(), reason });
    };
    match u32::from_le_bytes(version) {
        FORMAT_VERSION => Ok(()),
        found => Err(StorageError::FormatVersion { path: data.to_owned(), found, expected: FORMAT_VERSION }),
    }
}
