//! The commits reachable from HEAD in topological order, partitioned into first-parent chains.
//!
//! A chain follows first parents until it reaches a commit of an earlier chain. Within a chain, a binary search finds
//! the next commit that changed a path. If the chain has no such commit, the search continues in the chain that
//! contains the next first parent.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gix::ObjectId;

use crate::blame_config::Grafts;
use crate::commit::{CommitId, CommitInfo, Person};
use crate::commit_table::{Author, CommitTable};
use crate::error::HistoryError;
use crate::objects::ObjectReader;

/// The position of a commit in a [`CommitGraph`]. Every commit has a smaller position than its parents.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct CommitPos(pub(crate) u32);

impl CommitPos {
    const NONE: Self = Self(u32::MAX);
}

/// The position of a commit in the chains: the number of the chain, and the number of commits before it in the chain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ChainPos {
    pub(crate) chain: u32,
    pub(crate) index: u32,
}

/// The commits reachable from HEAD.
#[derive(Default)]
pub(crate) struct CommitGraph {
    pub(crate) table: CommitTable,
    /// The rows of the commits in `table`, children before parents.
    rows: Vec<u32>,
    /// The inverse of `rows`. Contains [`CommitPos::NONE`] for commits that are not reachable from HEAD.
    positions: Vec<CommitPos>,
    /// For each commit, the index in `parents` of its first parent. The last element is the length of `parents`.
    first_parents: Vec<u32>,
    parents: Vec<CommitPos>,
    chain_positions: Vec<ChainPos>,
    /// For each chain, the first parent of the chain's last commit.
    chain_exits: Vec<Option<CommitPos>>,
    /// The authors in the table, after applying `.mailmap`.
    people: Vec<Arc<Person>>,
    /// Whether a parent commit was missing.
    pub(crate) incomplete: bool,
}

