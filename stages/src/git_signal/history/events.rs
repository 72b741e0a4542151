//! The event index: which commit changed which path, found in one walk over the history.
//!
//! Each commit is compared with its first parent. A path that differs is an event; for a merge it also records what the other
//! parents hold there. Events are kept per path in the order of the first-parent chains, so that "the next change of this
//! path at or below that commit" is a binary search.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use gix::ObjectId;
use gix::hashtable::HashMap;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::commit_graph::{CommitGraph, CommitPos};
use super::error::HistoryError;
use super::event_key::EventKey;
use super::objects::ObjectReader;
use super::tree::TreeCache;
use super::tree_diff::{PathState, TreeDiffer};

/// Commits that one task of the walk compares.
const BLOCK_COMMITS: usize = 256;

/// A path of an [`EventIndex`]; ids follow the byte order of the paths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct PathId(pub(super) u32);

/// An event of an [`EventIndex`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct EventId(pub(super) u32);

/// All changes of all paths below one commit. Immutable; share it between threads by reference.
#[derive(Default)]
pub struct EventIndex {
    pub(super) graph: CommitGraph,
    /// The directory, relative to the work tree and ending in `/`, that callers' paths are relative to.
    prefix: Vec<u8>,
    paths: Vec<Box<[u8]>>,
    blobs: Vec<ObjectId>,
    /// Sorted by path, then by chain position.
    events: Vec<Event>,
    /// Per path the first of its events, then the number of events.
    path_events: Vec<u32>,
    /// What the second and later parents of merges hold.
    other_parents: Vec<PackedState>,
    /// Per commit the first of its deletions, then the number of deletions.
    commit_deletions: Vec<u32>,
    deletions: Vec<(PathId, u32)>,
    incomplete: bool,
}

#[derive(Clone, Copy)]
struct Event {
    commit: CommitPos,
    new: PackedState,
    first_parent: PackedState,
    /// The first entry in `other_parents`.
    others: u32,
}

/// A [`PathState`] whose blob is a position in a table.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PackedState(u32);

impl PackedState {
    const ABSENT: Self = Self(u32::MAX);
    const OTHER: Self = Self(u32::MAX - 1);
}

