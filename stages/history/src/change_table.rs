//! The table of the paths that each commit changed. The changes in a commit are immutable, so rows are only added.

use std::ops::Range;
use std::sync::Arc;

use gix::ObjectId;
use gix::hashtable::HashMap;
use rustc_hash::FxHashMap;

use crate::mask::Mask;
use crate::scan::ScanBlock;
use crate::tree_diff::PathState;

/// The index of a path in [`ChangeTable::paths`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct PathId(pub(crate) u32);

/// A [`PathState`] whose blob is an index into [`ChangeTable::blobs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PackedState(pub(crate) u32);

impl PackedState {
    pub(crate) const ABSENT: Self = Self(u32::MAX);
    pub(crate) const OTHER: Self = Self(u32::MAX - 1);
}

/// The change of one path in a commit, compared with its first parent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    pub(crate) path: PathId,
    pub(crate) new: PackedState,
    pub(crate) first_parent: PackedState,
    /// The index in [`ChangeTable::other_parents`] of the path's state in the second parent. The states in later
    /// parents follow.
    pub(crate) others: u32,
}

/// The changes of commits, indexed by the rows of a [`CommitTable`](crate::commit_table::CommitTable).
#[derive(Default)]
pub(crate) struct ChangeTable {
    /// Paths relative to the work tree. Secrets in paths are masked, see [`Mask::masked_path`].
    pub(crate) paths: Vec<Arc<[u8]>>,
    pub(crate) blobs: Vec<ObjectId>,
    pub(crate) changes: Vec<Change>,
    /// The state of changed paths in the second and later parents of merges.
    pub(crate) other_parents: Vec<PackedState>,
    /// For each row, the half-open range of its changes, or [`NOT_COMPARED`] if the commit was not compared yet.
    pub(crate) ranges: Vec<(u32, u32)>,
    path_ids: FxHashMap<Arc<[u8]>, PathId>,
    /// The indices in `blobs` of the blobs that this process has added.
    blob_positions: HashMap<ObjectId, u32>,
    mask: Option<Mask>,
}

/// The value in [`ChangeTable::ranges`] for a commit that was not compared yet.
pub(crate) const NOT_COMPARED: (u32, u32) = (u32::MAX, u32::MAX);

impl ChangeTable {
    /// Creates a table from cached changes.
    pub(crate) fn new(
        paths: Vec<Arc<[u8]>>,
        blobs: Vec<ObjectId>,
        changes: Vec<Change>,
        other_parents: Vec<PackedState>,
        ranges: Vec<(u32, u32)>,
    ) -> Self {
        let path_ids = (0u32..).zip(&paths).map(|(id, path)| (Arc::clone(path), PathId(id))).collect();
        Self { paths, blobs, changes, other_parents, ranges, path_ids, blob_positions: HashMap::default(), mask: None }
    }

    /// Sets a mask that is applied to all paths that are added later.
    pub(crate) fn masking(self, mask: Option<Mask>) -> Self {
        Self { mask, ..self }
    }

    /// Whether the commit at `row` was compared with its parents.
    pub(crate) fn is_compared(&self, row: u32) -> bool {
        self.ranges.get(row as usize).is_some_and(|&range| range != NOT_COMPARED)
    }

    /// Returns the changes of the commit at `row`, in tree order.
    pub(crate) fn range_of(&self, row: u32) -> Range<u32> {
        match self.ranges.get(row as usize) {
            Some(&range) if range != NOT_COMPARED => range.0..range.1,
            _ => 0..0,
        }
    }

    /// Returns the id of a path, given unmasked or as stored in [`Self::paths`].
    pub(crate) fn path_id(&self, path: &[u8]) -> Option<PathId> {
        let masked = || self.path_ids.get(self.mask?.masked_path(path)?.as_slice());
        self.path_ids.get(path).or_else(masked).copied()
    }

    /// Adds the changes that one task of the walk has found.
    pub(crate) fn add(&mut self, block: ScanBlock) {
        let paths: Vec<PathId> = block.paths.into_iter().map(|path| self.number(path)).collect();
        let others = self.other_parents.len() as u32;
        for state in block.other_parents {
            let state = self.pack(state);
            self.other_parents.push(state);
        }
        let mut changes = block.changes.into_iter();
        for (row, count) in block.counts {
            let first = self.changes.len() as u32;
            for change in changes.by_ref().take(count as usize) {
                let (new, first_parent) = (self.pack(change.new), self.pack(change.first_parent));
                let path = paths[change.path as usize];
                self.changes.push(Change { path, new, first_parent, others: others + change.others });
            }
            if self.ranges.len() <= row as usize {
                self.ranges.resize(row as usize + 1, NOT_COMPARED);
            }
            self.ranges[row as usize] = (first, self.changes.len() as u32);
        }
    }

    pub(crate) fn unpack(&self, state: PackedState) -> PathState {
        match state {
            PackedState::ABSENT => PathState::Absent,
            PackedState::OTHER => PathState::Other,
            PackedState(blob) => PathState::File(self.blobs[blob as usize]),
        }
    }

    fn number(&mut self, path: Box<[u8]>) -> PathId {
        if let Some(&id) = self.path_ids.get(&*path) {
            return id;
        }
        let masked = self.mask.and_then(|mask| mask.masked_path(&path));
        let path = masked.map_or_else(|| Arc::from(path), Arc::<[u8]>::from);
        *self.path_ids.entry(path).or_insert_with_key(|path| {
            self.paths.push(Arc::clone(path));
            PathId(self.paths.len() as u32 - 1)
        })
    }

    fn pack(&mut self, state: PathState) -> PackedState {
        match state {
            PathState::Absent => PackedState::ABSENT,
            PathState::Other => PackedState::OTHER,
            PathState::File(id) => PackedState(*self.blob_positions.entry(id).or_insert_with(|| {
                self.blobs.push(id);
                self.blobs.len() as u32 - 1
            })),
        }
    }
}
