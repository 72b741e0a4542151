//! The walk over a history, which compares every commit with its first parent once, in parallel.
//!
//! Each path that differs is recorded as a change. For a merge, the change also records the state of the path in the
//! other parents.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::commit_graph::{CommitGraph, CommitPos};
use crate::objects::{ObjectReader, ObjectStore};
use crate::tree::TreeCache;
use crate::tree_diff::{PathState, TreeDiffer};

/// The number of commits that one task of the walk compares.
const BLOCK_COMMITS: usize = 256;

/// The changes that one task of the walk has found.
#[derive(Default)]
pub(crate) struct ScanBlock {
    pub(crate) paths: Vec<Box<[u8]>>,
    pub(crate) changes: Vec<BlockChange>,
    pub(crate) other_parents: Vec<PathState>,
    /// For each commit, its row in the table of commits and the number of its changes.
    pub(crate) counts: Vec<(u32, u32)>,
    /// Whether a tree object was missing.
    pub(crate) missing: bool,
}

/// A change of a [`ScanBlock`].
pub(crate) struct BlockChange {
    /// An index into [`ScanBlock::paths`].
    pub(crate) path: u32,
    pub(crate) new: PathState,
    pub(crate) first_parent: PathState,
    pub(crate) others: u32,
}

/// Compares `commits` with their parents, in blocks. Several threads call `progress(done, total)` with numbers of
/// commits. The result is incomplete if `cancel` was set.
pub(crate) fn scan(
    graph: &CommitGraph,
    commits: &[CommitPos],
    objects: &ObjectStore,
    cancel: &AtomicBool,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Vec<ScanBlock> {
    let done = AtomicUsize::new(0);
    let idle: Mutex<Vec<(ObjectReader, TreeCache)>> = Mutex::new(Vec::new());
    progress(0, commits.len());
    let blocks = commits.par_chunks(BLOCK_COMMITS).map(|block| {
        let reused = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let (reader, mut trees) = reused.unwrap_or_else(|| (ObjectReader::new(objects), TreeCache::new()));
        let found = ScanBlock::scan(graph, block, &reader, &mut trees, cancel);
        idle.lock().unwrap_or_else(PoisonError::into_inner).push((reader, trees));
        progress(done.fetch_add(block.len(), Ordering::Relaxed) + block.len(), commits.len());
        found
    });
    blocks.collect()
}

impl ScanBlock {
    fn scan(
        graph: &CommitGraph,
        commits: &[CommitPos],
        reader: &ObjectReader,
        trees: &mut TreeCache,
        cancel: &AtomicBool,
    ) -> Self {
        let mut block = Self::default();
        let mut ids: FxHashMap<Box<[u8]>, u32> = FxHashMap::default();
        for &commit in commits {
            if cancel.load(Ordering::Relaxed) {
                break;
            }
            let mut differ = TreeDiffer { reader, trees, cancel: Some(cancel), missing: false };
            let before = block.changes.len();
            block.scan_commit(graph, commit, &mut differ, &mut ids);
            block.missing |= differ.missing;
            block.counts.push((graph.row(commit), (block.changes.len() - before) as u32));
        }
        block
    }

    fn scan_commit(
        &mut self,
        graph: &CommitGraph,
        commit: CommitPos,
        differ: &mut TreeDiffer<'_>,
        ids: &mut FxHashMap<Box<[u8]>, u32>,
    ) {
        let tree = graph.tree(commit);
        let parents = graph.parents(commit);
        let before = self.changes.len();
        differ.compare(parents.first().map(|&parent| graph.tree(parent)), Some(tree), &mut |path, old, new| {
            let id = ids.get(path).copied().unwrap_or_else(|| {
                let id = self.paths.len() as u32;
                self.paths.push(path.into());
                ids.insert(path.into(), id);
                id
            });
            self.changes.push(BlockChange { path: id, new, first_parent: old, others: 0 });
        });
        if parents.len() < 2 {
            return;
        }
        for change in &mut self.changes[before..] {
            change.others = self.other_parents.len() as u32;
            for &parent in &parents[1..] {
                let parent = graph.tree(parent);
                let path = &self.paths[change.path as usize];
                let state = if parent == tree { change.new } else { differ.look_up(parent, path) };
                self.other_parents.push(state);
            }
        }
    }
}