impl EventIndex {
    /// Walks the history that `graph` holds. `progress(done, total)` is called with numbers of commits, from any thread.
    pub(super) fn build(
        graph: CommitGraph,
        prefix: &[u8],
        repository: &gix::ThreadSafeRepository,
        cancel: &AtomicBool,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Self, HistoryError> {
        let total = graph.len();
        let done = AtomicUsize::new(0);
        let idle: Mutex<Vec<(ObjectReader, TreeCache)>> = Mutex::new(Vec::new());
        let blocks: Vec<Block> = (0..total.div_ceil(BLOCK_COMMITS))
            .into_par_iter()
            .map(|block| {
                let resting = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let (reader, mut trees) = resting.unwrap_or_else(|| (ObjectReader::new(repository), TreeCache::new()));
                let commits = block * BLOCK_COMMITS..((block + 1) * BLOCK_COMMITS).min(total);
                let len = commits.len();
                let found = Block::scan(&graph, commits, &reader, &mut trees, cancel);
                idle.lock().unwrap_or_else(PoisonError::into_inner).push((reader, trees));
                progress(done.fetch_add(len, Ordering::Relaxed) + len, total);
                found
            })
            .collect();
        if cancel.load(Ordering::Relaxed) {
            return Err(HistoryError::Cancelled);
        }
        Ok(Self::merge(graph, prefix, blocks))
    }

    /// The key of the latest event of `path` that is reachable from HEAD; `None` if the path is no regular file at HEAD.
    ///
    /// Attribution at HEAD is a pure function of the path and this key, as long as
    /// [`History::config_fingerprint`](super::History::config_fingerprint) stays the same.
    pub fn latest(&self, path: impl AsRef<[u8]>) -> Option<EventKey> {
        let event = self.next_event(self.path_id_below_prefix(path.as_ref())?, CommitPos(0))?;
        match self.new_state(event) {
            PathState::File(blob) => Some(EventKey::new(&self.graph.id(self.commit(event)), &blob)),
            _ => None,
        }
    }

    /// How many commits changed `path`, over all branches that were merged; an estimate of what its attribution costs.
    pub fn event_count(&self, path: impl AsRef<[u8]>) -> usize {
        self.path_id_below_prefix(path.as_ref()).map_or(0, |path| self.events_of(path).len())
    }

    /// The number of commits reachable from HEAD.
    pub fn commit_count(&self) -> usize {
        self.graph.len()
    }

    /// Whether commits or trees were missing, so that some changes are unknown.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// The id of a path given relative to the root of the [`History`](super::History).
    pub(super) fn path_id_below_prefix(&self, path: &[u8]) -> Option<PathId> {
        if self.prefix.is_empty() { self.path_id(path) } else { self.path_id(&[&self.prefix, path].concat()) }
    }

    pub(super) fn path_id(&self, path: &[u8]) -> Option<PathId> {
        let position = self.paths.binary_search_by(|known| known.as_ref().cmp(path)).ok()?;
        Some(PathId(position as u32))
    }

    pub(super) fn path(&self, path: PathId) -> &[u8] {
        &self.paths[path.0 as usize]
    }

    /// The next event of `path` at or below `commit`, following first parents.
    pub(super) fn next_event(&self, path: PathId, commit: CommitPos) -> Option<EventId> {
        let events = self.events_of(path);
        let mut from = self.graph.chain_position(commit);
        loop {
            let at = events.partition_point(|event| self.graph.chain_position(event.commit) < from);
            if events.get(at).is_some_and(|event| self.graph.chain_position(event.commit).chain == from.chain) {
                return Some(EventId(self.path_events[path.0 as usize] + at as u32));
            }
            from = self.graph.chain_position(self.graph.chain_exit(from.chain)?);
        }
    }

    pub(super) fn commit(&self, event: EventId) -> CommitPos {
        self.events[event.0 as usize].commit
    }

    pub(super) fn new_state(&self, event: EventId) -> PathState {
        self.unpack(self.events[event.0 as usize].new)
    }

    /// What the parent number `parent` of the event's commit holds at the event's path.
    pub(super) fn parent_state(&self, event: EventId, parent: usize) -> PathState {
        let event = &self.events[event.0 as usize];
        match parent.checked_sub(1) {
            None => self.unpack(event.first_parent),
            Some(other) => {
                let state = self.other_parents.get(event.others as usize + other);
                self.unpack(state.copied().unwrap_or(PackedState::ABSENT))
            }
        }
    }

    /// The regular files that `commit` lacks but its first parent has, in tree order.
    pub(super) fn deletions(&self, commit: CommitPos) -> impl Iterator<Item = (PathId, ObjectId)> + '_ {
        let range =
            self.commit_deletions[commit.0 as usize] as usize..self.commit_deletions[commit.0 as usize + 1] as usize;
        self.deletions[range].iter().map(|&(path, blob)| (path, self.blobs[blob as usize]))
    }

    fn events_of(&self, path: PathId) -> &[Event] {
        let path = path.0 as usize;
        &self.events[self.path_events[path] as usize..self.path_events[path + 1] as usize]
    }

    fn unpack(&self, state: PackedState) -> PathState {
        match state {
            PackedState::ABSENT => PathState::Absent,
            PackedState::OTHER => PathState::Other,
            PackedState(blob) => PathState::File(self.blobs[blob as usize]),
        }
    }

    fn merge(graph: CommitGraph, prefix: &[u8], mut blocks: Vec<Block>) -> Self {
        let (paths, ids) = number_paths(&mut blocks);
        let mut index = Self { incomplete: graph.incomplete, prefix: prefix.to_vec(), paths, ..Self::default() };
        let mut blobs = BlobTable::default();
        let mut events: Vec<(PathId, Event)> = Vec::new();
        index.commit_deletions.push(0);
        for (block, ids) in blocks.into_iter().zip(ids) {
            index.incomplete |= block.missing;
            let others = index.other_parents.len() as u32;
            index.other_parents.extend(block.other_parents.into_iter().map(|state| blobs.pack(state)));
            let mut changes = block.changes.into_iter();
            for (commit, count) in block.counts {
                for change in changes.by_ref().take(count as usize) {
                    let path = ids[change.path as usize];
                    let (new, first_parent) = (blobs.pack(change.new), blobs.pack(change.first_parent));
                    if new == PackedState::ABSENT && matches!(change.first_parent, PathState::File(_)) {
                        index.deletions.push((path, first_parent.0));
                    }
                    events.push((path, Event { commit, new, first_parent, others: others + change.others }));
                }
                index.commit_deletions.push(index.deletions.len() as u32);
            }
        }
        events.par_sort_unstable_by_key(|(path, event)| (*path, graph.chain_position(event.commit)));
        index.path_events = vec![0; index.paths.len() + 1];
        for (path, _) in &events {
            index.path_events[path.0 as usize + 1] += 1;
        }
        for path in 0..index.paths.len() {
            index.path_events[path + 1] += index.path_events[path];
        }
        index.events = events.into_iter().map(|(_, event)| event).collect();
        index.blobs = blobs.ids;
        index.graph = graph;
        index
    }
}

