//! The versions of one file that walks of its history have read, and how they differ: each is read and compared once,
//! however many walks ask for it.

use std::sync::Arc;

use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};
use rustc_hash::FxHashMap;

use super::blame::Blamer;
use super::change_table::PathId;
use super::commit_graph::CommitPos;
use super::events::EventIndex;
use super::line_diff::{Hunk, LineTable, Region, Version};
use super::rename::{Source, Target};

/// Bytes of file versions kept for later steps.
const VERSION_BYTES: usize = 48 << 20;
/// Bytes of comparisons kept for later steps.
const COMPARISON_BYTES: usize = 8 << 20;
/// How many versions are kept before those that no walk waits for are dropped.
const KEPT_VERSIONS: usize = 64;

/// What the walks of a file need to know of two versions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The regions, for blame.
    Regions,
    /// The hunks, for touches.
    Hunks,
    /// Both.
    Both,
}

/// How two versions differ; what is not [`Wanted`] is empty.
pub(super) struct Comparison {
    /// The runs of lines of the new version, as [`LineDiffer::compare`](super::line_diff::LineDiffer::compare) gives them.
    pub(super) regions: Vec<Region>,
    /// The changes, as [`LineDiffer::hunks`](super::line_diff::LineDiffer::hunks) gives them.
    pub(super) hunks: Vec<Hunk>,
}

impl Comparison {
    fn weight(&self) -> usize {
        self.regions.len() * size_of::<Region>() + self.hunks.len() * size_of::<Hunk>() + 128
    }
}

/// The versions of one file, and the tools of the thread that walks its history.
pub(super) struct FileVersions<'a> {
    blamer: &'a mut Blamer,
    index: &'a EventIndex,
    wanted: Wanted,
    pub(super) table: LineTable,
    versions: HashMap<ObjectId, Arc<Version>>,
    version_bytes: usize,
    comparisons: FxHashMap<(ObjectId, ObjectId), Arc<Comparison>>,
    comparison_bytes: usize,
    sources: FxHashMap<(CommitPos, usize, PathId), Option<Source>>,
}

impl<'a> FileVersions<'a> {
    /// No version yet of a file of `index`.
    pub(super) fn new(blamer: &'a mut Blamer, index: &'a EventIndex, wanted: Wanted) -> Self {
        Self {
            blamer,
            index,
            wanted,
            table: LineTable::default(),
            versions: HashMap::default(),
            version_bytes: 0,
            comparisons: FxHashMap::default(),
            comparison_bytes: 0,
            sources: FxHashMap::default(),
        }
    }

    /// The version with content `blob`; `None` if it is missing or too large. `near` is a version that resembles it.
    pub(super) fn version(&mut self, blob: ObjectId, near: Option<&Version>) -> Option<Arc<Version>> {
        if let Some(known) = self.versions.get(&blob) {
            return Some(Arc::clone(known));
        }
        let bytes = self.blamer.read_file(&blob)?;
        let version = Arc::new(self.table.version(bytes, near));
        self.version_bytes += version.weight();
        self.versions.insert(blob, Arc::clone(&version));
        Some(version)
    }

    /// How the versions `old` and `new` differ; `None` if one of them is missing or too large.
    pub(super) fn compare(&mut self, old: ObjectId, new: ObjectId) -> Option<Arc<Comparison>> {
        if let Some(known) = self.comparisons.get(&(old, new)) {
            return Some(Arc::clone(known));
        }
        let new_version = self.version(new, None)?;
        let old_version = self.version(old, Some(&new_version))?;
        let (differ, table) = (&mut self.blamer.differ, &self.table);
        let (regions, hunks) = match self.wanted {
            Wanted::Regions => (differ.compare(table, &old_version, &new_version), Vec::new()),
            Wanted::Hunks => (Vec::new(), differ.hunks(table, &old_version, &new_version)),
            Wanted::Both => differ.compare_with_hunks(table, &old_version, &new_version),
        };
        let comparison = Arc::new(Comparison { regions, hunks });
        if self.comparison_bytes > COMPARISON_BYTES {
            self.comparisons.clear();
            self.comparison_bytes = 0;
        }
        self.comparison_bytes += comparison.weight();
        self.comparisons.insert((old, new), Arc::clone(&comparison));
        Some(comparison)
    }

    /// The file that became `target`.
    pub(super) fn source(&mut self, target: Target) -> Option<Source> {
        let Blamer { reader, trees, renames, .. } = &mut *self.blamer;
        let find = || renames.source(self.index, reader, trees, target);
        *self.sources.entry((target.commit, target.parent, target.path)).or_insert_with(find)
    }

    /// Drops versions that are not `needed`, if there are many or `few_needed`; all of them if they outgrow their bound.
    pub(super) fn forget(&mut self, few_needed: bool, needed: impl FnOnce() -> HashSet<ObjectId>) {
        if self.version_bytes > VERSION_BYTES {
            self.versions.clear();
        } else if self.versions.len() > KEPT_VERSIONS || (few_needed && self.versions.len() > 2) {
            let needed = needed();
            self.versions.retain(|blob, _| needed.contains(blob));
        }
        self.version_bytes = self.versions.values().map(|version| version.weight()).sum();
    }
}
