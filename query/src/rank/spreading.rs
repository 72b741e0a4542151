//! Spreading activation: the best candidates prime what they are related to.
//!
//! From each source activation travels along calls, imports, containment and conversations, in both directions, and
//! loses a fixed share with every hop (Anderson, "A spreading activation theory of memory", 1983). A name that many
//! chunks define or use relates nothing, so such edges are left out; this, and a bound on the chunks whose neighbours
//! are looked up, keeps the work small on any graph.

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, hash_map};

use aurora_storage::{ChunkId, ChunkRecord, ChunkType, Label, Snapshot, StorageError};
use rustc_hash::FxHashMap;

use crate::config::ActivationConfig;

/// Most chunks that an edge by name may lead to.
const FAN: usize = 8;
/// Most children, or phases of one conversation, that count as related.
const SIBLINGS: usize = 32;
/// Most names of one chunk that are followed.
const NAMES: usize = 32;
/// Most chunks whose neighbours are looked up in one search.
const EXPANSIONS: usize = 24;

/// Related chunks of a chunk.
pub(crate) trait RelationGraph {
    /// Neighbours in either direction; may hold repetitions.
    fn neighbours(&self, id: ChunkId) -> Result<Vec<ChunkId>, StorageError>;
}

/// Activation that arrives at each chunk from `sources`, best source first: `spread^hops` from every source but
/// itself, summed.
///
/// A level is expanded whole or not at all, so the result does not depend on the order of neighbours.
pub(crate) fn spread(
    config: &ActivationConfig,
    sources: &[ChunkId],
    graph: &impl RelationGraph,
) -> Result<BTreeMap<ChunkId, f32>, StorageError> {
    let mut arrived: BTreeMap<ChunkId, f32> = BTreeMap::new();
    let mut known: BTreeMap<ChunkId, Vec<ChunkId>> = BTreeMap::new();
    for &source in sources.iter().take(config.sources) {
        let mut seen = BTreeSet::from([source]);
        let mut level = vec![source];
        for hop in 1..=config.max_hops {
            let unknown = level.iter().filter(|id| !known.contains_key(id)).count();
            if known.len() + unknown > EXPANSIONS {
                break;
            }
            let mut next = Vec::new();
            for id in level {
                let neighbours = match known.entry(id) {
                    Entry::Occupied(entry) => entry.into_mut(),
                    Entry::Vacant(entry) => entry.insert(graph.neighbours(id)?),
                };
                next.extend(neighbours.iter().copied().filter(|&neighbour| seen.insert(neighbour)));
            }
            let energy = config.spread.powi(hop as i32);
            for &id in &next {
                *arrived.entry(id).or_default() += energy;
            }
            level = next;
        }
    }
    Ok(arrived)
}

/// The relationships that the index's labels hold.
pub(crate) struct LabelGraph<'s> {
    snapshot: &'s Snapshot,
    /// What was looked up: chunks of one file import the same, call much of it, and have one parent.
    known: RefCell<FxHashMap<Vec<u8>, Vec<ChunkId>>>,
}

impl<'s> LabelGraph<'s> {
    /// The relationships of `snapshot`; one value serves one search.
    pub(crate) fn new(snapshot: &'s Snapshot) -> Self {
        Self { snapshot, known: RefCell::default() }
    }
}

impl RelationGraph for LabelGraph<'_> {
    fn neighbours(&self, id: ChunkId) -> Result<Vec<ChunkId>, StorageError> {
        let (Some(chunk), Some(relations)) = (self.snapshot.chunk(id)?, self.snapshot.relations(id)?) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for name in relations.calls.iter().chain(&relations.imports).take(NAMES) {
            self.add(Label::Defines(last_member(name)), FAN, &mut found)?;
        }
        if chunk.chunk_type().is_source_code() && !chunk.name().is_empty() {
            self.add(Label::Calls(chunk.name()), FAN, &mut found)?;
            self.add(Label::Imports(chunk.name()), FAN, &mut found)?;
        }
        self.add(Label::Contains(&chunk.key()), SIBLINGS, &mut found)?;
        if let Some(parent) = &relations.parent {
            self.add(Label::Key(parent), 1, &mut found)?;
        }
        self.add_conversation(chunk, &mut found)?;
        found.retain(|&neighbour| neighbour != id);
        Ok(found)
    }
}

