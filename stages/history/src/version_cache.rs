//! A cache of the versions of one file and the diffs between them. With the cache, each version is read and compared
//! only once for all walks.

use std::sync::Arc;

use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};
use rustc_hash::FxHashMap;

use crate::blamer::Blamer;
use crate::change_table::PathId;
use crate::commit_graph::CommitPos;
use crate::events::EventIndex;
use crate::line_diff::{DiffRegion, FileVersion, Hunk, LineInterner};
use crate::rename::{RenameSource, RenameTarget};

/// Maximum size of the cached versions, in bytes.
const MAX_VERSION_BYTES: usize = 48 << 20;
/// Maximum size of the cached diffs, in bytes.
const MAX_DIFF_BYTES: usize = 8 << 20;
/// Memory that a cached diff needs in addition to its content, in bytes: about two object ids.
const ENTRY_BYTES: usize = 64;
/// If more than this number of versions are cached, the versions that no walk needs are evicted.
const MAX_VERSIONS: usize = 64;

/// Diffs by old and new version.
type Diffs<T> = FxHashMap<(ObjectId, ObjectId), Arc<[T]>>;

/// The versions of one file, for the thread that walks its history.
pub(crate) struct VersionCache<'a> {
    blamer: &'a mut Blamer,
    index: &'a EventIndex,
    counts_touches: bool,
    pub(crate) table: LineInterner,
    versions: HashMap<ObjectId, Arc<FileVersion>>,
    version_bytes: usize,
    regions: Diffs<DiffRegion>,
    hunks: Diffs<Hunk>,
    diff_bytes: usize,
    sources: FxHashMap<(CommitPos, usize, PathId), Option<RenameSource>>,
}

impl<'a> VersionCache<'a> {
    /// Creates an empty cache for a file of `index`. If `counts_touches` is true, regions and hunks are computed
    /// together, because the walks will need both.
    pub(crate) fn new(blamer: &'a mut Blamer, index: &'a EventIndex, counts_touches: bool) -> Self {
        Self {
            blamer,
            index,
            counts_touches,
            table: LineInterner::default(),
            versions: HashMap::default(),
            version_bytes: 0,
            regions: FxHashMap::default(),
            hunks: FxHashMap::default(),
            diff_bytes: 0,
            sources: FxHashMap::default(),
        }
    }

    /// Returns the version with content `blob`, or `None` if the blob is missing or too large. `near` is a similar
    /// version, which makes splitting the content into lines faster.
    pub(crate) fn version(&mut self, blob: ObjectId, near: Option<&FileVersion>) -> Option<Arc<FileVersion>> {
        if let Some(known) = self.versions.get(&blob) {
            return Some(Arc::clone(known));
        }
        let bytes = self.blamer.read_file(&blob)?;
        let version = Arc::new(self.table.version(bytes, near));
        self.version_bytes += version.weight();
        self.versions.insert(blob, Arc::clone(&version));
        Some(version)
    }

    /// Returns the regions of the version `new` that blame needs, see
    /// [`LineDiffer::compare`](crate::line_diff::LineDiffer::compare). Returns `None` if `new` or `old` is missing or
    /// too large.
    pub(crate) fn regions(&mut self, old: ObjectId, new: ObjectId) -> Option<Arc<[DiffRegion]>> {
        if let Some(known) = self.regions.get(&(old, new)) {
            return Some(Arc::clone(known));
        }
        let (old_version, new_version) = self.both(old, new)?;
        let (differ, table) = (&mut self.blamer.differ, &self.table);
        let regions = if self.counts_touches {
            let (regions, hunks) = differ.compare_with_hunks(table, &old_version, &new_version);
            self.add_hunks(old, new, hunks);
            regions
        } else {
            differ.compare(table, &old_version, &new_version)
        };
        let regions: Arc<[DiffRegion]> = regions.into();
        self.make_room(size_of_val(&*regions));
        self.regions.insert((old, new), Arc::clone(&regions));
        Some(regions)
    }

    /// Returns the hunks from the version `old` to the version `new`, from which touches are counted, see
    /// [`LineDiffer::hunks`](crate::line_diff::LineDiffer::hunks). If the hunks are cached, reads neither version.
    /// Otherwise, returns `None` if a version is missing or too large.
    pub(crate) fn hunks(&mut self, old: ObjectId, new: ObjectId) -> Option<Arc<[Hunk]>> {
        if let Some(known) = self.hunks.get(&(old, new)) {
            return Some(Arc::clone(known));
        }
        if let Some(cached) = self.blamer.diff_cache.as_ref().and_then(|cache| cache.hunks(&old, &new)) {
            return Some(cached.into());
        }
        let (old_version, new_version) = self.both(old, new)?;
        let hunks = self.blamer.differ.hunks(&self.table, &old_version, &new_version);
        Some(self.add_hunks(old, new, hunks))
    }

    /// Returns the file that was renamed to `target`.
    pub(crate) fn source(&mut self, target: RenameTarget) -> Option<RenameSource> {
        let Blamer { reader, trees, renames, diff_cache, .. } = &mut *self.blamer;
        let index = self.index;
        let find = || {
            if let Some(known) = diff_cache.as_ref().and_then(|cache| cache.source(index, target)) {
                return known;
            }
            let found = renames.source(index, reader, trees, target);
            // An object that is missing now may exist in the next run, so an uncertain result is not cached.
            if let Some(cache) = diff_cache.as_ref().filter(|_| !renames.missing && !index.is_incomplete()) {
                cache.add_source(index, target, found);
            }
            found
        };
        *self.sources.entry((target.commit, target.parent, target.path)).or_insert_with(find)
    }

    fn both(&mut self, old: ObjectId, new: ObjectId) -> Option<(Arc<FileVersion>, Arc<FileVersion>)> {
        let new = self.version(new, None)?;
        let old = self.version(old, Some(&new))?;
        Some((old, new))
    }

    fn add_hunks(&mut self, old: ObjectId, new: ObjectId, hunks: Vec<Hunk>) -> Arc<[Hunk]> {
        if let Some(cache) = &self.blamer.diff_cache {
            cache.add_hunks(&old, &new, &hunks);
        }
        let hunks: Arc<[Hunk]> = hunks.into();
        self.make_room(size_of_val(&*hunks));
        self.hunks.insert((old, new), Arc::clone(&hunks));
        hunks
    }

    /// Evicts all diffs if their total size exceeds the maximum. Then adds a new diff of `bytes` bytes to the total
    /// size.
    fn make_room(&mut self, bytes: usize) {
        if self.diff_bytes > MAX_DIFF_BYTES {
            self.regions.clear();
            self.hunks.clear();
            self.diff_bytes = 0;
        }
        self.diff_bytes += bytes + ENTRY_BYTES;
    }

    /// Evicts versions to bound memory. If the total size exceeds the maximum, evicts all versions. If there are many
    /// versions, or if `few_needed` is true, evicts the versions that `needed` does not return.
    pub(crate) fn evict(&mut self, few_needed: bool, needed: impl FnOnce() -> HashSet<ObjectId>) {
        if self.version_bytes > MAX_VERSION_BYTES {
            self.versions.clear();
        } else if self.versions.len() > MAX_VERSIONS || (few_needed && self.versions.len() > 2) {
            let needed = needed();
            self.versions.retain(|blob, _| needed.contains(blob));
        }
        self.version_bytes = self.versions.values().map(|version| version.weight()).sum();
    }
}
