//! The versions of one file that walks of its history have read, and how they differ: each is read and compared once,
//! however many walks ask for it.

use std::sync::Arc;

use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};
use rustc_hash::FxHashMap;

use crate::blame::Blamer;
use crate::change_table::PathId;
use crate::commit_graph::CommitPos;
use crate::events::EventIndex;
use crate::line_diff::{DiffRegion, FileVersion, Hunk, LineInterner};
use crate::rename::{RenameSource, RenameTarget};

/// Bytes of file versions kept for later steps.
const VERSION_BYTES: usize = 48 << 20;
/// Bytes of comparisons kept for later steps.
const COMPARISON_BYTES: usize = 8 << 20;
/// What a comparison takes apart from what it has found: about the two ids.
const ENTRY_BYTES: usize = 64;
/// How many versions are kept before those that no walk waits for are dropped.
const KEPT_VERSIONS: usize = 64;

/// By the old version and the new one.
type Comparisons<T> = FxHashMap<(ObjectId, ObjectId), Arc<[T]>>;

/// The versions of one file, and the tools of the thread that walks its history.
pub(crate) struct VersionCache<'a> {
    blamer: &'a mut Blamer,
    index: &'a EventIndex,
    counts_touches: bool,
    pub(crate) table: LineInterner,
    versions: HashMap<ObjectId, Arc<FileVersion>>,
    version_bytes: usize,
    regions: Comparisons<DiffRegion>,
    hunks: Comparisons<Hunk>,
    comparison_bytes: usize,
    sources: FxHashMap<(CommitPos, usize, PathId), Option<RenameSource>>,
}

impl<'a> VersionCache<'a> {
    /// No version yet of a file of `index`. If touches are counted, versions whose regions are asked for will be asked for
    /// their hunks as well.
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
            comparison_bytes: 0,
            sources: FxHashMap::default(),
        }
    }

    /// The version with content `blob`; `None` if it is missing or too large. `near` is a version that resembles it.
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

    /// The runs of lines of the version `new`, for blame, as [`LineDiffer::compare`](crate::line_diff::LineDiffer::compare)
    /// gives them; `None` if `new` or `old` is missing or too large.
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

    /// The changes from the version `old` to `new`, for touches, as
    /// [`LineDiffer::hunks`](crate::line_diff::LineDiffer::hunks) gives them. Reads neither version if they are kept; `None` if
    /// they are not, and a version is missing or too large.
    pub(crate) fn hunks(&mut self, old: ObjectId, new: ObjectId) -> Option<Arc<[Hunk]>> {
        if let Some(known) = self.hunks.get(&(old, new)) {
            return Some(Arc::clone(known));
        }
        if let Some(kept) = self.blamer.kept.as_ref().and_then(|kept| kept.hunks(&old, &new)) {
            return Some(kept.into());
        }
        let (old_version, new_version) = self.both(old, new)?;
        let hunks = self.blamer.differ.hunks(&self.table, &old_version, &new_version);
        Some(self.add_hunks(old, new, hunks))
    }

    /// The file that became `target`.
    pub(crate) fn source(&mut self, target: RenameTarget) -> Option<RenameSource> {
        let Blamer { reader, trees, renames, kept, .. } = &mut *self.blamer;
        let index = self.index;
        let find = || {
            if let Some(known) = kept.as_ref().and_then(|kept| kept.source(index, target)) {
                return known;
            }
            let found = renames.source(index, reader, trees, target);
            // What is missing now may be there the next time.
            if let Some(kept) = kept.as_ref().filter(|_| !renames.missing && !index.is_incomplete()) {
                kept.keep_source(index, target, found);
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
        if let Some(kept) = &self.blamer.kept {
            kept.keep_hunks(&old, &new, &hunks);
        }
        let hunks: Arc<[Hunk]> = hunks.into();
        self.make_room(size_of_val(&*hunks));
        self.hunks.insert((old, new), Arc::clone(&hunks));
        hunks
    }

    /// Drops what is known of comparisons, if it outgrows its bound, before `bytes` are added.
    fn make_room(&mut self, bytes: usize) {
        if self.comparison_bytes > COMPARISON_BYTES {
            self.regions.clear();
            self.hunks.clear();
            self.comparison_bytes = 0;
        }
        self.comparison_bytes += bytes + ENTRY_BYTES;
    }

    /// Drops versions that are not `needed`, if there are many or `few_needed`; all of them if they outgrow their bound.
    pub(crate) fn forget(&mut self, few_needed: bool, needed: impl FnOnce() -> HashSet<ObjectId>) {
        if self.version_bytes > VERSION_BYTES {
            self.versions.clear();
        } else if self.versions.len() > KEPT_VERSIONS || (few_needed && self.versions.len() > 2) {
            let needed = needed();
            self.versions.retain(|blob, _| needed.contains(blob));
        }
        self.version_bytes = self.versions.values().map(|version| version.weight()).sum();
    }
}
