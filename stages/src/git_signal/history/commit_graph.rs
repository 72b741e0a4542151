//! The commits reachable from HEAD, children first, cut into first-parent chains.
//!
//! A chain follows first parents until it meets a commit that belongs to an earlier chain. "The next commit at or below C
//! that fulfils X" thus becomes a binary search within a chain and a hop to the next one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::hashtable::{HashMap, HashSet};
use gix::objs::CommitRefIter;
use gix::objs::commit::ref_iter::Token;
use rustc_hash::FxHashMap;

use super::commit::{CommitId, CommitInfo, Person};
use super::error::HistoryError;
use super::objects::ObjectReader;

/// A commit of a [`CommitGraph`]; every child has a smaller position than its parents.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct CommitPos(pub(super) u32);

/// Where a commit lies: which chain, and how many commits from the top of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ChainPos {
    pub(super) chain: u32,
    pub(super) index: u32,
}

/// The commits reachable from HEAD.
#[derive(Default)]
pub(super) struct CommitGraph {
    commits: Vec<Commit>,
    parents: Vec<CommitPos>,
    chain_positions: Vec<ChainPos>,
    /// Per chain the first parent of its last commit.
    chain_exits: Vec<Option<CommitPos>>,
    people: Vec<Arc<Person>>,
    /// Whether a parent that should be there was missing.
    pub(super) incomplete: bool,
}

struct Commit {
    id: ObjectId,
    tree: ObjectId,
    parents: (u32, u32),
    author: u32,
    author_time: i64,
    committer_time: i64,
}

impl CommitGraph {
    /// Loads everything reachable from `head`. Commits in `shallow` count as roots.
    pub(super) fn load(
        reader: &ObjectReader,
        head: ObjectId,
        shallow: &HashSet<ObjectId>,
        mailmap: &gix::mailmap::Snapshot,
        cancel: &AtomicBool,
    ) -> Result<Self, HistoryError> {
        let mut people = People { mailmap, known: FxHashMap::default(), people: Vec::new() };
        let (raw, positions, incomplete) = read_commits(reader, head, shallow, &mut people, cancel)?;
        let order = children_first(&raw, &positions);
        let mut new_positions = vec![u32::MAX; raw.len()];
        for (position, &old) in order.iter().enumerate() {
            new_positions[old as usize] = position as u32;
        }
        let mut graph = Self { people: people.people, incomplete, ..Self::default() };
        let mut raw: Vec<Option<RawCommit>> = raw.into_iter().map(Some).collect();
        for (position, &old) in (0u32..).zip(&order) {
            let Some(commit) = raw[old as usize].take() else { continue };
            let start = graph.parents.len() as u32;
            let parents = commit.parents.iter().filter_map(|id| positions.get(id));
            let parents = parents.map(|&old| new_positions[old as usize]);
            // Replace refs can close a cycle; the commits on it were left out of the order.
            let known = parents.filter(|&parent| parent != u32::MAX && parent > position);
            graph.parents.extend(known.map(CommitPos));
            graph.commits.push(Commit {
                id: commit.id,
                tree: commit.tree,
                parents: (start, graph.parents.len() as u32),
                author: commit.author,
                author_time: commit.author_time,
                committer_time: commit.committer_time,
            });
        }
        graph.cut_into_chains();
        Ok(graph)
    }

    pub(super) fn len(&self) -> usize {
        self.commits.len()
    }

    pub(super) fn id(&self, commit: CommitPos) -> ObjectId {
        self.commits[commit.0 as usize].id
    }

    pub(super) fn tree(&self, commit: CommitPos) -> &ObjectId {
        &self.commits[commit.0 as usize].tree
    }

    /// The parents in the order in which the commit names them.
    pub(super) fn parents(&self, commit: CommitPos) -> &[CommitPos] {
        let (start, end) = self.commits[commit.0 as usize].parents;
        &self.parents[start as usize..end as usize]
    }

    pub(super) fn chain_position(&self, commit: CommitPos) -> ChainPos {
        self.chain_positions[commit.0 as usize]
    }

    /// Where first parents lead on behind the last commit of `chain`.
    pub(super) fn chain_exit(&self, chain: u32) -> Option<CommitPos> {
        self.chain_exits[chain as usize]
    }

    pub(super) fn info(&self, commit: CommitPos) -> CommitInfo {
        let commit = &self.commits[commit.0 as usize];
        CommitInfo {
            id: CommitId(commit.id),
            author: Arc::clone(&self.people[commit.author as usize]),
            author_time: commit.author_time,
            committer_time: commit.committer_time,
        }
    }