impl CommitGraph {
    /// Loads all commits reachable from `head`. Commits that are missing in `table` are read and added to it. `grafts`
    /// replaces the parents of some commits.
    pub(crate) fn load(
        mut table: CommitTable,
        reader: &ObjectReader,
        head: ObjectId,
        grafts: &Grafts,
        mailmap: &gix::mailmap::Snapshot,
        cancel: &AtomicBool,
    ) -> Result<Self, HistoryError> {
        let (reached, incomplete) = reach(&mut table, reader, head, grafts, cancel)?;
        let rows = children_first(&table, &reached);
        let mut positions = vec![CommitPos::NONE; table.len()];
        for (position, &row) in (0u32..).zip(&rows) {
            positions[row as usize] = CommitPos(position);
        }
        let people = table.authors.iter().map(|author| Arc::new(person(author, mailmap))).collect();
        let mut graph = Self { table, rows, positions, people, incomplete, ..Self::default() };
        graph.first_parents.push(0);
        for (position, &row) in (0u32..).zip(&graph.rows) {
            let position_of = |id| graph.table.position(id).map(|row| graph.positions[row as usize]);
            let known = graph.table.parents_of(row).iter().filter_map(position_of);
            // Replace refs and grafts can create a cycle. The topological order does not contain the commits of a
            // cycle.
            graph.parents.extend(known.filter(|&parent| parent != CommitPos::NONE && parent.0 > position));
            graph.first_parents.push(graph.parents.len() as u32);
        }
        graph.cut_into_chains();
        Ok(graph)
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of commits in the table that are not reachable from HEAD.
    pub(crate) fn unreachable(&self) -> usize {
        self.table.len() - self.len()
    }

    /// Returns the row of a commit in the table.
    pub(crate) fn row(&self, commit: CommitPos) -> u32 {
        self.rows[commit.0 as usize]
    }

    /// Returns the position of the commit `id`, or `None` if the commit is not reachable from HEAD.
    pub(crate) fn position(&self, id: &ObjectId) -> Option<CommitPos> {
        let position = self.positions[self.table.position(id)? as usize];
        (position != CommitPos::NONE).then_some(position)
    }

    pub(crate) fn id(&self, commit: CommitPos) -> ObjectId {
        self.table.headers[self.row(commit) as usize].id
    }

    pub(crate) fn tree(&self, commit: CommitPos) -> &ObjectId {
        &self.table.headers[self.row(commit) as usize].tree
    }

    /// Returns the parents of a commit, in the order in which the commit lists them.
    pub(crate) fn parents(&self, commit: CommitPos) -> &[CommitPos] {
        let at = commit.0 as usize;
        &self.parents[self.first_parents[at] as usize..self.first_parents[at + 1] as usize]
    }

    pub(crate) fn chain_position(&self, commit: CommitPos) -> ChainPos {
        self.chain_positions[commit.0 as usize]
    }

    /// Returns the first parent of the last commit of `chain`.
    pub(crate) fn chain_exit(&self, chain: u32) -> Option<CommitPos> {
        self.chain_exits[chain as usize]
    }

    pub(crate) fn info(&self, commit: CommitPos) -> CommitInfo {
        let header = &self.table.headers[self.row(commit) as usize];
        CommitInfo {
            id: CommitId(header.id),
            author: Arc::clone(&self.people[header.author as usize]),
            author_time: header.author_time,
            committer_time: header.committer_time,
        }
    }

    fn cut_into_chains(&mut self) {
        const NONE: u32 = u32::MAX;
        let mut positions = vec![ChainPos { chain: NONE, index: 0 }; self.len()];
        for top in 0..self.len() {
            if positions[top].chain != NONE {
                continue;
            }
            let chain = self.chain_exits.len() as u32;
            let mut commit = CommitPos(top as u32);
            let mut index = 0;
            let exit = loop {
                positions[commit.0 as usize] = ChainPos { chain, index };
                index += 1;
                match self.parents(commit).first() {
                    None => break None,
                    Some(&parent) if positions[parent.0 as usize].chain != NONE => break Some(parent),
                    Some(&parent) => commit = parent,
                }
            };
            self.chain_exits.push(exit);
        }
        self.chain_positions = positions;
    }
}

/// Returns the rows of all commits reachable from `head`, and whether any commit was missing.
fn reach(
    table: &mut CommitTable,
    reader: &ObjectReader,
    head: ObjectId,
    grafts: &Grafts,
    cancel: &AtomicBool,
) -> Result<(Vec<u32>, bool), HistoryError> {
    let mut buffer = Vec::new();
    let mut incomplete = false;
    let first = table.read(reader, head, grafts, &mut buffer);
    let first = first.ok_or(HistoryError::MissingHead { commit: CommitId(head) })?;
    let mut reached = vec![first];
    let mut seen = vec![false; table.len()];
    seen[first as usize] = true;
    let mut done = 0;
    while let Some(&row) = reached.get(done) {
        if cancel.load(Ordering::Relaxed) {
            return Err(HistoryError::Cancelled);
        }
        done += 1;
        let (start, end) = table.headers[row as usize].parents;
        for parent in start..end {
            let id = table.parents[parent as usize];
            let Some(row) = table.read(reader, id, grafts, &mut buffer) else {
                incomplete = true;
                continue;
            };
            seen.resize(table.len(), false);
            if !std::mem::replace(&mut seen[row as usize], true) {
                reached.push(row);
            }
        }
    }
    Ok((reached, incomplete))
}

/// Converts an author by applying `.mailmap`.
fn person(author: &Author, mailmap: &gix::mailmap::Snapshot) -> Person {
    let signature =
        gix::actor::SignatureRef { name: author.name.as_ref(), email: author.email.as_ref(), ..Default::default() };
    let mapped = mailmap.resolve_cow(signature);
    Person { name: mapped.name.to_string(), email: mapped.email.to_string() }
}

/// Sorts rows topologically: children before parents. Among the commits whose children are already sorted, the commit
/// with the latest committer time comes first.
fn children_first(table: &CommitTable, reached: &[u32]) -> Vec<u32> {
    let parents = |row: u32| table.parents_of(row).iter().filter_map(|id| table.position(id));
    let mut children = vec![0u32; table.len()];
    for &row in reached {
        parents(row).for_each(|parent| children[parent as usize] += 1);
    }
    let key = |row: u32| {
        let header = &table.headers[row as usize];
        (header.committer_time, Reverse(header.id), row)
    };
    let childless = reached.iter().copied().filter(|&row| children[row as usize] == 0);
    let mut ready: BinaryHeap<_> = childless.map(key).collect();
    let mut order = Vec::with_capacity(reached.len());
    while let Some((_, _, row)) = ready.pop() {
        order.push(row);
        for parent in parents(row) {
            children[parent as usize] -= 1;
            if children[parent as usize] == 0 {
                ready.push(key(parent));
            }
        }
    }
    order
}