impl LabelGraph<'_> {
    /// Adds the chunks with a label if they are at most `most`, which is the same for all labels of a kind.
    fn add(&self, label: Label<'_>, most: usize, found: &mut Vec<ChunkId>) -> Result<(), StorageError> {
        match self.known.borrow_mut().entry(label.to_bytes()) {
            hash_map::Entry::Occupied(known) => found.extend(known.get()),
            hash_map::Entry::Vacant(unknown) => {
                let few = self.snapshot.few_with_label(label, most)?.unwrap_or_default();
                found.extend(unknown.insert(few).iter());
            }
        }
        Ok(())
    }

    fn add_conversation(&self, chunk: ChunkRecord<'_>, found: &mut Vec<ChunkId>) -> Result<(), StorageError> {
        if chunk.chunk_type() == ChunkType::Knowledge
            && let Some(file) = self.snapshot.file(chunk.path())?
            && file.chunks.len() <= SIBLINGS
        {
            found.extend(file.chunks);
        }
        Ok(())
    }
}

/// `send` of `queue.Manager::send`.
fn last_member(name: &str) -> &str {
    name.rsplit(['.', ':', '/', '#']).find(|part| !part.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SearchConfig;

    struct Edges(Vec<(u32, u32)>);

    impl RelationGraph for Edges {
        fn neighbours(&self, id: ChunkId) -> Result<Vec<ChunkId>, StorageError> {
            let ends = self.0.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
            Ok(ends.filter(|(a, _)| *a == id.0).map(|(_, b)| ChunkId(b)).collect())
        }
    }

    fn arrived(edges: &[(u32, u32)], sources: &[u32]) -> Vec<(u32, f32)> {
        let sources: Vec<_> = sources.iter().map(|&id| ChunkId(id)).collect();
        let map = spread(&SearchConfig::default().activation, &sources, &Edges(edges.to_vec()))
            .expect("no storage behind it");
        map.into_iter().map(|(id, energy)| (id.0, (energy * 1000.0).round() / 1000.0)).collect()
    }

    #[test]
    fn seven_tenths_a_hop_and_three_hops() {
        assert_eq!(arrived(&[(1, 2), (2, 3), (3, 4), (4, 5)], &[1]), [(2, 0.7), (3, 0.49), (4, 0.343)]);
    }

    #[test]
    fn the_shortest_way_counts_once_and_sources_add_up() {
        assert_eq!(arrived(&[(1, 2), (2, 3), (1, 3)], &[1]), [(2, 0.7), (3, 0.7)]);
        assert_eq!(arrived(&[(1, 3), (2, 3)], &[1, 2]), [(1, 0.49), (2, 0.49), (3, 1.4)]);
    }

    #[test]
    fn the_order_of_edges_does_not_matter() {
        let mut edges = vec![(1, 2), (1, 3), (3, 4), (2, 5), (5, 6), (4, 6)];
        let before = arrived(&edges, &[1, 4]);
        edges.reverse();
        assert_eq!(before, arrived(&edges, &[1, 4]));
    }

    #[test]
    fn a_crowded_level_is_not_expanded() {
        let crowd: Vec<_> = (2..100).map(|leaf| (1, leaf)).chain([(50, 200)]).collect();
        assert!(arrived(&crowd, &[1]).iter().all(|&(id, _)| id != 200));
    }

    #[test]
    fn names_are_cut_to_their_last_member() {
        assert_eq!(last_member("queue.Manager::send"), "send");
        assert_eq!(last_member("./lib/session"), "session");
    }
}