    fn cut_into_chains(&mut self) {
        const NONE: u32 = u32::MAX;
        let mut positions = vec![ChainPos { chain: NONE, index: 0 }; self.commits.len()];
        for top in 0..self.commits.len() {
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

struct RawCommit {
    id: ObjectId,
    tree: ObjectId,
    parents: Vec<ObjectId>,
    author: u32,
    author_time: i64,
    committer_time: i64,
}

type Positions = HashMap<ObjectId, u32>;

fn read_commits(
    reader: &ObjectReader,
    head: ObjectId,
    shallow: &HashSet<ObjectId>,
    people: &mut People<'_>,
    cancel: &AtomicBool,
) -> Result<(Vec<RawCommit>, Positions, bool), HistoryError> {
    let mut commits = Vec::new();
    let mut positions = Positions::default();
    let mut seen: HashSet<ObjectId> = [head].into_iter().collect();
    let mut pending = vec![head];
    let mut buffer = Vec::new();
    let mut incomplete = false;
    while let Some(id) = pending.pop() {
        if cancel.load(Ordering::Relaxed) {
            return Err(HistoryError::Cancelled);
        }
        let kind = reader.read(&id, &mut buffer);
        let commit = kind.filter(|&kind| kind == gix::objs::Kind::Commit);
        let Some(mut commit) = commit.and_then(|_| parse(&buffer, id, reader.hash_kind(), people)) else {
            if id == head {
                return Err(HistoryError::MissingHead { commit: CommitId(head) });
            }
            incomplete = true;
            continue;
        };
        if shallow.contains(&id) {
            commit.parents.clear();
        }
        pending.extend(commit.parents.iter().filter(|&&parent| seen.insert(parent)));
        positions.insert(id, commits.len() as u32);
        commits.push(commit);
    }
    Ok((commits, positions, incomplete))
}

/// Reads the headers of a commit; `None` if it names no tree. Broken people or times become empty ones.
fn parse(bytes: &[u8], id: ObjectId, hash: gix::hash::Kind, people: &mut People<'_>) -> Option<RawCommit> {
    let mut commit =
        RawCommit { id, tree: id, parents: Vec::new(), author: u32::MAX, author_time: 0, committer_time: 0 };
    let mut has_tree = false;
    for token in CommitRefIter::from_bytes(bytes, hash) {
        match token {
            Ok(Token::Tree { id }) => {
                commit.tree = id;
                has_tree = true;
            }
            Ok(Token::Parent { id }) => commit.parents.push(id),
            Ok(Token::Author { signature }) => {
                commit.author = people.id_of(signature);
                commit.author_time = signature.seconds();
            }
            Ok(Token::Committer { signature }) => {
                commit.committer_time = signature.seconds();
                break;
            }
            _ => break,
        }
    }
    if commit.author == u32::MAX {
        commit.author = people.id_of(gix::actor::SignatureRef::default());
    }
    has_tree.then_some(commit)
}

/// Interns the authors of commits.
struct People<'a> {
    mailmap: &'a gix::mailmap::Snapshot,
    known: FxHashMap<Vec<u8>, u32>,
    people: Vec<Arc<Person>>,
}

impl People<'_> {
    fn id_of(&mut self, signature: gix::actor::SignatureRef<'_>) -> u32 {
        let signature = signature.trim();
        let key = [signature.name.as_bytes(), b"\0", signature.email.as_bytes()].concat();
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let mapped = self.mailmap.resolve_cow(signature);
        let (name, email) = (mapped.name.to_string(), mapped.email.to_string());
        let id = self.people.len() as u32;
        self.people.push(Arc::new(Person { name, email }));
        self.known.insert(key, id);
        id
    }
}

/// Orders commits so that children precede parents and, as far as that allows, newer commits precede older ones.
fn children_first(commits: &[RawCommit], positions: &Positions) -> Vec<u32> {
    let parents = |commit: u32| commits[commit as usize].parents.iter().filter_map(|id| positions.get(id)).copied();
    let mut children = vec![0u32; commits.len()];
    for commit in 0..commits.len() as u32 {
        parents(commit).for_each(|parent| children[parent as usize] += 1);
    }
    let key = |commit: u32| (commits[commit as usize].committer_time, Reverse(commits[commit as usize].id), commit);
    let childless = (0..commits.len() as u32).filter(|&commit| children[commit as usize] == 0);
    let mut ready: BinaryHeap<_> = childless.map(key).collect();
    let mut order = Vec::with_capacity(commits.len());
    while let Some((_, _, commit)) = ready.pop() {
        order.push(commit);
        for parent in parents(commit) {
            children[parent as usize] -= 1;
            if children[parent as usize] == 0 {
                ready.push(key(parent));
            }
        }
    }
    order
}
