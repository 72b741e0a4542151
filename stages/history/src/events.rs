//! The event index: for each path, the commits that changed it.
//!
//! An event is a change of one path between a commit and its first parent. The events of a path are sorted by
//! first-parent chain, so a binary search finds the next event of a path at or below a commit. Commit A is below commit
//! B if following first parents from B leads to A.

use gix::ObjectId;

use crate::change_table::{Change, ChangeTable, PackedState, PathId};
use crate::commit_graph::{CommitGraph, CommitPos};
use crate::event_key::EventKey;
use crate::tree_diff::PathState;

/// The number of an event in an [`EventIndex`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct EventId(pub(crate) u32);

/// All events of all paths in the history of one commit. The index is immutable, and threads can share it by reference.
#[derive(Default)]
pub struct EventIndex {
    pub(crate) graph: CommitGraph,
    pub(crate) changes: ChangeTable,
    /// The directory to which the paths of callers are relative. The directory is relative to the work tree, and ends
    /// in `/` or is empty.
    pub(crate) prefix: Vec<u8>,
    /// The events, sorted by path and then by chain position.
    events: Vec<Event>,
    /// For each path, the index in `events` of its first event. The last element is the length of `events`.
    path_events: Vec<u32>,
    pub(crate) incomplete: bool,
}

/// A commit that changed a path, and the row of the change in the table of changes.
#[derive(Clone, Copy)]
struct Event {
    commit: CommitPos,
    change: u32,
}

impl EventIndex {
    /// Creates the index by sorting the changes in the commits of `graph` by path.
    pub(crate) fn new(graph: CommitGraph, changes: ChangeTable, prefix: &[u8], incomplete: bool) -> Self {
        let mut path_events = vec![0u32; changes.paths.len() + 1];
        let commits = || (0..graph.len() as u32).map(CommitPos);
        for change in commits().flat_map(|commit| changes.range_of(graph.row(commit))) {
            path_events[changes.changes[change as usize].path.0 as usize + 1] += 1;
        }
        for path in 1..path_events.len() {
            path_events[path] += path_events[path - 1];
        }
        let mut free = path_events.clone();
        let none = Event { commit: CommitPos(0), change: 0 };
        let mut events = vec![none; path_events.last().map_or(0, |&count| count as usize)];
        for commit in commits() {
            for change in changes.range_of(graph.row(commit)) {
                let slot = &mut free[changes.changes[change as usize].path.0 as usize];
                events[*slot as usize] = Event { commit, change };
                *slot += 1;
            }
        }
        for ends in path_events.windows(2) {
            let of_path = &mut events[ends[0] as usize..ends[1] as usize];
            of_path.sort_unstable_by_key(|event| graph.chain_position(event.commit));
        }
        Self { graph, changes, prefix: prefix.to_vec(), events, path_events, incomplete }
    }

    /// Returns the key of the latest event of `path` along first parents from HEAD, or `None` if the path is not a
    /// regular file at HEAD.
    ///
    /// Attribution at HEAD is a pure function of the path and this key, as long as
    /// [`History::config_fingerprint`](crate::History::config_fingerprint) stays the same.
    pub fn latest(&self, path: impl AsRef<[u8]>) -> Option<EventKey> {
        let event = self.next_event(self.path_id_below_prefix(path.as_ref())?, CommitPos(0))?;
        self.key(event)
    }

    /// Returns the key of an event, or `None` if the path is not a regular file after the event.
    pub(crate) fn key(&self, event: EventId) -> Option<EventKey> {
        match self.new_state(event) {
            PathState::File(blob) => Some(EventKey::new(&self.graph.id(self.commit(event)), &blob)),
            _ => None,
        }
    }

    /// Returns the number of commits that changed `path`, on all merged branches. The number is an estimate of the cost
    /// of attributing the file.
    pub fn event_count(&self, path: impl AsRef<[u8]>) -> usize {
        self.path_id_below_prefix(path.as_ref()).map_or(0, |path| self.events_of(path).len())
    }

    /// Returns the number of commits reachable from HEAD.
    pub fn commit_count(&self) -> usize {
        self.graph.len()
    }

    /// Whether commits or trees were missing, so that some changes are unknown.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Returns the id of a path that is relative to the root of the [`History`](crate::History).
    pub(crate) fn path_id_below_prefix(&self, path: &[u8]) -> Option<PathId> {
        if self.prefix.is_empty() { self.path_id(path) } else { self.path_id(&[&self.prefix, path].concat()) }
    }

    pub(crate) fn path_id(&self, path: &[u8]) -> Option<PathId> {
        self.changes.path_id(path)
    }

    /// Returns a path relative to the work tree, as stored in [`ChangeTable::paths`].
    pub(crate) fn path(&self, path: PathId) -> &[u8] {
        &self.changes.paths[path.0 as usize]
    }

    /// Returns the next event of `path` at or below `commit`, following first parents.
    pub(crate) fn next_event(&self, path: PathId, commit: CommitPos) -> Option<EventId> {
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

    pub(crate) fn commit(&self, event: EventId) -> CommitPos {
        self.events[event.0 as usize].commit
    }

    pub(crate) fn path_of(&self, event: EventId) -> PathId {
        self.change(event).path
    }

    pub(crate) fn new_state(&self, event: EventId) -> PathState {
        self.changes.unpack(self.change(event).new)
    }

    /// Returns the state of the event's path in one parent of the commit. `parent` counts from 0.
    pub(crate) fn parent_state(&self, event: EventId, parent: usize) -> PathState {
        let change = self.change(event);
        match parent.checked_sub(1) {
            None => self.changes.unpack(change.first_parent),
            Some(other) => {
                let state = self.changes.other_parents.get(change.others as usize + other);
                self.changes.unpack(state.copied().unwrap_or(PackedState::ABSENT))
            }
        }
    }

    /// Returns the regular files that `commit` deleted, compared with its first parent, in tree order.
    pub(crate) fn deletions(&self, commit: CommitPos) -> impl Iterator<Item = (PathId, ObjectId)> + '_ {
        let changes = self.changes.range_of(self.graph.row(commit));
        self.changes.changes[changes.start as usize..changes.end as usize].iter().filter_map(|change| {
            match self.changes.unpack(change.first_parent) {
                PathState::File(blob) if change.new == PackedState::ABSENT => Some((change.path, blob)),
                _ => None,
            }
        })
    }

    fn events_of(&self, path: PathId) -> &[Event] {
        let path = path.0 as usize;
        &self.events[self.path_events[path] as usize..self.path_events[path + 1] as usize]
    }

    fn change(&self, event: EventId) -> &Change {
        &self.changes.changes[self.events[event.0 as usize].change as usize]
    }
}