/// Takes the paths out of the blocks: all of them in byte order, and per block the ids of its paths.
fn number_paths(blocks: &mut [Block]) -> (Vec<Box<[u8]>>, Vec<Vec<PathId>>) {
    let mut met: FxHashMap<Box<[u8]>, u32> = FxHashMap::default();
    let mut number = |path: Box<[u8]>| {
        let next = met.len() as u32;
        *met.entry(path).or_insert(next)
    };
    let numbered: Vec<Vec<u32>> = blocks
        .iter_mut()
        .map(|block| std::mem::take(&mut block.paths).into_iter().map(&mut number).collect())
        .collect();
    let mut sorted: Vec<(Box<[u8]>, u32)> = met.into_iter().collect();
    sorted.par_sort_unstable();
    let mut ids = vec![PathId(0); sorted.len()];
    for (rank, (_, number)) in (0u32..).zip(&sorted) {
        ids[*number as usize] = PathId(rank);
    }
    let of_blocks = numbered.into_iter().map(|block| block.into_iter().map(|number| ids[number as usize]).collect());
    (sorted.into_iter().map(|(path, _)| path).collect(), of_blocks.collect())
}

/// Numbers blobs in the order in which they are met.
#[derive(Default)]
struct BlobTable {
    ids: Vec<ObjectId>,
    positions: HashMap<ObjectId, u32>,
}

impl BlobTable {
    fn pack(&mut self, state: PathState) -> PackedState {
        match state {
            PathState::Absent => PackedState::ABSENT,
            PathState::Other => PackedState::OTHER,
            PathState::File(id) => PackedState(*self.positions.entry(id).or_insert_with(|| {
                self.ids.push(id);
                self.ids.len() as u32 - 1
            })),
        }
    }
}

/// What one task of the walk found.
#[derive(Default)]
struct Block {
    paths: Vec<Box<[u8]>>,
    changes: Vec<Change>,
    other_parents: Vec<PathState>,
    /// The commits of the block and how many changes each has.
    counts: Vec<(CommitPos, u32)>,
    missing: bool,
}

struct Change {
    /// The position in the paths of the block.
    path: u32,
    new: PathState,
    first_parent: PathState,
    others: u32,
}

impl Block {
    fn scan(
        graph: &CommitGraph,
        commits: std::ops::Range<usize>,
        reader: &ObjectReader,
        trees: &mut TreeCache,
        cancel: &AtomicBool,
    ) -> Self {
        let mut block = Self::default();
        let mut ids: FxHashMap<Box<[u8]>, u32> = FxHashMap::default();
        for commit in commits.map(|commit| CommitPos(commit as u32)) {
            if cancel.load(Ordering::Relaxed) {
                break;
            }
            let mut differ = TreeDiffer { reader, trees, missing: false };
            let before = block.changes.len();
            block.scan_commit(graph, commit, &mut differ, &mut ids);
            block.missing |= differ.missing;
            block.counts.push((commit, (block.changes.len() - before) as u32));
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
            self.changes.push(Change { path: id, new, first_parent: old, others: 0 });
        });
        if parents.len() < 2 {
            return;
        }
        for change in &mut self.changes[before..] {
            change.others = self.other_parents.len() as u32;
            for &parent in &parents[1..] {
                let parent = graph.tree(parent);
                let is_needed = matches!(change.new, PathState::File(_));
                let state = match parent == tree {
                    true => change.new,
                    false if is_needed => differ.look_up(parent, &self.paths[change.path as usize]),
                    false => PathState::Absent,
                };
                self.other_parents.push(state);
            }
        }
    }
}
