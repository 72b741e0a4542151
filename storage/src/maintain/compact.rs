//! Rewrites an index in as few pages as possible.

use std::path::Path;

use aurora_lmdb_pages::free_pages;
use serde::Serialize;

use crate::environment::Environment;
use crate::error::StorageError;
use crate::interrupted::is_present;
use crate::maintain::canonical::{Canonical, Evidence};
use crate::maintain::replacement::Replacement;
use crate::manifest::Manifest;
use crate::opening::OpenMode;
use crate::project::{ProjectDirectory, keep_out_of_git};
use crate::read::Snapshot;
use crate::trust::KnownIndexes;
use crate::workers::Workers;
use crate::write::has_leftovers;

/// Maximum number of free pages that do not justify a compaction, because the next few transactions will use them.
const MAX_SPARE_PAGES: u64 = 128;
/// If free pages are the only reason, an index is compacted only if more than one in this many of its pages is free.
const MIN_FREE_SHARE: u64 = 16;

/// The result of a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compaction {
    /// Length of the data file before the compaction, in bytes.
    pub before: u64,
    /// Length of the data file after the compaction, in bytes.
    pub after: u64,
    /// Whether the index was rewritten; `false` if it was already compact.
    pub written: bool,
    /// The generation that is published after the compaction.
    pub generation: u64,
}

impl Environment {
    /// Rewrites the index of a project, given its `.aurora` directory, with one segment, no deleted chunks and no free
    /// pages. The digest of the index stays the same, but chunks get new ids. Readers keep reading the index that they
    /// have opened. Nothing is written if the index is already compact. The id of the new index is recorded in `known`.
    /// The written bytes do not depend on the number of `workers`.
    ///
    /// # Errors
    /// Fails if there is no index, if another writer has it open, or if it is damaged. On an error, the index is
    /// unchanged.
    pub fn compact(directory: &Path, known: &KnownIndexes, workers: Workers) -> Result<Compaction, StorageError> {
        let current = Self::open(directory, OpenMode::Existing)?;
        if !is_worthwhile(&current.snapshot()?)? {
            let (bytes, generation) = (current.store.length()?, current.snapshot()?.manifest().generation);
            return Ok(Compaction { before: bytes, after: bytes, written: false, generation });
        }
        current.rewrite(known, workers)
    }

    /// Like [`Self::compact`], but only if the data file has at least `min_bytes`, more than half of it is free, and no
    /// other process reads it. A reader would keep the old file on the disk. Returns `None` if nothing was written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::compact`].
    pub fn compact_if_mostly_free(
        directory: &Path,
        min_bytes: u64,
        known: &KnownIndexes,
        workers: Workers,
    ) -> Result<Option<Compaction>, StorageError> {
        let current = Self::open(directory, OpenMode::Existing)?;
        let bytes = current.store.length()?;
        // This check must come before this process begins to read.
        if bytes < min_bytes || current.store.is_read_by_others() {
            return Ok(None);
        }
        let snapshot = current.snapshot()?;
        let is_mostly_free = free_page_count(&snapshot)?.saturating_mul(2 * snapshot.pages().page_size as u64) > bytes;
        drop(snapshot);
        is_mostly_free.then(|| current.rewrite(known, workers)).transpose()
    }

    /// Writes a compact copy of the index, and replaces the index with the copy.
    fn rewrite(self, known: &KnownIndexes, workers: Workers) -> Result<Compaction, StorageError> {
        let mut replacement = Replacement::begin(&self.store.home, known)?;
        self.store.check_current()?;
        let snapshot = self.snapshot()?;
        let generation = snapshot.manifest().generation + 1;
        let manifest = copy(&snapshot, &mut replacement, Evidence::Keep, generation, workers)?;
        let new = replacement.complete(&manifest, (0..manifest.next_chunk_id).collect())?;
        let (before, after) = (self.store.length()?, new.store().length()?);
        drop(new);
        replacement.finish()?;
        Ok(Compaction { before, after, written: true, generation })
    }
}

impl Environment {
    /// Copies the index of one project to another project, given the `.aurora` directory and the root of the other
    /// project. The id of the copy is recorded in `known`. The copy counts as incomplete, and lacks the stat data of
    /// the original files. Returns `false` and copies nothing if the other project already has an index.
    ///
    /// # Errors
    /// Fails if the index is damaged, the copy cannot be written, or the project has another writer.
    pub fn adopt(
        directory: &Path,
        from: &Snapshot,
        root: &str,
        known: &KnownIndexes,
        workers: Workers,
    ) -> Result<bool, StorageError> {
        let home = ProjectDirectory::at(directory).create().map_err(|error| StorageError::io(directory, error))?;
        keep_out_of_git(&home)?;
        let mut replacement = Replacement::begin(&home, known)?;
        if is_present(&home) {
            return Ok(false);
        }
        let manifest = copy(from, &mut replacement, Evidence::Omit, 1, workers)?;
        let manifest = Manifest { root: root.to_owned(), complete: false, ..manifest };
        drop(replacement.complete(&manifest, (0..manifest.next_chunk_id).collect())?);
        replacement.finish()?;
        Ok(true)
    }
}

/// Whether the index has deleted chunks, leftovers of stopped writers, several segments, or many free pages.
fn is_worthwhile(snapshot: &Snapshot) -> Result<bool, StorageError> {
    let manifest = snapshot.manifest();
    if has_leftovers(snapshot)?
        || manifest.segments.len() > 1
        || manifest.chunk_count != u64::from(manifest.next_chunk_id)
    {
        return Ok(true);
    }
    let free = free_page_count(snapshot)?;
    Ok(free > MAX_SPARE_PAGES && free > snapshot.meta().last_page / MIN_FREE_SHARE)
}

fn free_page_count(snapshot: &Snapshot) -> Result<u64, StorageError> {
    let free = free_pages(&snapshot.pages(), snapshot.meta());
    snapshot.check(free.map(|free| free.len()))
}

/// Copies all rows, and returns the manifest of the copy.
fn copy(
    snapshot: &Snapshot,
    to: &mut Replacement,
    evidence: Evidence,
    generation: u64,
    workers: Workers,
) -> Result<Manifest, StorageError> {
    let canonical = Canonical::new(snapshot, workers)?;
    let segment = canonical.rows(evidence, &mut |operation| to.committer().push(operation))?;
    Ok(canonical.manifest(generation, segment))
}
